// Handlers: the body of a typed C++ actor, an instance of a plain struct with on(Message)
// overloads. It runs each message to the end; a handler that is a coroutine may wait in between.
#pragma once

#include <jzx/actor.hpp>

#include "core/lifecycle.hpp"

namespace jzx::kinds {

// What core::spawn needs for an actor of this type.
void describe_handlers(const detail::ActorType& type, void* instance,
                       core::SpawnOptions& options) noexcept;
[[nodiscard]] const core::Kind& handlers_kind_for(const detail::ActorType& type) noexcept;
[[nodiscard]] inline core::Body body_for(const detail::ActorType& type, void* instance) noexcept {
  return {{const_cast<detail::ActorType*>(&type), instance}};
}

}  // namespace jzx::kinds

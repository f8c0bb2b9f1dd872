// Behaviour: the body of a C actor, a function and a state pointer. It runs each message to the
// end.
#pragma once

#include <jzx/jzx.h>

#include "core/lifecycle.hpp"

namespace jzx::kinds {

extern const core::Kind& behaviour_kind;

// The behaviour sees the host's face as ctx->loop.
[[nodiscard]] inline core::Body behaviour_body(jzx_behavior_fn function, void* state) noexcept {
  return core::Body{{reinterpret_cast<void*>(function), state}};
}

}  // namespace jzx::kinds

// What a record says of a message besides what is in it.
#pragma once

#include <string>

#include "core/notice.hpp"
#include "runtime/record/event.hpp"
#include "runtime/record/plain_name.hpp"

namespace jzx::runtime {

[[nodiscard]] inline const RawMessage& raw_in(const Envelope& envelope) noexcept {
  return *reinterpret_cast<const RawMessage*>(envelope.storage);
}

[[nodiscard]] inline Carried carried_by(const Envelope& envelope) noexcept {
  if ((envelope.flags & Envelope::kSystem) != 0) return Carried::system;
  if (envelope.type == &raw_message_type) return Carried::raw;
  return envelope.type->key == envelope.type->inner ? Carried::message : Carried::ask;
}

[[nodiscard]] inline bool is_io_event(const Envelope& envelope) noexcept {
  return (envelope.flags & Envelope::kSystem) != 0 && envelope.type == &raw_message_type &&
         raw_in(envelope).tag == static_cast<uint32_t>(core::SystemTag::io);
}

[[nodiscard]] inline IoEvent& io_event_in(const Envelope& envelope) noexcept {
  return *static_cast<IoEvent*>(raw_in(envelope).data);
}

[[nodiscard]] inline std::string message_name(const Envelope& envelope) {
  if (envelope.type != &raw_message_type) return plain_type_name(envelope.type->inner->name);
  const uint32_t tag = raw_in(envelope).tag;
  if ((envelope.flags & Envelope::kSystem) == 0) return std::to_string(tag);
  const char* name = core::name_of(static_cast<core::SystemTag>(tag));
  return name != nullptr ? name : "system " + std::to_string(tag);
}

}  // namespace jzx::runtime

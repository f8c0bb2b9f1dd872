// A notice is a system message that lives in the record of what may cause it (a child, a monitor,
// a link, a watched fd), so that at the moment it is needed it can run out of neither memory nor
// room. `reclaim` gives the record back once the notice was handled or will never be.
#pragma once

#include <cstddef>

#include <jzx/envelope.hpp>

#include "base/atomic.hpp"

namespace jzx::core {

class Host;

// The values are those of JZX_TAG_SYS_*, which has no `signal`: C has no calls for them.
enum class SystemTag : uint32_t {
  io = 0xffff0001u,
  child_exit = 0xffff0002u,
  child_restart = 0xffff0003u,
  down = 0xffff0004u,
  exit = 0xffff0005u,
  signal = 0xffff0006u,
};

inline constexpr uint32_t kFirstSystemTag = 0xffff0000u;

// The type that handlers in C++ take; nullptr: there is no such tag.
[[nodiscard]] constexpr const char* name_of(SystemTag tag) noexcept {
  switch (tag) {
    case SystemTag::io:
      return "IoEvent";
    case SystemTag::child_exit:
      return "ChildExit";
    case SystemTag::child_restart:
      return "ChildRestart";
    case SystemTag::down:
      return "Down";
    case SystemTag::exit:
      return "Exit";
    case SystemTag::signal:
      return "SignalEvent";
  }
  return nullptr;
}

// As much of a payload as the C interface shows of it; the text comes after that.
inline constexpr size_t kSizeOfChildExit = offsetof(ChildExit, text) + 4;
inline constexpr size_t kSizeOfDown = offsetof(Down, text) + 4;
inline constexpr size_t kSizeOfExit = offsetof(Exit, text) + 4;

struct Notice : Envelope {
  using ReclaimFn = void (*)(Notice& notice, Host& host);

  // `payload` is what a handler sees; it is part of the same record.
  void address(SystemTag tag, ActorId from, void* payload, size_t size,
               ReclaimFn when_done) noexcept {
    type = &raw_message_type;
    sender = from;
    flags = kSystem | kNotice;
    new (storage) RawMessage{payload, size, static_cast<uint32_t>(tag), from};
    reclaim = when_done;
    is_void_.store(false, std::memory_order_relaxed);  // published with the notice
  }

  // Its cause was withdrawn while it was queued: not to be handled. By any thread; relaxed, since
  // who withdraws it while it is being handled comes too late.
  void make_void() noexcept { is_void_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_void() const noexcept { return is_void_.load(std::memory_order_relaxed); }

  ReclaimFn reclaim = nullptr;

 private:
  base::Atomic<bool> is_void_{false};
};

// For people. All notices have one type in common; here each has one of its own, by its tag.
[[nodiscard]] const MessageType* type_of_notice(const Envelope& envelope) noexcept;
[[nodiscard]] inline const MessageType* type_to_show(const Envelope& envelope) noexcept {
  return (envelope.flags & Envelope::kNotice) == 0 ? envelope.type : type_of_notice(envelope);
}

}  // namespace jzx::core

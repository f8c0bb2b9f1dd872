// What the system tells an actor: how others ended, what a watched fd can do, and which signals the
// process got. An actor that wants to know has an `on(const jzx::Down&)` (and so on); one that has
// not is not told.
//
// The leading members are laid out as in the C header, which reads the same memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <jzx/detail/export.hpp>

namespace jzx {

// A slot of the system's table in the low half, and in the high half which of the slot's lives it
// is, never 0; these begin anew after 4,294,967,295.
using ActorId = uint64_t;

enum class ExitReason : int {
  normal = 0,
  fail = 1,
  panic = 2,   // an exception escaped
  noproc = 3,  // it was already gone
  killed = 4,
};

[[nodiscard]] JZX_API const char* to_string(ExitReason reason) noexcept;

// Why, in words, as far as it fits: the text of the exception, most often. Fixed in size because
// nothing that reports a failure may need memory.
class ExitText {
 public:
  constexpr ExitText() noexcept = default;
  explicit ExitText(std::string_view text) noexcept {
    const size_t count = text.size() < sizeof(text_) - 1 ? text.size() : sizeof(text_) - 1;
    for (size_t i = 0; i < count; ++i) text_[i] = text[i];
    text_[count] = '\0';
  }
  [[nodiscard]] const char* c_str() const noexcept { return text_; }
  [[nodiscard]] std::string_view view() const noexcept { return text_; }

 private:
  char text_[96] = {};
};

// A monitored actor ended. Exactly one per monitor.
struct Down {
  uint64_t ref = 0;
  ActorId actor = 0;
  ExitReason reason = ExitReason::normal;
  ExitText text;
};

// A linked actor ended; only for actors that trap exits.
struct Exit {
  ActorId from = 0;
  ExitReason reason = ExitReason::normal;
  ExitText text;
};

// A child of this actor ended.
struct ChildExit {
  ActorId child = 0;
  ExitReason reason = ExitReason::normal;
  ExitText text;
};

// What a file descriptor can be watched for, and be ready for. As JZX_IO_*.
inline constexpr uint32_t kIoRead = 1;
inline constexpr uint32_t kIoWrite = 2;
inline constexpr uint32_t kIoError = 4;
inline constexpr uint32_t kIoHangup = 8;

// A watched file descriptor became ready.
struct IoEvent {
  int fd = -1;
  uint32_t readiness = 0;  // of kIo*
};

// The process got a signal that the actor listens to; see EventSource::signal().
struct SignalEvent {
  int signal = 0;      // SIGHUP, …
  uint32_t count = 0;  // how many of them came together, at least 1
};

}  // namespace jzx

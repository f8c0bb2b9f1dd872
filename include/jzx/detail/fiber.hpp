// The narrow place between the templates of jzx/fiber.hpp and the library. Not for users.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <jzx/detail/port.hpp>
#include <jzx/detail/receive.hpp>
#include <jzx/detail/stack_switch.hpp>

namespace jzx {

// How a wait ended.
enum class Wait : uint8_t {
  done,
  timed_out,
  // The fiber is to end. Waits throw in that case, and it unwinds; this is what they answer in a
  // destructor that runs meanwhile, and in a library that was built without exceptions: return.
  killed,
};

namespace detail {

// ---- a fiber is made in three steps, the second of which may throw ----

struct FiberType {
  const char* name;
  size_t size;  // of the body
  void (*run)(void* body);
  void (*destroy)(void* body) noexcept;
};

// nullptr and the error: no stack.
[[nodiscard]] JZX_API FiberSeat* begin_fiber(Port& port, const FiberType& type, size_t stack_size,
                                             Errc& error) noexcept;
// Ends the body if the answer is not ok.
JZX_API Errc finish_fiber(Port& port, FiberSeat& seat, const SpawnRequest& request,
                          ActorId& out) noexcept;
// Without a body.
JZX_API void abort_fiber(Port& port, FiberSeat& seat) noexcept;

// ---- for the fiber that is running; outside of one: std::logic_error ----

inline constexpr int64_t kForEver = -1;

[[nodiscard]] JZX_API bool is_in_fiber() noexcept;

struct FiberIdentity {
  Port* port;
  ActorId self;
  ActorId sender;  // of the last message received
};
[[nodiscard]] JZX_API FiberIdentity identify_fiber(const char* what);
// Of its system.
[[nodiscard]] JZX_API Port* port_of_fiber(const char* what);

// The fiber that is running. `what` was called.
[[nodiscard]] JZX_API FiberSeat& running_fiber(const char* what);

// A wait is these steps, so that its last one, leaving the stack, can be inlined; see
// stack_switch.hpp:
//
//   begin … ─▶ leave_stack() ─▶ … again, until there is nothing more to wait for

// A receive under way.
struct Receive {
  const ReceivePattern* patterns;
  size_t count;
  int64_t timeout_ms;
  // The oldest message that one of the patterns fits, and which: the first that does. nullptr:
  // leave the stack and look again, if it is waiting; else it is over, and `why` says so.
  Envelope* envelope = nullptr;
  size_t which = 0;
  Wait why = Wait::done;
  bool is_waiting = false;
};
// Looks for the first time. end_receive() must follow a message.
[[nodiscard]] JZX_API FiberSeat& begin_receive(Receive& receive);
// After leaving the stack.
JZX_API void look_for_mail(FiberSeat& fiber, Receive& receive);
// The message has been handled.
JZX_API void end_receive(FiberSeat& fiber, Envelope& envelope) noexcept;

[[nodiscard]] JZX_API FiberSeat& begin_yield();
JZX_API void begin_sleep(FiberSeat& fiber, int64_t delay_ms);
// Leave the stack, and ask again. Throws, as end_wait() does, if it is to end.
[[nodiscard]] JZX_API bool is_sleeping(FiberSeat& fiber, Wait& why);
// It is to end: throws, or answers `killed`.
JZX_API Wait end_in_wait(FiberSeat& fiber);
[[nodiscard]] inline Wait end_wait(FiberSeat& fiber) {
  return fiber.is_asked_to_end ? end_in_wait(fiber) : Wait::done;
}

JZX_API void exit_fiber(FiberSeat& fiber, ExitReason reason, std::string_view text);

}  // namespace detail
}  // namespace jzx

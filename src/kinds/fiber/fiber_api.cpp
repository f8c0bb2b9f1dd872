// The functions of jzx/detail/fiber.hpp that the code on a fiber calls, and the keys by which what
// the system tells is received. Those that every receive and every yield calls are in receive.cpp
// and fiber.cpp, where what they call is inlined.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <jzx/detail/fiber.hpp>

#include "core/notice.hpp"
#include "kinds/fiber/fiber.hpp"

namespace jzx::kinds {

[[gnu::noinline]] void Fiber::outside(const char* what) {
  const std::string text = std::string("jzx::") + what +
                           "() was called outside of a fiber: it waits or tells who runs, "
                           "and only code started by spawn_fn() can ask for that";
#ifdef __cpp_exceptions
  throw std::logic_error(text);
#else
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
#endif
}

}  // namespace jzx::kinds

namespace jzx::detail {

namespace {

constexpr MessageType make_key(const char* name, const MessageType& self) noexcept {
  return {name, &self, nullptr, nullptr, &self, false};
}

kinds::Fiber& fiber_in(FiberSeat& seat) noexcept { return static_cast<kinds::Fiber&>(seat); }

}  // namespace

const MessageType io_event_key = make_key("jzx::IoEvent", io_event_key);
const MessageType child_exit_key = make_key("jzx::ChildExit", child_exit_key);
const MessageType down_key = make_key("jzx::Down", down_key);
const MessageType exit_key = make_key("jzx::Exit", exit_key);
const MessageType signal_event_key = make_key("jzx::SignalEvent", signal_event_key);

const MessageType* key_of_signal(const Envelope& envelope) noexcept {
  const auto& raw = *reinterpret_cast<const RawMessage*>(envelope.storage);
  switch (static_cast<core::SystemTag>(raw.tag)) {
    case core::SystemTag::io:
      return &io_event_key;
    case core::SystemTag::child_exit:
      return &child_exit_key;
    case core::SystemTag::down:
      return &down_key;
    case core::SystemTag::exit:
      return &exit_key;
    case core::SystemTag::signal:
      return &signal_event_key;
    case core::SystemTag::child_restart:
      break;
  }
  return nullptr;
}

bool is_in_fiber() noexcept { return kinds::Fiber::acting() != nullptr; }

[[gnu::noinline]] FiberSeat& running_fiber(const char* what) {
  return kinds::Fiber::acting_or_throw(what);
}

[[gnu::noinline]] FiberIdentity identify_fiber(const char* what) {
  const kinds::Fiber& fiber = kinds::Fiber::acting_or_throw(what);
  return {&fiber.port(), fiber.id(), fiber.sender};
}

[[gnu::noinline]] Port* port_of_fiber(const char* what) {
  return &kinds::Fiber::acting_or_throw(what).port();
}

void begin_sleep(FiberSeat& fiber, int64_t delay_ms) { fiber_in(fiber).begin_sleep(delay_ms); }
bool is_sleeping(FiberSeat& fiber, Wait& why) { return fiber_in(fiber).is_sleeping(why); }
Wait end_in_wait(FiberSeat& fiber) { return fiber_in(fiber).killed(); }
void exit_fiber(FiberSeat& fiber, ExitReason reason, std::string_view text) {
  fiber_in(fiber).exit(reason, text);
}

}  // namespace jzx::detail

// The one place where exceptions are caught. Each kind calls guard() at the base of the stack that
// its user code runs on; what escapes becomes a PANIC exit with its text. Built without exceptions
// it is a plain call.
#pragma once

#include <utility>

#include "base/text.hpp"
#include "core/turn.hpp"

namespace jzx::core {

// `on_panic(text)` answers in place of a body that threw. Inlined, as it is in the way of every
// message.
template <class Body, class OnPanic>
[[nodiscard, gnu::always_inline]] inline auto guard(Body&& body, OnPanic&& on_panic) noexcept {
#ifdef __cpp_exceptions
  try {
    return std::forward<Body>(body)();
  } catch (const std::exception& error) {
    return on_panic(base::text_of(error));
  } catch (...) {
    return on_panic("an exception that is no std::exception");
  }
#else
  (void)on_panic;
  return std::forward<Body>(body)();
#endif
}

template <class Body>
[[nodiscard]] Outcome guard(Turn& turn, Body&& body) noexcept {
  return guard(std::forward<Body>(body),
               [&](const char* text) { return turn.fail(ExitReason::panic, text); });
}

}  // namespace jzx::core

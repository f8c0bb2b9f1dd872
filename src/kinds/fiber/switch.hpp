// From the stack of who runs a fiber to the fiber's own, and back.
//
//   scheduler's stack            fiber's stack
//   enter() ───────────────────▶ main(argument)
//      ◀──────────────────────── leave_stack()
//   enter() ───────────────────▶   … goes on behind leave_stack()
//      ◀──────────────────────── leave_for_good()
//
// A stack that is left has exceptions of its own, caught and flying: the C++ runtime keeps them per
// thread, so they are changed over at every switch. Sanitizers and valgrind are told of it; see
// annotations.hpp. How the switch itself is done, and why so: jzx/detail/stack_switch.hpp.
//
// Threads: one at a time. It may be entered by another thread each time; what is on its stack must
// not remember anything of a thread across leave_stack().
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <jzx/detail/stack_switch.hpp>

#include "kinds/fiber/annotations.hpp"

namespace jzx::kinds {

// As the C++ runtime lays them out.
struct Exceptions {
  void* caught = nullptr;
  unsigned flying = 0;

  [[nodiscard]] bool is_any() const noexcept {
    return (reinterpret_cast<uintptr_t>(caught) | flying) != 0;
  }
  // Not the whole: what the runtime keeps there may be longer than these two.
  [[nodiscard]] Exceptions exchange(Exceptions other) noexcept {
    return {std::exchange(caught, other.caught), std::exchange(flying, other.flying)};
  }
};

namespace of_thread {
// initial-exec: one load, also from a shared library.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Exceptions* exceptions;
}  // namespace of_thread

#ifdef JZX_INLINE_SWITCH
extern "C" [[gnu::visibility("hidden")]] void jzx_fiber_start();
#endif

class Switch : public detail::FiberSeat, private SwitchAnnotations {
 public:
  using Main = void (*)(void* argument);

  Switch() noexcept = default;
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

  // The first enter() calls main(argument) on the stack from `low` to `top`. main must not return.
#ifdef JZX_INLINE_SWITCH
  void prepare(std::byte* low, std::byte* top, Main main, void* argument) noexcept {
    SwitchAnnotations::prepare(low, top);
    top -= reinterpret_cast<uintptr_t>(top) % 16;  // as before a call
    auto* words = reinterpret_cast<uintptr_t*>(top) - 3;
    words[0] = reinterpret_cast<uintptr_t>(&jzx_fiber_start);
    words[1] = reinterpret_cast<uintptr_t>(argument);
    words[2] = reinterpret_cast<uintptr_t>(main);
    inside = words;
  }
#else
  void prepare(std::byte* low, std::byte* top, Main main, void* argument) noexcept;
#endif
  // After leave_for_good(), or if it was never entered.
  void end() noexcept { SwitchAnnotations::end(); }

  // ---- on the stack of who runs it ----

  // Before a thread's first enter().
  static void prepare_thread() noexcept;
  [[nodiscard]] static bool is_thread_prepared() noexcept {
    return of_thread::exceptions != nullptr;
  }
  [[gnu::always_inline]] void enter() noexcept {
    // Who enters stays on this thread.
    Exceptions& current = *of_thread::exceptions;
    if (current.is_any() || exceptions_.is_any()) [[unlikely]]
      return enter_with_exceptions(current);
    jump_in();
    if (current.is_any()) [[unlikely]]
      exceptions_ = current.exchange({});
  }

  // ---- on the stack of its own ----
#ifdef JZX_INLINE_SWITCH
  [[noreturn, gnu::always_inline]] void leave_for_good() noexcept {
    detail::leave_stack(*this);
    __builtin_unreachable();
  }
#else
  [[noreturn]] void leave_for_good() noexcept;
#endif

 private:
  // Of the thread, or of the stack.
  void enter_with_exceptions(Exceptions& current) noexcept;

#ifdef JZX_INLINE_SWITCH
  [[gnu::always_inline]] void jump_in() noexcept {
    detail::FiberSeat* place = this;
    asm volatile(
        "leaq -128(%%rsp), %%rsp\n\t"  // as in leave_stack()
        "pushq %%rbp\n\t"
        "call jzx_fiber_enter\n\t"  // leave_stack() comes back by the `ret` that belongs to it
        "popq %%rbp\n\t"
        "leaq 128(%%rsp), %%rsp"
        : "+D"(place)
        :
        : JZX_ALL_REGISTERS);
  }
#else
  friend void detail::leave_stack(detail::FiberSeat& at) noexcept;
  struct Start;
  void jump_in() noexcept;
  void jump_out(bool is_last) noexcept;

  Main main_ = nullptr;
  void* argument_ = nullptr;
#endif

  Exceptions exceptions_;
};

}  // namespace jzx::kinds

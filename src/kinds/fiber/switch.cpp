#include "kinds/fiber/switch.hpp"

#include <cxxabi.h>

#include <cstdint>
#include <new>

#ifndef JZX_INLINE_SWITCH
#include <boost/context/detail/fcontext.hpp>
#endif

namespace jzx::kinds {

constinit thread_local Exceptions* of_thread::exceptions = nullptr;

void Switch::prepare_thread() noexcept {
  of_thread::exceptions = reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
}

[[gnu::noinline]] void Switch::enter_with_exceptions(Exceptions& current) noexcept {
  const Exceptions outer = current.exchange(exceptions_);
  jump_in();
  exceptions_ = current.exchange(outer);
}

#ifdef JZX_INLINE_SWITCH

// The first thing on a new stack: goes to what prepare() left there. It goes, and does not call, so
// that the `ret` of the last leave_stack() is still the one that belongs to enter(); the 0 in place
// of an address to return to tells a debugger that this is the outermost frame.
//
// Entering is a function, called by jump_in(), so that who comes back from it need not jump over
// it. Where its last jump goes, a processor guesses by the jumps before: the fewer there are
// between two fibers, the more likely it still remembers the one that ran before. With two fibers
// that yield to each other a right guess takes a third off a switch.
asm(R"(
    .text
    .p2align 4
    .hidden jzx_fiber_start
    .globl jzx_fiber_start
    .type jzx_fiber_start, @function
jzx_fiber_start:
    .cfi_startproc
    .cfi_undefined rip
    popq %rdi
    popq %rax
    xorl %ebp, %ebp
    pushq $0
    jmp *%rax
    .cfi_endproc
    .size jzx_fiber_start, .-jzx_fiber_start

    .p2align 4
    .hidden jzx_fiber_enter
    .globl jzx_fiber_enter
    .type jzx_fiber_enter, @function
jzx_fiber_enter:
    .cfi_startproc
    movq %rsp, 8(%rdi)
    movq (%rdi), %rsp
    .cfi_undefined rip
    popq %rax
    jmp *%rax
    .cfi_endproc
    .size jzx_fiber_enter, .-jzx_fiber_enter
)");

#else

namespace fcontext = boost::context::detail;

struct Switch::Start {
  static void run(fcontext::transfer_t from) {
    auto& self = *static_cast<Switch*>(from.data);
    self.outside = from.fctx;
    self.arrived();
    self.main_(self.argument_);
  }
};

void Switch::prepare(std::byte* low, std::byte* top, Main main, void* argument) noexcept {
  SwitchAnnotations::prepare(low, top);
  main_ = main;
  argument_ = argument;
  inside = fcontext::make_fcontext(top, static_cast<size_t>(top - low), &Start::run);
}

void Switch::jump_in() noexcept {
  before_enter();
  inside = fcontext::jump_fcontext(inside, this).fctx;
  after_enter();
}

void Switch::jump_out(bool is_last) noexcept {
  before_leave(is_last);
  outside = fcontext::jump_fcontext(outside, nullptr).fctx;
  arrived();
}

void Switch::leave_for_good() noexcept {
  jump_out(true);
  __builtin_unreachable();
}

#endif

}  // namespace jzx::kinds

#ifndef JZX_INLINE_SWITCH
namespace jzx::detail {

void leave_stack(FiberSeat& at) noexcept { static_cast<kinds::Switch&>(at).jump_out(false); }

}  // namespace jzx::detail
#endif

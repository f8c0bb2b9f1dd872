// Leaving a fiber's stack for the one of who runs it. Not for users.
//
// On x86-64 it is a dozen instructions, written out where the wait is. A processor predicts where a
// `ret` goes to by the calls before it; after a switch by a function, every return up to the code
// that waits is predicted wrongly, some 5 ns each. So the wait is inlined down to the switch, the
// library enters a stack by a `call`, and this leaves it by the `ret` that belongs to that. It
// halves the time of a switch by Boost.Context, which is used everywhere else: on other machines,
// and where a sanitizer must be told.
//
// Registers are saved by the compiler, which knows that all of them change; the modes of floating
// point are the thread's, and are not kept.
#pragma once

#include <jzx/detail/export.hpp>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define JZX_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define JZX_SANITIZED 1
#endif
#endif

#if defined(__x86_64__) && defined(__LP64__) && !defined(JZX_SANITIZED)
#define JZX_INLINE_SWITCH 1
#endif

namespace jzx::detail {

// What the code that waits sees of its fiber.
struct FiberSeat {
  // Where the fiber's stack and that of who runs it go on; what a place is, only the switch knows.
  void* inside;
  void* outside;
  void* body;  // what was given to spawn_fn()
  bool is_asked_to_end = false;
};

#ifdef JZX_INLINE_SWITCH

#ifdef __AVX512F__
#define JZX_WIDE_REGISTERS                                                                      \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",   \
      "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", \
      "k6", "k7"
#else
#define JZX_WIDE_REGISTERS
#endif

// All but the pointers to stack and frame.
#define JZX_ALL_REGISTERS                                                                         \
  "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "st",  \
      "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "xmm0", "xmm1", "xmm2",      \
      "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
      "xmm14", "xmm15", "cc", "memory" JZX_WIDE_REGISTERS

[[gnu::always_inline]] inline void leave_stack(FiberSeat& at) noexcept {
  FiberSeat* place = &at;
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\t"  // a leaf function may have data below its stack pointer
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%%rdi)\n\t"
      "movq 8(%%rdi), %%rsp\n\t"
      "ret\n"
      "1:\n\t"
      "popq %%rbp\n\t"
      "leaq 128(%%rsp), %%rsp"
      : "+D"(place)
      :
      : JZX_ALL_REGISTERS);
}

#else

JZX_API void leave_stack(FiberSeat& at) noexcept;

#endif

}  // namespace jzx::detail

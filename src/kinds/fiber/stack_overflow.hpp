// Says which actor ran off its stack, instead of a bare "Segmentation fault".
//
// A fiber that overflows touches its guard: a SIGSEGV (SIGBUS on some systems), which cannot be
// handled on the stack that has no room left. So each thread that runs fibers has a signal stack,
// and the switch says on whose stack the thread is:
//
//   switch to a fiber      set_running_stack(&its RunningStack)
//   switch back            set_running_stack(nullptr)
//
// The handler compares the address of the fault with that stack. An overflow is reported on
// stderr, by one write(2), with nothing allocated and no lock; then the default action is restored
// and the faulting instruction runs again, so that the process ends as it would have without us: a
// core shows the frame that overflowed, a debugger stops there.
//
// Any other fault goes to the action that was there before, with its mask and flags, or is met by
// the default action. Two things differ for a handler of the user's from before: it runs on the
// signal stack, whether it asked for one or not; and it does not hear of an overflow. One that is
// installed later replaces ours, and may pass on to it. A signal stack that a thread has already
// (the user's, a sanitizer's) is kept.
//
// This is state of the process, since signal handlers are: installed at the first use, for good.
//
// Threads: all functions for the calling thread. The running stack is read by the handler on the
// same thread only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jzx::kinds {

// A stack on which a thread is, and whose it is. What it names outlives its being set.
struct RunningStack {
  std::byte* low;  // the guard is the page below
  std::byte* top;
  uint64_t actor;    // its id
  const char* name;  // or nullptr
};

namespace of_thread {
// initial-exec: one load, and nothing is allocated when the handler looks.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local const RunningStack* running_stack;
}  // namespace of_thread

// nullptr: the thread is on its own stack. A fiber may come back from a switch on another thread:
// call these anew there, and keep no address of the variable.
[[nodiscard]] inline const RunningStack* running_stack() noexcept {
  return of_thread::running_stack;
}
inline void set_running_stack(const RunningStack* stack) noexcept {
  // The handler may look at any instruction: what the stack is must be written before.
  asm volatile("" ::: "memory");
  of_thread::running_stack = stack;
}

// A signal stack for the thread, if it has none. Frees it and switches it off at its own end, on
// the same thread.
class SignalStack {
 public:
  SignalStack() noexcept;
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack();

 private:
  void* memory_ = nullptr;  // nullptr: the thread had one, or there is no memory
  size_t size_ = 0;
};

// Before a thread's first fiber: a signal stack until the thread ends; and for the process, the
// handler. Cheap when it was done already. Without memory for a signal stack there is no report.
void prepare_thread_for_fibers() noexcept;

// A canary was found damaged: the same report, and the end.
[[noreturn]] void end_after_overflow(const RunningStack& stack) noexcept;

}  // namespace jzx::kinds

#include "kinds/fiber/stack_overflow.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "kinds/fiber/stack_memory.hpp"

namespace jzx::kinds {

constinit thread_local const RunningStack* of_thread::running_stack = nullptr;

namespace {

// Room for a handler of the user's, which may format and unwind; committed as it is touched.
constexpr size_t kSignalStackSize = size_t{64} << 10;

// How far below the guard a frame larger than a page may land.
constexpr uintptr_t kReach = uintptr_t{64} << 10;

// Written before the handler is installed, and not after.
struct sigaction old_segv;
struct sigaction old_bus;

// ---- the text ----

class Report {
 public:
  Report& text(const char* text) noexcept {
    while (*text != '\0' && length_ < sizeof(buffer_)) buffer_[length_++] = *text++;
    return *this;
  }
  // A name may be long; what comes after it matters more.
  Report& name(const char* name) noexcept {
    for (size_t i = 0; i < 200 && name[i] != '\0'; ++i) buffer_[length_++] = name[i];
    return *this;
  }
  Report& number(uint64_t value, unsigned base = 10) noexcept {
    char digits[21];
    char* digit = digits + sizeof(digits);
    *--digit = '\0';
    do *--digit = "0123456789abcdef"[value % base];
    while ((value /= base) > 0);
    return text(digit);
  }
  Report& hex(uint64_t value) noexcept { return number(value, 16); }
  Report& kib(uintptr_t bytes) noexcept { return number((bytes + 1023) / 1024).text(" KiB"); }

  void send() const noexcept {
    for (size_t sent = 0; sent < length_;) {
      const ssize_t count = write(STDERR_FILENO, buffer_ + sent, length_ - sent);
      if (count < 0 && errno != EINTR) return;
      if (count > 0) sent += static_cast<size_t>(count);
    }
  }

 private:
  size_t length_ = 0;
  char buffer_[512];
};

void report_overflow(const RunningStack& stack, uintptr_t fault) noexcept {
  const auto low = reinterpret_cast<uintptr_t>(stack.low);
  const auto top = reinterpret_cast<uintptr_t>(stack.top);
  const uintptr_t end = (top + kStackPage - 1) & ~(kStackPage - 1);
  Report report;
  report.text("jzx: stack overflow in actor ");
  if (stack.name != nullptr) report.name(stack.name).text(" ");
  report.text("(").hex(stack.actor).text(")");
  report.text(", stack ").kib(top - low).text(", used ").kib(top - fault);
  report.text("\njzx: its stack_size is ").kib(end - low + kStackPage);
  report.text(", guard page included: spawn it with a larger SpawnOptions::stack_size\n");
  report.send();
}

// ---- the handler ----

[[nodiscard]] uintptr_t stack_pointer([[maybe_unused]] const void* context) noexcept {
#if defined(__x86_64__)
  const auto* user = static_cast<const ucontext_t*>(context);
  return static_cast<uintptr_t>(user->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.sp;
#else
  return UINTPTR_MAX;
#endif
}

[[nodiscard]] bool is_overflow(const RunningStack& stack, uintptr_t fault,
                               const void* context) noexcept {
  const auto low = reinterpret_cast<uintptr_t>(stack.low);
  if (fault >= low || fault < low - kStackPage - kReach) return false;
  // Beyond the guard only if the fiber is there itself: others' guards are within reach too.
  return fault >= low - kStackPage || stack_pointer(context) < low;
}

// The fault comes again when the handler returns; a signal that was sent must be sent again.
void meet_default(int signal, const siginfo_t& info) noexcept {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  if (info.si_code <= 0) raise(signal);
}

// SA_RESETHAND is the sign bit of an int, and unsigned.
[[nodiscard]] bool has_flag(const struct sigaction& action, unsigned flag) noexcept {
  return (static_cast<unsigned>(action.sa_flags) & flag) != 0;
}

void pass_on(int signal, siginfo_t* info, void* context) noexcept {
  const struct sigaction& old = signal == SIGSEGV ? old_segv : old_bus;
  const bool was_sent = info->si_code <= 0;
  const bool has_info = has_flag(old, SA_SIGINFO);
  if (!has_info && old.sa_handler == SIG_IGN && was_sent) return;
  // A fault cannot be ignored.
  if (!has_info && (old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN))
    return meet_default(signal, *info);

  if (has_flag(old, SA_RESETHAND)) {
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
  }
  // The mask of before comes back when the handler returns.
  pthread_sigmask(SIG_BLOCK, &old.sa_mask, nullptr);
  if (has_flag(old, SA_NODEFER)) {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, signal);
    pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  }
  if (has_info)
    old.sa_sigaction(signal, info, context);
  else
    old.sa_handler(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) noexcept {
  const int error = errno;
  const RunningStack* stack = running_stack();
  const auto fault = reinterpret_cast<uintptr_t>(info->si_addr);
  if (stack != nullptr && info->si_code > 0 && is_overflow(*stack, fault, context)) {
    report_overflow(*stack, fault);
    meet_default(signal, *info);
  } else {
    pass_on(signal, info, context);
  }
  errno = error;
}

void install(int signal, struct sigaction& old) noexcept {
  // Read first: the handler may run as soon as it is there.
  if (sigaction(signal, nullptr, &old) != 0) return;
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | (old.sa_flags & SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

// ---- signal stacks ----

SignalStack::SignalStack() noexcept {
  stack_t now = {};
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  const long least = sysconf(_SC_SIGSTKSZ);  // what the registers of this machine need
  size_ = std::max(kSignalStackSize, least > 0 ? static_cast<size_t>(least) : 0);
  void* memory =
      mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t ours = {};
  ours.ss_sp = memory;
  ours.ss_size = size_;
  if (sigaltstack(&ours, nullptr) == 0)
    memory_ = memory;
  else
    munmap(memory, size_);
}

SignalStack::~SignalStack() {
  if (memory_ == nullptr) return;
  stack_t now = {};
  // Somebody may have put another in its place.
  if (sigaltstack(nullptr, &now) == 0 && now.ss_sp == memory_) {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  munmap(memory_, size_);
}

void end_after_overflow(const RunningStack& stack) noexcept {
  report_overflow(stack, reinterpret_cast<uintptr_t>(stack.low) - 1);
  std::abort();
}

void prepare_thread_for_fibers() noexcept {
  [[maybe_unused]] static const bool is_installed = [] {
    install(SIGSEGV, old_segv);
    install(SIGBUS, old_bus);
    return true;
  }();
  [[maybe_unused]] thread_local SignalStack signal_stack;
}

}  // namespace jzx::kinds

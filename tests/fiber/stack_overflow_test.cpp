// A stack that overflows ends the process with a report; other faults are met as before.
#include "kinds/fiber/stack_overflow.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <alloca.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/context/detail/fcontext.hpp>

#include "fiber/stacks.hpp"
#include "support/scale.hpp"

namespace jzx::testing {
namespace {

using namespace jzx::kinds;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;
using ::testing::Not;

constexpr uint64_t kActor = uint64_t{2} << 32 | 7;

// ---- code on a stack ----

void enter(boost::context::detail::transfer_t from) {
  (*static_cast<std::function<void()>*>(from.data))();
  boost::context::detail::jump_fcontext(from.fctx, nullptr);
}

// As a fiber's switch would, without what it tells sanitizers.
void run_on(const Stack& stack, const char* name, std::function<void()> code) {
  prepare_thread_for_fibers();
  const RunningStack running{stack.low, stack.top, kActor, name};
  set_running_stack(&running);
  boost::context::detail::jump_fcontext(
      boost::context::detail::make_fcontext(stack.top, stack.size(), enter), &code);
  set_running_stack(nullptr);
}

[[gnu::noinline, gnu::no_sanitize("address", "thread")]] int go_deeper(int depth) {
  volatile char frame[256];
  frame[0] = static_cast<char>(depth);
  return depth == 0 ? 0 : go_deeper(depth - 1) + frame[0];
}
void run_off() { std::printf("%d\n", go_deeper(100'000'000)); }

// A frame so large that it steps over the guard.
[[gnu::noinline, gnu::no_sanitize("address", "thread")]] void step_to(std::byte* address) {
  char here;
  auto* frame = static_cast<volatile char*>(
      alloca(static_cast<size_t>(&here - reinterpret_cast<char*>(address))));
  frame[0] = 1;
}

[[gnu::noinline, gnu::no_sanitize("address", "thread", "undefined")]] void write_to(
    volatile std::byte* address) {
  *address = std::byte{1};
}
// Where nothing is mapped, and not the null page: sanitizers and compilers have ideas about that.
std::byte* nowhere() {
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return static_cast<std::byte*>(page);
}

// ---- overflows ----

class StackOverflowDeathTest : public ::testing::TestWithParam<Guard> {
 protected:
  void SetUp() override {
    if (memory_.guard() != GetParam())
      GTEST_SKIP() << "this system has no guard of the kind " << name_of(GetParam());
    stack_ = take_one(memory_, class_of_kib(64));
  }
  void TearDown() override {
    if (stack_) give_one(memory_, stack_);
  }
  StackMemory memory_{{.guard = GetParam()}};
  Stack stack_;
};
INSTANTIATE_TEST_SUITE_P(Guards, StackOverflowDeathTest,
                         ::testing::Values(Guard::marked, Guard::protected_page),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(StackOverflowDeathTest, NamesTheActorAndEndsByTheSignal) {
  EXPECT_EXIT(
      run_on(stack_, "greeter", run_off), KilledBySignal(SIGSEGV),
      "^jzx: stack overflow in actor greeter \\(200000007\\), stack 60 KiB, used 6[0-4] KiB\n"
      "jzx: its stack_size is 64 KiB.*SpawnOptions::stack_size\n$");
}

TEST_P(StackOverflowDeathTest, AnActorWithoutANameIsNamedByItsId) {
  EXPECT_EXIT(run_on(stack_, nullptr, run_off), KilledBySignal(SIGSEGV),
              "jzx: stack overflow in actor \\(200000007\\), stack 60 KiB");
}

TEST_P(StackOverflowDeathTest, ALongNameIsCutShort) {
  EXPECT_EXIT(run_on(stack_, std::string(1000, 'x').c_str(), run_off), KilledBySignal(SIGSEGV),
              "actor x{200} \\(200000007\\).*\n.*SpawnOptions::stack_size\n$");
}

TEST_P(StackOverflowDeathTest, OnAnotherThreadItIsReportedToo) {
  EXPECT_EXIT(std::thread([&] { run_on(stack_, "greeter", run_off); }).join(),
              KilledBySignal(SIGSEGV), "jzx: stack overflow in actor greeter");
}

TEST_P(StackOverflowDeathTest, AFrameThatStepsOverTheGuardIsSeenIfItFaults) {
  const Stack neighbour = take_one(memory_, class_of_kib(16));
  const Stack stack = take_one(memory_, class_of_kib(16));
  ASSERT_EQ(stack.low - neighbour.low, 16 << 10);
  EXPECT_EXIT(run_on(stack, "greeter", [&] { step_to(neighbour.low - 2048); }),
              KilledBySignal(SIGSEGV),
              "jzx: stack overflow in actor greeter .*, stack 12 KiB, used 30 KiB");
  give_one(memory_, neighbour);
  give_one(memory_, stack);
}

// ---- other faults ----

// The process ends as it would have without us.
void expect_bare_end(const std::function<void()>& code) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const auto as_before = [](int status) { return WIFEXITED(status) && WEXITSTATUS(status) != 0; };
  const auto text = ::testing::AllOf(HasSubstr("Sanitizer"), Not(HasSubstr("jzx: ")));
#else
  const auto as_before = KilledBySignal(SIGSEGV);
  const auto text = ::testing::IsEmpty();
#endif
  EXPECT_EXIT(code(), as_before, text);
}

TEST_P(StackOverflowDeathTest, AWildWriteOnAFiberIsNoOverflow) {
  expect_bare_end([&] { run_on(stack_, "greeter", [] { write_to(nowhere()); }); });
}

TEST_P(StackOverflowDeathTest, AWildWriteToTheGuardOfAnotherStackIsNoOverflow) {
  const Stack neighbour = take_one(memory_, class_of_kib(16));
  const Stack stack = take_one(memory_, class_of_kib(16));
  expect_bare_end([&] { run_on(stack, "greeter", [&] { write_to(neighbour.low - 8); }); });
  give_one(memory_, neighbour);
  give_one(memory_, stack);
}

TEST_P(StackOverflowDeathTest, AFaultOutsideOfFibersIsNoOverflow) {
  expect_bare_end([&] {
    run_on(stack_, "greeter", [] {});
    write_to(stack_.low - 8);
  });
}

// ---- handlers that were there before ----

volatile std::byte* expected_address;

void exit_9_if_all_is_as_asked_for(int signal, siginfo_t* info, void*) {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  const bool is_right = signal == SIGSEGV && info->si_addr == expected_address &&
                        sigismember(&blocked, SIGUSR1) == 1 && sigismember(&blocked, SIGSEGV) == 1;
  _exit(is_right ? 9 : 1);
}
void exit_10(int) { _exit(10); }
volatile int calls = 0;
void count_call(int) { calls = calls + 1; }

void set_action(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGSEGV, &action, nullptr);
}

TEST_P(StackOverflowDeathTest, AnEarlierHandlerGetsOtherFaultsWithItsMask) {
  EXPECT_EXIT(
      {
        struct sigaction action = {};
        action.sa_sigaction = exit_9_if_all_is_as_asked_for;
        action.sa_flags = SA_SIGINFO;
        sigaddset(&action.sa_mask, SIGUSR1);
        sigaction(SIGSEGV, &action, nullptr);
        run_on(stack_, "greeter", [] {
          expected_address = nowhere();
          write_to(expected_address);
        });
      },
      ExitedWithCode(9), "");
}

TEST_P(StackOverflowDeathTest, AnEarlierHandlerDoesNotKeepTheReportFromComing) {
  EXPECT_EXIT(
      {
        set_action(exit_10, 0);
        run_on(stack_, "greeter", run_off);
      },
      KilledBySignal(SIGSEGV), "jzx: stack overflow in actor greeter");
}

TEST_P(StackOverflowDeathTest, ALaterHandlerIsTheUsersOwnAffair) {
  EXPECT_EXIT(run_on(stack_, "greeter",
                     [] {
                       set_action(exit_10, SA_ONSTACK);
                       run_off();
                     }),
              ExitedWithCode(10), "");
}

TEST_P(StackOverflowDeathTest, ASignalThatIsSentGoesToAnEarlierHandlerAndTheFiberGoesOn) {
  EXPECT_EXIT(
      {
        set_action(count_call, 0);
        run_on(stack_, "greeter", [] {
          raise(SIGSEGV);
          raise(SIGSEGV);
        });
        _exit(calls == 2 ? 9 : 1);
      },
      ExitedWithCode(9), "");
}

TEST_P(StackOverflowDeathTest, AnIgnoredSignalThatIsSentStaysIgnored) {
  EXPECT_EXIT(
      {
        set_action(SIG_IGN, 0);
        run_on(stack_, "greeter", [] { raise(SIGSEGV); });
        _exit(9);
      },
      ExitedWithCode(9), "");
}

TEST_P(StackOverflowDeathTest, ASignalThatIsSentEndsTheProcessByDefault) {
  EXPECT_EXIT(
      {
        set_action(SIG_DFL, 0);
        run_on(stack_, "greeter", [] { raise(SIGSEGV); });
      },
      KilledBySignal(SIGSEGV), "^$");
}

TEST_P(StackOverflowDeathTest, AnEarlierHandlerForOneTimeIsCalledOnce) {
  EXPECT_EXIT(
      {
        set_action(count_call, SA_RESETHAND);
        run_on(stack_, "greeter", [] {
          raise(SIGSEGV);
          if (calls != 1) _exit(1);
          raise(SIGSEGV);
        });
      },
      KilledBySignal(SIGSEGV), "^$");
}

}  // namespace
}  // namespace jzx::testing

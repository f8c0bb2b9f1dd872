// The stack on which a thread hears that another one overflowed.
#include <signal.h>

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "fiber/stacks.hpp"
#include "kinds/fiber/stack_overflow.hpp"
#include "support/scale.hpp"

namespace jzx::testing {
namespace {

using namespace jzx::kinds;

stack_t signal_stack_now() {
  stack_t now = {};
  sigaltstack(nullptr, &now);
  return now;
}
bool has_signal_stack() { return (signal_stack_now().ss_flags & SS_DISABLE) == 0; }

void switch_off_signal_stack() {
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

TEST(SignalStack, IsThereAsLongAsItsOwner) {
  const stack_t before = signal_stack_now();  // a sanitizer's
  switch_off_signal_stack();
  {
    SignalStack stack;
    EXPECT_TRUE(has_signal_stack());
    EXPECT_GE(signal_stack_now().ss_size, size_t{64} << 10);
  }
  EXPECT_FALSE(has_signal_stack());
  if ((before.ss_flags & SS_DISABLE) == 0) sigaltstack(&before, nullptr);
}

TEST(SignalStack, OfTheUserIsKept) {
  const stack_t before = signal_stack_now();
  std::vector<char> memory(size_t{64} << 10);
  stack_t users = {};
  users.ss_sp = memory.data();
  users.ss_size = memory.size();
  ASSERT_EQ(sigaltstack(&users, nullptr), 0);
  {
    SignalStack stack;
    EXPECT_EQ(signal_stack_now().ss_sp, memory.data());
  }
  EXPECT_EQ(signal_stack_now().ss_sp, memory.data());
  switch_off_signal_stack();
  if ((before.ss_flags & SS_DISABLE) == 0) sigaltstack(&before, nullptr);
}

TEST(SignalStack, ThatTheUserPutInPlaceOfOursStays) {
  const stack_t before = signal_stack_now();
  switch_off_signal_stack();
  std::vector<char> memory(size_t{64} << 10);
  {
    SignalStack stack;
    stack_t users = {};
    users.ss_sp = memory.data();
    users.ss_size = memory.size();
    ASSERT_EQ(sigaltstack(&users, nullptr), 0);
  }
  EXPECT_EQ(signal_stack_now().ss_sp, memory.data());
  switch_off_signal_stack();
  if ((before.ss_flags & SS_DISABLE) == 0) sigaltstack(&before, nullptr);
}

TEST(SignalStack, EveryPreparedThreadHasOne) {
  for (int i = 0; i < 3; ++i) {
    std::thread([] {
      prepare_thread_for_fibers();
      EXPECT_TRUE(has_signal_stack());
      const void* memory = signal_stack_now().ss_sp;
      prepare_thread_for_fibers();
      EXPECT_EQ(signal_stack_now().ss_sp, memory);
    }).join();
  }
}

TEST(SignalStack, OfAThreadIsUnmappedWhenTheThreadEnds) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer gives threads signal stacks of its own";
  std::byte* memory = nullptr;
  std::thread([&] {
    prepare_thread_for_fibers();
    memory = static_cast<std::byte*>(signal_stack_now().ss_sp);
    EXPECT_TRUE(is_readable(memory));
  }).join();
  EXPECT_FALSE(is_readable(memory));
}

}  // namespace
}  // namespace jzx::testing

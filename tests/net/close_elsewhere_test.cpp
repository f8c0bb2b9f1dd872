// What is closed on another thread than its loop's own, and the loop never runs again. The leak
// checker of the address sanitizer sees whether all of it has gone.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include <jzx/jzx.hpp>

#include "support/open_files.hpp"

namespace jzx {
namespace {

using testing::open_files;

class ClosedElsewhere : public ::testing::TestWithParam<Reactor> {};
INSTANTIATE_TEST_SUITE_P(By, ClosedElsewhere, ::testing::Values(Reactor::epoll, Reactor::io_uring));

TEST_P(ClosedElsewhere, IsClosedByTheEndOfALoopThatNeverRuns) {
  const size_t before = open_files();
  {
    Loop loop(LoopOptions{.reactor = GetParam()});
    if (!loop) GTEST_SKIP() << "the kernel has no such reactor";
    auto ends = net::Stream::pair(loop);
    ASSERT_TRUE(ends.ok());
    std::thread([&] { ends->first.close(); }).join();
  }
  EXPECT_EQ(open_files(), before);
}

TEST_P(ClosedElsewhere, IsClosedWhenTheLoopRunsAgain) {
  Loop loop(LoopOptions{.reactor = GetParam()});
  if (!loop) GTEST_SKIP() << "the kernel has no such reactor";
  const size_t before = open_files();
  auto ends = net::Stream::pair(loop);
  ASSERT_TRUE(ends.ok());
  std::thread([&] {
    ends->first.close();
    ends->second.close();
  }).join();
  while (open_files() != before) (void)loop.run_once(std::chrono::milliseconds(1));
}

}  // namespace
}  // namespace jzx

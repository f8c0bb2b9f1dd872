// The crash of examples/cpp/oversold_shop.cpp, turned into a test.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "../../examples/cpp/oversold_shop.hpp"

namespace {

// Replays it with an alarm that does not crash.
jzx::ReplayReport replay_shop(const jzx::Recording& recording) {
  jzx::ReplayOptions options;
  options.codecs = shop::codecs();
  return jzx::replay(recording, options, [](jzx::Sim& sim) {
    (void)shop::build(sim, [&sim](const char* what) { sim.fail(what); });
  });
}

// As the program left it when it died in the middle of its fourth turn.
constexpr const char* kRecord = R"(jzx-record 1 loop 1024 0
n 0 shop::Shelf
b 1 0 7264189044887715840 x
n 1 shop::Shop
b 2 1 7264189044887715841 x
n 2 shop::Order
x 1 2 2 m =02000000
x 2 2 2 m =01000000
t 2 172314
k 1
n 3 shop::Look
s 3 1 3 m
k 2
s 4 1 3 m
.
t 1 9123
k 3
n 4 shop::Count
s 5 2 4 m
k 4
s 6 2 4 m
.
t 2 4211
k 5
n 5 shop::Take
s 7 1 5 m
k 6
s 8 1 5 m
.
t 1 3987
k 7
k 8
)";

TEST(OversoldShop, CrashesAgainFromTheRecordThatItLeft) {
  const jzx::Result<jzx::Recording> recording = jzx::Recording::parse(kRecord);
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  for (int again = 0; again < 3; ++again) {
    const jzx::ReplayReport report = replay_shop(*recording);
    EXPECT_EQ(report.end, jzx::ReplayEnd::failed) << report.text();
    EXPECT_EQ(report.failure, "somebody takes what is not there");
    EXPECT_EQ(report.turns, 4u);
  }
}

TEST(OversoldShop, LeavesARecordOfItsCrash) {
  std::string file = ::testing::TempDir() + "oversold_shop_XXXXXX";
  const int fd = ::mkstemp(file.data());
  ASSERT_GE(fd, 0);
  ::close(fd);
  const pid_t child = ::fork();
  if (child == 0) {
    shop::rush(file, [](const char*) { ::raise(SIGKILL); });
    std::_Exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const jzx::Result<jzx::Recording> recording = jzx::Recording::load(file);
  std::remove(file.c_str());
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  const jzx::ReplayReport report = replay_shop(*recording);
  EXPECT_EQ(report.end, jzx::ReplayEnd::failed) << report.text() << recording->dump();
  EXPECT_EQ(report.failure, "somebody takes what is not there");
}

}  // namespace

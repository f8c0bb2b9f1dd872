// A reply is late whoever has given it up, and however: a fiber whose time was up, or that was
// killed, like everybody else.
#include <gtest/gtest.h>

#include <optional>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

struct Get {};
struct Slow {
  Task<int> on(Get) {
    auto nap = jzx::sleep(1000ms);
    Result<void> slept = co_await nap;
    co_return 1;
  }
};

void expect_one_late_reply(ClockedLoop& loop, ActorId who_asked) {
  ASSERT_EQ(loop.seen().dead.size(), 1u);
  const Recorder::DeadLetter& one = loop.seen().dead.front();
  EXPECT_EQ(one.reason, DeadLetterReason::late_reply);
  EXPECT_EQ(one.target, who_asked);
  EXPECT_NE(one.type.find("Get"), std::string::npos);
}

JZX_SUITE_ON_ALL_DRIVERS(LateReplyToAFiber);

TEST_P(LateReplyToAFiber, IsToldWhenItsTimeWasUp) {
  ClockedLoop loop;
  const auto slow = loop.spawn<Slow>();
  std::optional<Result<int>> answer;
  const Pid fiber = loop.spawn_fn([&] {
    answer.emplace(slow.ask(Get{}).get_for(10ms));
    Future<void> rest = jzx::sleep(1h);  // it lives on
    (void)rest.get();
  });
  loop.advance(10ms);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->error().code(), Errc::timed_out);
  EXPECT_TRUE(loop.seen().dead.empty()) << "the reply is still to come";
  loop.advance(1000ms);
  expect_one_late_reply(loop, fiber.id());
}

TEST_P(LateReplyToAFiber, IsToldWhenItWasKilled) {
  ClockedLoop loop;
  const auto slow = loop.spawn<Slow>();
  const Pid fiber = loop.spawn_fn([&] { (void)slow.ask(Get{}).get(); });
  loop.advance(10ms);
  EXPECT_EQ(loop.stop(fiber), Errc::ok);
  loop.advance(10ms);
  EXPECT_TRUE(loop.seen().dead.empty());
  loop.advance(1000ms);
  expect_one_late_reply(loop, fiber.id());
}

TEST_P(LateReplyToAFiber, IsNotToldOfOneThatComesInTime) {
  ClockedLoop loop;
  const auto slow = loop.spawn<Slow>();
  std::optional<Result<int>> answer;
  loop.spawn_fn([&] { answer.emplace(slow.ask(Get{}).get_for(1001ms)); });
  loop.advance(1000ms);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->value(), 1);
  EXPECT_TRUE(loop.seen().dead.empty());
}

}  // namespace
}  // namespace jzx::testing

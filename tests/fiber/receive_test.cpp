// What a fiber receives, and in which order.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Number {
  int value;
};
struct Text {
  std::string value;
};
struct Stop {};

JZX_SUITE_ON_ALL_DRIVERS(Receive);

TEST_P(Receive, WaitsForAMessageAndHandsItOver) {
  ClockedLoop loop;
  int got = 0;
  const Pid fiber = loop.spawn_fn([&] { receive([&](Number number) { got = number.value; }); });
  loop.settle();
  EXPECT_EQ(got, 0);
  EXPECT_EQ(fiber.send(Number{7}), Errc::ok);
  loop.settle();
  EXPECT_EQ(got, 7);
  EXPECT_EQ(fiber.send(Number{8}), Errc::no_such_actor) << "it has returned";
}

TEST_P(Receive, TakesTheOldestThatOneOfItsFunctionsIsFor) {
  ClockedLoop loop;
  std::vector<std::string> seen;
  const Pid fiber = loop.spawn_fn([&] {
    for (int i = 0; i < 4; ++i) {
      receive([&](Number number) { seen.push_back(std::to_string(number.value)); },
              [&](const Text& text) { seen.push_back(text.value); });
    }
  });
  fiber << Number{1} << Text{"two"} << Number{3} << Text{"four"};
  loop.settle();
  EXPECT_EQ(seen, (std::vector<std::string>{"1", "two", "3", "four"}));
}

TEST_P(Receive, LeavesWhatDoesNotMatchForLaterInItsOldOrder) {
  ClockedLoop loop;
  std::vector<int> seen;
  std::vector<std::string> texts;
  const Pid fiber = loop.spawn_fn([&] {
    receive([](Stop) {});
    receive([&](const Text& text) { texts.push_back(text.value); });
    for (int i = 0; i < 3; ++i) receive([&](Number number) { seen.push_back(number.value); });
    receive([&](const Text& text) { texts.push_back(text.value); });
  });
  fiber << Number{1} << Text{"a"} << Number{2} << Text{"b"} << Number{3};
  loop.settle();
  EXPECT_TRUE(texts.empty()) << "it waits for Stop first";
  fiber << Stop{};
  loop.settle();
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(texts, (std::vector<std::string>{"a", "b"}));
}

TEST_P(Receive, ManyTypesThatWaitKeepTheirOrderAcrossTypes) {
  ClockedLoop loop;
  std::vector<int> seen;
  const Pid fiber = loop.spawn_fn([&] {
    receive([](Stop) {});
    for (int i = 0; i < 12; ++i) {
      receive([&](Number number) { seen.push_back(number.value); },
              [&](const Text& text) { seen.push_back(std::stoi(text.value)); },
              [&](int number) { seen.push_back(number); },
              [&](long number) { seen.push_back(static_cast<int>(number)); },
              [&](double number) { seen.push_back(static_cast<int>(number)); },
              [&](char number) { seen.push_back(number); });
    }
  });
  for (int round = 0; round < 2; ++round) {
    const int first = round * 6;
    fiber << static_cast<char>(first) << static_cast<double>(first + 1)
          << static_cast<long>(first + 2) << first + 3 << Text{std::to_string(first + 4)}
          << Number{first + 5};
  }
  fiber << Stop{};
  loop.settle();
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST_P(Receive, AGuardChoosesAmongTheMessagesOfItsType) {
  ClockedLoop loop;
  std::vector<int> seen;
  const auto is_even = [](const Number& number) { return number.value % 2 == 0; };
  const Pid fiber = loop.spawn_fn([&] {
    receive_if(is_even, [&](Number number) { seen.push_back(number.value); });
    receive(when(is_even, [&](Number number) { seen.push_back(number.value); }),
            [&](const Text&) { seen.push_back(-1); });
    for (int i = 0; i < 3; ++i) receive([&](Number number) { seen.push_back(number.value); });
  });
  fiber << Number{1} << Number{3} << Number{4} << Number{5};
  loop.settle();
  EXPECT_EQ(seen, (std::vector<int>{4}));
  fiber << Number{6};
  loop.settle();
  EXPECT_EQ(seen, (std::vector<int>{4, 6, 1, 3, 5}));
}

TEST_P(Receive, TheFirstFunctionThatFitsGetsTheMessage) {
  ClockedLoop loop;
  std::string who;
  const Pid fiber = loop.spawn_fn([&] {
    receive(when([](const Number& number) { return number.value > 10; },
                 [&](Number) { who = "large"; }),
            [&](Number) { who = "any"; });
  });
  fiber << Number{3};
  loop.settle();
  EXPECT_EQ(who, "any");
}

TEST_P(Receive, AnyMessageTakesWhateverIsOldest) {
  ClockedLoop loop;
  std::vector<std::string> seen;
  const Pid fiber = loop.spawn_fn([&] {
    for (int i = 0; i < 2; ++i) {
      receive([&](AnyMessage& any) {
        const auto* text = any.as<Text>();
        seen.push_back(text != nullptr ? text->value : "a number");
      });
    }
  });
  fiber << Number{1} << Text{"hello"};
  loop.settle();
  EXPECT_EQ(seen, (std::vector<std::string>{"a number", "hello"}));
}

TEST_P(Receive, MoveOnlyAndLargeMessagesArriveWhole) {
  ClockedLoop loop;
  struct Large {
    std::unique_ptr<int> pointer;
    char text[200] = {};
  };
  int got = 0;
  const Pid fiber = loop.spawn_fn([&] {
    receive([&](std::unique_ptr<int> pointer) { got += *pointer; });
    receive([&](Large large) { got += *large.pointer; });
  });
  Large large{std::make_unique<int>(40)};
  EXPECT_EQ(fiber.send(std::move(large)), Errc::ok);
  EXPECT_EQ(fiber.send(std::make_unique<int>(2)), Errc::ok);
  loop.settle();
  EXPECT_EQ(got, 42);
}

TEST_P(Receive, AFunctionMayWaitWhileItHandlesAMessage) {
  ClockedLoop loop;
  std::vector<std::string> seen;
  const Pid fiber = loop.spawn_fn([&] {
    receive([&](const Text& outer) {
      receive([&](Number number) { seen.push_back(outer.value + std::to_string(number.value)); });
      sleep_for(5ms);
      seen.push_back(outer.value + "!");
    });
  });
  fiber << Text{"a message that is not inside its envelope alone: "};
  loop.settle();
  fiber << Number{1};
  loop.settle();
  ASSERT_EQ(seen.size(), 1u);
  loop.advance(5ms);
  loop.settle();
  EXPECT_EQ(seen, (std::vector<std::string>{"a message that is not inside its envelope alone: 1",
                                            "a message that is not inside its envelope alone: !"}));
}

TEST_P(Receive, TheSenderIsThatOfTheLastMessage) {
  ClockedLoop loop;
  Pid seen;
  const Pid fiber = loop.spawn_fn([&] { receive([&](Number) { seen = sender(); }); });
  const Pid other = loop.spawn_fn([&] { (void)send(fiber, Number{1}); });
  loop.settle();
  EXPECT_EQ(seen, other);
}

TEST_P(Receive, GivesAMessageOfOneTypeBack) {
  ClockedLoop loop;
  std::vector<std::string> seen;
  const Pid fiber = loop.spawn_fn([&] {
    const std::optional<Text> text = receive<Text>();
    seen.push_back(text.value().value);
    EXPECT_EQ(receive_for<Number>(0ms).value().value, 1) << "it was there before the text";
    EXPECT_FALSE(receive_for<Number>(5ms).has_value());
    seen.push_back("late");
  });
  fiber << Number{1} << Text{"hello"};
  loop.settle();
  EXPECT_EQ(seen, (std::vector<std::string>{"hello"}));
  loop.advance(5ms);
  EXPECT_EQ(seen, (std::vector<std::string>{"hello", "late"}));
}

TEST_P(Receive, AReplyGoesToTheSender) {
  ClockedLoop loop;
  int got = 0;
  const Pid doubler = loop.spawn_fn(
      [] { receive([](Number number) { EXPECT_EQ(reply(Number{2 * number.value}), Errc::ok); }); });
  loop.spawn_fn([&] {
    EXPECT_EQ(doubler.send(Number{21}), Errc::ok);
    got = receive<Number>().value().value;
  });
  loop.settle();
  EXPECT_EQ(got, 42);
}

JZX_SUITE_ON_ALL_DRIVERS(ReceiveFor);

TEST_P(ReceiveFor, EndsWhenTheTimeIsUpAndNotBefore) {
  ClockedLoop loop;
  bool is_late = false;
  Wait result = Wait::done;
  loop.spawn_fn([&] {
    result = receive_for(
        10ms, [](Number) {}, after([&] { is_late = true; }));
  });
  loop.settle();
  loop.advance(9ms);
  loop.settle();
  EXPECT_FALSE(is_late);
  loop.advance(1ms);
  loop.settle();
  EXPECT_TRUE(is_late);
  EXPECT_EQ(result, Wait::timed_out);
}

TEST_P(ReceiveFor, AMessageInTimeEndsItAndTheTimerIsGone) {
  ClockedLoop loop;
  std::vector<Wait> results;
  const Pid fiber = loop.spawn_fn([&] {
    results.push_back(receive_for(
        10ms, [](Number) {}, [](const Text&) {}));
    results.push_back(receive_for(100ms, [](Number) {}));
  });
  loop.settle();
  fiber << Text{"in time"};
  loop.settle();
  loop.advance(50ms);
  loop.settle();
  EXPECT_EQ(results, (std::vector<Wait>{Wait::done}));
  loop.advance(50ms);
  loop.settle();
  EXPECT_EQ(results, (std::vector<Wait>{Wait::done, Wait::timed_out}));
}

TEST_P(ReceiveFor, ZeroTakesOnlyWhatIsThere) {
  ClockedLoop loop;
  std::vector<Wait> results;
  const Pid fiber = loop.spawn_fn([&] {
    results.push_back(receive_for(0ms, [](Number) {}));
    results.push_back(receive_for(0ms, [](Number) {}));
  });
  fiber << Number{1};
  loop.settle();
  EXPECT_EQ(results, (std::vector<Wait>{Wait::done, Wait::timed_out}));
}

TEST_P(Receive, WhatWaitsCountsTowardTheCapacity) {
  ClockedLoop loop;
  SpawnOptions options;
  options.mailbox_cap = 4 + 10;
  const Pid fiber = loop.spawn_fn_with(options, [] { receive([](Stop) {}); });
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(fiber.send(Number{i}), Errc::ok);
    loop.settle();
  }
  EXPECT_EQ(fiber.send(Number{10}), Errc::mailbox_full);
}

TEST_P(Receive, WhatWasKeptIsDroppedBeforeWhatIsWanted) {
  ClockedLoop loop;
  SpawnOptions options;
  options.mailbox_cap = 4 + 10;
  options.overload = Overload::drop_oldest;
  int got = 0;
  const Pid fiber = loop.spawn_fn_with(options, [&] {
    for (int i = 0; i < 3; ++i) receive([&](const Text&) { ++got; });
  });
  for (int i = 0; i < 15; ++i) {
    EXPECT_EQ(fiber.send(Number{i}), Errc::ok);
    loop.settle();
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(fiber.send(Text{"wanted"}), Errc::ok);
    loop.settle();
  }
  EXPECT_EQ(got, 3);
}

TEST_P(Receive, WhatWasNeverReceivedIsDeadLettered) {
  ClockedLoop loop;
  const Pid fiber = loop.spawn_fn([] { receive([](Stop) {}); });
  fiber << Number{1} << Text{"two"};
  loop.settle();
  fiber << Stop{};
  loop.settle();
  EXPECT_EQ(loop.seen().dead.size(), 2u);
}

TEST_P(Receive, AnAskIsAnsweredByWhatTheFunctionReturns) {
  ClockedLoop loop;
  const Pid fiber = loop.spawn_fn([] {
    receive([](Number number) { return number.value * 2; });
    receive([](Number) { return std::string("not an int"); });
  });
  Result<int> answer = loop.run_until(ask<int>(fiber, Number{21}));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value(), 42);
  EXPECT_FALSE(loop.run_until(ask<int>(fiber, Number{21})).ok())
      << "an answer of another type is none";
}

}  // namespace
}  // namespace jzx::testing

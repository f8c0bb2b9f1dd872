// become, unbecome, stash and unstash: what an actor does with its messages changes while it runs.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx {
namespace {

using testing::ClockedLoop;

struct Say {
  std::string word;
};
struct Switch {};
struct Back {};
struct Count {};

struct Speaker {
  explicit Speaker(std::vector<std::string>* heard) : log(heard) {}
  std::vector<std::string>* log;

  void on(Say say) { log->push_back("plain " + say.word); }
  void on(Switch, Context& context) {
    ASSERT_EQ(context.become(
                  *this, [this](Say say) { log->push_back("loud " + say.word); },
                  [](Count) { return 100; }),
              Errc::ok);
  }
  void on(Back, Context& context) { log->push_back(context.unbecome() ? "back" : "was back"); }
  int on(Count) { return static_cast<int>(log->size()); }
};

JZX_SUITE_ON_ALL_DRIVERS(Become);

TEST_P(Become, AnotherFunctionHandlesTheMessageFromTheNextOneOn) {
  ClockedLoop loop;
  std::vector<std::string> log;
  const auto speaker = loop.spawn<Speaker>(&log);
  speaker << Say{"a"} << Switch{} << Say{"b"} << Back{} << Say{"c"} << Back{};
  loop.settle();
  EXPECT_EQ(log, (std::vector<std::string>{"plain a", "loud b", "back", "plain c", "was back"}));
}

TEST_P(Become, WhatItDoesNotNameTheActorHandlesItself) {
  ClockedLoop loop;
  std::vector<std::string> log;
  const auto speaker = loop.spawn<Speaker>(&log);
  speaker << Switch{} << Switch{} << Say{"a"} << Back{} << Say{"b"} << Back{} << Say{"c"};
  loop.settle();
  EXPECT_EQ(log, (std::vector<std::string>{"loud a", "back", "loud b", "back", "plain c"}));
}

TEST_P(Become, AnAskIsAnsweredByTheFunctionThatStandsInFront) {
  ClockedLoop loop;
  std::vector<std::string> log;
  const auto speaker = loop.spawn<Speaker>(&log);
  EXPECT_EQ(*loop.run_until(speaker.ask(Count{})), 0);
  speaker << Switch{};
  EXPECT_EQ(*loop.run_until(speaker.ask(Count{})), 100);
}

struct Fickle {
  explicit Fickle(std::shared_ptr<int> the_token) : token(std::move(the_token)) {}
  std::shared_ptr<int> token;
  void on(Switch, Context& context) {
    // The function holds a share, and ends itself while it runs.
    (void)context.become(*this, [share = token](Say, Context& inner) {
      EXPECT_TRUE(inner.unbecome());
      EXPECT_EQ(*share, 7) << "it is still whole";
    });
  }
  void on(Say) {}
};

TEST_P(Become, AFunctionMayEndItselfWhileItRuns) {
  ClockedLoop loop;
  auto token = std::make_shared<int>(7);
  const auto fickle = loop.spawn<Fickle>(token);
  fickle << Switch{} << Say{"x"} << Say{"y"};
  loop.settle();
  EXPECT_EQ(token.use_count(), 2) << "ours and the actor's";
}

TEST_P(Become, WhatIsLeftOfItEndsWithTheActor) {
  auto token = std::make_shared<int>(7);
  {
    ClockedLoop loop;
    const auto fickle = loop.spawn<Fickle>(token);
    fickle << Switch{} << Switch{};
    loop.settle();
    EXPECT_EQ(token.use_count(), 4);
    EXPECT_EQ(loop.kill(fickle), Errc::ok);
    loop.settle();
    EXPECT_EQ(token.use_count(), 1);
  }
}

// ---- stash ----

struct Work {
  int number;
  std::string text;  // makes it larger than an envelope: it travels in a box
};
struct Open {};

struct Gate {
  explicit Gate(std::vector<int>* handled) : log(handled) {}
  std::vector<int>* log;
  bool is_open = false;

  void on(Work work, Context& context) {
    if (!is_open) {
      ASSERT_EQ(context.stash(std::move(work)), Errc::ok);
      return;
    }
    EXPECT_EQ(work.text, std::string(40, 'x'));
    log->push_back(work.number);
  }
  int on(Count, Context& context) {
    if (!is_open) (void)context.stash(Count{});
    return static_cast<int>(log->size());
  }
  void on(Open, Context& context) {
    is_open = true;
    context.unstash_all();
  }
  void on(Switch, Context& context) {
    EXPECT_EQ(context.stash(Open{}), Errc::invalid_arg) << "not the message being handled";
  }
};

Work work(int number) { return {number, std::string(40, 'x')}; }

JZX_SUITE_ON_ALL_DRIVERS(Stash);

TEST_P(Stash, KeepsMessagesUntilTheyAreWantedInTheirOrder) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto gate = loop.spawn<Gate>(&log);
  for (int i = 0; i < 100; ++i) gate << work(i);
  loop.settle();
  EXPECT_TRUE(log.empty());
  gate << Open{} << work(100);
  loop.settle();
  ASSERT_EQ(log.size(), 101u);
  for (int i = 0; i <= 100; ++i) EXPECT_EQ(log[static_cast<size_t>(i)], i);
}

TEST_P(Stash, AnAskIsAnsweredWhenItIsHandledAtLast) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto gate = loop.spawn<Gate>(&log);
  auto answer = gate.ask(Count{});
  loop.settle();
  EXPECT_FALSE(answer.is_ready());
  gate << Open{};
  loop.settle();
  ASSERT_TRUE(answer.is_ready());
  EXPECT_EQ(*answer.get(), 0);
}

TEST_P(Stash, CountsTowardTheCapacityOfTheMailbox) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto gate = loop.spawn_with<Gate>({.mailbox_cap = 4 + 8}, &log);
  for (int i = 0; i < 8; ++i) ASSERT_EQ(gate.send(work(i)), Errc::ok);
  loop.settle();
  int more = 0;
  while (gate.send(work(8)) == Errc::ok) ++more;
  EXPECT_LE(more, 1) << "one more may come in behind what is put aside";
  EXPECT_EQ(loop.kill(gate), Errc::ok);
}

TEST_P(Stash, WhatIsPutAsideIsDeadLetteredWhenTheActorEnds) {
  ClockedLoop loop;  // checks, when it ends, that the ledger balances
  std::vector<int> log;
  const auto gate = loop.spawn<Gate>(&log);
  for (int i = 0; i < 10; ++i) gate << work(i);
  loop.settle();
  EXPECT_EQ(loop.kill(gate), Errc::ok);
  loop.settle();
  EXPECT_EQ(loop.seen().dead.size(), 10u);
}

// Puts everything aside, and ends at the last one.
struct Quitter {
  enum class Way { stops, fails, stops_first, throws };
  Way way;
  int last;
  void on(Work work, Context& context) {
    const bool is_last = work.number == last;
    if (is_last && way == Way::stops_first) context.stop();
    EXPECT_EQ(context.stash(std::move(work)), Errc::ok);
    if (is_last) end(context);
  }
  int on(Count, Context& context) {
    EXPECT_EQ(context.stash(Count{}), Errc::ok);
    end(context);
    return 1;
  }
  void end(Context& context) const {
    if (way == Way::stops) context.stop();
    if (way == Way::fails) context.fail("enough");
#ifndef JZX_LIBRARY_NOEXCEPT
    if (way == Way::throws) throw std::runtime_error("enough");
#endif
  }
};
constexpr Quitter::Way kWaysToQuit[] = {
    Quitter::Way::stops,
    Quitter::Way::fails,
    Quitter::Way::stops_first,
#ifndef JZX_LIBRARY_NOEXCEPT
    Quitter::Way::throws,
#endif
};

TEST_P(Stash, WhatTheLastHandlerPutsAsideIsDeadLetteredAsWell) {
  for (const Quitter::Way way : kWaysToQuit) {
    for (const int last : {0, 1, 3}) {
      for (const bool at_once : {true, false}) {
        SCOPED_TRACE(::testing::Message() << "way " << static_cast<int>(way) << ", last " << last
                                          << (at_once ? ", at once" : ", one by one"));
        ClockedLoop loop;  // checks, when it ends, that the ledger balances
        const auto quitter = loop.spawn<Quitter>(way, last);
        for (int i = 0; i <= last; ++i) {
          ASSERT_EQ(quitter.send(work(i)), Errc::ok);
          if (!at_once) loop.settle();
        }
        loop.settle();
        EXPECT_FALSE(loop.seen().is_alive(quitter.id()));
        EXPECT_EQ(loop.seen().dead.size(), static_cast<size_t>(last) + 1);
        EXPECT_EQ(loop.ledger().dead_lettered, static_cast<uint64_t>(last) + 1);
        EXPECT_EQ(loop.ledger().queued, 0u);
      }
    }
  }
}

TEST_P(Stash, WhoAsksOneThatPutsTheQuestionAsideAndEndsHearsThatItHas) {
  for (const Quitter::Way way : kWaysToQuit) {
    if (way == Quitter::Way::stops_first) continue;
    ClockedLoop loop;
    const auto quitter = loop.spawn<Quitter>(way, 0);
    auto answer = quitter.ask(Count{});
    loop.settle();
    ASSERT_TRUE(answer.is_ready());
    EXPECT_EQ(answer.get().error().code(), Errc::no_such_actor);
    EXPECT_EQ(loop.seen().dead.size(), 1u);
  }
}

// Gives its message back twice, and lets go of it in the same handler.
struct Undecided {
  explicit Undecided(std::vector<int>* handled) : log(handled) {}
  std::vector<int>* log;
  void on(Work work, Context& context) {
    log->push_back(work.number);
    if (work.number >= 12) return;
    EXPECT_EQ(context.stash(Work{work.number + 1, work.text}), Errc::ok);
    EXPECT_EQ(context.stash(Work{work.number + 2, work.text}), Errc::ok) << "the last one counts";
    context.unstash_all();
  }
};

TEST_P(Stash, AHandlerMayPutItsMessageAsideTwiceAndTakeItBack) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto undecided = loop.spawn<Undecided>(&log);
  undecided << work(9) << work(20);
  loop.settle();
  EXPECT_EQ(log, (std::vector<int>{9, 11, 13, 20}));
  EXPECT_EQ(loop.ledger().handled, 2u);
}

// Puts everything aside, and brings back whatever there is.
struct Hesitant {
  explicit Hesitant(int* the_count) : handled(the_count) {}
  int* handled;

  void on(Work work, Context& context) {
    ++*handled;
    EXPECT_EQ(context.stash(std::move(work)), Errc::ok);
  }
  void on(Open, Context& context) { context.unstash_all(); }
};

TEST_P(Stash, BringsNothingBackThatIsPutAsideLaterInTheSameTurn) {
  ClockedLoop loop;
  int handled = 0;
  const auto hesitant = loop.spawn<Hesitant>(&handled);
  loop.settle();
  hesitant << Open{} << work(1);
  loop.settle();
  EXPECT_EQ(handled, 1);
}

TEST_P(Stash, IsRefusedForAnotherMessageThanTheOneBeingHandled) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto gate = loop.spawn<Gate>(&log);
  gate << Switch{};
  loop.settle();
}

}  // namespace
}  // namespace jzx

// Every message ends exactly once, whatever becomes of it: small ones inside their envelope, large
// ones in a box, and those whose move may throw.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "cpp/census.hpp"
#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Finish {};

// Takes any of the messages, and remembers what it got.
struct Sink {
  explicit Sink(std::vector<int>& the_log) : log(the_log) {}
  void on(Small message) { log.push_back(message.value); }
  void on(const Big& message) { log.push_back(message.value); }  // looks and does not take
  void on(ThrowingMove&& message) { log.push_back(message.value); }
  void on(Finish, Context& context) { context.stop(); }
  std::vector<int>& log;
};

template <class Message>
class MessageFate : public ::testing::Test {
 protected:
  Message make(int value = 1) { return Message(*census, value); }

  // Types are not multiplied by drivers: that would take the compiler long.
  void on_all_drivers(const std::function<void()>& test) {
    for (const std::string& driver : all_drivers()) {
      SCOPED_TRACE(driver);
      const ChosenDriver chosen(driver);
      census.emplace();
      log.clear();
      test();
    }
  }

  std::optional<Census> census{std::in_place};  // outlives the loop
  std::vector<int> log;
};

using Kinds = ::testing::Types<Small, Big, ThrowingMove>;
TYPED_TEST_SUITE(MessageFate, Kinds);

TYPED_TEST(MessageFate, Handled) {
  this->on_all_drivers([this] {
    ClockedLoop loop;
    const auto sink = loop.template spawn<Sink>(this->log);
    EXPECT_EQ(sink.send(this->make(1)), Errc::ok);
    EXPECT_EQ(sink.send(this->make(2)), Errc::ok);
    EXPECT_EQ(this->census->ended(), 0);
    EXPECT_EQ(this->census->objects(), 2u) << "only those that are queued";
    loop.settle();
    EXPECT_EQ(this->log, (std::vector<int>{1, 2}));
    EXPECT_EQ(this->census->ended(), 2);
  });
}

TYPED_TEST(MessageFate, RefusedBecauseTheMailboxIsFull) {
  this->on_all_drivers([this] {
    ClockedLoop loop;
    SpawnOptions options;
    options.mailbox_cap = 5;
    const auto sink = loop.template spawn_with<Sink>(options, this->log);
    EXPECT_EQ(sink.send(this->make(1)), Errc::ok);
    EXPECT_EQ(sink.send(this->make(2)), Errc::mailbox_full);
    EXPECT_EQ(this->census->ended(), 1) << "the refused one ended at the call";
    loop.settle();
    EXPECT_EQ(this->log, std::vector<int>{1});
    EXPECT_EQ(this->census->ended(), 2);
  });
}

TYPED_TEST(MessageFate, RefusedBecauseTheActorIsGone) {
  this->on_all_drivers([this] {
    ClockedLoop loop;
    const auto sink = loop.template spawn<Sink>(this->log);
    EXPECT_EQ(loop.stop(sink), Errc::ok);
    EXPECT_EQ(sink.send(this->make()), Errc::no_such_actor);
    loop.settle();
    EXPECT_EQ(sink.send(this->make()), Errc::no_such_actor);
    EXPECT_EQ(this->census->ended(), 2);
  });
}

TYPED_TEST(MessageFate, RefusedOnAnotherThread) {
  ClockedLoop loop;
  SpawnOptions options;
  options.mailbox_cap = 5;
  const auto sink = loop.template spawn_with<Sink>(options, this->log);
  std::thread([&] {
    EXPECT_EQ(sink.send(this->make(1)), Errc::ok);
    EXPECT_EQ(sink.send(this->make(2)), Errc::mailbox_full);
  }).join();
  EXPECT_EQ(this->census->ended(), 1);
  loop.settle();
  EXPECT_EQ(loop.stop(sink), Errc::ok);
  std::thread([&] { EXPECT_EQ(sink.send(this->make(3)), Errc::no_such_actor); }).join();
  EXPECT_EQ(this->log, std::vector<int>{1});
  EXPECT_EQ(this->census->ended(), 3);
}

TYPED_TEST(MessageFate, RefusedBecauseThereIsNoMemory) {
  this->on_all_drivers([this] {
    ClockedLoop loop;
    const auto sink = loop.template spawn<Sink>(this->log);
    loop.allocator().refuse_all(true);
    Errc answer = Errc::ok;
    int sent = 0;
    // What is pooled may serve some.
    while (ok(answer) && sent < 1000) {
      answer = sink.send(this->make());
      ++sent;
    }
    EXPECT_EQ(answer, Errc::no_memory);
    loop.allocator().refuse_all(false);
    EXPECT_EQ(sink.send(this->make()), Errc::ok);
    loop.settle();
    EXPECT_EQ(this->log.size(), static_cast<size_t>(sent)) << "all but the refused, and one more";
    EXPECT_EQ(this->census->ended(), sent + 1) << "the refused one, too";
  });
}

TYPED_TEST(MessageFate, DeadLetteredBecauseTheActorEndedFirst) {
  this->on_all_drivers([this] {
    ClockedLoop loop;
    const auto sink = loop.template spawn<Sink>(this->log);
    sink << this->make(1) << Finish{} << this->make(2) << this->make(3);
    loop.settle();
    EXPECT_EQ(this->log, std::vector<int>{1});
    EXPECT_EQ(loop.seen().dead.size(), 2u);
    EXPECT_EQ(this->census->ended(), 3);
  });
}

TYPED_TEST(MessageFate, DeadLetteredBecauseItIsNotHandled) {
  this->on_all_drivers([this] {
    ClockedLoop loop;
    const Pid pid = loop.template spawn<Sink>(this->log);
    pid << this->make() << this->make();
    loop.settle();
    EXPECT_EQ(loop.seen().dead.size(), 2u);
    EXPECT_TRUE(this->log.empty());
    EXPECT_EQ(this->census->ended(), 2);
  });
}

TYPED_TEST(MessageFate, QueuedWhenTheLoopIsDestroyed) {
  this->on_all_drivers([this] {
    std::optional<ClockedLoop> loop(std::in_place);
    const auto sink = loop->template spawn<Sink>(this->log);
    sink << this->make() << this->make();
    int closing = 0;
    loop->seen().on_dead_letter = [&](const Recorder::DeadLetter& letter, Envelope& envelope) {
      if (letter.reason == DeadLetterReason::closing) ++closing;
      EXPECT_EQ(detail::message_in<TypeParam>(envelope).value, 1) << "still whole";
    };
    loop.reset();
    EXPECT_EQ(closing, 2);
    EXPECT_TRUE(this->log.empty()) << "no handler runs any more";
    EXPECT_EQ(this->census->ended(), 2);
  });
}

TYPED_TEST(MessageFate, RefusedBecauseTheLoopIsBeingDestroyed) {
  this->on_all_drivers([this] {
    std::optional<ClockedLoop> loop(std::in_place);
    const auto sink = loop->template spawn<Sink>(this->log);
    sink << this->make();
    loop->seen().on_dead_letter = [&](const Recorder::DeadLetter&, Envelope&) {
      EXPECT_EQ(sink.send(this->make()), Errc::loop_closed);
    };
    loop.reset();
    EXPECT_EQ(this->census->ended(), 2);
  });
}

TYPED_TEST(MessageFate, DeliveredByATimer) {
  this->on_all_drivers([this] {
    ClockedLoop loop;
    const auto sink = loop.template spawn<Sink>(this->log);
    EXPECT_EQ(loop.send_after(10ms, sink, this->make(1)), Errc::ok);
    loop.advance(9ms);
    EXPECT_EQ(this->census->ended(), 0);
    loop.advance(1ms);
    EXPECT_EQ(this->log, std::vector<int>{1});
    EXPECT_EQ(this->census->ended(), 1);
  });
}

TYPED_TEST(MessageFate, CancelledWithItsTimer) {
  this->on_all_drivers([this] {
    ClockedLoop loop;
    const auto sink = loop.template spawn<Sink>(this->log);
    TimerId timer;
    EXPECT_EQ(loop.send_after(10ms, sink, this->make(), &timer), Errc::ok);
    loop.settle();
    EXPECT_EQ(loop.cancel(timer), Errc::ok);
    EXPECT_EQ(this->census->ended(), 1) << "at the call";
    EXPECT_EQ(loop.cancel(timer), Errc::timer_invalid);
    loop.advance(20ms);
    EXPECT_TRUE(this->log.empty());
    EXPECT_EQ(this->census->ended(), 1);
  });
}

TYPED_TEST(MessageFate, DeadLetteredBecauseTheTimersTargetEnded) {
  this->on_all_drivers([this] {
    ClockedLoop loop;
    const auto sink = loop.template spawn<Sink>(this->log);
    EXPECT_EQ(loop.send_after(10ms, sink, this->make()), Errc::ok);
    sink << Finish{};
    loop.settle();
    ASSERT_EQ(loop.seen().dead.size(), 1u);
    EXPECT_EQ(loop.seen().dead[0].reason, DeadLetterReason::target_gone);
    EXPECT_EQ(this->census->ended(), 1);
  });
}

TYPED_TEST(MessageFate, RefusedBecauseTheTimersTargetIsGone) {
  this->on_all_drivers([this] {
    ClockedLoop loop;
    const auto sink = loop.template spawn<Sink>(this->log);
    sink << Finish{};
    loop.settle();
    EXPECT_EQ(loop.send_after(10ms, sink, this->make()), Errc::no_such_actor);
    EXPECT_EQ(loop.send_after(10ms, sink.pid(), this->make()), Errc::no_such_actor);
    EXPECT_EQ(this->census->ended(), 2);
  });
}

TYPED_TEST(MessageFate, WaitingInATimerWhenTheLoopIsDestroyed) {
  this->on_all_drivers([this] {
    std::optional<ClockedLoop> loop(std::in_place);
    const auto sink = loop->template spawn<Sink>(this->log);
    EXPECT_EQ(loop->send_after(10ms, sink, this->make()), Errc::ok);
    loop->settle();
    int closing = 0;
    loop->seen().on_dead_letter = [&](const Recorder::DeadLetter& letter, Envelope&) {
      if (letter.reason == DeadLetterReason::closing) ++closing;
    };
    loop.reset();
    EXPECT_EQ(closing, 1);
    EXPECT_EQ(this->census->ended(), 1);
  });
}

TYPED_TEST(MessageFate, NotSentToAnEmptyReference) {
  EXPECT_EQ(ActorRef<Sink>().send(this->make()), Errc::no_such_actor);
  EXPECT_EQ(Pid().send(this->make()), Errc::no_such_actor);
  EXPECT_EQ(this->census->ended(), 2);
}

// ---- moves that throw ----

TEST(ThrowingMoveMessage, ThatThrowsWhileItIsSentReachesTheSenderAndNobodyElse) {
  Census census;
  ClockedLoop loop;
  std::vector<int> log;
  const auto sink = loop.spawn<Sink>(log);
  ThrowingMove message(census, 1);
  message.throws_when_moved = true;
  EXPECT_THROW((void)sink.send(std::move(message)), std::runtime_error);
  EXPECT_THROW((void)sink.pid().send(std::move(message)), std::runtime_error);
  EXPECT_THROW((void)loop.send_after(1ms, sink, std::move(message)), std::runtime_error);
  std::thread([&] {
    EXPECT_THROW((void)sink.send(std::move(message)), std::runtime_error);
  }).join();
  EXPECT_EQ(sink.send(ThrowingMove(census, 2)), Errc::ok) << "nothing is held up";
  loop.advance(10ms);
  EXPECT_EQ(log, std::vector<int>{2});
  EXPECT_EQ(census.objects(), 1u) << "ours is still ours";
}

// ---- how often a message moves ----

template <size_t kPadding>
struct Mover {
  explicit Mover(int& the_moves) : moves(&the_moves) {}
  Mover(Mover&& other) noexcept : moves(other.moves) { ++*moves; }
  int* moves;
  std::array<char, kPadding> padding{};
};

JZX_SUITE_ON_ALL_DRIVERS(AMessage);

TEST_P(AMessage, MovesOnceFromItsSenderToItsHandler) {
  struct Taker {
    void on(Mover<1>&&) {}
    void on(Mover<100>&&) {}
  };
  ClockedLoop loop;
  const auto taker = loop.spawn<Taker>();
  int small_moves = 0;
  int big_moves = 0;
  taker << Mover<1>(small_moves) << Mover<100>(big_moves);
  loop.settle();
  EXPECT_EQ(small_moves, 1);
  EXPECT_EQ(big_moves, 1);
}

}  // namespace
}  // namespace jzx::testing

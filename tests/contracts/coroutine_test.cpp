// The contracts carry coroutine actors: a handler that is suspended keeps its message and its
// place, mail queues behind it, and only its waker or a request to exit brings the actor back.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "contracts/coroutine_kind.hpp"
#include "core/rig.hpp"

namespace jzx::contracts {
namespace {

using core::Actor;
using jzx::testing::Rig;

struct Counted {
  explicit Counted(int& the_ends) : ends(the_ends) {}
  ~Counted() { ++ends; }
  int& ends;
};

// Logs the begin and, after the signal of its number, the end of each message.
class ASuspendingActor : public ::testing::Test {
 protected:
  Handling handle(Actor& actor, const RawMessage& message) {
    const Counted frame(frames_ended);
    log.push_back("begin " + std::to_string(message.tag));
    Until until{signals[message.tag], actor};
    co_await until;
    log.push_back("end " + std::to_string(message.tag));
  }

  ActorId spawn(uint32_t mailbox_cap = 0) {
    return spawn_coroutine(
        rig.host(),
        [this](Actor& actor, const RawMessage& message) { return handle(actor, message); },
        mailbox_cap);
  }

  void expect_ledger(uint64_t handled, uint64_t queued, uint64_t dead = 0) {
    const core::Ledger ledger = rig.parts->ledger();
    EXPECT_EQ(ledger.handled, handled);
    EXPECT_EQ(ledger.queued, queued);
    EXPECT_EQ(ledger.dead_lettered, dead);
    EXPECT_TRUE(ledger.balanced());
  }

  std::vector<std::string> log;
  int frames_ended = 0;
  Signal signals[4];
  Rig rig;
};

using Lines = std::vector<std::string>;

TEST_F(ASuspendingActor, HandlesOneMessageAtATimeInOrder) {
  const ActorId id = spawn();
  for (uint32_t n = 0; n < 3; ++n) ASSERT_EQ(rig.send(id, n), Errc::ok);
  rig.settle();
  EXPECT_EQ(log, Lines{"begin 0"});
  signals[1].raise(rig.host());  // not yet awaited
  signals[0].raise(rig.host());
  rig.settle();
  EXPECT_EQ(log, (Lines{"begin 0", "end 0", "begin 1", "end 1", "begin 2"}));
}

TEST_F(ASuspendingActor, IsNotScheduledByMail) {
  const ActorId id = spawn();
  ASSERT_EQ(rig.send(id, 0), Errc::ok);
  rig.settle();
  ASSERT_EQ(rig.send(id, 1), Errc::ok);
  EXPECT_FALSE(rig.worker().has_work());
  ASSERT_EQ(rig.parts->send_from_anywhere(id, {nullptr, 0, 2}), Errc::ok);
  EXPECT_FALSE(rig.worker().has_work());
  rig.settle();
  EXPECT_EQ(log, Lines{"begin 0"});
}

TEST_F(ASuspendingActor, CountsItsMessageAsQueuedUntilItIsDone) {
  const ActorId id = spawn();
  ASSERT_EQ(rig.send(id, 0), Errc::ok);
  ASSERT_EQ(rig.send(id, 1), Errc::ok);
  rig.settle();
  expect_ledger(0, 2);
  signals[0].raise(rig.host());
  rig.settle();
  expect_ledger(1, 1);
  signals[1].raise(rig.host());
  rig.settle();
  expect_ledger(2, 0);
}

TEST_F(ASuspendingActor, LeavesNoMoreRoomInTheMailboxThanOneThatHasNotBegun) {
  const ActorId id = spawn(2 + core::kSystemReserve);
  ASSERT_EQ(rig.send(id, 0), Errc::ok);
  rig.settle();
  EXPECT_EQ(rig.send(id, 1), Errc::ok);
  EXPECT_EQ(rig.send(id, 2), Errc::mailbox_full) << "the one being handled is one of the two";
  signals[0].raise(rig.host());
  rig.settle();
  EXPECT_EQ(rig.send(id, 2), Errc::ok);
}

TEST_F(ASuspendingActor, DoesNotSuspendOnWhatHasHappened) {
  const ActorId id = spawn();
  signals[0].raise(rig.host());
  ASSERT_EQ(rig.send(id, 0), Errc::ok);
  rig.tick();
  EXPECT_EQ(log, (Lines{"begin 0", "end 0"}));
}

TEST_F(ASuspendingActor, StaysSuspendedOnAWakeThatWasMeantForAnEarlierWait) {
  const ActorId id = spawn();
  ASSERT_EQ(rig.send(id, 0), Errc::ok);
  rig.settle();
  EXPECT_EQ(rig.actor(id).state.wake(core::generation_of(id)), core::Wake::submit);
  rig.host().submit(rig.actor(id));
  rig.settle();
  EXPECT_EQ(log, Lines{"begin 0"});
  signals[0].raise(rig.host());
  rig.settle();
  EXPECT_EQ(log, (Lines{"begin 0", "end 0"}));
}

TEST_F(ASuspendingActor, IsWokenByAForeignThreadWheneverThatComes) {
  const ActorId id = spawn();
  for (int round = 0; round < 200; ++round) {
    Signal once;
    bool done = false;
    const ActorId other = spawn_coroutine(rig.host(), [&](Actor& actor, const RawMessage&) {
      return [](Actor& self, Signal& signal, bool& has_ended, Rig& the_rig) -> Handling {
        Until until{signal, self};
        co_await until;
        has_ended = true;
        the_rig.parts->loop.request_stop();
      }(actor, once, done, rig);
    });
    ASSERT_EQ(rig.send(other, 0), Errc::ok);
    std::thread raiser([&] { once.raise(rig.host(), false); });
    EXPECT_EQ(rig.parts->loop.run(), Errc::ok);
    raiser.join();
    EXPECT_TRUE(done);
    ASSERT_EQ(core::request_exit(rig.host(), other, ExitReason::normal), Errc::ok);
    rig.settle();
  }
  EXPECT_TRUE(rig.is_alive(id));
}

TEST_F(ASuspendingActor, IsEndedByARequestToExitAndItsFrameAndMessagesWithIt) {
  const ActorId id = spawn();
  ASSERT_EQ(rig.send(id, 0), Errc::ok);
  ASSERT_EQ(rig.send(id, 1), Errc::ok);
  rig.settle();
  ASSERT_EQ(core::request_exit(rig.host(), id, ExitReason::killed), Errc::ok);
  rig.settle();
  EXPECT_FALSE(rig.is_alive(id));
  EXPECT_EQ(frames_ended, 1);
  EXPECT_EQ(log, Lines{"begin 0"});
  expect_ledger(0, 0, 2);
  signals[0].raise(rig.host());  // too late, and harmless
  EXPECT_FALSE(rig.worker().has_work());
}

TEST_F(ASuspendingActor, EndsWithTheSystem) {
  const ActorId id = spawn();
  ASSERT_EQ(rig.send(id, 0), Errc::ok);
  rig.settle();
  rig.close();
  EXPECT_EQ(frames_ended, 1);
}

TEST_F(ASuspendingActor, FailsWithWhatItsHandlerThrowsAfterASuspension) {
  Signal signal;
  const ActorId id = spawn_coroutine(rig.host(), [&](Actor& actor, const RawMessage&) {
    return [](Actor& self, Signal& awaited) -> Handling {
      Until until{awaited, self};
      co_await until;
      throw std::runtime_error("later");
    }(actor, signal);
  });
  ExitReason reason = ExitReason::normal;
  struct Ends final : jzx::Observer {
    explicit Ends(ExitReason& out) : reason(out) {}
    void actor_stopped(ActorId, ExitReason why, const ExitText&) override { reason = why; }
    ExitReason& reason;
  } observer(reason);
  rig.system().set_observer(&observer);
  ASSERT_EQ(rig.send(id, 0), Errc::ok);
  rig.settle();
  signal.raise(rig.host());
  rig.settle();
  rig.system().set_observer(nullptr);
  EXPECT_EQ(reason, ExitReason::panic);
  EXPECT_FALSE(rig.is_alive(id));
}

}  // namespace
}  // namespace jzx::contracts

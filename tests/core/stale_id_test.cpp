// Ids that name nobody, or nobody any more, never reach whoever lives in the slot now.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/bonds.hpp"
#include "core/message_timer.hpp"
#include "core/rig.hpp"
#include "support/scale.hpp"

namespace jzx::core {
namespace {

using jzx::testing::open_slot;
using jzx::testing::Rig;
using jzx::testing::scaled;
using jzx::testing::Script;
using jzx::testing::send_value_foreign;
using jzx::testing::value_of;

// A sender between admission and enqueueing holds the slot, perhaps without having a core.
void wait_until_free(Rig& rig, ActorId id) {
  while (rig.actor(id).state.is(generation_of(id))) {
    rig.tick();
    std::this_thread::yield();
  }
}

TEST(StaleId, ASlotThatWasNeverUsedIsNobodyUnderAnyGeneration) {
  Rig rig;
  const ActorId id = rig.spawn();
  for (const uint32_t generation : {0u, 1u, generation_of(id), ~0u}) {
    SCOPED_TRACE(generation);
    const ActorId made_up = make_id(slot_of(id) + 5, generation);
    Errc timer_error = Errc::ok;
    EXPECT_EQ(rig.system().find_open(made_up), nullptr);
    EXPECT_EQ(rig.system().find_live(made_up), nullptr);
    EXPECT_EQ(rig.send(made_up, 1), Errc::no_such_actor);
    EXPECT_EQ(link(rig.host(), id, made_up), Errc::no_such_actor);
    EXPECT_EQ(make_timer(rig.host(), made_up, timer_error), nullptr);
    ASSERT_EQ(request_exit(rig.host(), made_up, ExitReason::normal), Errc::no_such_actor);
  }
  rig.settle();
  EXPECT_TRUE(rig.is_alive(id));
}

TEST(StaleId, AnActorCountsAsAliveUntilMailThatIsOnItsWayWasSeenTo) {
  Rig rig;
  const ActorId id = rig.spawn();
  ASSERT_EQ(rig.send(id, 1), Errc::ok);
  // A sender is interrupted after its admission.
  Envelope* late = rig.host().envelopes.take(&raw_message_type, kNobody);
  ASSERT_NE(late, nullptr);
  new (late->storage) RawMessage{};
  ASSERT_EQ(admit_user(rig.actor(id), generation_of(id)), Admission::queued);
  ++rig.host().counters.accepted;

  ASSERT_EQ(request_exit(rig.host(), id, ExitReason::normal), Errc::ok);
  for (int i = 0; i < 3; ++i) rig.tick();
  EXPECT_EQ(rig.system().alive_count(), 1u) << "who waits for the end would leave the message";
  ASSERT_FALSE(enqueue(rig.actor(id), *late, Admission::queued, Inboxes::idle));
  rig.settle();
  EXPECT_EQ(rig.system().alive_count(), 0u);
}

TEST(StaleId, NobodyIsNobodyAlsoWhenTheFirstSpawnFailedAfterItTookASlot) {
  Rig rig;
  core::SpawnOptions options;
  options.label = "needs memory";
  rig.memory.refuse_nth(3);  // the directory and the chunk, then the label
  ActorId id = kNobody;
  ASSERT_EQ(jzx::testing::spawn_script(rig.host(), {}, id, options), Errc::no_memory);
  rig.memory.refuse_nth(0);
  EXPECT_EQ(rig.send(kNobody, 1), Errc::no_such_actor);
  ASSERT_EQ(request_exit(rig.host(), kNobody, ExitReason::normal), Errc::no_such_actor);
  rig.settle();
}

TEST(StaleId, TheNextActorInTheSlotHasAnotherIdAndGetsNothingSentToTheOldOne) {
  runtime::LoopOptions options;
  options.max_actors = 1;
  Rig rig(options);
  const ActorId first = rig.spawn();
  ASSERT_EQ(request_exit(rig.host(), first, ExitReason::normal), Errc::ok);
  rig.settle();
  int received = 0;
  const ActorId second = rig.spawn({.handle = [&](Turn&, Envelope&) {
    ++received;
    return Outcome::wants_mail;
  }});
  EXPECT_EQ(slot_of(first), slot_of(second));
  EXPECT_NE(first, second);
  EXPECT_EQ(rig.send(first, 1), Errc::no_such_actor);
  EXPECT_EQ(request_exit(rig.host(), first, ExitReason::fail), Errc::no_such_actor);
  rig.settle();
  EXPECT_EQ(received, 0);
  EXPECT_TRUE(rig.is_alive(second));
}

TEST(StaleId, TheGenerationAfterTheLastIsNotZero) {
  StateWord word;
  EXPECT_EQ(open_slot(word, ~0u, true), ~0u);
  word.close();
  ASSERT_TRUE(word.retire(0));
  EXPECT_FALSE(word.is_open(0));
  EXPECT_EQ(word.admit(0, [](uint32_t) { return true; }), Admission::gone);
  EXPECT_NE(open_slot(word, 5, false), 0u);
}

// One slot, many lives. Every message carries the generation that its sender meant.
TEST(StaleId, NoMessageOfAForeignThreadReachesANewerActorWhileTheSlotIsReused) {
  runtime::LoopOptions options;
  options.max_actors = 1;
  options.default_mailbox_cap = 12;
  Rig rig(options);
  std::atomic<ActorId> current{kNobody};
  std::atomic<bool> done{false};
  std::atomic<uint64_t> accepted{0};

  std::vector<std::thread> senders;
  for (int i = 0; i < 3; ++i) {
    senders.emplace_back([&] {
      // The newest id known, and the one before: alive, dying, gone, or replaced by now.
      ActorId known[2] = {};
      while (!done.load()) {
        const ActorId now = current.load();
        if (now != known[0]) {
          known[1] = known[0];
          known[0] = now;
        }
        for (const ActorId target : {known[0], known[1], known[0], known[1]}) {
          const Errc answer = send_value_foreign(rig.host(), target, generation_of(target));
          if (answer == Errc::ok) accepted.fetch_add(1);
        }
        std::this_thread::yield();  // the one who handles it all needs a core, too
      }
    });
  }

  uint64_t handled = 0;
  uint64_t strays = 0;
  for (size_t life = 0; life < scaled(2000, 10); ++life) {
    Script script;
    script.handle = [&](Turn& turn, Envelope& envelope) {
      ++handled;
      if (value_of(envelope) != generation_of(turn.actor.id())) ++strays;
      return Outcome::wants_mail;
    };
    const ActorId id = rig.spawn(std::move(script));
    current.store(id);
    // It ends while messages come in.
    const uint64_t before = handled;
    while (handled == before) {
      rig.tick();
      std::this_thread::yield();
    }
    ASSERT_EQ(request_exit(rig.host(), id, ExitReason::normal), Errc::ok);
    wait_until_free(rig, id);
  }
  done.store(true);
  for (std::thread& sender : senders) sender.join();
  rig.settle();
  EXPECT_EQ(strays, 0u);
  const Ledger ledger = rig.parts->ledger();
  EXPECT_EQ(ledger.accepted, accepted.load());
  EXPECT_EQ(ledger.handled, handled);
  EXPECT_EQ(ledger.queued, 0u);
}

// As when a supervisor's later child refuses to start: its id may have been told already.
TEST(StaleId, AStartThatIsCalledOffWhileForeignThreadsSendLosesNoMessage) {
  runtime::LoopOptions options;
  options.max_actors = 1;
  Rig rig(options);
  std::atomic<ActorId> current{kNobody};
  std::atomic<bool> done{false};
  std::atomic<uint64_t> accepted{0};
  std::vector<std::thread> senders;
  for (int i = 0; i < 2; ++i) {
    senders.emplace_back([&] {
      while (!done.load()) {
        if (send_value_foreign(rig.host(), current.load(), 0) == Errc::ok) accepted.fetch_add(1);
        std::this_thread::yield();
      }
    });
  }
  for (size_t n = 0; n < scaled(1000, 2) || accepted.load() < 100; ++n) {
    const ActorId id = rig.spawn();
    current.store(id);
    for (int spin = 0; spin < 200 && queued_count(rig.actor(id)) == 0; ++spin) {
    }
    abort_start(rig.host(), id);
    wait_until_free(rig, id);
  }
  done.store(true);
  for (std::thread& sender : senders) sender.join();
  rig.settle();
  const Ledger ledger = rig.parts->ledger();
  EXPECT_EQ(ledger.accepted, accepted.load());
  EXPECT_EQ(ledger.dead_lettered, accepted.load());
}

}  // namespace
}  // namespace jzx::core

// The mailbox: bounded, FIFO per sender, nothing lost, one submission per awakening. First alone on
// a bare actor, then through a running loop; both with foreign threads.
#include "core/mailbox.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "core/rig.hpp"
#include "support/scale.hpp"

namespace jzx::core {
namespace {

using jzx::testing::open_slot;
using jzx::testing::Rig;
using jzx::testing::scaled;
using jzx::testing::Script;
using jzx::testing::value_of;

constexpr uint32_t kProducers = 3;

// An actor without a system around it.
class BareMailbox : public ::testing::Test {
 protected:
  explicit BareMailbox(uint32_t limit = 4) {
    actor.set_user_limit(limit);
    generation = open_slot(actor.state, 1, false);
  }

  Admission offer(Envelope& envelope) {
    const Admission admission = admit_user(actor, generation);
    if (admission < Admission::full)
      submitted += enqueue(actor, envelope, admission, Inboxes::idle) ? 1 : 0;
    return admission;
  }

  Actor actor;
  uint32_t generation = 0;
  int submitted = 0;
};

TEST_F(BareMailbox, MessagesComeOutInTheOrderTheyWentIn) {
  std::array<Envelope, 4> envelopes;
  for (Envelope& envelope : envelopes) EXPECT_NE(offer(envelope), Admission::full);
  EXPECT_EQ(submitted, 1) << "only the first found it idle";
  for (Envelope& envelope : envelopes) EXPECT_EQ(take(actor), &envelope);
  EXPECT_EQ(take(actor), nullptr);
  EXPECT_TRUE(actor.state.park(handled_count(actor), false));
}

TEST_F(BareMailbox, TheOneAfterTheLastThatFitsIsRefusedUntilOneIsTaken) {
  std::array<Envelope, 6> envelopes;
  for (int i = 0; i < 4; ++i) EXPECT_NE(offer(envelopes[static_cast<size_t>(i)]), Admission::full);
  EXPECT_EQ(offer(envelopes[4]), Admission::full);
  EXPECT_EQ(queued_count(actor), 4u);
  EXPECT_EQ(take(actor), &envelopes[0]);
  EXPECT_EQ(offer(envelopes[4]), Admission::queued);
  EXPECT_EQ(offer(envelopes[5]), Admission::full);
}

TEST_F(BareMailbox, SystemMessagesNeitherNeedNorTakeRoomOfTheUsers) {
  std::array<Envelope, 10> notices;
  std::array<Envelope, 5> users;
  for (size_t i = 0; i < notices.size(); ++i) {
    if (i % 2 == 0 && i / 2 < 4) {
      EXPECT_NE(offer(users[i / 2]), Admission::full);
    }
    notices[i].flags = Envelope::kSystem;
    actor.system_queued.fetch_add(1);
    (void)enqueue(actor, notices[i], actor.state.admit_system(generation), Inboxes::idle);
  }
  EXPECT_EQ(offer(users[4]), Admission::full);
  while (take(actor) != &users[0]) {
  }
  EXPECT_EQ(offer(users[4]), Admission::queued);
}

TEST_F(BareMailbox, AMessageThatIsAdmittedButNotYetThereKeepsItAwake) {
  Envelope late;
  ASSERT_EQ(admit_user(actor, generation), Admission::first);
  EXPECT_EQ(take(actor), nullptr);
  EXPECT_FALSE(actor.state.park(handled_count(actor), false));
  EXPECT_TRUE(enqueue(actor, late, Admission::first, Inboxes::idle));
  EXPECT_EQ(take(actor), &late);
  EXPECT_TRUE(actor.state.park(handled_count(actor), false));
}

// An actor that lives on fd events, say: nobody asks for room, so nobody but itself keeps the books
// fresh.
TEST_F(BareMailbox, TheBoundHoldsAfterMillionsOfSystemMessagesAndAcrossTheWrapOfTheCounters) {
  std::array<Envelope, 5> envelopes;
  Envelope notice(nullptr, 0, Envelope::kSystem);
  uint32_t total = 0;
  for (const uint32_t until :
       {StateWord::kSentMask / 5 * 4, StateWord::kSentMask - 1, StateWord::kSentMask / 5 * 6}) {
    for (; total < until; ++total) {
      (void)actor.state.admit_system(generation);
      // Most are only counted, for speed; the books are kept at round numbers.
      if ((total + 1) % 4096 != 0) {
        actor.handled.store(total + 1);
        continue;
      }
      actor.system_queued.fetch_add(1);
      (void)enqueue(actor, notice, Admission::queued, Inboxes::idle);
      ASSERT_EQ(take(actor), &notice);
    }
    for (size_t i = 0; i < 4; ++i) ASSERT_NE(offer(envelopes[i]), Admission::full);
    EXPECT_EQ(offer(envelopes[4]), Admission::full);
    while (take(actor) != nullptr) ++total;
  }
}

TEST_F(BareMailbox, TheShortWayInSeesTheSameRoomAsTheLongOne) {
  const ActorId id = make_id(3, generation);
  std::array<Envelope, 4> envelopes;
  // Nine times round a mailbox of four, with what was last seen as old as it can be.
  for (int round = 0; round < 9; ++round) {
    for (size_t i = 0; i < 4; ++i) {
      const Admission at_once = admit_user_at_once(actor, id);
      const Admission admission =
          at_once < Admission::full ? at_once : admit_user(actor, generation);
      ASSERT_LT(admission, Admission::full) << round;
      (void)enqueue(actor, envelopes[i], admission, Inboxes::idle);
    }
    EXPECT_EQ(admit_user_at_once(actor, id), Admission::full);
    EXPECT_EQ(admit_user(actor, generation), Admission::full);
    for (Envelope& envelope : envelopes) EXPECT_EQ(take(actor), &envelope);
  }
}

TEST_F(BareMailbox, AMailboxOfTheLargestSizeTakesThatManyAndNoMore) {
  actor.set_user_limit(StateWord::kMaxUserLimit);
  const ActorId id = make_id(3, generation);
  for (uint32_t i = 0; i < StateWord::kMaxUserLimit; ++i) {
    ASSERT_LT(admit_user_at_once(actor, id), Admission::full) << i;
  }
  EXPECT_EQ(admit_user_at_once(actor, id), Admission::full);
  EXPECT_EQ(admit_user(actor, generation), Admission::full);
}

// Three producers, one consumer, no loop: what `enqueue` answers is the only way to the consumer.
TEST(MailboxUnderThreads, EveryAwakeningSubmitsExactlyOnceAndNothingIsLostOrReordered) {
  const size_t per_producer = scaled(30'000, 10);
  constexpr uint32_t kLimit = 8;
  Actor actor;
  actor.set_user_limit(kLimit);
  const uint32_t generation = open_slot(actor.state, 1, false);
  std::atomic<Actor*> run_queue{nullptr};
  std::atomic<uint64_t> submissions{0};
  std::atomic<uint64_t> double_submissions{0};

  std::vector<std::vector<Envelope>> envelopes(kProducers);
  for (auto& batch : envelopes) batch = std::vector<Envelope>(per_producer);
  std::vector<std::thread> producers;
  for (uint32_t p = 0; p < kProducers; ++p) {
    producers.emplace_back([&, p] {
      for (size_t n = 0; n < per_producer; ++n) {
        Envelope& envelope = envelopes[p][n];
        envelope.sender = p;
        envelope.as<size_t>() = n;
        Admission admission;
        while ((admission = admit_user(actor, generation)) == Admission::full) {
          std::this_thread::yield();
        }
        if (!enqueue(actor, envelope, admission, Inboxes::idle)) continue;
        submissions.fetch_add(1);
        if (run_queue.exchange(&actor) != nullptr) double_submissions.fetch_add(1);
      }
    });
  }

  std::array<size_t, kProducers> next{};
  uint64_t runs = 0;
  uint64_t misordered = 0;
  uint32_t most_queued = 0;
  for (uint64_t taken = 0; taken < kProducers * per_producer;) {
    if (run_queue.exchange(nullptr) == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ++runs;
    do {
      while (Envelope* envelope = take(actor)) {
        ++taken;
        most_queued = std::max(most_queued, queued_count(actor));
        if (envelope->as<size_t>() != next[envelope->sender]++) ++misordered;
      }
    } while (!actor.state.park(handled_count(actor), false));
  }
  for (std::thread& producer : producers) producer.join();

  EXPECT_EQ(misordered, 0u);
  EXPECT_EQ(double_submissions.load(), 0u);
  EXPECT_EQ(submissions.load(), runs);
  EXPECT_EQ(queued_count(actor), 0u);
  EXPECT_FALSE(actor.state.is_scheduled());
  EXPECT_LE(most_queued, kLimit);
}

TEST(MailboxUnderThreads, ALoopHandlesWhatThreeForeignThreadsSendInEachOnesOrder) {
  const size_t per_producer = scaled(8000, 10);
  runtime::LoopOptions options;
  options.default_mailbox_cap = 20;
  Rig rig(options);
  std::array<uint64_t, kProducers> next{};
  uint64_t misordered = 0;
  uint64_t taken = 0;
  uint32_t most_queued = 0;
  Script script;
  script.handle = [&](Turn& turn, Envelope& envelope) {
    const auto& message = envelope.as<RawMessage>();
    if (message.size != next[message.tag]++) ++misordered;
    most_queued = std::max(most_queued, queued_count(turn.actor));
    return ++taken == kProducers * per_producer ? Outcome::stopped : Outcome::wants_mail;
  };
  const ActorId target = rig.spawn(std::move(script));

  std::atomic<uint64_t> wrong_answers{0};
  std::vector<std::thread> producers;
  for (uint32_t p = 0; p < kProducers; ++p) {
    producers.emplace_back([&, p] {
      for (size_t n = 0; n < per_producer; ++n) {
        Errc answer;
        while ((answer = rig.parts->send_from_anywhere(target, {nullptr, n, p})) ==
               Errc::mailbox_full) {
          std::this_thread::yield();
        }
        if (answer != Errc::ok) wrong_answers.fetch_add(1);
      }
    });
  }
  EXPECT_EQ(rig.parts->loop.run(), Errc::ok);
  for (std::thread& producer : producers) producer.join();
  EXPECT_EQ(taken, kProducers * per_producer);
  EXPECT_EQ(misordered, 0u);
  EXPECT_EQ(wrong_answers.load(), 0u);
  EXPECT_LE(most_queued, 16u);
}

}  // namespace
}  // namespace jzx::core

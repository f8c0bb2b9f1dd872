// drivers/workers/linger.hpp: a worker that stays with an idle actor of its own, against those who
// send to it, ask it to end, or have moved in where it was.
#include "drivers/workers/linger.hpp"

#include <gtest/gtest.h>

#include "model/mailbox/scene.hpp"

namespace jzx::base::model {
namespace {

core::ActorId id_of(const Mailbox& box) { return core::make_id(Mailbox::kSlot, box.generation); }

// Turns until it is idle and nobody stays with it any more.
void run_and_linger(Mailbox& box) {
  do {
    box.run_turns();
  } while (box.linger(id_of(box), 2));
}

void senders_and_who_lingers(const char* name, uint32_t bound,
                             std::initializer_list<int> messages) {
  int found_idle = 0, found_busy = 0;
  expect_always({.name = name, .preemptions = bound}, [&](Scene& scene) {
    auto& box = scene.make<Mailbox>(8);
    box.takes_short_ways = true;
    int senders = 0;
    for (const int count : messages) {
      scene.thread([&, count, sender = senders++] {
        for (int i = 1; i <= count; ++i) {
          const auto admission = box.send(scene.make<Message>(sender, i), box.generation);
          (admission == core::Admission::first ? found_idle : found_busy) += 1;
        }
      });
    }
    scene.thread([&] {
      if (box.linger(id_of(box), 2)) run_and_linger(box);  // it has just been run
      while (box.wait_for_turn()) run_and_linger(box);
    });
    scene.join();
    MODEL_ASSERT(box.handled == box.accepted);
    MODEL_ASSERT(!box.actor.state.is_scheduled());
    MODEL_ASSERT(core::queued_count(box.actor) == 0);
  });
  EXPECT_GT(found_idle, 0);
  EXPECT_GT(found_busy, 0);
}

TEST(Linger, LosesNoMessageOfOneSender) {
  senders_and_who_lingers("linger, 1 sender of 2", 3, {2});
}
TEST(Linger, LosesNoMessageOfTwoSenders) {
  senders_and_who_lingers("linger, 2 senders of 1", 2, {1, 1});
}

TEST(Linger, SeesThatTheActorIsAskedToEnd) {
  int early = 0, late = 0;
  expect_always({.name = "linger, asked to end", .preemptions = kUnbounded}, [&](Scene& scene) {
    auto& box = scene.make<Mailbox>(8);
    bool has_ended = false;
    const auto run = [&] {
      do {
        if (box.actor.state.exit_requested()) return (void)(has_ended = box.park(true));
        if (!box.park()) continue;
      } while (box.linger(id_of(box), 2));
    };
    scene.thread([&] {
      const core::Wake wake = box.actor.state.request_exit(box.generation, ExitReason::killed);
      MODEL_ASSERT(wake != core::Wake::gone);
      if (wake == core::Wake::submit) box.submit();
      (wake == core::Wake::submit ? late : early) += 1;
    });
    scene.thread([&] {
      if (box.linger(id_of(box), 2)) run();
      while (!has_ended && box.wait_for_turn()) run();
    });
    scene.join();
    MODEL_ASSERT(has_ended);
  });
  EXPECT_GT(early, 0);
  EXPECT_GT(late, 0);
}

// It has ended since, and another worker runs the one that has moved in.
TEST(Linger, StaysWithNobodyWhoHasMovedInSince) {
  expect_always({.name = "linger, another has moved in", .preemptions = 3}, [](Scene& scene) {
    auto& box = scene.make<Mailbox>(8);
    const core::ActorId before = id_of(box);
    MODEL_ASSERT(box.actor.state.retire(0));
    const uint32_t generation = box.move_in(false);
    scene.thread([&] { (void)box.send(scene.make<Message>(0, 1), generation); });
    scene.thread([&] {
      while (box.wait_for_turn()) box.run_turns();
    });
    scene.thread([&] { MODEL_ASSERT(!drivers::Linger({&box.actor, before}).has_begun()); });
    scene.join();
    MODEL_ASSERT(box.handled == 1);
  });
}

}  // namespace
}  // namespace jzx::base::model

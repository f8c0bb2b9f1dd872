// Actor retirement: senders with an id race with the end of the actor and with the next one in its
// slot. A message is refused, or taken by the actor it was meant for.
#include <gtest/gtest.h>

#include "core/one_runner.hpp"

#include "model/mailbox/scene.hpp"

namespace jzx::base::model {
namespace {

using core::Admission;
using core::Wake;

// Ends the actor as core/lifecycle does: no more mail, what was admitted is taken, and the slot is
// given up once nobody is between admission and enqueueing.
void end_actor(Mailbox& box) {
  box.actor.state.close();
  for (;;) {
    while (box.handle()) {
    }
    if (box.actor.state.retire(core::handled_count(box.actor))) return;
    base::yield_thread();  // once around the run queue
  }
}

void retire_under_senders(const char* name, uint32_t bound, int senders, int messages) {
  int taken = 0, refused = 0;
  expect_always({.name = name, .preemptions = bound}, [&](Scene& scene) {
    auto& box = scene.make<Mailbox>(4, true);
    const uint32_t old_generation = box.generation;
    for (int sender = 0; sender < senders; ++sender) {
      scene.thread([&, sender] {
        for (int i = 1; i <= messages; ++i) {
          const Admission admission = box.send(scene.make<Message>(sender, i), old_generation);
          MODEL_ASSERT(admission == Admission::queued || admission == Admission::gone);
          refused += admission == Admission::gone ? 1 : 0;
        }
      });
    }
    scene.thread([&] {
      end_actor(box);
      MODEL_ASSERT(box.handled == box.accepted);
      taken += box.handled;
      MODEL_ASSERT(box.move_in(false) != old_generation);
      // Nobody knows the new actor: nothing comes.
      MODEL_ASSERT(!box.handle());
    });
    scene.join();
    MODEL_ASSERT(box.handled == box.accepted);
    MODEL_ASSERT(!box.actor.state.is_scheduled());
    MODEL_ASSERT(box.actor.state.is_open(box.generation));
    MODEL_ASSERT(core::queued_count(box.actor) == 0);
  });
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}

TEST(Retirement, AMessageToTheOldIdNeverReachesTheNextActor) {
  retire_under_senders("retirement, 1 sender of 2", 5, 1, 2);
}
TEST(Retirement, NeitherDoMessagesOfTwoSenders) {
  retire_under_senders("retirement, 2 senders of 1", 3, 2, 1);
}

// One thread holds a new actor back, and calls its start off; the other is the only worker, and
// sends to it meanwhile. What the first cannot take any more, the worker takes when its turn comes.
TEST(Retirement, OfAStartThatIsCalledOffLeavesItsInboxToTheOnlyWorker) {
  int retired_at_once = 0, handed_over = 0;
  expect_always({.name = "retirement, a start called off", .preemptions = 4}, [&](Scene& scene) {
    auto& box = scene.make<Mailbox>(4, true);
    box.actor.standing = {base::Priority::normal, base::kAnyWorker, true};
    scene.thread([&] {
      box.actor.state.close();
      while (box.handle()) {
      }
      if (box.actor.state.retire(core::handled_count(box.actor))) {
        ++retired_at_once;
      } else {
        ++handed_over;
        box.actor.standing.no_longer_fresh();
        box.hand_over();
      }
    });
    scene.thread([&] {
      for (int i = 1; i <= 2; ++i) {
        auto& message = scene.make<Message>(0, i);
        (void)box.send(message, box.generation, core::Inboxes::all);
      }
      if (box.wait_for_turn()) end_actor(box);
    });
    scene.join();
    MODEL_ASSERT(box.handled == box.accepted);
    MODEL_ASSERT(!box.actor.state.is(box.generation));
  });
  EXPECT_GT(retired_at_once, 0);
  EXPECT_GT(handed_over, 0);
}

// One of the blocking pool ends there, and one that the only worker runs moves in: what that worker
// sends to the first without an exchange is not put into the inbox of the second.
TEST(Retirement, OfOneWhomOthersRunLeavesNoMailOfTheOnlyWorkerToTheNext) {
  int by_exchange = 0, refused = 0;
  expect_always(
      {.name = "retirement, run elsewhere, then here", .preemptions = 4}, [&](Scene& scene) {
        auto& box = scene.make<Mailbox>(4, true);
        box.actor.standing = {base::Priority::normal, base::kBlockingPool, false};
        const core::ActorId old_id = core::make_id(Mailbox::kSlot, box.generation);
        scene.thread([&] {
          end_actor(box);
          box.actor.standing.become({base::Priority::normal, base::kAnyWorker, true});
          box.move_in(true);
          box.actor.standing.no_longer_fresh();
        });
        scene.thread([&] {
          auto& message = scene.make<Message>(0, 1);
          const auto fill = [&]() -> Envelope& { return message.envelope; };
          const core::OwnSend sent = core::send_own(box.actor, old_id, fill);
          MODEL_ASSERT(sent == core::OwnSend::by_exchange || sent == core::OwnSend::refused);
          (sent == core::OwnSend::refused ? refused : by_exchange) += 1;
        });
        scene.join();
        MODEL_ASSERT(box.actor.inbox.is_empty());
      });
  EXPECT_GT(by_exchange, 0);
  EXPECT_GT(refused, 0);
}

// The same where the next is one whom others run, and the worker knows nothing of that: the id has
// come to it by a way that orders nothing.
TEST(Retirement, OfOneWhomTheOnlyWorkerRanLeavesItNoWayIntoTheInboxOfTheNext) {
  int by_exchange = 0, refused = 0;
  expect_always(
      {.name = "retirement, run here, then elsewhere", .preemptions = kUnbounded},
      [&](Scene& scene) {
        auto& box = scene.make<Mailbox>(4);
        box.actor.standing = {base::Priority::normal, base::kAnyWorker, false};
        auto& new_id = scene.make<base::Atomic<core::ActorId>>(core::kNobody);
        MODEL_ASSERT(box.actor.state.retire(0));
        scene.thread([&] {
          box.actor.standing.become({base::Priority::normal, base::kBlockingPool, false});
          const uint32_t generation = box.move_in(true);
          new_id.store(core::make_id(Mailbox::kSlot, generation), std::memory_order_relaxed);
        });
        scene.thread([&] {
          const core::ActorId id = new_id.load(std::memory_order_relaxed);
          auto& message = scene.make<Message>(0, 1);
          const auto fill = [&]() -> Envelope& { return message.envelope; };
          const core::OwnSend sent = core::send_own(box.actor, id, fill);
          MODEL_ASSERT(sent == core::OwnSend::by_exchange || sent == core::OwnSend::refused);
          (sent == core::OwnSend::refused ? refused : by_exchange) += 1;
        });
        scene.join();
        MODEL_ASSERT(box.actor.inbox.is_empty());
      });
  EXPECT_GT(by_exchange, 0);
  EXPECT_GT(refused, 0);
}

TEST(Retirement, EachOfTwoActorsInOneSlotGetsItsOwnMail) {
  int first_life = 0, second_life = 0;
  expect_always({.name = "retirement, mail for both lives", .preemptions = 3}, [&](Scene& scene) {
    auto& box = scene.make<Mailbox>(2, true);
    const uint32_t old_generation = box.generation;
    auto& new_generation = scene.make<base::Atomic<uint32_t>>(0u);
    scene.thread([&] {
      const Admission admission = box.send(scene.make<Message>(0, 1), old_generation);
      MODEL_ASSERT(admission == Admission::queued || admission == Admission::gone);
    });
    scene.thread([&] {
      uint32_t id = 0;
      while ((id = new_generation.load(std::memory_order_acquire)) == 0) base::yield_thread();
      MODEL_ASSERT(box.send(scene.make<Message>(1, 1), id) == Admission::first);
    });
    scene.thread([&] {
      end_actor(box);
      first_life += box.handled;
      new_generation.store(box.move_in(false), std::memory_order_release);
      const int before = box.handled;
      while (box.wait_for_turn()) box.run_turns();
      second_life += box.handled - before;
      MODEL_ASSERT(box.handled - before == 1);
    });
    scene.join();
    MODEL_ASSERT(box.handled == box.accepted);
  });
  EXPECT_GT(first_life, 0);
  EXPECT_GT(second_life, 0);
}

TEST(Retirement, ARequestToExitDoesNotReachTheNextActor) {
  int too_late = 0;
  expect_always(
      {.name = "retirement, exit and a waker for the old id", .preemptions = 4}, [&](Scene& scene) {
        auto& box = scene.make<Mailbox>(2, true);
        const uint32_t old_generation = box.generation;
        scene.thread([&] {
          const Wake wake = box.actor.state.request_exit(old_generation, ExitReason::killed);
          MODEL_ASSERT(wake != Wake::submit);
          too_late += wake == Wake::gone ? 1 : 0;
        });
        scene.thread([&] { MODEL_ASSERT(box.actor.state.wake(old_generation) != Wake::submit); });
        scene.thread([&] {
          end_actor(box);
          box.move_in(true);
          MODEL_ASSERT(!box.actor.state.exit_requested());
          MODEL_ASSERT(box.park());
        });
        scene.join();
        MODEL_ASSERT(box.actor.state.is_open(box.generation));
      });
  EXPECT_GT(too_late, 0);
}

}  // namespace
}  // namespace jzx::base::model

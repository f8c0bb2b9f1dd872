// core/mailbox.hpp and core/state_word.hpp: senders against the consumer, on a real actor.
#include "model/mailbox/scene.hpp"

#include <gtest/gtest.h>

namespace jzx::base::model {
namespace {

using core::Admission;
using core::Wake;

// `messages`: how many each of the senders sends.
void senders_and_a_consumer(const char* name, uint32_t bound, uint32_t limit,
                            std::initializer_list<int> messages, bool short_ways = false) {
  int refused = 0, total = 0;
  for (const int count : messages) total += count;
  expect_always({.name = name, .preemptions = bound}, [&](Scene& scene) {
    auto& box = scene.make<Mailbox>(limit);
    box.takes_short_ways = short_ways;
    int senders = 0;
    for (const int count : messages) {
      scene.thread([&, count, sender = senders++] {
        for (int i = 1; i <= count; ++i) {
          const Admission admission = box.send(scene.make<Message>(sender, i), box.generation);
          MODEL_ASSERT(admission != Admission::gone);
          refused += admission == Admission::full ? 1 : 0;
        }
      });
    }
    scene.thread([&] {
      while (box.wait_for_turn()) box.run_turns();
    });
    scene.join();
    MODEL_ASSERT(box.handled == box.accepted);
    MODEL_ASSERT(!box.actor.state.is_scheduled());
    MODEL_ASSERT(box.actor.inbox.is_empty());
    MODEL_ASSERT(core::queued_count(box.actor) == 0);
    // It is empty, and whoever knows that is not refused.
    MODEL_ASSERT(core::admit_user(box.actor, box.generation) == Admission::first);
  });
  EXPECT_EQ(refused > 0, static_cast<uint32_t>(total) > limit);
}

TEST(Mailbox, OneSenderAtCapacityOne) {
  senders_and_a_consumer("mailbox of 1, 1 sender of 3", 4, 1, {3});
}
TEST(Mailbox, OneSenderAtCapacityTwo) {
  senders_and_a_consumer("mailbox of 2, 1 sender of 3", 3, 2, {3});
}
TEST(Mailbox, TwoSendersAtCapacityOne) {
  senders_and_a_consumer("mailbox of 1, 2 senders of 1", 4, 1, {1, 1});
}
TEST(Mailbox, TwoSendersAtCapacityTwo) {
  senders_and_a_consumer("mailbox of 2, senders of 2 and 1", 2, 2, {2, 1});
}
TEST(Mailbox, TwoSendersOfTwoAtCapacityTwo) {
  senders_and_a_consumer("mailbox of 2, 2 senders of 2", 1, 2, {2, 2});
}
TEST(Mailbox, TwoSendersThatAllFit) {
  senders_and_a_consumer("mailbox of 4, 2 senders of 2", 2, 4, {2, 2});
}

TEST(Mailbox, TheShortWaysInAndOutAtCapacityOne) {
  senders_and_a_consumer("mailbox of 1, 2 senders of 1, short ways", 3, 1, {1, 1}, true);
}
TEST(Mailbox, TheShortWaysInAndOutAtCapacityTwo) {
  senders_and_a_consumer("mailbox of 2, senders of 2 and 1, short ways", 2, 2, {2, 1}, true);
}

// ---- one thread runs everybody, and sends by the inbox ----

// Others send by the arrivals alone. It sends before its turns, and once out of one.
void one_worker_and_others(const char* name, uint32_t bound, std::initializer_list<int> messages) {
  int past_arrivals = 0, total = 2;
  for (const int count : messages) total += count;
  expect_always({.name = name, .preemptions = bound}, [&](Scene& scene) {
    auto& box = scene.make<Mailbox>(8);
    int others = 0;
    for (const int count : messages) {
      scene.thread([&, count, sender = others++] {
        for (int i = 1; i <= count; ++i) {
          (void)box.send(scene.make<Message>(sender, i), box.generation, core::Inboxes::none);
        }
      });
    }
    scene.thread([&, self = others] {
      const auto send = [&](int number) {
        auto& message = scene.make<Message>(self, number);
        const bool is_queued =
            box.send(message, box.generation, core::Inboxes::all) == Admission::queued;
        past_arrivals += is_queued && box.actor.arrivals.looks_empty() ? 1 : 0;
      };
      send(1);
      bool has_sent_again = false;
      while (box.wait_for_turn()) {
        if (box.handle() && !std::exchange(has_sent_again, true)) send(2);
        box.run_turns();
      }
    });
    scene.join();
    MODEL_ASSERT(box.handled == total);
    MODEL_ASSERT(!box.actor.state.is_scheduled());
    MODEL_ASSERT(box.actor.inbox.is_empty());
  });
  EXPECT_GT(past_arrivals, 0);
}

TEST(Mailbox, TheThreadThatRunsItSendsByTheInboxAndAnotherDoesNot) {
  one_worker_and_others("mailbox of 8, its own thread and 1 other of 2", 4, {2});
}
TEST(Mailbox, TheThreadThatRunsItSendsByTheInboxAndTwoOthersDoNot) {
  one_worker_and_others("mailbox of 8, its own thread and 2 others of 1", 2, {1, 1});
}

// One that sends as others do, and then as itself: in this order.
TEST(Mailbox, TheInboxIsNoWayPastWhatHasArrived) {
  expect_always({.name = "mailbox of 8, arrivals then inbox", .preemptions = 3}, [](Scene& scene) {
    auto& box = scene.make<Mailbox>(8);
    scene.thread(
        [&] { (void)box.send(scene.make<Message>(0, 1), box.generation, core::Inboxes::none); });
    scene.thread([&] {
      for (int i = 1; i <= 3; ++i) {
        const auto way = i == 2 ? core::Inboxes::none : core::Inboxes::all;
        (void)box.send(scene.make<Message>(1, i), box.generation, way);
      }
      while (box.wait_for_turn()) box.run_turns();
    });
    scene.join();
    MODEL_ASSERT(box.handled == 4);
  });
}

TEST(Mailbox, AUserIsNotRefusedBecauseOfASystemMessage) {
  expect_always(
      {.name = "mailbox of 1, a user and a system sender", .preemptions = 3}, [](Scene& scene) {
        auto& box = scene.make<Mailbox>(1);
        scene.thread([&] {
          auto& message = scene.make<Message>(0, 1);
          MODEL_ASSERT(box.send(message, box.generation) < Admission::full);
        });
        scene.thread([&] { box.send_system(scene.make<Message>(1, 1, Envelope::kSystem)); });
        scene.thread([&] {
          while (box.wait_for_turn()) box.run_turns();
        });
        scene.join();
        MODEL_ASSERT(box.handled == 2);
      });
}

// ---- a body that waits for its waker ----

// What the waker brings is there when the body goes on, whether it was suspended already or not;
// mail that comes meanwhile wakes nobody and is not lost.
void suspend_and_wake(const char* name, uint32_t bound, bool with_mail) {
  expect_always({.name = name, .preemptions = bound}, [=](Scene& scene) {
    auto& box = scene.make<Mailbox>(2, true);
    auto& result = scene.make<base::Shared<int>>(0);
    bool resumed = false;
    scene.thread([&] {
      result = 1;
      if (box.actor.state.wake(box.generation) == Wake::submit) box.submit();
    });
    if (with_mail) {
      scene.thread([&] {
        MODEL_ASSERT(box.send(scene.make<Message>(1, 1), box.generation) < Admission::full);
      });
    }
    scene.thread([&] {
      if (box.suspend() && !box.wait_for_turn()) return;
      MODEL_ASSERT(result == 1);
      resumed = true;
      do {
        box.run_turns();
      } while (box.wait_for_turn());
    });
    scene.join();
    MODEL_ASSERT(resumed);
    MODEL_ASSERT(box.handled == box.accepted);
    MODEL_ASSERT(!box.actor.state.is_scheduled());
  });
}

TEST(StateWord, AWakerIsNotMissedByABodyThatSuspends) {
  suspend_and_wake("state word, suspend / wake", kUnbounded, false);
}
TEST(StateWord, MailDoesNotWakeASuspendedBodyAndIsNotLost) {
  suspend_and_wake("state word, suspend / wake / mail", 4, true);
}

TEST(StateWord, ARequestToExitFindsTheActorOnceAndInEveryState) {
  int parked = 0;
  expect_always({.name = "state word, park / exit / mail", .preemptions = 3}, [&](Scene& scene) {
    auto& box = scene.make<Mailbox>(2, true);
    int asked = 0, obeyed = 0;
    const auto ask = [&](ExitReason reason) {
      const Wake wake = box.actor.state.request_exit(box.generation, reason);
      asked += wake != Wake::gone ? 1 : 0;
      if (wake == Wake::submit) box.submit();
    };
    scene.thread([&] { ask(ExitReason::killed); });
    scene.thread([&] {
      (void)box.send(scene.make<Message>(1, 1), box.generation);
      ask(ExitReason::normal);
    });
    scene.thread([&] {
      do {
        for (;;) {
          while (box.handle()) {
          }
          if (box.actor.state.exit_requested()) {
            ++obeyed;
            return;
          }
          if (box.park()) break;
          base::yield_thread();
        }
        ++parked;
      } while (box.wait_for_turn());
    });
    scene.join();
    MODEL_ASSERT(asked == 1);
    MODEL_ASSERT(obeyed == 1);
  });
  EXPECT_GT(parked, 0);
}

}  // namespace
}  // namespace jzx::base::model

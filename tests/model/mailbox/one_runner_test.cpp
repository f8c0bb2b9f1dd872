// core/one_runner.hpp and drivers/loop/call_list.hpp: the one thread that runs all actors sends to
// them and schedules them without exchanges, while others send, wake, and ask to end.
//
// The sources of the host and of what calls a start off are included, so that mutations.txt can
// weaken what they do with them.
#include "core/host.cpp"       // NOLINT
#include "core/lifecycle.cpp"  // NOLINT

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "model/mailbox/runner.hpp"

namespace jzx::base::model {
namespace {

using core::Admission;
using core::Wake;

// It sends before its turns and once out of one; others send meanwhile.
void own_mail_and_others(const char* name, uint32_t bound, std::initializer_list<int> messages) {
  int total = 2;
  for (const int count : messages) total += count;
  expect_always({.name = name, .preemptions = bound}, [&](Scene& scene) {
    auto& runner = scene.make<Runner>(8u);
    int others = 0;
    for (const int count : messages) {
      scene.thread([&, count, sender = others++] {
        for (int i = 1; i <= count; ++i) {
          MODEL_ASSERT(runner.send(scene.make<Message>(sender, i)) < Admission::full);
        }
      });
    }
    scene.thread([&] {
      MODEL_ASSERT(runner.send_own(scene.make<Message>(0, 1)));
      bool has_sent_again = false;
      while (runner.wait_for_turn()) {
        while (runner.handle()) {
          if (std::exchange(has_sent_again, true)) continue;
          MODEL_ASSERT(runner.send_own(scene.make<Message>(0, 2)));
        }
        runner.end_turn();
      }
    });
    scene.join();
    MODEL_ASSERT(runner.handled == total);
    MODEL_ASSERT(runner.is_at_rest());
  });
}

TEST(OneRunner, HandlesItsOwnMailAndThatOfAnother) {
  own_mail_and_others("one runner and 1 other of 2", 3, {2});
}
TEST(OneRunner, HandlesItsOwnMailAndThatOfTwoOthers) {
  own_mail_and_others("one runner and 2 others of 1", 2, {1, 1});
}

// It sends when its turn has seen no more mail, as what a message promises may when it ends.
void mail_at_the_end_of_a_turn(const char* name, int others) {
  expect_always({.name = name, .preemptions = 3}, [&](Scene& scene) {
    auto& runner = scene.make<Runner>(8u);
    for (int i = 0; i < others; ++i) {
      scene.thread([&, i] { (void)runner.send(scene.make<Message>(i, 1)); });
    }
    scene.thread([&] {
      MODEL_ASSERT(runner.send_own(scene.make<Message>(1, 1)));
      bool has_sent_again = false;
      while (runner.wait_for_turn()) {
        while (runner.handle()) {
        }
        if (!std::exchange(has_sent_again, true)) {
          MODEL_ASSERT(runner.send_own(scene.make<Message>(1, 2)));
        }
        runner.end_turn();
      }
    });
    scene.join();
    MODEL_ASSERT(runner.handled == 2 + others);
    MODEL_ASSERT(runner.is_at_rest());
  });
}

TEST(OneRunner, RestsOnNoMailThatItHasSentAfterItsLastLook) {
  mail_at_the_end_of_a_turn("one runner, mail at the end of a turn", 0);
}
TEST(OneRunner, RestsOnNoMailThatItHasSentAfterItsLastLookWhileAnotherSends) {
  mail_at_the_end_of_a_turn("one runner, mail at the end of a turn, 1 other", 1);
}

// Another has sent before, and it knows of that.
TEST(OneRunner, SendsNothingPastMailThatItKnowsOf) {
  for (const bool has_own_there : {false, true}) {
    expect_always({.name = "one runner, mail behind that of another", .preemptions = 4},
                  [&](Scene& scene) {
                    auto& runner = scene.make<Runner>(8u);
                    auto& is_sent = scene.make<base::Atomic<bool>>(false);
                    scene.thread([&] {
                      (void)runner.send(scene.make<Message>(0, 1));
                      is_sent.store(true, std::memory_order_release);
                    });
                    scene.thread([&] {
                      int number = 0;
                      const auto send = [&] {
                        MODEL_ASSERT(runner.send_own(scene.make<Message>(1, ++number)));
                      };
                      if (has_own_there) send();
                      while (!is_sent.load(std::memory_order_acquire)) base::yield_thread();
                      send();
                      while (runner.wait_for_turn()) {
                        while (runner.handle()) {
                          const bool is_other_handled = runner.last_of(0) == 1;
                          MODEL_ASSERT(is_other_handled || runner.last_of(Runner::kOwn) < number);
                        }
                        runner.end_turn();
                      }
                    });
                    scene.join();
                    MODEL_ASSERT(runner.is_at_rest());
                  });
  }
}

// Of its own mail some goes by exchanges and some does not, in a row, before its turn and when that
// has seen no more mail. Another sends meanwhile.
TEST(OneRunner, HandlesItsOwnMailInOrderWhicheverWayItGoes) {
  int by_both_ways = 0;
  expect_always({.name = "one runner, mail by both ways, 1 other", .preemptions = 2},
                [&](Scene& scene) {
                  auto& runner = scene.make<Runner>(8u);
                  scene.thread([&] { (void)runner.send(scene.make<Message>(0, 1)); });
                  scene.thread([&] {
                    MODEL_ASSERT(runner.send_own(scene.make<Message>(1, 1)));
                    by_both_ways += core::is_scheduled_here(runner.actor) ? 1 : 0;
                    runner.notify_own(scene.make<Message>(1, 2));
                    MODEL_ASSERT(runner.send_own(scene.make<Message>(1, 3)));
                    bool has_sent_again = false;
                    while (runner.wait_for_turn()) {
                      while (runner.handle()) {
                      }
                      if (!std::exchange(has_sent_again, true)) {
                        MODEL_ASSERT(runner.send_own(scene.make<Message>(1, 4)));
                      }
                      runner.end_turn();
                    }
                  });
                  scene.join();
                  MODEL_ASSERT(runner.handled == 5);
                  MODEL_ASSERT(runner.is_at_rest());
                });
  EXPECT_GT(by_both_ways, 0);
}

TEST(OneRunner, CountsItsOwnMailAgainstTheBound) {
  int refused_here = 0, refused_there = 0, one_too_many = 0;
  expect_always(
      {.name = "one runner, a mailbox of 1, 1 other of 2", .preemptions = 2}, [&](Scene& scene) {
        auto& runner = scene.make<Runner>(1u);
        scene.thread([&] {
          for (int i = 1; i <= 2; ++i) {
            const Admission admission = runner.send(scene.make<Message>(0, i));
            refused_there += admission == Admission::full ? 1 : 0;
          }
        });
        scene.thread([&] {
          for (int i = 1; i <= 2; ++i) {
            refused_here += runner.send_own(scene.make<Message>(1, i)) ? 0 : 1;
          }
          runner.run_turns();
        });
        scene.join();
        MODEL_ASSERT(runner.handled == runner.accepted);
        MODEL_ASSERT(runner.is_at_rest());
        one_too_many += runner.most_queued > 1 ? 1 : 0;
        // It is empty, and whoever knows that is not refused.
        MODEL_ASSERT(core::admit_user(runner.actor, runner.generation) == Admission::first);
      });
  EXPECT_GT(refused_here, 0);
  EXPECT_GT(refused_there, 0);
  EXPECT_GT(one_too_many, 0);
}

// Who knows that the mailbox is full is refused.
void full_mailbox(const char* name, bool is_filled_by_runner) {
  expect_always({.name = name, .preemptions = kUnbounded}, [&](Scene& scene) {
    auto& runner = scene.make<Runner>(2u);
    auto& is_full = scene.make<base::Atomic<bool>>(false);
    const auto fill_it = [&](auto&& send) {
      for (int i = 1; i <= 2; ++i) MODEL_ASSERT(send(i));
      is_full.store(true, std::memory_order_release);
    };
    const auto overfill_it = [&](auto&& send) {
      while (!is_full.load(std::memory_order_acquire)) base::yield_thread();
      MODEL_ASSERT(!send(3));
    };
    const auto send = [&](int i) {
      return runner.send(scene.make<Message>(0, i)) < Admission::full;
    };
    const auto send_own = [&](int i) { return runner.send_own(scene.make<Message>(0, i)); };
    scene.thread([&] { is_filled_by_runner ? overfill_it(send) : fill_it(send); });
    scene.thread([&] { is_filled_by_runner ? fill_it(send_own) : overfill_it(send_own); });
    scene.join();
    MODEL_ASSERT(runner.accepted == 2);
  });
}

TEST(OneRunner, SendsNothingToAMailboxThatOthersHaveFilled) {
  full_mailbox("one runner, a mailbox that another has filled", false);
}
TEST(OneRunner, FillsAMailboxSoThatOthersAreRefused) {
  full_mailbox("one runner, a mailbox that it has filled", true);
}

// The look that another leaves takes own mail into account, also that which is sent meanwhile.
TEST(OneRunner, LeavesALookAtTheRoomThatIsNotTooLarge) {
  expect_always({.name = "one runner, looks at a mailbox of 2", .preemptions = 3},
                [](Scene& scene) {
                  auto& runner = scene.make<Runner>(2u);
                  scene.thread([&] { (void)runner.send(scene.make<Message>(0, 1)); });
                  scene.thread([&] {
                    for (int i = 1; i <= 2; ++i) (void)runner.send_own(scene.make<Message>(2, i));
                    if (runner.wait_for_turn()) (void)runner.handle();
                    (void)runner.send_own(scene.make<Message>(2, 3));
                  });
                  scene.join();
                  core::Actor& actor = runner.actor;
                  MODEL_ASSERT(!core::has_room_as_seen(
                      actor.room_ends_at(), actor.full_at.load(std::memory_order_relaxed)));
                });
}

// ---- waking and waiting ----

// It is scheduled by its own thread, and suspends; what another brings is there when it goes on.
TEST(OneRunner, SuspendsNoActorThatIsWokenMeanwhile) {
  int suspended = 0;
  expect_always({.name = "one runner, suspend / wake / mail", .preemptions = 3}, [&](Scene& scene) {
    auto& runner = scene.make<Runner>(4u);
    auto& result = scene.make<base::Atomic<int>>(0);
    bool has_seen_it = false;
    scene.thread([&] {
      result.store(1, std::memory_order_release);
      runner.wake_up(runner.generation);
    });
    scene.thread([&] { (void)runner.send(scene.make<Message>(0, 1)); });
    scene.thread([&] {
      (void)runner.send_own(scene.make<Message>(1, 1));
      while (runner.wait_for_turn()) {
        if (result.load(std::memory_order_acquire) == 0) {
          suspended += runner.suspend() ? 1 : 0;
          continue;
        }
        has_seen_it = true;
        while (runner.handle()) {
        }
        runner.end_turn();
      }
    });
    scene.join();
    MODEL_ASSERT(has_seen_it);
    MODEL_ASSERT(runner.handled == 2);
    MODEL_ASSERT(runner.is_at_rest());
  });
  EXPECT_GT(suspended, 0);
}

// Its own thread wakes it in the middle of a turn, after which it suspends.
TEST(OneRunner, RemembersThatItWokeAnActorInItsTurn) {
  expect_always({.name = "one runner, wakes itself, 1 other", .preemptions = 4}, [](Scene& scene) {
    auto& runner = scene.make<Runner>(4u);
    int turns = 0;
    scene.thread([&] { (void)runner.send(scene.make<Message>(0, 1)); });
    scene.thread([&] {
      (void)runner.send_own(scene.make<Message>(1, 1));
      while (runner.wait_for_turn()) {
        if (++turns == 1) {
          runner.wake_own();
          (void)runner.suspend();
          continue;
        }
        while (runner.handle()) {
        }
        runner.end_turn();
      }
    });
    scene.join();
    MODEL_ASSERT(runner.handled == 2);
    MODEL_ASSERT(runner.is_at_rest());
  });
}

// ---- the end ----

// Who has scheduled the old actor has its slot in his hands until he has called.
TEST(OneRunner, GivesUpNoSlotForWhichACallIsOnItsWay) {
  int called = 0, too_late = 0;
  expect_always(
      {.name = "one runner, retirement, a waker and a request", .preemptions = 3},
      [&](Scene& scene) {
        auto& runner = scene.make<Runner>(4u);
        const uint32_t old_generation = runner.generation;
        scene.thread([&] { runner.wake_up(old_generation); });
        scene.thread(
            [&] { (runner.ask_to_end(old_generation) == Wake::gone ? too_late : called) += 1; });
        scene.thread([&] {
          (void)runner.send_own(scene.make<Message>(1, 1));
          while (runner.wait_for_turn()) {
            if (runner.generation != old_generation) {
              while (runner.handle()) {
              }
              runner.end_turn();
            } else if (runner.retire()) {
              runner.actor.slot.store(77, std::memory_order_relaxed);  // as the next free one's
              MODEL_ASSERT(runner.move_in() != old_generation);
              (void)runner.send_own(scene.make<Message>(1, 1));
            }
          }
        });
        scene.join();
        MODEL_ASSERT(runner.generation != old_generation);
        MODEL_ASSERT(runner.handled == runner.accepted);
        MODEL_ASSERT(runner.is_at_rest());
      });
  EXPECT_GT(called, 0);
  EXPECT_GT(too_late, 0);
}

// Whoever wakes an actor whose start is called off calls for no turn of one that is gone.
TEST(OneRunner, CallsAStartOffUnderAWaker) {
  int called = 0, gone_at_once = 0;
  expect_always({.name = "one runner, a start called off and a waker", .preemptions = 4},
                [&](Scene& scene) {
                  auto& runner = scene.make<Runner>(4u);
                  const uint32_t generation = runner.generation;
                  scene.thread([&] { runner.wake_up(generation); });
                  scene.thread([&] {
                    runner.call_off();
                    ++gone_at_once;
                    while (runner.wait_for_turn()) {
                      --gone_at_once;
                      ++called;
                      runner.finish_end();
                    }
                  });
                  scene.join();
                  MODEL_ASSERT(!runner.actor.state.is(generation));
                  MODEL_ASSERT(runner.take_free_slot());
                });
  EXPECT_GT(called, 0);
  EXPECT_GT(gone_at_once, 0);
}

// ---- the list alone ----

// Each call comes out once, and with it what the caller did before.
TEST(CallList, LosesNoneOfThreeCallersAndHandsOverWhatTheyDid) {
  expect_always({.name = "call list, 3 callers", .preemptions = 3}, [](Scene& scene) {
    constexpr uint32_t kCallers = 3;
    auto& actors = scene.make<std::array<core::Actor, kCallers>>();
    auto& done = scene.make<std::array<base::Shared<int>, kCallers>>();
    auto& list = scene.make<drivers::CallList>();
    for (uint32_t slot = 0; slot < kCallers; ++slot) {
      actors[slot].own_id = core::make_id(slot, 1);
      done[slot] = 0;
    }
    for (uint32_t slot = 0; slot + 1 < kCallers; ++slot) {
      scene.thread([&, slot] {
        const auto call = [&](uint32_t whose) {
          done[whose] = 1;
          list.push(actors[whose]);
        };
        call(slot);
        if (slot == 0) call(kCallers - 1);
      });
    }
    scene.thread([&] {
      uint32_t taken = 0;
      uint32_t counted = 0;
      bool has_first = false;
      while (taken < kCallers) {
        list.take_all([&](uint32_t slot) -> core::Actor& { return actors[slot]; },
                      [&](uint32_t count) { counted += count; },
                      [&](core::Actor& actor) {
                        const uint32_t slot = core::slot_of(actor.own_id);
                        MODEL_ASSERT(actor.slot.load(std::memory_order_relaxed) == slot);
                        MODEL_ASSERT(std::exchange(done[slot], 0) == 1);
                        MODEL_ASSERT(slot != kCallers - 1 || has_first);  // in their order
                        has_first |= slot == 0;
                        ++taken;
                      });
        MODEL_ASSERT(counted == taken);
        if (taken < kCallers) base::yield_thread();
      }
    });
    scene.join();
  });
}

}  // namespace
}  // namespace jzx::base::model

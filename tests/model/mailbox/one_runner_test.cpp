// core/one_runner.hpp and drivers/loop/call_list.hpp: the one thread that runs all actors sends to
// them and schedules them without exchanges, while others send, wake, and ask to end.
#include "core/one_runner.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "drivers/loop/call_list.hpp"
#include "model/mailbox/scene.hpp"

namespace jzx::base::model {
namespace {

using core::Admission;
using core::OwnSend;
using core::Wake;

// One actor and the thread that runs it. What drivers/loop/worker.cpp, core/send.hpp and
// core/turn.cpp do about the shipped parts, it does too, and must be kept like them.
class Runner {
 public:
  static constexpr uint32_t kSlot = 3;
  static constexpr int kOwn = 3;  // the sender of its own mail

  explicit Runner(uint32_t limit) : limit_(limit) { move_in(); }

  uint32_t move_in() {
    actor.set_user_limit(limit_);
    generation = actor.state.next_generation(Mailbox::kFirstGeneration);
    actor.own_id = core::make_id(kSlot, generation);
    actor.slot.store(kSlot, std::memory_order_relaxed);
    last_.fill(0);
    actor.state.open(generation, false);
    return generation;
  }

  // ---- others ----

  Admission send(Message& message) {
    message.generation = generation;
    const Admission admission = core::admit_user(actor, message.generation);
    if (admission >= Admission::full) return admission;
    count_in(message);
    if (core::enqueue(actor, message.envelope, admission, core::Inboxes::none)) call();
    return admission;
  }
  void wake_up(uint32_t whom) {
    if (actor.state.wake(whom) == Wake::submit) call();
  }
  Wake ask_to_end(uint32_t whom) {
    const Wake wake = actor.state.request_exit(whom, ExitReason::killed);
    if (wake == Wake::submit) call();
    return wake;
  }

  // ---- the one thread ----

  // False: refused.
  bool send_own(Message& message) {
    message.generation = generation;
    message.sender = kOwn;
    const auto fill = [&]() -> Envelope& {
      count_in(message);
      return message.envelope;
    };
    switch (core::send_own(actor, actor.own_id, fill)) {
      case OwnSend::first:
        return queue(), true;
      case OwnSend::queued:
        return true;
      case OwnSend::by_exchange:
      case OwnSend::refused:
        break;
    }
    const Admission admission = core::admit_user(actor, generation);
    if (admission >= Admission::full) return false;
    count_in(message);
    if (core::enqueue(actor, message.envelope, admission, core::Inboxes::all)) submit();
    return true;
  }
  void submit() {
    if (core::is_to_be_queued(actor)) queue();
  }
  void wake_own() {
    if (core::wake(actor, generation, true) == Wake::submit) submit();
  }

  // The next turn is due. False: nothing will ever be.
  [[nodiscard]] bool wait_for_turn() {
    for (;;) {
      called_.take_all([&](uint32_t) -> core::Actor& { return actor; }, [](uint32_t) {},
                       [&](core::Actor& one) {
                         MODEL_ASSERT(one.slot.load(std::memory_order_relaxed) == kSlot);
                         submit();
                       });
      if (is_queued_) {
        is_queued_ = false;
        is_in_turn_ = true;
        return true;
      }
      if (!sleep_.until_woken()) return false;
    }
  }
  bool handle() {
    Envelope* envelope = core::take(actor);
    if (envelope == nullptr) return false;
    Message& message = *envelope->as<Message*>();
    ++handled;
    --queued_[message.sender == kOwn ? 1 : 0];
    MODEL_ASSERT(message.payload == message.number);
    MODEL_ASSERT(message.generation == generation);
    int& last = last_[static_cast<size_t>(message.sender)];
    MODEL_ASSERT(message.number > last);
    last = message.number;
    message.payload = 0;
    return true;
  }
  // It has seen no more mail.
  void end_turn() {
    is_in_turn_ = false;
    if (core::rest_at_once(actor) || core::rest(actor, false)) return;
    // Admitted, but not here yet?
    requeue(actor.inbox.is_empty() && core::queued_count(actor) != 0);
  }
  // True: it waits for its waker.
  bool suspend() {
    is_in_turn_ = false;
    if (core::suspend(actor, false)) return true;
    requeue(core::is_scheduled_here(actor));  // else it was woken
    return false;
  }
  // True: it has ended. False: it is to have another turn for that.
  bool retire() {
    is_in_turn_ = false;
    actor.state.close();
    while (handle()) {
    }
    if (core::give_up_slot(actor)) return true;
    requeue(true);
    return false;
  }
  void run_turns() {
    while (wait_for_turn()) {
      while (handle()) {
      }
      end_turn();
    }
  }

  [[nodiscard]] bool is_at_rest() const {
    return !actor.is_scheduled() && actor.inbox.is_empty() && actor.arrivals.looks_empty() &&
           core::queued_count(actor) == 0;
  }

  core::Actor actor;
  uint32_t generation = 0;
  int accepted = 0;
  int handled = 0;
  int most_queued = 0;

 private:
  void call() {
    called_.push(actor);
    sleep_.wake();
  }
  void queue() {
    MODEL_ASSERT(!is_queued_ && !is_in_turn_);  // once
    is_queued_ = true;
  }
  // Once around the run queue; that may be in vain until another thread has done something.
  void requeue(bool waits_for_others) {
    queue();
    if (waits_for_others) base::yield_thread();
  }
  // Its own mail and that of the others are each within the bound, and so is all that one knew of
  // when he sent.
  void count_in(const Message& message) {
    ++accepted;
    int& queued = queued_[message.sender == kOwn ? 1 : 0];
    MODEL_ASSERT(++queued <= static_cast<int>(limit_));
    most_queued = std::max(most_queued, queued_[0] + queued_[1]);
  }

  drivers::CallList called_;
  Sleep sleep_;
  bool is_queued_ = false;
  bool is_in_turn_ = false;
  uint32_t limit_;
  int queued_[2] = {};         // others' mail, own mail
  std::array<int, 4> last_{};  // of each sender
};

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

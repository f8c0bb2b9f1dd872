// What the mailbox and retirement tests share: one real core::Actor, messages that are race-checked
// on their way, and a run queue of one place.
#pragma once

#include <array>

#include "core/mailbox.hpp"
#include "drivers/workers/linger.hpp"
#include "model/explore.hpp"

namespace jzx::core {
// The actor names it; no turn is run here. Weak, since each test file has one.
[[gnu::weak]] void run_actor(base::Runnable&, base::Executor&) {}
}  // namespace jzx::core

namespace jzx::base::model {

struct Message {
  Message(int the_sender, int the_number, uint32_t flags = 0)
      : envelope(nullptr, 0, flags), sender(the_sender), number(the_number), payload(the_number) {
    envelope.as<Message*>() = this;
  }
  Envelope envelope;
  int sender;
  int number;
  uint32_t generation = 0;    // of the actor it was meant for
  base::Shared<int> payload;  // the sender writes it, the handler reads it
};

class Mailbox {
 public:
  static constexpr uint32_t kFirstGeneration = 7;
  static constexpr uint32_t kSlot = core::StateWord::kMostSlots - 1;  // of its id

  explicit Mailbox(uint32_t user_limit, bool first_turn = false) : limit_(user_limit) {
    move_in(first_turn);
  }

  // A new actor in the free slot.
  uint32_t move_in(bool first_turn) {
    actor.set_user_limit(limit_);
    generation = actor.state.next_generation(kFirstGeneration);
    last_.fill(0);
    is_submitted_ = first_turn;
    actor.state.open(generation, first_turn);
    return generation;
  }

  // ---- senders ----

  core::Admission send(Message& message, uint32_t to_generation,
                       core::Inboxes mine = core::Inboxes::idle) {
    message.generation = to_generation;
    core::Admission admission = core::Admission::full;
    if (takes_short_ways)
      admission = core::admit_user_at_once(actor, core::make_id(kSlot, to_generation));
    if (admission >= core::Admission::full) admission = core::admit_user(actor, to_generation);
    if (admission >= core::Admission::full) return admission;
    ++accepted;
    ++users_queued;
    MODEL_ASSERT(users_queued <= static_cast<int>(limit_));
    enqueue(message, admission, mine);
    return admission;
  }

  void send_system(Message& message) {
    message.generation = generation;
    actor.system_queued.fetch_add(1, std::memory_order_relaxed);  // as core::admit_notice()
    const core::Admission admission = actor.state.admit_system(generation);
    MODEL_ASSERT(admission != core::Admission::gone);
    ++accepted;
    enqueue(message, admission, core::Inboxes::idle);
  }

  // Whoever is told to submit it, does so once.
  void submit() {
    MODEL_ASSERT(!is_submitted_);
    is_submitted_ = true;
    run_queue_.wake();
  }

  // By who has held it back since it moved in, scheduled.
  void hand_over() { run_queue_.wake(); }

  // ---- the consumer ----

  // False: it will never be submitted again.
  [[nodiscard]] bool wait_for_turn() { return run_queue_.until_woken(); }

  // Handles one message, if there is one.
  bool handle() {
    Envelope* envelope = core::take(actor);
    if (envelope == nullptr) return false;
    Message& message = *envelope->as<Message*>();
    ++handled;
    if ((envelope->flags & Envelope::kSystem) == 0) --users_queued;
    MODEL_ASSERT(message.payload == message.number);
    MODEL_ASSERT(message.generation == generation);
    int& last = last_[static_cast<size_t>(message.sender)];
    MODEL_ASSERT(message.number > last);
    last = message.number;
    message.payload = 0;
    return true;
  }

  // True: nothing is left to do.
  [[nodiscard]] bool park(bool stopping = false) {
    is_submitted_ = false;
    const uint32_t handled_now = core::handled_count(actor);
    if (takes_short_ways && !stopping && actor.state.park_at_once(handled_now, generation))
      return true;
    if (actor.state.park(handled_now, stopping)) return true;
    is_submitted_ = true;
    return false;
  }

  // It is idle, and its worker stays with it for so many looks. True: it is to have a turn.
  [[nodiscard]] bool linger(core::ActorId id, int looks) {
    drivers::Linger linger({&actor, id});
    if (!linger.has_begun()) return false;
    is_submitted_ = true;
    for (int i = 0; i < looks && !linger.has_news(); ++i) {
    }
    is_submitted_ = false;
    is_submitted_ = linger.end() != nullptr;
    return is_submitted_;
  }

  // True: it waits for its waker.
  [[nodiscard]] bool suspend() {
    is_submitted_ = false;
    if (actor.state.suspend(false)) return true;
    is_submitted_ = true;
    return false;
  }

  // Turns until it parks.
  void run_turns() {
    for (;;) {
      while (handle()) {
      }
      if (park()) return;
      base::yield_thread();  // once around the run queue
    }
  }

  core::Actor actor;
  uint32_t generation = 0;
  bool takes_short_ways = false;  // in and out, where there is one; as send_common() and end_turn()
  // What the state word must agree with. They change together with it, since no thread is taken off
  // between an atomic operation and the next.
  int accepted = 0;
  int handled = 0;
  int users_queued = 0;

 private:
  void enqueue(Message& message, core::Admission admission, core::Inboxes mine) {
    if (core::enqueue(actor, message.envelope, admission, mine)) submit();
  }

  uint32_t limit_;
  Sleep run_queue_;
  bool is_submitted_ = false;
  std::array<int, 4> last_{};  // of each sender
};

}  // namespace jzx::base::model

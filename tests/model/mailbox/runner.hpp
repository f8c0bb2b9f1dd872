// What the tests of core/one_runner.hpp share: one actor, and the one thread that runs all actors.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include "core/kind.hpp"
#include "core/lifecycle.hpp"
#include "core/send.hpp"
#include "drivers/loop/call_list.hpp"
#include "model/mailbox/scene.hpp"

namespace jzx::base::model {

// A loop as far as sends go: it has an actor in a slot, and a ready queue. It is made once, as the
// timer tests' Stage is.
struct Loop final : core::Host {
  explicit Loop(core::System& its_system) : Host(its_system, 0, 64) {
    system.runner = this;
    actor = system.actors.take(&free_slots);
    slot = actor->slot.load(std::memory_order_relaxed);
    actors = system.actors.view();
  }

  void post(base::Runnable&) override { MODEL_ASSERT(!"others call"); }
  uint64_t now_ns() override { return 0; }
  void arm(base::Timer&, uint64_t) override { MODEL_ASSERT(!"there are no timers"); }
  bool disarm(base::Timer&) override { return false; }
  uint32_t choose(uint32_t, base::ChoiceSite) override { return 0; }
  bool post_blocking(base::Runnable&) override { return false; }
  io::Reactor& io() override { std::abort(); }
  void submit_last(base::Runnable& work, bool) noexcept override { submit_elsewhere(work); }
  bool unlink_timer(base::Timer&) noexcept override { return false; }
  void release_watches(core::Actor&) noexcept override {}

  core::Actor* actor;
  uint32_t slot = 0;

  static Loop& only() {
    static auto* system = new core::System{{.allocator = {}, .max_actors = 1}};
    static auto* loop = new Loop(*system);
    return *loop;
  }
};

// Nothing of it is run.
class NoKind final : public core::Kind {
 public:
  core::Outcome resume(core::Actor&, core::Turn&) const override { std::abort(); }
  void destroy(core::Actor&, core::Host&, ExitReason) const noexcept override {}
  const char* name() const noexcept override { return "none"; }
};

// One actor and the thread that runs it. What that thread sends and schedules goes the shipped way;
// what drivers/loop/worker.cpp, core/turn.cpp and others' sends do about the shipped parts, this
// does too, and must be kept like them.
class Runner {
 public:
  static constexpr int kOwn = 3;  // the sender of its own mail

  explicit Runner(uint32_t limit) : limit_(limit) {
    std::construct_at(&actor);  // of this run
    loop_.ready = base::RunQueue();
    move_in();
  }
  ~Runner() { std::destroy_at(&actor); }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  uint32_t move_in() {
    actor.set_user_limit(limit_);
    generation = actor.state.next_generation(Mailbox::kFirstGeneration);
    actor.own_id = core::make_id(loop_.slot, generation);
    actor.slot.store(loop_.slot, std::memory_order_relaxed);
    last_.fill(0);
    actor.state.open(generation, false);
    return generation;
  }

  // ---- others ----

  core::Admission send(Message& message) {
    message.generation = generation;
    const core::Admission admission = core::admit_user(actor, message.generation);
    if (admission >= core::Admission::full) return admission;
    count_in(message);
    if (core::enqueue(actor, message.envelope, admission, core::Inboxes::none)) call();
    return admission;
  }
  void wake_up(uint32_t whom) {
    if (actor.state.wake(whom) == core::Wake::submit) call();
  }
  core::Wake ask_to_end(uint32_t whom) {
    const core::Wake wake = actor.state.request_exit(whom, ExitReason::killed);
    if (wake == core::Wake::submit) call();
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
    if (core::send_common(loop_, actor.own_id, fill)) return true;
    if (!ok(core::send(loop_, actor.own_id, message.envelope))) return false;
    count_in(message);
    return true;
  }
  // A system message, which goes by an exchange.
  void notify_own(Message& message) {
    message.generation = generation;
    message.sender = kOwn;
    message.envelope.flags = Envelope::kSystem;
    ++accepted;
    core::put(loop_, actor, message.envelope, core::admit_notice(actor));
  }
  void wake_own() {
    if (loop_.wake(actor, generation) == core::Wake::submit) loop_.submit(actor);
  }

  // The next turn is due. False: nothing will ever be.
  [[nodiscard]] bool wait_for_turn() {
    for (;;) {
      called_.take_all([&](uint32_t) -> core::Actor& { return actor; }, [](uint32_t) {},
                       [&](core::Actor& one) {
                         MODEL_ASSERT(one.slot.load(std::memory_order_relaxed) == loop_.slot);
                         if (core::is_to_be_queued(one)) loop_.requeue(one);
                       });
      if (loop_.ready.pop() != nullptr) return is_in_turn_ = true;
      if (!sleep_.until_woken()) return false;
    }
  }
  bool handle() {
    Envelope* envelope = core::take(actor);
    if (envelope == nullptr) return false;
    Message& message = *envelope->as<Message*>();
    ++handled;
    if ((envelope->flags & Envelope::kSystem) == 0) --queued_[message.sender == kOwn ? 1 : 0];
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
    leave_turn();
    if (core::rest_at_once(actor) || core::rest(actor, false)) return;
    // Admitted, but not here yet?
    requeue(actor.inbox.is_empty() && core::queued_count(actor) != 0);
  }
  // True: it waits for its waker.
  bool suspend() {
    leave_turn();
    if (core::suspend(actor, false)) return true;
    requeue(core::is_scheduled_here(actor));  // else it was woken
    return false;
  }
  // True: it has ended. False: it is to have another turn for that.
  bool retire() {
    leave_turn();
    actor.state.close();
    while (handle()) {
    }
    if (core::give_up_slot(actor)) return true;
    requeue(true);
    return false;
  }
  // Its start is called off; see core::abort_start(). The slot is free again, or will be after a
  // turn of finish_end().
  void call_off() {
    actor.kind = &kind_;
    actor.status = core::Status::running;
    core::abort_start(loop_, actor.own_id);
  }
  void finish_end() {
    leave_turn();
    core::continue_end(loop_, actor);
  }
  // False: it is not free.
  [[nodiscard]] bool take_free_slot() {
    return loop_.system.actors.take(loop_.own_slots()) == &actor;
  }
  void run_turns() {
    while (wait_for_turn()) {
      while (handle()) {
      }
      end_turn();
    }
  }

  // The number of the message that was handled last, of those of this sender.
  [[nodiscard]] int last_of(int sender) const { return last_[static_cast<size_t>(sender)]; }

  [[nodiscard]] bool is_at_rest() const {
    return !actor.is_scheduled() && actor.inbox.is_empty() && actor.arrivals.looks_empty() &&
           core::queued_count(actor) == 0;
  }

 private:
  static inline const NoKind kind_;
  Loop& loop_ = Loop::only();

 public:
  core::Actor& actor = *loop_.actor;
  uint32_t generation = 0;
  int accepted = 0;
  int handled = 0;
  int most_queued = 0;

 private:
  void call() {
    called_.push(actor);
    sleep_.wake();
  }
  // Meanwhile nobody has queued it; nor before, twice.
  void leave_turn() {
    MODEL_ASSERT(std::exchange(is_in_turn_, false));
    MODEL_ASSERT(loop_.ready.empty());
  }
  // Once around the run queue; that may be in vain until another thread has done something.
  void requeue(bool waits_for_others) {
    loop_.requeue(actor);
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
  bool is_in_turn_ = false;
  uint32_t limit_;
  int queued_[2] = {};         // others' mail, own mail
  std::array<int, 4> last_{};  // of each sender
};

}  // namespace jzx::base::model

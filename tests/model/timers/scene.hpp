// What the timer tests share: a system with one actor, a worker that fires and one that runs the
// actor (see hosts.hpp), and messages that know what became of them. The turn and the end of
// an actor are the shipped ones, unless a scene says otherwise.
//
// The system has thousands of atomics, so it is made once for a test, outside the runs, and each
// run leaves it as it found it, but for generations. Its mutexes are only met by one thread at a
// time: who waited for one that another holds would hold up the checker.
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "core/lifecycle.hpp"
#include "core/message_timer.hpp"
#include "core/send.hpp"
#include "core/turn.hpp"
#include "model/timers/hosts.hpp"

namespace jzx::base::model {

using core::ActorId;

// ---- messages and the actor ----

// One message and what became of it.
struct Letter {
  base::Shared<int> payload{0};
  int handled = 0;
  int dead = 0;
  int cancelled = 0;
  int destroyed = 0;

  [[nodiscard]] int fates() const { return handled + dead + cancelled; }

  static Letter& of(Envelope& envelope) { return *envelope.as<Letter*>(); }
  static void destroy(Envelope& envelope) noexcept {
    Letter& letter = of(envelope);
    MODEL_ASSERT(letter.payload == 1);
    MODEL_ASSERT(++letter.destroyed == 1);
    letter.payload = 2;
  }
  static const MessageType kType;
};
inline const MessageType Letter::kType = [] {
  MessageType type{};
  type.name = "letter";
  type.key = &kType;
  type.destroy = &destroy;
  return type;
}();

// What the actor in the slot is to do, and has done.
struct Life {
  bool ends = false;  // with its next turn
  int turns = 0;
  Letter* last = nullptr;

  void read(Letter& letter) {
    MODEL_ASSERT(letter.payload == 1);
    MODEL_ASSERT(++letter.handled == 1);
    last = &letter;
  }
};

class ReaderKind final : public core::Kind {
 public:
  core::Outcome resume(core::Actor& actor, core::Turn& turn) const override {
    Life& life = *static_cast<Life*>(actor.body.words[0]);
    ++life.turns;
    while (Envelope* envelope = turn.take()) life.read(Letter::of(*envelope));
    return life.ends ? core::Outcome::stopped : turn.pause();
  }
  void destroy(core::Actor&, core::Host&, ExitReason) const noexcept override {}
  const char* name() const noexcept override { return "reader"; }
};

// ---- the stage: what all runs of a test share ----

class Stage : Observer {
 public:
  Stage() {
    system.set_observer(this);
    // The runs shall find all the memory that they need.
    Life life;
    Letter in_timer, in_envelope;
    const ActorId id = spawn(life, 1);
    (void)arm(firer, id, in_timer);
    send(id, in_envelope);
    end(id);
  }

  // ---- the actor, by the thread of `runner` ----

  [[nodiscard]] core::Actor& slot() { return *system.actors.find(0); }

  ActorId spawn(Life& life, uint32_t user_limit) {
    ActorId id = core::kNobody;
    const core::SpawnOptions options{.kind = &kind_,
                                     .body = {{&life, nullptr}},
                                     .mailbox_cap = core::kSystemReserve + user_limit};
    JZX_ASSERT(ok(core::spawn(runner, options, id)));
    return id;
  }
  void send(ActorId to, Letter& letter) {
    Envelope& envelope = *runner.envelopes.take(&Letter::kType, core::kNobody);
    put(letter, envelope);
    JZX_ASSERT(ok(core::send(runner, to, envelope)));
  }
  // Its turns, until there will be no more …
  void run_turns() {
    while (place.wait()) run_turn();
  }
  // … or it has ended.
  void run_until_retired(ActorId id) {
    while (place.wait()) {
      run_turn();
      if (!slot().state.is(core::generation_of(id))) return;
    }
  }
  // ---- the same in fewer steps, for three threads; to be kept like core/turn and core/lifecycle
  // in all that concerns senders and timers ----

  void run_turns_briefly(Life& life) {
    core::Actor& actor = slot();
    while (place.wait()) {
      for (;;) {
        const uint64_t before = progress();
        while (Envelope* envelope = core::take(actor)) {
          life.read(Letter::of(*envelope));
          runner.finish(*envelope);
        }
        if (actor.has_note(core::kTimersWaiting)) core::deliver_waiting_timers(runner, actor);
        if (actor.state.park(core::taken_count(actor), false)) break;
        go_around(before);
      }
    }
  }
  void end_briefly() {
    core::Actor& actor = slot();
    MODEL_ASSERT(place.wait());
    actor.state.close();
    core::abandon_timers(runner, actor, DeadLetterReason::target_gone);
    core::drain_mailbox(runner, actor, DeadLetterReason::target_gone);
    {
      core::Bonds hold(true, actor);
      actor.bonds_closed.store(true, std::memory_order_relaxed);
    }
    core::abandon_timers(runner, actor, DeadLetterReason::target_gone);
    core::Relations* relations = nullptr;
    {
      core::Bonds hold(true, actor);
      relations = std::exchange(actor.relations, nullptr);
    }
    if (relations != nullptr) system.give_relations(*relations);
    for (;;) {
      core::drain_mailbox(runner, actor, DeadLetterReason::target_gone);
      if (actor.state.retire(core::taken_count(actor))) break;
      base::yield_thread();  // once around the run queue
    }
    system.actors.give(runner.own_slots(), actor);
  }

  // When no other thread is left: the turns that it has coming, …
  void run_turns_now() {
    while (place.is_submitted()) {
      place.clear();
      slot().run(runner);
    }
  }
  // … and its end.
  void end(ActorId id) {
    (void)core::request_exit(runner, id, ExitReason::normal);  // else it has ended
    run_turns_now();
    JZX_ASSERT(!slot().state.is(core::generation_of(id)));
  }

  // What a run leaves behind that the next could see: the senders' last look, the flags of arm().
  void clear() {
    place.clear();
    for (SleepingReactor& reactor : reactors) reactor.sleep = Sleep();
    slot().full_at.store(slot().room_ends_at(), std::memory_order_relaxed);
    (void)firer.next_deadline_ns();
    firer.fire();
  }

  // ---- timers, by any thread that is or has a host ----

  // Due at once. 0: there is no such actor.
  static uint64_t arm(core::Host& host, ActorId to, Letter& letter) {
    Errc error = Errc::ok;
    core::MessageTimer* timer = core::make_timer(host, to, error);
    if (timer == nullptr) return 0;
    put(letter, *timer);
    return core::arm_timer(host, *timer, 0);
  }
  static void cancel(core::Host& host, uint64_t id, Letter& letter) {
    const Errc result = core::cancel_timer(host, id);
    MODEL_ASSERT(result == Errc::ok || result == Errc::timer_invalid);
    if (result == Errc::timer_invalid) return;
    ++letter.cancelled;
    MODEL_ASSERT(letter.fates() == 1);
    MODEL_ASSERT(letter.destroyed == 1);
    MODEL_ASSERT(letter.payload == 2);  // we know of that
  }
  [[nodiscard]] uint32_t timers_in_use() const {
    return firer.timers.in_use() + runner.timers.in_use();
  }

  RunPlace place;
  core::System system{{.allocator = {}, .max_actors = 1, .is_shared = true, .workers = 2}};
  StandingClock clocks[2];
  SleepingReactor reactors[2];
  Worker firer{system, place, clocks[0], reactors[0], 0};   // has all timers in its wheel
  Worker runner{system, place, clocks[1], reactors[1], 1};  // runs the actor
  Visitor caller{system, place, firer};
  Visitor other_caller{system, place, firer};

 private:
  static void put(Letter& letter, Envelope& envelope) {
    letter.payload = 1;
    envelope.type = &Letter::kType;
    new (envelope.storage) Letter*(&letter);
  }
  void dead_letter(ActorId, Envelope& envelope, DeadLetterReason) override {
    Letter& letter = Letter::of(envelope);
    MODEL_ASSERT(letter.payload == 1);
    MODEL_ASSERT(++letter.dead == 1);
  }
  // How much the actor got on with.
  [[nodiscard]] uint64_t progress() const {
    const core::Ledger& ledger = runner.counters;
    return ledger.accepted + ledger.handled + ledger.dead_lettered;
  }
  // Once around the run queue. Where it gets on only if others do, they must have the chance. (That
  // its mail is empty may be old news, though: it may have waited for a lock since it looked.)
  void go_around(uint64_t progress_before) {
    if (progress() == progress_before && slot().arrivals.empty_before_sleep()) base::yield_thread();
  }
  void run_turn() {
    const uint64_t before = progress();
    slot().run(runner);
    if (place.is_submitted()) go_around(before);
  }

  ReaderKind kind_;
};

// ---- the play: what one run has of its own ----

struct Play {
  Play(Stage& the_stage, uint32_t user_limit) : stage(the_stage) {
    current_executors.fill(nullptr);
    stage.clear();
    actor = stage.spawn(life, user_limit);
  }

  // Before the threads begin.
  void arm() { timer = Stage::arm(stage.firer, actor, letter); }
  void fill() { stage.send(actor, filler); }
  // As if the tick had just taken it out of the wheel; to be fired.
  base::Timer& take_out() {
    base::Timer& due = *stage.firer.timers.find(timer);
    core::Timers hold(stage.firer);
    MODEL_ASSERT(stage.firer.unlink_timer(due));
    return due;
  }

  // ---- the threads ----

  void fire() {
    stage.firer.enter_thread();
    stage.firer.fire();
  }
  void run() { stage.run_turns(); }
  void cancel() { Stage::cancel(stage.caller, timer, letter); }

  Stage& stage;
  Life life;
  ActorId actor = core::kNobody;
  Letter filler;  // takes the place of one message
  Letter letter;
  uint64_t timer = 0;  // which carries it; 0: none does
};

// All runs of a scene: `act` starts and joins threads, and says what must be true then. After that
// the actor ends, and nothing may be left.
template <class Act>
void expect_always_on_stage(const Options& options, uint32_t user_limit, Act&& act) {
  auto* stage = new Stage;
  expect_always(options, [&](Scene& scene) {
    Play& play = scene.make<Play>(*stage, user_limit);
    act(scene, play);
    stage->end(play.actor);
    const int messages = play.timer != 0 ? 1 : 0;
    MODEL_ASSERT(play.letter.fates() == messages);
    MODEL_ASSERT(play.letter.destroyed == messages);
    MODEL_ASSERT(stage->timers_in_use() == 0);
  });
  if (!testing::Test::HasFailure()) delete stage;  // else it is as the failure left it
}

}  // namespace jzx::base::model

// Host: an Executor that also knows actors. One per worker. Drivers implement it; the core names no
// driver. What is hot is plain members of this class; what differs between drivers is virtual.
//
// Threads: post(), arm() and disarm() as the Executor says; the rest on the host's own thread.
#pragma once

#include <mutex>

#include <jzx/errc.hpp>

#include "base/atomic.hpp"
#include "base/executor.hpp"
#include "base/run_queue.hpp"
#include "base/slot_map.hpp"
#include "base/steal/lifo_slot.hpp"
#include "core/envelope_pool.hpp"
#include "core/ledger.hpp"
#include "core/system.hpp"

namespace jzx::core {

// Why messages and bodies are ended now, without having been handled or having had their say: for
// promises among them, which are dropped.
struct Fate {
  DeadLetterReason why = DeadLetterReason::target_gone;
  // Of target_gone; the text is null where it is not known.
  ExitReason reason = ExitReason::normal;
  const ExitText* text = nullptr;
};

// Who hears of every single message of a host before it is queued: for drivers that number
// messages, order their work by that, refuse some on purpose, or write down what happens. A host
// with a tap takes the long way for every send, see send.hpp; one without pays nothing. The host's
// own thread, and whoever sends from outside.
class Tap {
 public:
  // A user wants to send this, from this host. What is not ok is the answer that the sender gets.
  [[nodiscard]] virtual Errc before_send(ActorId target, const Envelope& envelope) noexcept = 0;
  // It is about to be let in, if there is room. True: the tap keeps it, and will put it into the
  // mailbox later; the sender hears that it was accepted.
  [[nodiscard]] virtual bool hold(Actor& /*target*/, ActorId /*id*/,
                                  Envelope& /*envelope*/) noexcept {
    return false;
  }
  // The same as before_send(), of one from a thread that is not the system's; it cannot be refused
  // here.
  virtual void coming(ActorId /*target*/, Envelope& /*envelope*/) noexcept {}
  // It was let in, and is about to be queued. The system's messages too.
  virtual void sent(const Actor& target, Envelope& envelope) noexcept = 0;
  // It will be sent when its time has come.
  virtual void armed(Envelope& envelope) noexcept = 0;
  // The actor's turn takes it; only of those that sent() has marked with Envelope::kTapped. Again,
  // if the body had put it aside and given it back.
  virtual void taken(const Actor& /*actor*/, const Envelope& /*envelope*/) noexcept {}
  // Somebody is about to be asked to end, perhaps in vain.
  virtual void exit_requested(ActorId /*actor*/, ExitReason /*reason*/) noexcept {}
  // It ends; nobody has been told so far.
  virtual void ending(Actor& /*actor*/) noexcept {}
  // The system is about to take no more actors.
  virtual void closing() noexcept {}
  // The system is about to be destroyed.
  virtual void destroying() noexcept {}

 protected:
  ~Tap() = default;
};

// What a host is busy with that is no message, as messages are named by their types. An actor ends:
// its on_stop, its destructor, the unwinding of its fiber.
extern const MessageType end_step;
// A fiber or a coroutine goes on.
extern const MessageType resumed_step;
// Somebody is called back, mostly outside of any turn.
extern const MessageType callback_step;

class Host : public base::Executor {
 public:
  // `index` numbers the hosts that have timers, from 0; kNoTimers: its timers are another's.
  static constexpr uint8_t kNoTimers = 255;
  // Turns here end by their budget alone.
  static constexpr uint64_t kNoLook = ~uint64_t{0};
  Host(System& the_system, uint8_t index, uint32_t messages_per_turn_) noexcept;
  ~Host() override;

  // Runs it soon: on one thread after what is ready already, else as the driver sees fit. This
  // host's thread; others post().
  void submit(base::Runnable& work) noexcept {
    if (work.standing.is_common()) [[likely]] {
      if (!has_siblings) return ready.push(work);
      if (lifo->is_empty()) {
        return lifo->put(work, static_cast<uint32_t>(base::Priority::normal));
      }
    }
    submit_elsewhere(work);
  }
  // An actor that this thread has scheduled, by its state word.
  void submit(Actor& actor) noexcept {
    if (inboxes == Inboxes::idle) [[likely]]
      return submit(static_cast<base::Runnable&>(actor));
    submit_scheduled(actor);
  }
  // The same of any thread.
  using Executor::post;
  void post(Actor& actor);
  // It has had its turn, and is to have another.
  void requeue(Actor& actor) noexcept { submit(static_cast<base::Runnable&>(actor)); }
  // As StateWord::wake(); of an actor of this system, on this host's thread.
  [[nodiscard]] Wake wake(Actor& actor, uint32_t generation) noexcept;
  // Another thread has scheduled an actor that this host's thread runs, as all. Any thread; only of
  // System::runner.
  virtual void call(Actor& actor) noexcept;
  // It has just run, and wants to again: behind what is ready already, unless the driver thinks
  // that one whom others give much to do should go on.
  void submit_again(base::Runnable& work, bool is_fed_by_others) noexcept {
    if (has_siblings) {
      submit_last(work, is_fed_by_others);
    } else {
      submit(work);
    }
  }

  // Where work goes that does not simply wait here for this thread.
  virtual void submit_elsewhere(base::Runnable& work) noexcept;
  // Of one that has just run. Pure, so that no compiler guesses which it is: the guess would be
  // wrong where it counts.
  virtual void submit_last(base::Runnable& work, bool is_fed_by_others) noexcept = 0;

  // Under the lock of the timers: takes it out of the wheel. False: it is not in there.
  [[nodiscard]] virtual bool unlink_timer(base::Timer& timer) noexcept = 0;

  // Whose timers to use from here: its own, or those of a worker.
  [[nodiscard]] Host& timer_home() noexcept {
    return index != kNoTimers ? *this : timer_home_elsewhere();
  }
  [[nodiscard]] virtual Host& timer_home_elsewhere() noexcept { return *this; }

  // While held back, what is submitted here waits, so that a start of several actors can be undone
  // before any of them ran.
  void hold_back() noexcept {
    ++holding_back;
    lifo = &no_lifo_;
  }
  void let_go() noexcept;
  // Out of the queue of this thread again; false: it is not there.
  [[nodiscard]] bool take_back(base::Runnable& work) noexcept {
    return held_back.remove(work) || (!has_siblings && ready.remove(work));
  }

  // Takes what has come from the outside world, without waiting. No other thread is left.
  virtual void look_outside() noexcept {}

  // In a turn that has come to `look_at_step`: reads the clock, and sets the next such step. True:
  // the turn has lasted long enough, and ends as one that has spent its budget.
  [[nodiscard]] virtual bool has_run_long_enough() noexcept { return false; }

  // The actor ended: forget the fds that it owned.
  virtual void release_watches(Actor& actor) noexcept = 0;

  // The message was handled: ends it, and counts it if it was a user's.
  void finish(Envelope& envelope) noexcept {
    // One look for the most common kind: a user's message, from this thread's pool.
    if (envelope.flags == 0) [[likely]] {
      finish_plain(envelope);
    } else {
      finish_unusual(envelope);
    }
  }
  // Of one with no flags.
  void finish_plain(Envelope& envelope) noexcept {
    JZX_ASSERT(envelope.flags == 0);
    ++counters.handled;
    if (envelope.type->destroy != nullptr) envelope.type->destroy(envelope);
    envelopes.give(envelope);
  }
  // The same of one whose message has ended already.
  void finish_ended(Envelope& envelope) noexcept {
    if (envelope.flags == 0) [[likely]] {
      finish_ended_plain(envelope);
    } else {
      finish_ended_unusual(envelope);
    }
  }
  void finish_ended_plain(Envelope& envelope) noexcept {
    JZX_ASSERT(envelope.flags == 0);
    ++counters.handled;
    envelopes.give(envelope);
  }
  // Without a call.
  [[nodiscard]] bool can_finish_at_once(const Envelope& envelope) const noexcept {
    return envelope.type->destroy == nullptr && envelopes.has_room();
  }

  // The message will never be handled: ends it and gives its envelope back.
  void discard(Envelope& envelope) noexcept {
    if (envelope.type->destroy != nullptr) envelope.type->destroy(envelope);
    reclaim(envelope);
  }

  // Gives back an envelope whose message has ended.
  void reclaim(Envelope& envelope) noexcept {
    if ((envelope.flags & (Envelope::kTimer | Envelope::kNotice)) == 0) {
      envelopes.give(envelope);
    } else {
      reclaim_record(envelope);
    }
  }

  // Tells the observer of a user message that nobody will handle, then discards it.
  void dead_letter(ActorId target, Envelope& envelope, DeadLetterReason reason) noexcept;

  // The label of the actor whose body is ended here, for one who asks why it does not end: the
  // actor itself may be nobody's any more by then. Answers what was shown before; any thread may
  // look.
  struct Dying {
    ActorId id = kNobody;
    const char* label = nullptr;
  };
  [[nodiscard]] Dying show_dying(const Dying& who) noexcept;
  template <class See>
  void see_dying(See&& see) {
    std::lock_guard hold(dying_lock_);
    see(dying_);
  }

  // An actor was born or ended here. Written by this thread alone, read by whoever asks whether
  // anybody is alive; see System::alive_count().
  void count_birth() noexcept { count(births); }
  void count_end() noexcept { count(ends); }

  // ---- what every send reads first ----

  // Of the table, as it was when this thread last missed something there.
  ActorTable::View actors;
  // How users know this system: the port of typed actors, and the jzx_loop of behaviours.
  void* port = nullptr;

  // ---- two lines for what every message writes: stores to one line go together, two a cycle ----

  alignas(64) EnvelopePool envelopes;

 private:
  base::Atomic<ActorId> acting_{kNobody};
  base::Atomic<uint64_t> steps_{0};
  base::Atomic<const MessageType*> handling_{nullptr};
  base::Atomic<uint64_t> other_steps_{0};

 public:
  alignas(64) base::RunQueue ready;  // of work that only this thread runs
  // Where others may take work: what is woken goes here, if it is free. One that takes nothing, if
  // there is none.
  base::LifoSlot* lifo = &no_lifo_;
  Ledger counters;  // of this host's thread; `queued` and foreign sends are added on demand
  uint32_t messages_per_turn;
  uint64_t look_at_step = kNoLook;   // in steps(); see has_run_long_enough()
  base::Atomic<bool> halted{false};  // the system ends: no message is taken any more
  const bool has_siblings;
  Inboxes inboxes;  // in which it may put messages; a driver sets it before its thread runs

  // ---- the rest ----

  System& system;
  uint8_t index;
  bool may_wait = false;  // its thread is there to block, and nobody is kept waiting by it
  void* face = nullptr;
  SmallBlocks small;
  // How the turn under way failed; here because a turn should not clear a text that it rarely
  // needs.
  ExitReason exit_reason = ExitReason::normal;
  ExitText exit_text;
  // The body threw; it is to end with Outcome::failed.
  void note_panic(const char* text) noexcept {
    exit_reason = ExitReason::panic;
    exit_text = ExitText(text);
  }
  const Fate* fate = nullptr;  // see Ending

  // Whose turn it is: the sender of what is sent now. relaxed: others only take a snapshot.
  [[nodiscard]] ActorId acting() const noexcept { return acting_.load(std::memory_order_relaxed); }
  void set_acting(ActorId id) noexcept { acting_.store(id, std::memory_order_relaxed); }
  // How many messages were taken here, and of what type the last one is: a turn's budget is counted
  // in these, and who watches over a worker sees whether it gets on. relaxed: others only take a
  // snapshot.
  void note_step(const MessageType* type) noexcept {
    handling_.store(type, std::memory_order_relaxed);
    base::add_alone<uint64_t>(steps_, 1);
  }
  [[nodiscard]] uint64_t steps() const noexcept { return steps_.load(std::memory_order_relaxed); }
  // The same of what is no message, and in no turn's budget. relaxed, all: as above.
  void note_other_step(const MessageType* what) noexcept {
    name_step(what);
    base::add_alone<uint64_t>(other_steps_, 1);
  }
  [[nodiscard]] uint64_t all_steps() const noexcept {
    return steps() + other_steps_.load(std::memory_order_relaxed);
  }
  // A better name for the last step than its type.
  void name_step(const MessageType* what) noexcept {
    handling_.store(what, std::memory_order_relaxed);
  }
  [[nodiscard]] const MessageType* handling() const noexcept {
    return handling_.load(std::memory_order_relaxed);
  }

  // In a shared system guards the timers, the records and the driver's wheel.
  base::SpinLock timers_lock;
  TimerMap timers;
  FreeSlots free_slots;  // of a worker; others use the commons
  [[nodiscard]] FreeSlots* own_slots() noexcept {
    return index != kNoTimers ? &free_slots : nullptr;
  }

  Tap* tap = nullptr;          // hears of every message, if there is one; set before the first
  KindStore* store = nullptr;  // of the kind that needs one: fibers keep stacks here

  base::Atomic<uint64_t> births{0};
  base::Atomic<uint64_t> ends{0};
  uint32_t holding_back = 0;
  base::RunQueue held_back;
  Host* next_host = nullptr;  // in the list of the system

 private:
  base::SpinLock dying_lock_;
  Dying dying_;  // under the lock
  base::Runnable filler_{nullptr};
  base::LifoSlot no_lifo_{filler_};

  static void count(base::Atomic<uint64_t>& counter) noexcept {
    // No locked instruction: only this thread writes. release: pairs with alive_count().
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // The driver's, when nothing is held back.
  [[nodiscard]] virtual base::LifoSlot* own_lifo() noexcept { return &no_lifo_; }
  void submit_scheduled(Actor& actor) noexcept;
  void finish_unusual(Envelope& envelope) noexcept;
  void finish_ended_unusual(Envelope& envelope) noexcept;
  void reclaim_record(Envelope& envelope) noexcept;
};

// For the length of a scope: what is ended here is ended for this reason.
class Ending {
 public:
  Ending(Host& host, ExitReason reason, const ExitText& text) noexcept
      : fate_{DeadLetterReason::target_gone, reason, &text}, host_(host), outer_(host.fate) {
    host.fate = &fate_;
  }
  // Unless more is known already.
  Ending(Host& host, DeadLetterReason why) noexcept
      : fate_{why, ExitReason::normal, nullptr}, host_(host), outer_(host.fate) {
    if (outer_ == nullptr || why != DeadLetterReason::target_gone) host.fate = &fate_;
  }
  ~Ending() { host_.fate = outer_; }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

 private:
  const Fate fate_;
  Host& host_;
  const Fate* const outer_;
};

// For the length of a scope: the host is busy with something that is no message, perhaps in the
// middle of one. Who watches counts that one anew from its end.
class Aside {
 public:
  Aside(Host& host, const MessageType& what) noexcept : host_(host), outer_(host.handling()) {
    host.note_other_step(&what);
  }
  ~Aside() { host_.note_other_step(outer_); }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  Host& host_;
  const MessageType* const outer_;
};

// While a body is ended: on_stop and the destructor run in the name of the actor. An aside without
// a count: whose end it is tells it from all others.
class LastActs {
 public:
  LastActs(Host& host, ActorId id) noexcept
      : host_(host), outer_(host.acting()), outer_step_(host.handling()) {
    host.set_acting(id);  // the sender of what on_stop sends
    host.name_step(&end_step);
  }
  ~LastActs() {
    host_.name_step(outer_step_);
    host_.set_acting(outer_);
  }
  LastActs(const LastActs&) = delete;
  LastActs& operator=(const LastActs&) = delete;

 private:
  Host& host_;
  const ActorId outer_;
  const MessageType* const outer_step_;
};

// Ends the body of one that has a label, which can be seen meanwhile.
void destroy_labelled(Host& host, Actor& actor, ExitReason reason) noexcept;

// The lock of a host's timers, for the length of a scope; nothing where there is one thread only.
class Timers {
 public:
  explicit Timers(Host& host) noexcept : host_(host.has_siblings ? &host : nullptr) {
    if (host_ != nullptr) host_->timers_lock.lock();
  }
  ~Timers() {
    if (host_ != nullptr) host_->timers_lock.unlock();
  }
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

 private:
  Host* host_;
};

// Gives a suspended actor a turn, from whatever thread, while its body is in the wait that the
// waker was made for.
struct Waker {
  Actor* actor = nullptr;
  uint32_t generation = 0;
  Host* host = nullptr;  // where it waits; any of its system would do

  void wake() const noexcept {
    auto* here = static_cast<Host*>(base::Executor::current());
    if (here == nullptr || &here->system != &host->system) return wake_from_anywhere();
    if (here->wake(*actor, generation) == Wake::submit) here->submit(*actor);
  }
  // The same without any lock.
  void wake_from_anywhere() const noexcept {
    if (actor->state.wake(generation) == Wake::submit) host->post(*actor);
  }
};

template <class End>
void System::end_hosts(End&& end) {
  Host* host = hosts.exchange(nullptr, std::memory_order_relaxed);
  while (host != nullptr) {
    Host* next = host->next_host;
    end(*host);
    host = next;
  }
}

template <class Each>
void System::for_each_host(Each&& each) const {
  // acquire: pairs with add_host().
  for (Host* host = hosts.load(std::memory_order_acquire); host != nullptr;) {
    each(*host);
    host = host->next_host;
  }
}

inline void System::look_outside() const noexcept {
  for_each_host([](Host& host) { host.look_outside(); });
}

}  // namespace jzx::core

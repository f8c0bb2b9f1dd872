#include <cstdio>
#include <utility>

#include "core/message_timer.hpp"
#include "core/one_runner.hpp"
#include "core/send.hpp"

namespace jzx {

const MessageType raw_message_type{"raw",   &raw_message_type, nullptr,
                                   nullptr, &raw_message_type, false};

void tell_stall_on_stderr(ActorId id, const char* message, uint64_t running_ms) noexcept {
  const auto time = static_cast<unsigned long long>(running_ms);
  if (id == core::kNobody) {
    std::fprintf(stderr, "jzx: %s has been running on a worker for %llu ms\n", message, time);
  } else {
    std::fprintf(stderr, "jzx: actor %llx has been busy with one thing (%s) for %llu ms\n",
                 static_cast<unsigned long long>(id), message, time);
  }
}

void tell_deadlock_on_stderr(const char* cycle) noexcept {
  std::fprintf(stderr, "jzx: deadlock: %s\n", cycle);
}

const char* to_string(Errc code) noexcept {
  switch (code) {
    case Errc::ok:
      return "ok";
    case Errc::unknown:
      return "unknown error";
    case Errc::no_memory:
      return "out of memory";
    case Errc::invalid_arg:
      return "invalid argument";
    case Errc::loop_closed:
      return "the loop is being destroyed";
    case Errc::no_such_actor:
      return "no such actor: it has ended, or never was";
    case Errc::actor_not_local:
      return "the actor belongs to another system";
    case Errc::mailbox_full:
      return "the actor's mailbox is full";
    case Errc::timer_invalid:
      return "no such timer: it has fired, was cancelled, or never was";
    case Errc::io_reg_failed:
      return "the file descriptor cannot be watched";
    case Errc::io_not_watched:
      return "the file descriptor is not watched";
    case Errc::max_actors:
      return "the limit of live actors is reached";
    case Errc::start_failed:
      return "a child refused to start";
    case Errc::killed:
      return "the fiber that waited was asked to end";
    case Errc::cancelled:
      return "it was cancelled";
    case Errc::timed_out:
      return "the time was up";
    case Errc::broken_promise:
      return "the promise was dropped: nobody will answer";
    case Errc::exception:
      return "an exception was thrown";
    case Errc::closed:
      return "the other side is closed";
    case Errc::all_failed:
      return "none of them succeeded";
    case Errc::lagged:
      return "too slow: something was missed";
    case Errc::io_failed:
      return "the operating system refused";
    case Errc::end_of_stream:
      return "the peer sends no more";
    case Errc::too_long:
      return "longer than the limit allows";
    case Errc::deadlock:
      return "those who wait wait for one another";
    case Errc::empty:
      return "nothing is there now";
  }
  return "unknown error code";
}

const char* to_string(ExitReason reason) noexcept {
  switch (reason) {
    case ExitReason::normal:
      return "normal";
    case ExitReason::fail:
      return "fail";
    case ExitReason::panic:
      return "panic";
    case ExitReason::noproc:
      return "noproc";
    case ExitReason::killed:
      return "killed";
  }
  return "unknown";
}

}  // namespace jzx

namespace jzx::core {

namespace {

// Nobody sends these: they are names.
constexpr MessageType named(const char* name, const MessageType& self) noexcept {
  return {name, &self, nullptr, nullptr, &self, false};
}

constexpr MessageType io_event = named("jzx::IoEvent", io_event);
constexpr MessageType child_exit = named("jzx::ChildExit", child_exit);
constexpr MessageType child_restart = named("jzx::ChildRestart", child_restart);
constexpr MessageType down = named("jzx::Down", down);
constexpr MessageType exit_of_other = named("jzx::Exit", exit_of_other);
constexpr MessageType signal_event = named("jzx::SignalEvent", signal_event);

}  // namespace

const MessageType end_step = named("its end", end_step);
const MessageType resumed_step = named("after a wait", resumed_step);
const MessageType callback_step = named("a continuation", callback_step);

const MessageType* type_of_notice(const Envelope& envelope) noexcept {
  const auto& raw = *reinterpret_cast<const RawMessage*>(envelope.storage);
  switch (static_cast<SystemTag>(raw.tag)) {
    case SystemTag::io:
      return &io_event;
    case SystemTag::child_exit:
      return &child_exit;
    case SystemTag::child_restart:
      return &child_restart;
    case SystemTag::down:
      return &down;
    case SystemTag::exit:
      return &exit_of_other;
    case SystemTag::signal:
      return &signal_event;
  }
  return envelope.type;
}

namespace {

// relaxed: who is wrong about an actor that has just moved in was refused by the one before.
bool drops_newest(const Actor& actor) noexcept {
  return actor.overload.load(std::memory_order_relaxed) == Overload::drop_newest;
}

// Of a thread that is no host's.
void drop_foreign(System& system, ActorId target, Envelope& envelope) noexcept {
  if (Observer* observer = system.observer()) {
    observer->dead_letter(target, envelope, DeadLetterReason::overload);
  }
  if (envelope.type->destroy != nullptr) envelope.type->destroy(envelope);
  system.envelopes.give_dropped(envelope);
}

}  // namespace

Errc refused(Host& host, Actor& actor, ActorId target, Envelope& envelope,
             Admission admission) noexcept {
  if (admission != Admission::full) return refusal(admission);
  Observer* observer = host.system.observer();
  if (observer != nullptr) observer->mailbox_full(target);
  if (!drops_newest(actor)) return refusal(admission);
  ++host.counters.accepted;
  host.dead_letter(target, envelope, DeadLetterReason::overload);
  return Errc::ok;
}

Errc refused_foreign(Host& host, Actor& actor, ActorId target, Envelope& envelope,
                     Admission admission) noexcept {
  if (admission != Admission::full) return refusal(admission);
  if (!actor.has_note(kFullNoted)) {
    // The observer is told by the actor's next turn, once for all refusals until then. It may have
    // worked off its mail meanwhile, and then it has no turn coming.
    actor.note(kFullNoted);
    if (actor.state.wake(generation_of(target)) == Wake::submit) host.post(actor);
  }
  // A loop's observer is called on the loop's thread only: see drop_newest_foreign().
  if (!drops_newest(actor) || !host.system.is_shared) return refusal(admission);
  return drop_foreign(host.system, target, envelope), Errc::ok;
}

Errc drop_newest_foreign(Host& host, ActorId target, Envelope& envelope) noexcept {
  const Actor* actor = host.system.find_open(target);
  if (actor == nullptr || !drops_newest(*actor)) return Errc::mailbox_full;
  return drop_foreign(host.system, target, envelope), Errc::ok;
}

// ---- the system's hosts ----

System::~System() {
  // relaxed: no other thread is left.
  if (KindStore* kept = store.load(std::memory_order_relaxed)) kept->end(allocator);
}

void System::add_host(Host& host) noexcept {
  if (host.index != Host::kNoTimers) actors.add_stack(host.free_slots);
  Host* first = hosts.load(std::memory_order_relaxed);  // a first guess
  do {
    host.next_host = first;
    // release: publishes the host; pairs with for_each_host().
  } while (!hosts.compare_exchange_weak(first, &host, std::memory_order_release,
                                        std::memory_order_relaxed));
  // release: pairs with timer_host().
  if (host.index != Host::kNoTimers) {
    timer_hosts[host.index].store(&host, std::memory_order_release);
  }
}

// All ends are read before any birth. Both only grow, so the answer is not less than the number of
// actors that were alive between the two readings: 0 means that there was nobody.
uint64_t System::alive_count() const noexcept {
  uint64_t ended = 0;
  uint64_t born = 0;
  // acquire, both: a birth that an end followed is seen with it, and the two readings stay in
  // order.
  for_each_host([&](Host& host) { ended += host.ends.load(std::memory_order_acquire); });
  for_each_host([&](Host& host) { born += host.births.load(std::memory_order_acquire); });
  return born - ended;
}

Errc System::make_new_relations(Actor& actor, ActorId id) noexcept {
  {
    Bonds hold(is_shared, actor);
    if (!is_live(actor, id)) return Errc::no_such_actor;
    if (actor.relations != nullptr) return Errc::ok;
  }
  void* memory = relations.take();  // not under the lock
  if (memory == nullptr) return Errc::no_memory;
  auto* made = new (memory) Relations;
  Errc result = Errc::ok;
  {
    Bonds hold(is_shared, actor);
    if (!is_live(actor, id)) {
      result = Errc::no_such_actor;
    } else if (actor.relations == nullptr) {
      actor.relations = std::exchange(made, nullptr);
    }
  }
  if (made != nullptr) give_relations(*made);
  return result;
}

// ---- one host ----

Host::Host(System& the_system, uint8_t index_, uint32_t messages_per_turn_) noexcept
    : envelopes(the_system.envelopes),
      messages_per_turn(messages_per_turn_),
      has_siblings(the_system.is_shared),
      inboxes(the_system.is_shared ? Inboxes::idle : Inboxes::all),
      system(the_system),
      index(index_),
      small(system.small),
      timers(system.allocator, index_, system.first_generation) {
  system.add_host(*this);
}

Host::~Host() {
  if (store != nullptr) store->end(system.allocator);
}

void destroy_labelled(Host& host, Actor& actor, ExitReason reason) noexcept {
  const Host::Dying outer =
      host.show_dying({actor.id(), actor.label});  // an on_stop may end others
  actor.kind->destroy(actor, host, reason);
  (void)host.show_dying(outer);
}

Host::Dying Host::show_dying(const Dying& who) noexcept {
  std::lock_guard hold(dying_lock_);
  return std::exchange(dying_, who);
}

void Host::submit_scheduled(Actor& actor) noexcept {
  if (inboxes == Inboxes::all) {
    if (is_to_be_queued(actor)) requeue(actor);
  } else if (system.runner != nullptr && actor.standing.is_with_workers()) {
    system.runner->call(actor);
  } else {
    requeue(actor);
  }
}

void Host::post(Actor& actor) {
  if (system.runner != nullptr && actor.standing.is_with_workers()) {
    system.runner->call(actor);
  } else {
    post(static_cast<base::Runnable&>(actor));
  }
}

Wake Host::wake(Actor& actor, uint32_t generation) noexcept {
  return core::wake(actor, generation, inboxes == Inboxes::all);
}

void Host::call(Actor& actor) noexcept { post(static_cast<base::Runnable&>(actor)); }

// Whoever submits it publishes what it did through the state word; its owner looks at the note.
void Host::submit_elsewhere(base::Runnable& work) noexcept {
  JZX_ASSERT(work.home() == base::kByHand);
  static_cast<Actor&>(work).note_ready_by_hand();
}

void Host::let_go() noexcept {
  if (--holding_back > 0) return;
  lifo = own_lifo();
  while (base::Runnable* work = held_back.pop()) submit(*work);
}

void Host::finish_unusual(Envelope& envelope) noexcept {
  if (envelope.type->destroy != nullptr) envelope.type->destroy(envelope);
  finish_ended_unusual(envelope);
}

void Host::finish_ended_unusual(Envelope& envelope) noexcept {
  if ((envelope.flags & Envelope::kSystem) == 0) ++counters.handled;
  reclaim(envelope);
}

void Host::reclaim_record(Envelope& envelope) noexcept {
  if ((envelope.flags & Envelope::kTimer) != 0) {
    auto& timer = static_cast<MessageTimer&>(envelope);
    Host& home = timer_owner(system, timer);
    Timers hold(home);
    home.timers.give(timer);
  } else {
    auto& notice = static_cast<Notice&>(envelope);
    notice.reclaim(notice, *this);
  }
}

void Host::dead_letter(ActorId target, Envelope& envelope, DeadLetterReason reason) noexcept {
  JZX_ASSERT((envelope.flags & Envelope::kSystem) == 0);
  ++counters.dead_lettered;
  if (Observer* observer = system.observer()) observer->dead_letter(target, envelope, reason);
  const Ending because(*this, reason);
  discard(envelope);
}

}  // namespace jzx::core

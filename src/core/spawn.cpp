#include "core/lifecycle.hpp"

#include <algorithm>
#include <cstring>

#include "core/mailbox.hpp"

namespace jzx::core {

namespace {

const char* copy_label(const base::Allocator& allocator, const char* label) noexcept {
  const size_t size = std::strlen(label) + 1;
  void* memory = allocator.allocate(size);
  if (memory != nullptr) std::memcpy(memory, label, size);
  return static_cast<const char*>(memory);
}

// The record by which the parent will hear of the end; made now so that it cannot fail then.
Errc make_child(System& system, Actor& parent, const SpawnOptions& options, Child*& out) noexcept {
  if (const Errc error = system.make_relations(parent, options.parent); !ok(error)) return error;
  void* memory = system.children.take();
  if (memory == nullptr) return Errc::no_memory;
  out = new (memory) Child;
  out->parent = &parent;
  out->mark = options.child_mark;
  out->is_supervisor = options.is_supervisor;
  out->is_quiet = options.is_quiet;
  out->stop_within_ms = options.stop_within_ms;
  return Errc::ok;
}

// What a new actor may have besides its slot; most have nothing.
struct Belongings {
  Child* child = nullptr;
  const char* label = nullptr;
  Relations* relations = nullptr;
};

void give_belongings(Host& host, const Belongings& belongings) noexcept {
  if (belongings.child != nullptr) end_child_record(*belongings.child, host);
  if (belongings.relations != nullptr) host.system.give_relations(*belongings.relations);
  host.system.allocator.release(const_cast<char*>(belongings.label));
}

[[gnu::noinline]] Errc make_belongings(Host& host, const SpawnOptions& options,
                                       Belongings& out) noexcept {
  System& system = host.system;
  Belongings made;
  Errc error = Errc::ok;
  if (options.parent != kNobody) {
    Actor* parent = system.find_open(options.parent);
    if (parent == nullptr) return Errc::no_such_actor;
    error = make_child(system, *parent, options, made.child);
  }
  if (options.label != nullptr && ok(error)) {
    made.label = copy_label(system.allocator, options.label);
    if (made.label == nullptr) error = Errc::no_memory;
  }
  if (options.high_water != 0 && ok(error)) {
    void* memory = system.relations.take();
    if (memory == nullptr) {
      error = Errc::no_memory;
    } else {
      made.relations = new (memory) Relations;
      made.relations->high_water = options.high_water;
    }
  }
  if (!ok(error)) return give_belongings(host, made), error;
  out = made;
  return Errc::ok;
}

// A loop has one worker, and no pool for what blocks.
bool can_live_there(const System& system, uint8_t home) noexcept {
  if (home == base::kBlockingPool) return system.is_shared;
  return home >= base::kByHand || home < system.workers;
}

bool is_sound(const System& system, const SpawnOptions& options) noexcept {
  return can_live_there(system, options.home) && options.priority <= base::Priority::low &&
         options.overload <= Overload::wait;
}

// A loop has no use for priorities and workers: all its actors are common, but those run by hand.
base::Standing standing_for(const System& system, const SpawnOptions& options) noexcept {
  if (!system.is_shared) {
    const uint8_t home = options.home == base::kByHand ? base::kByHand : base::kAnyWorker;
    return {base::Priority::normal, home, false};
  }
  return {options.priority, options.home, true};
}

// A new actor in a free slot, all but its id: one that wants nothing special.
[[gnu::always_inline]] inline void furnish_common(const System& system, Actor& actor,
                                                  const Kind& kind, Body body, uint32_t mailbox_cap,
                                                  bool first_turn) noexcept {
  actor.kind = &kind;
  actor.set_run(first_turn ? kind.run_first : kind.run);
  actor.standing.become({base::Priority::normal, base::kAnyWorker, system.is_shared});
  actor.overload.store(Overload::refuse, std::memory_order_relaxed);  // published by open()
  actor.is_supervisor = false;
  actor.body = body;
  actor.set_user_limit(user_share(mailbox_cap != 0 ? mailbox_cap : system.default_mailbox_cap));
  // Who lived here before has given them up.
  JZX_ASSERT(actor.label == nullptr && actor.child == nullptr && actor.relations == nullptr);
  actor.status = first_turn ? Status::init : Status::running;
  actor.traps_exit = false;
  actor.attention.store(0, std::memory_order_relaxed);  // by open() too
}

// The same of any.
void furnish(System& system, Actor& actor, const SpawnOptions& options,
             const Belongings& belongings) noexcept {
  furnish_common(system, actor, *options.kind, options.body, options.mailbox_cap,
                 options.first_turn);
  actor.standing.become(standing_for(system, options));
  actor.overload.store(options.overload, std::memory_order_relaxed);  // published by open()
  actor.is_supervisor = options.is_supervisor;
  actor.label = belongings.label;
  actor.child = belongings.child;
  actor.relations = belongings.relations;
  const bool drops_oldest = options.overload == Overload::drop_oldest;
  // Twice as many may come in; the actor drops the oldest down to its share.
  if (drops_oldest) {
    actor.set_user_limit(std::min(2 * actor.user_limit(), StateWord::kMaxUserLimit));
  }
  // Nobody else has it yet; by open() too.
  if (drops_oldest || options.high_water != 0) {
    actor.attention.store(kMeasured, std::memory_order_relaxed);
  }
}

// Of whoever moves into this slot, which is the caller's.
ActorId next_id(const System& system, const Actor& actor) noexcept {
  return make_id(actor.slot.load(std::memory_order_relaxed),  // ours
                 actor.state.next_generation(system.first_generation));
}

Errc no_slot(System& system) noexcept {
  return system.actors.is_full() ? Errc::max_actors : Errc::no_memory;
}

// Undoes furnish().
void vacate(Actor& actor) noexcept {
  actor.kind = nullptr;
  actor.relations = nullptr;
  actor.child = nullptr;
  actor.label = nullptr;
  actor.status = Status::stopped;
}

// The slot is somebody's from here on. False: the parent has ended, or is not there yet.
bool move_in(Host& host, Actor& actor, Child* child, ActorId parent, ActorId id,
             bool is_scheduled) noexcept {
  // Nobody has this id yet. Others may look at the slot, with older ones, but only at the state
  // word: that says that they are too late.
  actor.own_id = id;
  // release: who sees it sees the end of the one before; pairs with is_live().
  actor.bonds_closed.store(false, std::memory_order_release);
  if (child == nullptr) return actor.state.open(generation_of(id), is_scheduled), true;
  // A parent that begins to stop must find the child, and find it open.
  Actor& above = *child->parent;
  Bonds hold(host.system.is_shared, above);
  if (!above.state.is_open(generation_of(parent)) ||
      (host.holding_back == 0 && above.is_half_started())) {
    actor.bonds_closed.store(true, std::memory_order_relaxed);  // nobody has the id
    return false;
  }
  child->actor = &actor;
  above.relations->children.push_back(*child);
  actor.state.open(generation_of(id), is_scheduled);
  return true;
}

}  // namespace

uint8_t settle_home(const Host& host, uint8_t home) noexcept {
  if (home != base::kSomeWorker) return home;
  if (host.index != Host::kNoTimers) return host.index;
  // A thread that is no worker's: the workers take turns. relaxed: any number will do.
  return static_cast<uint8_t>(host.births.load(std::memory_order_relaxed) % host.system.workers);
}

Errc reserve(Host& host, ActorId& out) noexcept {
  System& system = host.system;
  if (system.takes_no_more.load(std::memory_order_relaxed)) return Errc::loop_closed;  // a flag
  Actor* actor = system.actors.take(host.own_slots());
  if (actor == nullptr) return no_slot(system);
  out = next_id(system, *actor);
  return Errc::ok;
}

void release_reserved(Host& host, ActorId id) noexcept {
  Actor* actor = host.system.actors.find(id);
  if (actor == nullptr) return;  // it was never reserved
  // As if somebody had lived and ended there: the id is never given again.
  actor->state.open(generation_of(id), false);
  [[maybe_unused]] const bool is_retired = actor->state.retire(taken_count(*actor));
  JZX_ASSERT(is_retired);  // nobody could send to it
  host.system.actors.give(host.own_slots(), *actor);
}

Errc spawn(Host& host, const SpawnOptions& options, ActorId& out) noexcept {
  System& system = host.system;
  if (system.takes_no_more.load(std::memory_order_relaxed)) return Errc::loop_closed;  // a flag
  if (!is_sound(system, options)) return Errc::invalid_arg;
  Belongings belongings;
  if (options.parent != kNobody || options.label != nullptr || options.high_water != 0) {
    const Errc error = make_belongings(host, options, belongings);
    if (!ok(error)) return error;
  }
  const bool is_reserved = options.reserved != kNobody;
  Actor* actor =
      is_reserved ? system.actors.find(options.reserved) : system.actors.take(host.own_slots());
  if (actor == nullptr) [[unlikely]] {
    give_belongings(host, belongings);
    return no_slot(system);
  }
  // Where others could run it, it is scheduled by us until we let go of it: one of a start that may
  // yet be undone, and one whose end, by its parent or by a shutdown, may come before the observer
  // was told of its birth and its name.
  Observer* observer = system.observer();
  const bool is_told =
      observer != nullptr && (belongings.child != nullptr || belongings.label != nullptr);
  const bool is_held = system.is_shared && (host.holding_back > 0 || is_told);
  const bool is_scheduled = options.first_turn || is_held;
  const ActorId id = next_id(system, *actor);
  JZX_ASSERT(!is_reserved || id == options.reserved);
  furnish(system, *actor, options, belongings);
  host.count_birth();
  if (!move_in(host, *actor, belongings.child, options.parent, id, is_scheduled)) [[unlikely]] {
    host.count_end();
    vacate(*actor);
    give_belongings(host, belongings);
    if (!is_reserved) system.actors.give(host.own_slots(), *actor);
    return Errc::no_such_actor;
  }
  out = id;
  if (observer != nullptr) observer->actor_started(id, belongings.label);
  if (is_scheduled) host.submit(*actor);
  return Errc::ok;
}

bool spawn_common(Host& host, const Kind& kind, Body body, uint32_t mailbox_cap, bool first_turn,
                  ActorId& out) noexcept {
  System& system = host.system;
  FreeSlots* slots = host.own_slots();
  const bool is_common = slots != nullptr && host.holding_back == 0 &&
                         system.observer() == nullptr &&
                         !system.takes_no_more.load(std::memory_order_relaxed);  // a flag
  Actor* actor = is_common ? system.actors.take_own(*slots) : nullptr;
  if (actor == nullptr) [[unlikely]]
    return false;
  out = next_id(system, *actor);
  furnish_common(system, *actor, kind, body, mailbox_cap, first_turn);
  host.count_birth();
  (void)move_in(host, *actor, nullptr, kNobody, out, first_turn);
  if (first_turn) host.submit(static_cast<base::Runnable&>(*actor));
  return true;
}

}  // namespace jzx::core

// What all workers of one system share: the actor table, the names, the pools of relation records,
// the observer. There is nothing process-wide; two systems in one process do not know each other.
//
// Threads: each member says. A system is shared when several threads run its actors, and then every
// member is for all of them; otherwise only finding actors and the depot are for other threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

#include <jzx/observer.hpp>
#include "base/slab.hpp"
#include "base/slot_map.hpp"
#include "base/waiting_room.hpp"
#include "core/envelope_pool.hpp"
#include "core/names.hpp"
#include "core/relations.hpp"
#include "core/table/actor_table.hpp"

namespace jzx::core {

// Of a mailbox's capacity, this much is the system's.
inline constexpr uint32_t kSystemReserve = 4;

// The user's share of a mailbox of this capacity.
[[nodiscard]] constexpr uint32_t user_share(uint32_t mailbox_cap) noexcept {
  const uint32_t share = mailbox_cap > kSystemReserve ? mailbox_cap - kSystemReserve : 1;
  return std::min(share, StateWord::kMaxUserLimit);
}

struct SystemOptions {
  base::Allocator allocator;
  // The actor table may lie in address space of its own; see TablePlace.
  TablePlace table = TablePlace::allocator;
  uint32_t max_actors = 65536;
  uint32_t default_mailbox_cap = 1024;
  // Where the generations of unused slots begin, of actors, timers and monitors. Different systems
  // should differ, so that an id taken to the wrong system is most likely stale there; a simulation
  // fixes it.
  uint32_t first_generation = 1;
  bool is_shared = false;  // several threads run its actors
  uint32_t workers = 1;
  bool detect_deadlocks = false;
};

class Host;

class System {
 public:
  explicit System(const SystemOptions& options) noexcept
      : allocator(options.allocator),
        is_shared(options.is_shared),
        workers(options.workers),
        actors(allocator, options.max_actors, options.is_shared, options.table),
        envelopes(allocator),
        small(allocator),
        names(allocator),
        monitors(allocator, 0, options.first_generation),
        relations(allocator, sizeof(Relations), alignof(Relations), 16),
        children(allocator, sizeof(Child), alignof(Child), 16),
        links(allocator, sizeof(Link), alignof(Link), 16),
        default_mailbox_cap(options.default_mailbox_cap),
        first_generation(options.first_generation),
        detects_deadlocks(options.detect_deadlocks) {}

  ~System();

  // ---- actors by id ----

  // The actor with this id if it was not asked to end: to its users one that was is gone. In a
  // shared system it may end at any moment, unless this is its own turn.
  [[nodiscard]] Actor* find_open(ActorId id) const noexcept {
    Actor* actor = actors.find(id);
    return actor != nullptr && actor->state.is_open(generation_of(id)) ? actor : nullptr;
  }

  // As find_open, but it may be stopping. On the only thread, or under the actor's lock.
  [[nodiscard]] Actor* find_live(ActorId id) const noexcept {
    Actor* actor = actors.find(id);
    return actor != nullptr && is_live(*actor, id) ? actor : nullptr;
  }
  [[nodiscard]] static bool is_live(const Actor& actor, ActorId id) noexcept {
    // acquire, and before the state word: under the lock nobody closes what is open, but the next
    // one may move in and open it; who sees that sees by the state word that the one before is
    // gone. Pairs with move_in().
    return !actor.bonds_closed.load(std::memory_order_acquire) && actor.state.is(generation_of(id));
  }

  // Makes sure that the actor has its relations; they stay until it ends. no_such_actor: it has
  // ended. Takes the actor's lock.
  [[nodiscard]] Errc make_relations(Actor& actor, ActorId id) noexcept {
    if (!is_shared && actor.relations != nullptr && is_live(actor, id)) [[likely]]
      return Errc::ok;
    return make_new_relations(actor, id);
  }
  void give_relations(Relations& record) noexcept {
    record.~Relations();
    relations.give(&record);
  }

  // ---- hosts ----

  // Before its thread does anything. They are never taken away.
  void add_host(Host& host) noexcept;
  // At any moment; see there.
  [[nodiscard]] uint64_t alive_count() const noexcept;
  template <class Each>
  void for_each_host(Each&& each) const;
  // When no other thread is left: calls end(Host&), which ends it, for each.
  template <class End>
  void end_hosts(End&& end);
  // When no other thread is left, and somebody still waits for the end of what he has cancelled.
  void look_outside() const noexcept;
  // The host whose wheel and timers have this number.
  [[nodiscard]] Host* timer_host(uint8_t index) const noexcept {
    return timer_hosts[index].load(std::memory_order_acquire);  // pairs with add_host()
  }

  // The host whose thread runs all actors, if one does: see one_runner.hpp. Set before any other
  // thread may know the system.
  Host* runner = nullptr;

  base::Allocator allocator;
  const bool is_shared;
  const uint32_t workers;  // how many there are to be pinned to
  ActorTable actors;
  EnvelopeDepot envelopes;
  SmallDepots small;
  Names names;
  std::mutex names_mutex;
  MonitorMap monitors;
  base::SpinLock monitors_lock;
  base::SharedSlab relations;
  base::SharedSlab children;
  base::SharedSlab links;
  base::WaitingRoom waiting_senders;  // for room in a mailbox; by the actor's id
  base::Atomic<Observer*> observer_{nullptr};
  uint32_t default_mailbox_cap;
  uint32_t first_generation;
  const bool detects_deadlocks;             // see async/waits_for.hpp
  base::Atomic<KindStore*> store{nullptr};  // of the kind that needs one
  base::Atomic<bool> is_closing{false};
  base::Atomic<bool> takes_no_more{false};

  // From now on nobody is born.
  void refuse_spawns() noexcept {
    takes_no_more.store(true, std::memory_order_relaxed);  // a flag on its own
  }

  // The observer, or nullptr. acquire: pairs with set_observer().
  [[nodiscard]] Observer* observer() const noexcept {
    return observer_.load(std::memory_order_acquire);
  }
  void set_observer(Observer* observer) noexcept {
    observer_.store(observer, std::memory_order_release);  // it is whole; pairs with observer()
  }

 private:
  [[nodiscard]] Errc make_new_relations(Actor& actor, ActorId id) noexcept;

  base::Atomic<Host*> hosts{nullptr};
  base::Atomic<Host*> timer_hosts[256]{};
};

}  // namespace jzx::core

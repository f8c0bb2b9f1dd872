// What all workers of one system share: the actor table, the names, the pools of relation records,
// the observer. There is nothing process-wide; two systems in one process do not know each other.
//
// Threads: `actors.find` by any thread, the rest by the worker's thread.
#pragma once

#include <cstdint>

#include <jzx/observer.hpp>
#include "base/slab.hpp"
#include "base/slot_map.hpp"
#include "core/actor_table.hpp"
#include "core/names.hpp"
#include "core/relations.hpp"

namespace jzx::core {

// Of a mailbox's capacity, this much is the system's.
inline constexpr uint32_t kSystemReserve = 4;

struct SystemOptions {
  base::Allocator allocator;
  uint32_t max_actors = 65536;
  uint32_t default_mailbox_cap = 1024;
  // Where the generations of unused slots begin. Different systems should differ, so that an id
  // taken to the wrong system is most likely stale there; a simulation fixes it.
  uint32_t first_generation = 1;
};

class System {
 public:
  explicit System(const SystemOptions& options) noexcept
      : allocator(options.allocator),
        actors(allocator, options.max_actors),
        names(allocator),
        monitors(allocator, 0),
        relations(allocator, sizeof(Relations), alignof(Relations), 16),
        children(allocator, sizeof(Child), alignof(Child), 16),
        links(allocator, sizeof(Link), alignof(Link), 16),
        default_mailbox_cap(options.default_mailbox_cap),
        first_generation(options.first_generation) {}

  // The live actor with this id (it may be stopping), or nullptr.
  [[nodiscard]] Actor* find_live(ActorId id) const noexcept {
    Actor* actor = actors.find(id);
    if (actor == nullptr || !actor->state.is(generation_of(id))) return nullptr;
    return actor->status <= Status::stopping ? actor : nullptr;
  }

  // As find_live, but not one that was asked to end: to its users that one is gone.
  [[nodiscard]] Actor* find_open(ActorId id) const noexcept {
    Actor* actor = actors.find(id);
    return actor != nullptr && actor->state.is_open(generation_of(id)) ? actor : nullptr;
  }

  // The actor's relations, made if need be; nullptr when the allocator refuses.
  [[nodiscard]] Relations* relations_of(Actor& actor) noexcept {
    if (actor.relations == nullptr) {
      void* memory = relations.take();
      if (memory != nullptr) actor.relations = new (memory) Relations;
    }
    return actor.relations;
  }

  base::Allocator allocator;
  ActorTable actors;
  Names names;
  MonitorMap monitors;
  base::Slab relations;
  base::Slab children;
  base::Slab links;
  Observer* observer = nullptr;
  uint32_t default_mailbox_cap;
  uint32_t first_generation;
  uint32_t alive = 0;  // actors that have not ended
  bool is_closing = false;
};

}  // namespace jzx::core

// Sets of actors: what groups, topics, routers and pools are made of; and the names of a system's
// groups and topics.
//
//   Group, Topic, Router ──▶ Members ──▶ Roster: an array of members, in the order they came
//                               ▲           ▲
//   Groups (by name) ───────────┘           └── snapshots of those who send to all
//
// Who sends takes a snapshot, which is a counted reference to the roster and a length, and sends
// without the lock. Joining appends behind that length; whatever else changes a roster makes a new
// one if somebody else holds it.
//
// Ended actors are not told apart from others in the roster: their ids are stale, and forget_dead()
// drops those. A roster drops them before it grows, so it is never more than twice as large as the
// most members it had at once.
//
// Memory: references to a set may outlive its system, so sets are not in memory of the system's
// allocator. Names that nobody refers to and that have no members are dropped when the table of
// names would grow.
//
// Threads: any. The locks are never held while a message is sent or a user's code runs. Order of
// locks: Groups, then Members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

#include <jzx/group.hpp>
#include <jzx/router.hpp>

#include "base/allocator.hpp"
#include "base/atomic.hpp"

namespace jzx::runtime {
class Groups;
}

namespace jzx::detail {

// Followed in memory by its members.
struct Roster {
  base::Atomic<uint32_t> holders{1};  // the set, and the snapshots
  size_t capacity = 0;

  [[nodiscard]] Member* members() noexcept { return reinterpret_cast<Member*>(this + 1); }
};
static_assert(sizeof(Roster) % alignof(Member) == 0);

class Members {
 public:
  // nullptr: no memory. Held once, by the caller.
  [[nodiscard]] static Members* create(Port& port, const MessageType* kind,
                                       std::string_view name) noexcept;
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  void hold() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }  // who counts, holds
  void let_go() noexcept;

  [[nodiscard]] Errc add(ActorId id, const MessageType* type) noexcept;
  [[nodiscard]] Errc remove(ActorId id) noexcept;
  [[nodiscard]] size_t forget_dead() noexcept;
  [[nodiscard]] bool contains(ActorId id) noexcept;
  [[nodiscard]] RosterView take_roster() noexcept;

  // Sends it to one of them; anything but ok: the message is still in its envelope.
  [[nodiscard]] Errc route(Routing routing, Envelope& envelope) noexcept;

  [[nodiscard]] Port& port() const noexcept { return port_; }

 private:
  friend class runtime::Groups;

  Members(Port& port, const MessageType* kind, std::string_view name) noexcept;
  ~Members();

  [[nodiscard]] std::string_view name() const noexcept {
    return {reinterpret_cast<const char*>(this + 1), name_length_};
  }
  [[nodiscard]] bool is_alive(ActorId id) const noexcept;

  // With the lock held.
  [[nodiscard]] Member* find(ActorId id) noexcept;
  [[nodiscard]] Roster* own_copy(size_t capacity) noexcept;
  template <class Keep>
  [[nodiscard]] bool keep_only(Keep&& keep) noexcept;
  [[nodiscard]] bool keep_living() noexcept;
  [[nodiscard]] bool make_room() noexcept;
  [[nodiscard]] size_t least_loaded() noexcept;

  // The id to send to, and its place; 0: there is nobody.
  [[nodiscard]] ActorId pick(Routing routing, size_t& place) noexcept;
  [[nodiscard]] uint64_t draw() noexcept;

  Port& port_;
  const MessageType* const kind_;
  base::Atomic<uint32_t> holders_{1};

  std::mutex mutex_;          // of what follows
  Roster* roster_ = nullptr;  // made when somebody joins
  size_t count_ = 0;
  size_t turn_ = 0;  // whose turn it is to be sent to
  uint64_t seed_;    // of choices that foreign threads make

  // By Groups, under its lock.
  Members* next_named_ = nullptr;
  const uint64_t hash_;
  const size_t name_length_;  // the characters follow in memory
};

}  // namespace jzx::detail

namespace jzx::runtime {

// The named sets of one system: a table of chains.
class Groups {
 public:
  Groups(const base::Allocator& allocator, uint64_t seed) noexcept
      : allocator_(allocator), seed_(seed) {}
  ~Groups();
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  // Held once more, for the caller. nullptr: no memory, or that is no name.
  [[nodiscard]] detail::Members* find_or_make(detail::Port& port, const MessageType* kind,
                                              std::string_view name) noexcept;

  // For what a new set draws by chance: the same in every run that makes the same sets.
  [[nodiscard]] uint64_t next_seed() noexcept;

  // How many names there are.
  [[nodiscard]] size_t size() noexcept;

 private:
  [[nodiscard]] detail::Members*& chain_of(uint64_t hash) noexcept {
    return chains_[hash & (chain_count_ - 1)];
  }
  void drop_unused() noexcept;
  [[nodiscard]] bool make_room() noexcept;

  const base::Allocator allocator_;
  const uint64_t seed_;
  base::Atomic<uint64_t> made_{0};
  std::mutex mutex_;                    // of what follows
  detail::Members** chains_ = nullptr;  // a power of two of them
  size_t chain_count_ = 0;
  size_t count_ = 0;
};

}  // namespace jzx::runtime

// The memory of one model run: for every atomic the history of its stores, for every plain word who
// touched it last, and from both what an access may see.
//
// The model is that of C++20 without fences. Modification order is the order in which the run did
// the stores. A load may return any store of the history that is not older than
//   - a store or a read of the same atomic that happens before the load (its own thread's
//   included),
//   - for a seq_cst load: what any earlier seq_cst operation on the same atomic stored or read,
//   - after model::yield(): what was the newest then, of the atomics the waiting loop looked at;
//   - after a heavy barrier, of its own thread, or of another one and then a light one of its own:
//     what was the newest at the heavy one, of all atomics.
// The order of execution of the seq_cst operations is the single order S. A read-modify-write reads
// the newest store. An acquire picks up the release clock of the store it read; a store's release
// clock is its thread's clock if it is a release, and a read-modify-write also passes on the clock
// of the store it read (release sequences; since C++20 a thread's own later plain stores do not).
//
// All of these behaviours are explored, within the bound on preemptions. Not covered, and therefore
// not found:
//   - loads that read a store which is executed later (load buffering). So it does not show that a
//     relaxed read must be over before a later store of its thread is seen, as with the slots that
//     a thief reads before its exchange and the owner writes after it;
//   - orders S and modification orders other than the order of execution. So an operation that is
//     not seq_cst never takes effect after a later seq_cst one of its thread;
//   - spurious failures of weak exchanges; fences; accesses of different sizes to one place.
//
// Two accesses of a plain word, one of them a write, must be ordered by happens-before. The same
// holds for the construction and the destruction of an atomic and any access to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "model/clock.hpp"

namespace jzx::base::model {

struct Store {
  uint64_t value = 0;
  Clock release;  // what an acquire that reads it gets to know
};

// One atomic or one plain word.
struct Cell {
  // One thread's view of an atomic: at `time` it knew of the store `index`.
  struct Seen {
    uint32_t time;
    uint32_t index;
  };

  const void* address = nullptr;
  uint32_t number = 0;  // its name in the trace
  bool is_atomic = false;
  bool is_alive = false;
  Stamp born;
  uint32_t last_access[kMaxThreads] = {};  // each thread's time

  // An atomic's.
  std::vector<Store> stores;
  std::vector<Seen> seen[kMaxThreads];
  uint32_t seq_cst_floor = 0;
  uint32_t fair_floor[kMaxThreads] = {};
  uint32_t barrier_floor = 0;  // the newest at the last heavy barrier

  // A plain word's.
  Stamp last_write;

  [[nodiscard]] uint32_t newest() const noexcept {
    return static_cast<uint32_t>(stores.size()) - 1;
  }
};

class Memory {
 public:
  Memory();

  // Forgets everything but its own allocations.
  void clear() noexcept;

  [[nodiscard]] Clock& clock(uint32_t thread) noexcept { return clocks_[thread]; }
  // A new operation of this thread.
  void tick(uint32_t thread) noexcept { ++clocks_[thread].time[thread]; }

  // No load returns a store any more that is older than the newest now: of this thread from here
  // on, of others from their next light barrier on. (That orders nothing else.)
  void heavy_barrier(uint32_t thread) noexcept;
  void light_barrier(uint32_t thread) noexcept;

  Cell& create(uint32_t thread, const void* address, bool is_atomic, uint64_t value) noexcept;
  // nullptr: never seen.
  [[nodiscard]] Cell* find(const void* address) noexcept;

  // The thread whose access to the cell does not happen before now, or kNobody. For destruction
  // and plain writes; `writes_only` for plain reads.
  static constexpr uint32_t kNobody = kMaxThreads;
  [[nodiscard]] uint32_t conflicting(uint32_t thread, const Cell& cell,
                                     bool writes_only) const noexcept;
  void note_plain(uint32_t thread, Cell& cell, bool is_write) noexcept;

  // The stores a load may return, the newest first; without those whose choice could show nothing
  // that the choice of an older one with the same value does not show.
  void candidates(uint32_t thread, const Cell& cell, std::memory_order order,
                  std::vector<uint32_t>& result) const;
  uint64_t read(uint32_t thread, Cell& cell, uint32_t index, std::memory_order order) noexcept;
  // `after_read`: it is the second half of a read-modify-write.
  void write(uint32_t thread, Cell& cell, uint64_t value, std::memory_order order,
             bool after_read) noexcept;

  // The thread waits and will look again: then it sees what is there now. False if it has already.
  [[nodiscard]] bool refresh(uint32_t thread, Cell& cell) const noexcept;

 private:
  static constexpr uint32_t kTableBits = 14;
  static constexpr uint32_t kTableSize = 1u << kTableBits;

  [[nodiscard]] uint32_t floor(uint32_t thread, const Cell& cell,
                               std::memory_order order) const noexcept;
  void note_seen(uint32_t thread, Cell& cell, uint32_t index) noexcept;

  Clock clocks_[kMaxThreads];
  std::vector<Cell> cells_;
  uint32_t used_ = 0;
  uint32_t heavy_barriers_ = 0;
  uint32_t barriers_known_[kMaxThreads] = {};  // how many of them each thread goes by
  // Open addressing; an entry counts only in the run it is of.
  struct Entry {
    uint32_t run = 0;
    uint32_t cell = 0;
  };
  std::vector<Entry> table_;
  uint32_t run_ = 1;
};

}  // namespace jzx::base::model

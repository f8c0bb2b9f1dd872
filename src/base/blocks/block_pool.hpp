// Blocks of one size that go round between threads. Each owner has a pool of free ones that only
// its own thread touches; what is too much there, and what is too little, goes through a depot, a
// batch at a time. So where one thread takes and another gives, the blocks come back, at one lock
// per batch; and a pool never keeps more than two batches and one block from the others.
//
//   pool: one block, the batch in use (LIFO, warm) + at most one full spare
//        ▲ │ 64 at a time, under the depot's lock
//   depot: see block_depot.hpp
//
// Blocks are raw memory here: no constructor and no destructor runs.
//
// Threads: the owner only.
#pragma once

#include <utility>

#include "base/blocks/block_depot.hpp"

namespace jzx::base {

class BlockPool {
 public:
  explicit BlockPool(BlockDepot& depot) noexcept : depot_(depot) {}
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool() {
    if (last_ != nullptr) in_use_.push(last_);
    depot_.give_batch(in_use_);
    depot_.give_batch(spare_);
  }

  // nullptr: no memory.
  [[nodiscard]] void* take() noexcept {
    if (!has_own() && !refill()) [[unlikely]]
      return nullptr;
    return take_own();
  }
  // Will take() succeed without asking anybody?
  [[nodiscard]] bool has_own() const noexcept { return in_use_.first != nullptr; }

  // After has_own().
  [[nodiscard]] void* take_own() noexcept {
    return last_ != nullptr ? std::exchange(last_, nullptr) : in_use_.pop();
  }

  // Then the next give() calls nobody.
  [[nodiscard]] bool has_room() const noexcept {
    return last_ == nullptr || in_use_.count() < BlockDepot::kBatch;
  }
  void give(void* block) noexcept {
    if (last_ == nullptr && in_use_.first != nullptr) {
      last_ = block;
      return;
    }
    if (in_use_.count() >= BlockDepot::kBatch) [[unlikely]]
      make_room();
    in_use_.push(block);
  }

 private:
  // Out of line, so that take() and give() stay a handful of instructions where they are inlined.
  [[nodiscard]] [[gnu::noinline]] bool refill() noexcept {
    in_use_ = spare_.first != nullptr ? std::exchange(spare_, {}) : depot_.take_batch();
    return in_use_.first != nullptr;
  }
  [[gnu::noinline]] void make_room() noexcept {
    depot_.give_batch(spare_);
    spare_ = std::exchange(in_use_, {});
  }

  // The last that was given, if it is not the only one. Mostly blocks are taken and given by turns:
  // then each is one store, and nothing is written into the block.
  void* last_ = nullptr;
  BlockBatch in_use_;
  BlockBatch spare_;  // full, or empty
  BlockDepot& depot_;
};

}  // namespace jzx::base

// The free blocks that no pool has (see block_pool.hpp), and the memory that they are made of.
//
//   stored batches, up to 4 MiB of blocks; two loose ones for threads without a pool
//        │ beyond that              ▲
//        ▼                          │
//   blocks that are put away, each in the chunk that it is part of
//        │ a span, when all its     ▲ a span of chunks at a time
//        ▼ blocks are put away      │
//   the user's allocator, outside the lock
//
// After a peak the memory goes back. A depot that has more than 4 MiB of free blocks puts away
// every batch that it is given, and releases a span once all of its blocks are put away. If the
// free blocks get more all the same, stored batches are put away, too: they may have blocks of
// every span, and would keep them all. A block in use keeps its span; so spans are small.
//
//   span:  [Span] │ chunk │ chunk │ … │ not carved yet │
//   chunk: [Chunk] [block] [block] …
//
// Chunks begin at multiples of 4 KiB, so that the address of a block tells its chunk.
// A span is carved into blocks chunk by chunk, when they are needed: what is not needed is not
// touched, and costs no memory of the system.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "base/allocator.hpp"
#include "base/assert.hpp"
#include "base/list.hpp"
#include "base/spin_lock.hpp"

namespace jzx::base {

// Each knows how many there are from it on: so the chain has no counter of its own, which would be
// one more store for every block that is taken.
struct FreeBlock {
  FreeBlock* next = nullptr;
  uint64_t count = 1;
};

// Free blocks in a chain; what is linked at its front is the last that was given.
struct BlockBatch {
  FreeBlock* first = nullptr;

  [[nodiscard]] uint64_t count() const noexcept { return first != nullptr ? first->count : 0; }
  void push(void* block) noexcept { first = new (block) FreeBlock{first, count() + 1}; }
  [[nodiscard]] void* pop() noexcept {
    FreeBlock* block = first;
    first = block->next;
    return block;
  }
};

// What the first block holds of a batch that is put by, in a list of them.
struct StoredBatch {
  FreeBlock link;
  StoredBatch* next;

  [[nodiscard]] static StoredBatch* store(const BlockBatch& batch, StoredBatch* next) noexcept {
    const FreeBlock link = *batch.first;
    return new (batch.first) StoredBatch{link, next};
  }
  [[nodiscard]] BlockBatch batch() noexcept { return {&link}; }
};

class BlockDepot {
 public:
  static constexpr uint32_t kBatch = 64;
  static constexpr uint64_t kKeptBytes = 4 << 20;  // the mark: see above
  static constexpr size_t kChunkBytes = 4096;
  // The largest power of two that divides the size is the alignment of its blocks, up to this.
  static constexpr size_t kMaxAlignment = 64;

  BlockDepot(const Allocator& allocator, size_t size) noexcept;
  BlockDepot(const BlockDepot&) = delete;
  BlockDepot& operator=(const BlockDepot&) = delete;
  ~BlockDepot();

  // ---- pools ----

  // Empty: no memory.
  [[nodiscard]] BlockBatch take_batch() noexcept;
  void give_batch(const BlockBatch& batch) noexcept {
    if (batch.first == nullptr) return;
    lock_.lock();
    Span* dead = accept(batch);
    lock_.unlock();
    if (dead != nullptr) [[unlikely]]
      release(dead);
  }

  // ---- threads without a pool: one block at a time ----

  // nullptr: no memory. `also()` is called under the lock if there is one.
  template <class Also>
  [[nodiscard]] void* take_one(Also&& also) noexcept {
    lock_.lock();
    while (loose_.first == nullptr) {
      if (loose_spare_.first != nullptr) {
        loose_ = std::exchange(loose_spare_, {});
        break;
      }
      if (batches_ != nullptr) {
        loose_ = unstore();
        break;
      }
      lock_.unlock();
      const BlockBatch batch = take_batch();
      if (batch.first == nullptr) return nullptr;
      lock_.lock();
      store(batch);  // another thread may have filled loose_ meanwhile
    }
    void* block = loose_.pop();
    also();
    // Another core wrote the next one last: fetch it while this one is filled.
    __builtin_prefetch(loose_.first, 1);
    lock_.unlock();
    return block;
  }
  template <class Also>
  void give_one(void* block, Also&& also) noexcept {
    Span* dead = nullptr;
    lock_.lock();
    if (loose_.count() >= kBatch) [[unlikely]] {
      if (loose_spare_.first != nullptr) dead = accept(loose_spare_);
      loose_spare_ = std::exchange(loose_, {});
    }
    loose_.push(block);
    also();
    lock_.unlock();
    if (dead != nullptr) [[unlikely]]
      release(dead);
  }
  template <class Look>
  auto look(Look&& look) noexcept {
    std::lock_guard hold(lock_);
    return look();
  }

 private:
  struct Span;
  struct Chunk;

  // ---- under the lock ----

  // Answers the spans that nobody uses any more, to be released outside the lock.
  [[nodiscard]] Span* accept(const BlockBatch& batch) noexcept {
    store(batch);
    if (free_ <= kept_) [[likely]]
      return nullptr;
    return shrink();
  }
  void store(const BlockBatch& batch) noexcept {
    free_ += batch.count();
    batches_ = StoredBatch::store(batch, batches_);
  }
  [[nodiscard]] BlockBatch unstore() noexcept {
    StoredBatch* stored = batches_;
    batches_ = stored->next;
    free_ -= stored->link.count;
    return stored->batch();
  }
  [[nodiscard]] Span* shrink() noexcept;
  void put_away(BlockBatch batch, Span*& dead) noexcept;
  [[nodiscard]] BlockBatch take_away() noexcept;
  void adopt(void* memory, uint32_t chunks) noexcept;
  [[nodiscard]] void* carve(Span& span) noexcept;
  void note_given_out(Span& span) noexcept;

  // ---- outside ----

  [[nodiscard]] static Chunk* chunk_of(FreeBlock* block) noexcept;
  [[nodiscard]] BlockBatch make_blocks(void* chunk, Span& span) const noexcept;
  void release(Span* dead) const noexcept;
  void check_all_given() noexcept;

  Allocator allocator_;
  const size_t size_;
  const uint32_t per_chunk_;
  uint32_t next_chunks_ = 1;  // of the next span
  const uint64_t kept_;       // blocks
  uint64_t made_ = 0;         // blocks of all chunks
  List<Span> open_;           // have blocks to give: put away, or not carved yet
  List<Span> used_up_;
  alignas(64) SpinLock lock_;
  StoredBatch* batches_ = nullptr;
  BlockBatch loose_;
  BlockBatch loose_spare_;  // full, or empty
  uint64_t free_ = 0;       // blocks that are stored or put away
};

}  // namespace jzx::base

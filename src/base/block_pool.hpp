// Blocks of one size that go round between threads. Each owner has a pool of free ones that only
// its own thread touches; what is too much there, and what is too little, goes through a depot, a
// batch at a time. So where one thread takes and another gives, the blocks come back, at one lock
// per batch; and a pool never keeps more than two batches and one block from the others.
//
//   pool: one block, the batch in use (LIFO, warm) + at most one full spare
//        ▲ │ 64 at a time, under the depot's lock
//   depot: full batches; one loose batch for threads that have no pool
//        ▲ │ a chunk at a time
//   the user's allocator, outside the lock; memory goes back when the depot ends
//
// Blocks are raw memory here: no constructor and no destructor runs.
//
// Threads: BlockPool by its owner; BlockDepot by any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "base/allocator.hpp"
#include "base/assert.hpp"
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

  // `size` is a multiple of the alignment, and at least that of three words.
  BlockDepot(const Allocator& allocator, size_t size, size_t alignment, uint32_t per_chunk) noexcept
      : allocator_(allocator), size_(size), alignment_(alignment), per_chunk_(per_chunk) {
    JZX_ASSERT(size >= sizeof(StoredBatch) && size % alignment == 0);
  }
  BlockDepot(const BlockDepot&) = delete;
  BlockDepot& operator=(const BlockDepot&) = delete;
  ~BlockDepot() {
    check_all_given();
    while (chunks_ != nullptr) {
      Chunk* next = chunks_->next;
      allocator_.release(chunks_);
      chunks_ = next;
    }
  }

  // ---- pools ----

  // Empty: no memory.
  [[nodiscard]] BlockBatch take_batch() noexcept {
    {
      std::lock_guard hold(lock_);
      if (batches_ != nullptr) return unstore();
    }
    // The user's allocator may be slow, or block: not while others wait for the lock.
    void* chunk = allocate_chunk();
    if (chunk == nullptr) return {};
    std::lock_guard hold(lock_);
    return adopt_chunk(chunk);
  }
  void give_batch(const BlockBatch& batch) noexcept {
    if (batch.first == nullptr) return;
    std::lock_guard hold(lock_);
    store(batch);
  }

  // ---- threads without a pool: one block at a time ----

  // nullptr: no memory. `also()` is called under the lock if there is one.
  template <class Also>
  [[nodiscard]] void* take_one(Also&& also) noexcept {
    lock_.lock();
    while (loose_.first == nullptr) {
      if (batches_ != nullptr) {
        loose_ = unstore();
        break;
      }
      lock_.unlock();
      void* chunk = allocate_chunk();
      if (chunk == nullptr) return nullptr;
      lock_.lock();
      store(adopt_chunk(chunk));
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
    std::lock_guard hold(lock_);
    loose_.push(block);
    also();
  }
  template <class Look>
  auto look(Look&& look) noexcept {
    std::lock_guard hold(lock_);
    return look();
  }

 private:
  struct Chunk {
    Chunk* next;
  };

  [[nodiscard]] void* allocate_chunk() const noexcept {
    return allocator_.allocate(sizeof(Chunk) + alignment_ + size_ * per_chunk_);
  }
  // Under the lock.
  [[nodiscard]] BlockBatch adopt_chunk(void* memory) noexcept {
    chunks_ = new (memory) Chunk{chunks_};
    auto* first = static_cast<std::byte*>(align_up(chunks_ + 1, alignment_));
    BlockBatch batch;
    // Back to front, so that they are first taken in the order of their addresses.
    for (uint32_t i = per_chunk_; i-- > 0;) batch.push(first + i * size_);
    made_ += per_chunk_;
    return batch;
  }
  void store(const BlockBatch& batch) noexcept { batches_ = StoredBatch::store(batch, batches_); }
  [[nodiscard]] BlockBatch unstore() noexcept {
    StoredBatch* stored = batches_;
    batches_ = stored->next;
    return stored->batch();
  }
#ifdef NDEBUG
  void check_all_given() noexcept {}
#else
  void check_all_given() noexcept {
    uint64_t free = loose_.count();
    while (batches_ != nullptr) free += unstore().count();
    JZX_ASSERT(free == made_);
  }
#endif

  Allocator allocator_;
  size_t size_;
  size_t alignment_;
  uint32_t per_chunk_;
  alignas(64) SpinLock lock_;
  Chunk* chunks_ = nullptr;
  StoredBatch* batches_ = nullptr;
  BlockBatch loose_;
  uint64_t made_ = 0;  // blocks, ever
};

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

// A pool of equal objects carved from chunks of the user's allocator. take() and give()
// are a push and a pop on a free list; chunks go back only when the pool ends. The last
// object given is the next one taken, so that warm memory is used again.
//
// Objects are raw memory to the pool: it runs no constructor and no destructor.
// Threads: a Slab by one at a time (the owner, or under the owner's lock), a SharedSlab by any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/allocator.hpp"
#include "base/assert.hpp"
#include "base/spin_lock.hpp"

namespace jzx::base {

class Slab {
 public:
  // `size` and `alignment` of one object; `per_chunk` objects are fetched at a time.
  Slab(Allocator allocator, size_t size, size_t alignment, size_t per_chunk) noexcept
      : allocator_(allocator),
        stride_((size + alignment - 1) & ~(alignment - 1)),
        alignment_(alignment),
        per_chunk_(per_chunk) {
    JZX_ASSERT(stride_ >= sizeof(FreeObject));
    JZX_ASSERT((alignment & (alignment - 1)) == 0);
  }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab() {
    check_none_taken();
    while (chunks_ != nullptr) {
      Chunk* next = chunks_->next;
      allocator_.release(chunks_);
      chunks_ = next;
    }
  }

  // nullptr when the allocator refuses.
  [[nodiscard]] void* take() noexcept {
    FreeObject* object = free_;
    if (object == nullptr) [[unlikely]]
      return take_from_new_chunk();
    free_ = object->next;
    count_taken();
    return object;
  }

  // For owners that share the slab under a lock and do not want to call the user's allocator while
  // they hold it: memory for a chunk, or nullptr. Touches nothing of the slab.
  [[nodiscard]] void* allocate_chunk() const noexcept {
    return allocator_.allocate(sizeof(Chunk) + alignment_ + stride_ * per_chunk_);
  }
  void adopt_chunk(void* memory) noexcept {
    chunks_ = new (memory) Chunk{chunks_};
    auto* first = static_cast<std::byte*>(align_up(chunks_ + 1, alignment_));
    // Linked back to front, so that objects are first taken in address order.
    for (size_t k = per_chunk_; k-- > 0;) free_ = new (first + k * stride_) FreeObject{free_};
  }

  // The next take() will find its object in this core's cache.
  void prefetch_next() const noexcept { __builtin_prefetch(free_, 1); }

  // Will take() succeed without asking the allocator?
  [[nodiscard]] bool has_free() const noexcept { return free_ != nullptr; }

  void give(void* memory) noexcept {
    free_ = new (memory) FreeObject{free_};
    count_given();
  }

 private:
  struct FreeObject {
    FreeObject* next;
  };
  struct Chunk {
    Chunk* next;
  };

  // Out of line, so that take() stays a handful of instructions where it is inlined.
  [[gnu::noinline]] void* take_from_new_chunk() noexcept {
    void* memory = allocate_chunk();
    if (memory == nullptr) return nullptr;
    adopt_chunk(memory);
    return take();
  }

  // Only builds with assertions count: these are the hottest few instructions there are.
#ifdef NDEBUG
  void count_taken() noexcept {}
  void count_given() noexcept {}
  void check_none_taken() const noexcept {}
#else
  void count_taken() noexcept { ++in_use_; }
  void count_given() noexcept {
    JZX_ASSERT(in_use_ > 0);
    --in_use_;
  }
  void check_none_taken() const noexcept { JZX_ASSERT(in_use_ == 0); }
  size_t in_use_ = 0;
#endif

  Allocator allocator_;
  size_t stride_;
  size_t alignment_;
  size_t per_chunk_;
  FreeObject* free_ = nullptr;
  Chunk* chunks_ = nullptr;
};

// One that several threads use: a lock around a push or a pop. The user's allocator is called
// outside the lock: it may be slow, or block.
class SharedSlab {
 public:
  SharedSlab(Allocator allocator, size_t size, size_t alignment, size_t per_chunk) noexcept
      : slab_(allocator, size, alignment, per_chunk) {}

  // nullptr when the allocator refuses.
  [[nodiscard]] void* take() noexcept {
    lock_.lock();
    while (!slab_.has_free()) {
      lock_.unlock();
      void* chunk = slab_.allocate_chunk();
      if (chunk == nullptr) return nullptr;
      lock_.lock();
      slab_.adopt_chunk(chunk);
    }
    void* object = slab_.take();
    lock_.unlock();
    return object;
  }

  void give(void* object) noexcept {
    std::lock_guard hold(lock_);
    slab_.give(object);
  }

 private:
  SpinLock lock_;
  Slab slab_;
};

}  // namespace jzx::base

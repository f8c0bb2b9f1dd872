// A pool of equal objects carved from chunks of the user's allocator. take() and give()
// are a push and a pop on a free list; chunks go back only when the pool ends. The last
// object given is the next one taken, so that warm memory is used again.
//
// Objects are raw memory to the pool: it runs no constructor and no destructor.
// Threads: one at a time (the owner, or under the owner's lock).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/allocator.hpp"
#include "base/assert.hpp"

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
    JZX_ASSERT(in_use_ == 0);
    while (chunks_ != nullptr) {
      Chunk* next = chunks_->next;
      allocator_.release(chunks_);
      chunks_ = next;
    }
  }

  // nullptr when the allocator refuses.
  [[nodiscard]] void* take() noexcept {
    if (free_ == nullptr && !grow()) return nullptr;
    FreeObject* object = free_;
    free_ = object->next;
    ++in_use_;
    return object;
  }

  void give(void* memory) noexcept {
    JZX_ASSERT(in_use_ > 0);
    free_ = new (memory) FreeObject{free_};
    --in_use_;
  }

  [[nodiscard]] size_t in_use() const noexcept { return in_use_; }

 private:
  struct FreeObject {
    FreeObject* next;
  };
  struct Chunk {
    Chunk* next;
  };

  [[nodiscard]] bool grow() noexcept {
    void* memory = allocator_.allocate(sizeof(Chunk) + alignment_ + stride_ * per_chunk_);
    if (memory == nullptr) return false;
    chunks_ = new (memory) Chunk{chunks_};
    auto* first = static_cast<std::byte*>(align_up(chunks_ + 1, alignment_));
    // Linked back to front, so that objects are first taken in address order.
    for (size_t i = per_chunk_; i-- > 0;) free_ = new (first + i * stride_) FreeObject{free_};
    return true;
  }

  Allocator allocator_;
  size_t stride_;
  size_t alignment_;
  size_t per_chunk_;
  FreeObject* free_ = nullptr;
  Chunk* chunks_ = nullptr;
  size_t in_use_ = 0;
};

}  // namespace jzx::base

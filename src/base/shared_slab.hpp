// A Slab that several threads use: a lock around a push or a pop. The user's allocator is called
// outside the lock: it may be slow, or block.
#pragma once

#include <mutex>

#include "base/slab.hpp"
#include "base/spin_lock.hpp"

namespace jzx::base {

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

// The allocator every test hands to its loop: it knows what is live, what was asked
// for in total, and can refuse one chosen allocation.
//
// Threads: any; the library calls it from foreign threads inside jzx_send_async.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "jzx/jzx.h"

namespace jzx::testing {

class CountingAllocator {
 public:
  CountingAllocator() = default;
  CountingAllocator(const CountingAllocator&) = delete;
  CountingAllocator& operator=(const CountingAllocator&) = delete;

  [[nodiscard]] jzx_allocator c_allocator();

  // Refuses the n-th allocation from now on (1 is the next one), and only that one; 0: none.
  void refuse_nth(uint64_t n);
  // Refuses the n-th allocation from now on and all that follow; refuse_nth(0) ends it.
  void refuse_from_nth(uint64_t n);
  // Refuses every allocation until told otherwise.
  void refuse_all(bool on) { refuse_all_.store(on); }

  [[nodiscard]] uint64_t allocations() const { return allocations_.load(); }
  [[nodiscard]] uint64_t refused() const { return refused_.load(); }
  [[nodiscard]] int64_t live_bytes() const { return live_bytes_.load(); }
  [[nodiscard]] int64_t live_blocks() const { return live_blocks_.load(); }

 private:
  [[nodiscard]] bool must_refuse(uint64_t number) const;
  static void* allocate(void* ctx, size_t size);
  static void release(void* ctx, void* ptr);

  std::atomic<uint64_t> allocations_{0};
  std::atomic<uint64_t> refused_{0};
  std::atomic<uint64_t> refuse_at_{0};  // compared with allocations_; 0: none
  std::atomic<bool> refuse_after_too_{false};
  std::atomic<bool> refuse_all_{false};
  std::atomic<int64_t> live_bytes_{0};
  std::atomic<int64_t> live_blocks_{0};
};

}  // namespace jzx::testing

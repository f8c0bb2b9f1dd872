// Free stacks of one worker: what is given last is taken first, while it is warm in the cache.
//
//   in hand: an array of up to 32 tops, the last given at its end
//      ▲ │ 16 at a time, the longest unused
//   stored: batches in a list, each written into one of its own stacks; up to a bound
//      ▲ │ the coldest batch, when there are more; and one when there are none
//   StackMemory, shared by all workers
//
// The array touches no stack: taking and giving is a handful of instructions, and a stack that no
// fiber ever ran on holds no memory. It has twice the size of a batch, so that at least 16 stacks
// are taken or given between two moves, wherever the balance stands.
//
// Idle stacks keep the pages they have. The bound is for classes up to 64 KiB, and is halved for
// each doubling beyond; what is in hand is not counted against it where it is smaller than that.
//
// Threads: the worker's own. A stack may be taken from one pool and given to another.
// Lifetime: the StackMemory outlives it; whoever has a stack gives it to some pool before that
// ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kinds/fiber/stack_memory.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace jzx::kinds {

class StackPool {
 public:
  static constexpr uint32_t kInHand = 2 * kStackBatch;

  explicit StackPool(StackMemory& memory, uint32_t idle_stacks = 256) noexcept
      : memory_(memory), idle_stacks_(idle_stacks) {}
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();

  // No stack: there is no memory for one. What is in it is undefined.
  [[nodiscard]] Stack take(StackClass stack_class) noexcept {
    Shelf& shelf = shelves_[static_cast<size_t>(stack_class)];
    if (shelf.count == 0 && !refill(stack_class)) [[unlikely]]
      return {};
    return stack_at(shelf.tops[--shelf.count], stack_class);
  }

  // Nothing runs on it, or will.
  void give(const Stack& stack) noexcept { give(stack, stack_class_of(stack)); }
  void give(const Stack& stack, StackClass stack_class) noexcept {
    forget_frames(stack);
    Shelf& shelf = shelves_[static_cast<size_t>(stack_class)];
    if (shelf.count == kInHand) [[unlikely]]
      make_room(stack_class);
    shelf.tops[shelf.count++] = stack.top;
  }

  // Stacks kept here.
  [[nodiscard]] uint32_t idle(StackClass stack_class) const noexcept {
    const Shelf& shelf = shelves_[static_cast<size_t>(stack_class)];
    return shelf.count + shelf.stored * kStackBatch;
  }

 private:
  struct Shelf {
    uint32_t count = 0;   // in hand
    uint32_t stored = 0;  // batches, all full
    StoredBatch* warmest = nullptr;
    StoredBatch* coldest = nullptr;
    std::byte* tops[kInHand];
  };

  [[nodiscard]] bool refill(StackClass stack_class) noexcept;
  void make_room(StackClass stack_class) noexcept;
  [[nodiscard]] static StackBatch take_coldest(Shelf& shelf) noexcept;

  // A fiber's last frames are left, not returned from: they would stay poisoned.
  static void forget_frames([[maybe_unused]] const Stack& stack) noexcept {
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(stack.low, stack.size());
#endif
  }

  StackMemory& memory_;
  uint32_t idle_stacks_;
  Shelf shelves_[kStackClasses];
};

}  // namespace jzx::kinds

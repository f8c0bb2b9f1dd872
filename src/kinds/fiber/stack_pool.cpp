#include "kinds/fiber/stack_pool.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace jzx::kinds {

StackPool::~StackPool() {
  for (uint8_t i = 0; i < kStackClasses; ++i) {
    Shelf& shelf = shelves_[i];
    while (shelf.coldest != nullptr) memory_.give_batch(StackClass{i}, take_coldest(shelf));
    while (shelf.count > 0) {
      StackBatch batch;
      while (shelf.count > 0 && batch.count < kStackBatch) batch.push(shelf.tops[--shelf.count]);
      memory_.give_batch(StackClass{i}, batch);
    }
  }
}

bool StackPool::refill(StackClass stack_class) noexcept {
  Shelf& shelf = shelves_[static_cast<size_t>(stack_class)];
  StackBatch batch;
  if (StoredBatch* stored = shelf.warmest) {
    shelf.warmest = stored->colder;
    (shelf.warmest != nullptr ? shelf.warmest->warmer : shelf.coldest) = nullptr;
    --shelf.stored;
    batch = stored->batch;
  } else {
    batch = memory_.take_batch(stack_class);
  }
  std::copy_n(batch.tops, batch.count, shelf.tops);
  shelf.count = batch.count;
  return batch.count > 0;
}

void StackPool::make_room(StackClass stack_class) noexcept {
  Shelf& shelf = shelves_[static_cast<size_t>(stack_class)];
  JZX_ASSERT(shelf.count == kInHand);
  StackBatch batch;
  for (uint32_t i = 0; i < kStackBatch; ++i) batch.push(shelf.tops[i]);
  std::copy(shelf.tops + kStackBatch, shelf.tops + kInHand, shelf.tops);
  shelf.count = kInHand - kStackBatch;

  StoredBatch* stored = StoredBatch::store(batch);
  stored->colder = shelf.warmest;
  (shelf.warmest != nullptr ? shelf.warmest->warmer : shelf.coldest) = stored;
  shelf.warmest = stored;
  ++shelf.stored;
  if (kInHand + shelf.stored * kStackBatch > warm_bound(idle_stacks_, stack_class))
    memory_.give_batch(stack_class, take_coldest(shelf));
}

StackBatch StackPool::take_coldest(Shelf& shelf) noexcept {
  StoredBatch* stored = shelf.coldest;
  shelf.coldest = stored->warmer;
  (shelf.coldest != nullptr ? shelf.coldest->colder : shelf.warmest) = nullptr;
  --shelf.stored;
  return stored->batch;
}

}  // namespace jzx::kinds

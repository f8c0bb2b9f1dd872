#include "kinds/fiber/stack_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>

#include "base/assert.hpp"
#include "kinds/fiber/stack_pages.hpp"

namespace jzx::kinds {
namespace {

[[nodiscard]] std::byte* top_of(Slab& slab, size_t slot) noexcept {
  auto* memory = reinterpret_cast<std::byte*>(&slab);
  return memory + (slot + 1) * slot_size(slab.stack_class) - above_top(slot);
}

[[nodiscard]] std::byte* top_page(const Stack& stack) noexcept {
  return stack.top - reinterpret_cast<uintptr_t>(stack.top) % kStackPage;
}

[[nodiscard]] Guard next_best(Guard guard) noexcept {
  return guard == Guard::marked ? Guard::protected_page : Guard::canary;
}

[[nodiscard]] uint64_t mappings_of_slab(Guard guard, size_t slots) noexcept {
  // Each stack is one, its guard another; the last is what has not been carved.
  return guard == Guard::protected_page ? 2 * slots : 1;
}

}  // namespace

// ---- a stack ----

uint32_t touched_bytes(const Stack& stack) noexcept {
  std::byte* const end = top_page(stack) + kStackPage;
  unsigned char in_core[256];
  for (std::byte* page = stack.low; page < end; page += sizeof(in_core) * kStackPage) {
    const size_t count = std::min(static_cast<size_t>(end - page) / kStackPage, sizeof(in_core));
    if (mincore(page, count * kStackPage, in_core) != 0) return static_cast<uint32_t>(stack.size());
    for (size_t i = 0; i < count; ++i)
      if (in_core[i] & 1) return static_cast<uint32_t>(stack.top - (page + i * kStackPage));
  }
  return 0;
}

void make_fresh(Stack stack) noexcept {
  madvise(stack.low, static_cast<size_t>(top_page(stack) - stack.low), MADV_DONTNEED);
}

StoredBatch* StoredBatch::store(const StackBatch& batch) noexcept {
  static_assert(alignof(StoredBatch) <= 64);
  constexpr size_t kRoom = (sizeof(StoredBatch) + 63) / 64 * 64;
  return new (batch.tops[batch.count - 1] - kRoom) StoredBatch{batch};
}

// ---- StackMemory ----

StackMemory::StackMemory(const StackMemoryOptions& options) noexcept
    : options_(options),
      allowed_mappings_(options.mappings ? *options.mappings : mappings_for_guards()),
      guard_(probe_guard(options.guard.value_or(Guard::marked))) {}

StackMemory::~StackMemory() {
  JZX_ASSERT(counts_.in_use == 0);
  while (slabs_ != nullptr) {
    Slab* slab = slabs_;
    slabs_ = slab->next;
    release_mappings(slab->mappings);
    unmap_slab(slab);
  }
}

void StackMemory::note_given_up() noexcept {
  const std::lock_guard hold(mutex_);
  --counts_.in_use;
  ++counts_.given_up;
}

StackBatch StackMemory::take_batch(StackClass stack_class, uint32_t want) noexcept {
  JZX_ASSERT(want > 0 && want <= kStackBatch);
  Shelf& shelf = shelves_[static_cast<size_t>(stack_class)];
  for (;;) {
    std::unique_lock hold(mutex_);
    if (shelf.warm != nullptr) return take_warm(shelf, want);
    if (shelf.cold != nullptr) {
      const StackBatch batch = take_cold(shelf, want);
      counts_.in_use += batch.count;
      return batch;
    }
    const bool is_carved = shelf.fresh == nullptr || shelf.fresh->carved >= shelf.fresh->slots;
    if (is_carved && !add_slab(shelf, stack_class)) return {};
    Slab& slab = *shelf.fresh;
    const uint32_t first = slab.carved;
    const uint32_t end = std::min(first + want, slab.slots);
    slab.carved = end;
    counts_.in_use += end - first;
    hold.unlock();

    StackBatch batch;
    for (uint32_t slot = first; slot < end; ++slot) {
      std::byte* top = top_of(slab, slot);
      if (!install_guard(slab.guard, stack_at(top, stack_class).low - kStackPage)) break;
      batch.push(top);
    }
    // The last is taken first: so that they are taken in the order of their addresses.
    std::reverse(batch.tops, batch.tops + batch.count);
    if (batch.count == end - first) return batch;

    const int error = errno;
    hold.lock();
    counts_.in_use -= end - first - batch.count;
    // If another thread has carved on meanwhile, those without a guard are never used.
    if (slab.carved == end) slab.carved = first + batch.count;
    // Out of memory: not now. Else this kind of guard does not do any more: the process is out of
    // mappings, or has locked its memory. The next slab tries the next kind.
    const bool is_memory = slab.guard == Guard::marked && error == ENOMEM;
    if (!is_memory) {
      slab.slots = 0;
      guard_ = std::max(guard_, next_best(slab.guard));
    }
    if (batch.count > 0 || is_memory) return batch;
  }
}

void StackMemory::give_batch(StackClass stack_class, const StackBatch& batch) noexcept {
  if (batch.count == 0) return;
  Shelf& shelf = shelves_[static_cast<size_t>(stack_class)];
  {
    std::lock_guard hold(mutex_);
    if (shelf.warm_stacks + batch.count <= warm_bound(options_.warm_stacks, stack_class)) {
      StoredBatch* stored = StoredBatch::store(batch);
      stored->colder = shelf.warm;
      shelf.warm = stored;
      shelf.warm_stacks += batch.count;
      counts_.warm += batch.count;
      counts_.in_use -= batch.count;
      return;
    }
  }
  for (uint32_t i = 0; i < batch.count; ++i) {
    const Stack stack = stack_at(batch.tops[i], stack_class);
    madvise(stack.low, slot_size(stack_class) - kStackPage, MADV_DONTNEED);
  }
  std::lock_guard hold(mutex_);
  note_cold(shelf, batch);
  counts_.in_use -= batch.count;
}

StackBatch StackMemory::take_warm(Shelf& shelf, uint32_t want) noexcept {
  StoredBatch* const stored = shelf.warm;
  shelf.warm = stored->colder;
  StackBatch batch = stored->batch;
  if (batch.count > want) {
    StackBatch rest = batch;
    rest.count -= want;
    batch.count = 0;
    for (uint32_t i = 0; i < want; ++i) batch.push(rest.tops[rest.count + i]);
    StoredBatch* again = StoredBatch::store(rest);
    again->colder = shelf.warm;
    shelf.warm = again;
  }
  shelf.warm_stacks -= batch.count;
  counts_.warm -= batch.count;
  counts_.in_use += batch.count;
  return batch;
}

// ---- cold stacks ----

StackBatch StackMemory::take_cold(Shelf& shelf, uint32_t want) noexcept {
  Slab& slab = *shelf.cold;
  StackBatch batch;
  for (size_t word = 0; batch.count < want && batch.count < slab.cold; ++word) {
    uint64_t& bits = slab.cold_map[word];
    for (; bits != 0 && batch.count < want; bits &= bits - 1)
      batch.push(top_of(slab, word * 64 + static_cast<size_t>(std::countr_zero(bits))));
  }
  slab.cold -= batch.count;
  if (slab.cold == 0) shelf.cold = slab.next_cold;
  return batch;
}

void StackMemory::note_cold(Shelf& shelf, const StackBatch& batch) noexcept {
  for (uint32_t i = 0; i < batch.count; ++i) {
    Slab& slab = slab_of(batch.tops[i]);
    const auto offset = static_cast<size_t>(batch.tops[i] - reinterpret_cast<std::byte*>(&slab));
    const size_t slot = offset / slot_size(slab.stack_class);
    JZX_ASSERT((slab.cold_map[slot / 64] >> slot % 64 & 1) == 0);
    slab.cold_map[slot / 64] |= uint64_t{1} << slot % 64;
    if (slab.cold++ > 0) continue;
    slab.next_cold = shelf.cold;
    shelf.cold = &slab;
  }
}

// ---- slabs ----

bool StackMemory::add_slab(Shelf& shelf, StackClass stack_class) noexcept {
  if ((counts_.slabs + 1) > options_.address_space / kSlabSize) return false;
  const auto slots = static_cast<uint32_t>(kSlabSize / slot_size(stack_class));
  Guard guard = guard_;
  uint64_t mappings = 0;
  if (guard == Guard::protected_page) {
    mappings = mappings_of_slab(guard, slots);
    if (!reserve_mappings(mappings, allowed_mappings_)) {
      guard = Guard::canary;
      mappings = 0;
    }
  }
  std::byte* memory = map_slab();
  if (memory == nullptr) {
    release_mappings(mappings);
    return false;
  }
  slabs_ = new (memory) Slab{stack_class, guard, slabs_, mappings};
  slabs_->slots = slots;
  shelf.fresh = slabs_;
  ++counts_.slabs;
  return true;
}

Guard StackMemory::guard() noexcept {
  std::lock_guard hold(mutex_);
  if (guard_ != Guard::protected_page) return guard_;
  const uint64_t mappings = mappings_of_slab(guard_, kSlabSize / kDefaultStackSize);
  return reserved_mappings() + mappings <= allowed_mappings_ ? guard_ : Guard::canary;
}

MappingForecast StackMemory::forecast(StackClass stack_class, uint64_t stacks) noexcept {
  std::lock_guard hold(mutex_);
  const uint64_t slots = kSlabSize / slot_size(stack_class);
  const uint64_t slabs = (stacks + slots - 2) / (slots - 1);
  return {slabs * mappings_of_slab(guard_, slots), allowed_mappings_};
}

StackCounts StackMemory::counts() noexcept {
  std::lock_guard hold(mutex_);
  StackCounts counts = counts_;
  for (const Slab* slab = slabs_; slab != nullptr; slab = slab->next) counts.cold += slab->cold;
  return counts;
}

}  // namespace jzx::kinds

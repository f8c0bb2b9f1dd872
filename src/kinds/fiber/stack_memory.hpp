// The memory under fibers: stacks carved from slabs of address space, each with a guard below.
//
//   slab, 64 MiB, aligned to its size; one mapping, committed page by page as it is touched
//   ┌──────────┬─────────────────────┬─────────────────────┬ ─ ─
//   │ slot 0:  │ slot 1              │ slot 2              │
//   │ the Slab │ guard │ ◀─── stack  │ guard │ ◀─── stack  │
//   └──────────┴───────┴─────────────┴───────┴─────────────┴ ─ ─
//                      low     top ▲ 64 to 960 bytes below the slot's end
//
// A class of stacks has slots of one size, a power of two that counts the guard page. Slabs and
// slots are aligned, so everything about a stack follows from its top: nothing is kept per stack.
// Tops of neighbours differ by two cache lines, in a round of eight: were they all at one place in
// their pages, the first frames of all fibers would share a few sets of the first-level cache.
//
// A stack is in one of these states:
//   in use  taken; its pages are its owner's
//   warm    free, with the pages it has: up to a bound, for whoever needs one next
//   cold    free, without pages: a bit in its slab's map, so that it holds no memory at all
//   uncarved  never used, no guard yet
// Stacks come and go in batches, kept as arrays, so that taking and giving touches no stack; only
// a warm batch that is stored is written into one of its own.
//
// Guards, the first that the system has (StackMemoryOptions::guard begins further down):
//   marked     MADV_GUARD_INSTALL, Linux 6.13: pages that fault; a slab stays one mapping
//   protected  mprotect: each guard splits its slab, two mappings a stack. Only so many slabs get
//              them as fit into half of what the system allows a process (vm.max_map_count)
//   canary     words just below `low`, which the fiber checks when it is left: it says that a stack
//              overflowed when that has happened already, and costs the page it is in
// All stacks of a slab are guarded alike. Where pages are not 4 KiB only the canary is possible, no
// page is given back, and touched_bytes() counts the whole stack.
//
// Address space is returned when the StackMemory ends, not before. What a slab costs besides the
// pages in use: its header's page and page tables, 128 bytes for each stack of 64 KiB.
//
// Threads: StackMemory by any; system calls on stacks are made outside its mutex. The functions on
// a Stack by who has taken it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace jzx::kinds {

inline constexpr size_t kStackPage = 4096;
inline constexpr size_t kSlabSize = size_t{64} << 20;

// ---- classes of stacks, by the address space of one, guard included ----

enum class StackClass : uint8_t {};

inline constexpr unsigned kSmallestSlotShift = 14;  // 16 KiB: 12 to use, 11 where colour takes most
inline constexpr size_t kStackClasses = 10;         // up to 8 MiB
inline constexpr size_t kDefaultStackSize = size_t{64} << 10;

[[nodiscard]] constexpr size_t slot_size(StackClass stack_class) noexcept {
  return size_t{1} << (kSmallestSlotShift + static_cast<unsigned>(stack_class));
}
// The smallest class of at least that size, guard included. Nothing: there is none so large.
[[nodiscard]] constexpr std::optional<StackClass> stack_class_for(size_t size) noexcept {
  for (uint8_t i = 0; i < kStackClasses; ++i)
    if (slot_size(StackClass{i}) >= size) return StackClass{i};
  return std::nullopt;
}

// ---- a stack ----

enum class Guard : uint8_t { marked, protected_page, canary };

// From the lowest byte that may be used to the end of the highest. The default is no stack.
struct Stack {
  std::byte* low = nullptr;
  std::byte* top = nullptr;  // aligned for a first frame

  [[nodiscard]] explicit operator bool() const noexcept { return top != nullptr; }
  [[nodiscard]] size_t size() const noexcept { return static_cast<size_t>(top - low); }
};

// Header of a slab. What a stack's owner reads is written before any stack of it is taken.
struct Slab {
  StackClass stack_class;
  Guard guard;
  Slab* next = nullptr;
  uint64_t mappings = 0;  // reserved for it

  // Under the mutex. On a line of its own: others read what is above at every switch.
  alignas(64) Slab* next_cold = nullptr;
  uint32_t carved = 1;  // slots; the first is this header's
  uint32_t slots = 0;   // how far it may be carved
  uint32_t cold = 0;
  uint64_t cold_map[kSlabSize >> kSmallestSlotShift >> 6] = {};
};
static_assert(sizeof(Slab) <= kStackPage);

[[nodiscard]] inline Slab& slab_of(const std::byte* top) noexcept {
  return *reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(top) & ~(kSlabSize - 1));
}
[[nodiscard]] inline StackClass stack_class_of(const Stack& stack) noexcept {
  return slab_of(stack.top).stack_class;
}
[[nodiscard]] inline Stack stack_at(std::byte* top, StackClass stack_class) noexcept {
  const uintptr_t in_slot = reinterpret_cast<uintptr_t>(top) & (slot_size(stack_class) - 1);
  return {top - in_slot + kStackPage, top};
}

// From the top to the end of the slot: 64 to 960 bytes, so that the first page has room for an idle
// fiber. Never 0: a top is an address within its slab.
[[nodiscard]] constexpr size_t above_top(size_t slot) noexcept { return 64 + slot % 8 * 128; }

// False: the stack has overflowed, and what is below it is damaged. Always true where a guard
// makes an overflow fault.
inline constexpr uint64_t kCanary = 0x9c5fb1d37a61e84d;
inline constexpr size_t kCanaryWords = 8;
[[nodiscard]] inline bool canary_intact(const Stack& stack) noexcept {
  if (slab_of(stack.top).guard != Guard::canary) [[likely]]
    return true;
  const auto* words = reinterpret_cast<const uint64_t*>(stack.low) - kCanaryWords;
  uint64_t difference = 0;
  for (size_t i = 0; i < kCanaryWords; ++i) difference |= words[i] ^ kCanary;
  return difference == 0;
}

// How deep the stack has been: from its top to the end of the deepest page that it holds. A page
// that was swapped out is not seen. A system call.
[[nodiscard]] uint32_t touched_bytes(const Stack& stack) noexcept;

// Gives all pages but the top one back, so that touched_bytes() is about what comes next.
void make_fresh(Stack stack) noexcept;

// ---- batches ----

inline constexpr uint32_t kStackBatch = 16;

struct StackBatch {
  uint32_t count = 0;
  std::byte* tops[kStackBatch] = {};

  void push(std::byte* top) noexcept { tops[count++] = top; }
};

// A batch written into the stack that it names last, in pages which that stack holds anyway.
struct StoredBatch {
  StackBatch batch;
  StoredBatch* colder = nullptr;
  StoredBatch* warmer = nullptr;

  [[nodiscard]] static StoredBatch* store(const StackBatch& batch) noexcept;
};

struct StackMemoryOptions {
  // The best guard to use; nothing: the best that the system has.
  std::optional<Guard> guard = std::nullopt;
  // All slabs together.
  uint64_t address_space = UINT64_MAX;
  // Mappings of this process for guards; nothing: half of what the system allows.
  std::optional<uint64_t> mappings = std::nullopt;
  // Warm stacks of a class up to 64 KiB; of larger ones half as many for each doubling.
  uint32_t warm_stacks = 256;
};

// How many mappings so many stacks take, if all are guarded as the next will be.
struct MappingForecast {
  uint64_t needed;
  uint64_t allowed;
  [[nodiscard]] bool fits() const noexcept { return needed <= allowed; }
};

struct StackCounts {
  uint64_t slabs = 0;
  uint64_t in_use = 0;    // with those in pools
  uint64_t given_up = 0;  // never given back: what is on them stays until the memory ends
  uint64_t warm = 0;
  uint64_t cold = 0;
};

class StackMemory {
 public:
  explicit StackMemory(const StackMemoryOptions& options = {}) noexcept;
  StackMemory(const StackMemory&) = delete;
  StackMemory& operator=(const StackMemory&) = delete;
  ~StackMemory();  // every stack was given back

  // Up to `want` stacks, at most kStackBatch. None: no memory, no address space, or the limit.
  [[nodiscard]] StackBatch take_batch(StackClass stack_class, uint32_t want = kStackBatch) noexcept;
  // One that was taken is not given back.
  void note_given_up() noexcept;
  void give_batch(StackClass stack_class, const StackBatch& batch) noexcept;

  // Of the slab that would be made next.
  [[nodiscard]] Guard guard() noexcept;
  [[nodiscard]] MappingForecast forecast(StackClass stack_class, uint64_t stacks) noexcept;
  [[nodiscard]] StackCounts counts() noexcept;

 private:
  struct Shelf {
    StoredBatch* warm = nullptr;
    Slab* cold = nullptr;   // those with cold stacks
    Slab* fresh = nullptr;  // being carved
    uint32_t warm_stacks = 0;
  };
  // Under the mutex.
  [[nodiscard]] StackBatch take_warm(Shelf& shelf, uint32_t want) noexcept;
  [[nodiscard]] static StackBatch take_cold(Shelf& shelf, uint32_t want) noexcept;
  [[nodiscard]] bool add_slab(Shelf& shelf, StackClass stack_class) noexcept;
  void note_cold(Shelf& shelf, const StackBatch& batch) noexcept;

  StackMemoryOptions options_;
  uint64_t allowed_mappings_;
  std::mutex mutex_;  // of what follows
  Guard guard_;
  StackCounts counts_;  // without cold ones, which the slabs count
  Slab* slabs_ = nullptr;
  Shelf shelves_[kStackClasses];
};

// How many stacks of a class are kept with their pages, where `bound` is for those up to 64 KiB.
[[nodiscard]] constexpr uint32_t warm_bound(uint32_t bound, StackClass stack_class) noexcept {
  const size_t size = slot_size(stack_class);
  return size <= kDefaultStackSize ? bound
                                   : static_cast<uint32_t>(bound / (size / kDefaultStackSize));
}

}  // namespace jzx::kinds

// Memory of futures: a cache per thread, and a depot between them.
//
// A future belongs to no system: it may be made before one, and outlive it. So its memory comes
// from the process. malloc would do, at some 9 ns; a look at what the thread has takes two. A
// state is mostly made on one thread and ends on another. What is too much on one side goes in
// batches through the depot to the other, at one lock per batch. All of it is bounded; what is
// more goes back to the system.
//
//   thread: one block, the batch in use (LIFO, warm) + at most one full spare, per size
//        ▲ │ 32 at a time, under the depot's lock
//   depot: at most 64 batches per size
//        ▲ │ one at a time
//   operator new and delete
//
// A thread's cache is plain words, so that its fast path needs no check whether it was made. It is
// opened by the first block that is given to it, and closed by `Closer`, which that call leaves for
// the end of the thread: the blocks go back, and what is given later goes back at once. What the
// depot holds when the process ends is left to the system.
//
// Under the address sanitizer nothing is kept, so that it sees who uses a block that was given
// back.
//
// Threads: any.
#include <array>
#include <mutex>
#include <new>

#include <jzx/detail/future_state.hpp>

#include "async/future_memory.hpp"
#include "base/blocks/block_depot.hpp"
#include "base/spin_lock.hpp"

namespace jzx::detail {

namespace {

using base::BlockBatch;
using base::StoredBatch;

#ifdef __SANITIZE_ADDRESS__
constexpr bool kKeepsBlocks = false;
#else
constexpr bool kKeepsBlocks = true;
#endif

constexpr size_t kClasses = 16;  // frames of coroutines with a few results are below 1 KiB
constexpr size_t kLargest = kClasses * kFutureAlignment;
constexpr uint32_t kBatch = 32;
constexpr uint32_t kBatchesInDepot = 64;

[[nodiscard]] constexpr size_t class_of(size_t size) noexcept {
  return (size - 1) / kFutureAlignment;
}

// ---- the system ----

constinit thread_local async::BlockGate* gate = nullptr;  // the innermost

// Out of line, so that who takes one from the cache saves no registers for it.
[[nodiscard]] [[gnu::noinline]] void* take_from_system(size_t size) noexcept {
  if (gate != nullptr && gate->refuses()) [[unlikely]]
    return nullptr;
  return ::operator new (size, std::align_val_t{kFutureAlignment}, std::nothrow);
}
void give_to_system(void* block) noexcept {
  ::operator delete (block, std::align_val_t{kFutureAlignment});
}
void give_to_system(BlockBatch batch) noexcept {
  while (batch.first != nullptr) give_to_system(batch.pop());
}

// ---- the depot ----

class alignas(64) Depot {
 public:
  [[nodiscard]] BlockBatch take() noexcept {
    std::lock_guard hold(lock_);
    StoredBatch* stored = first_;
    if (stored == nullptr) return {};
    first_ = stored->next;
    --count_;
    return stored->batch();
  }
  // False: it is full.
  [[nodiscard]] bool give(const BlockBatch& batch) noexcept {
    std::lock_guard hold(lock_);
    if (count_ == kBatchesInDepot) return false;
    first_ = StoredBatch::store(batch, first_);
    ++count_;
    return true;
  }

 private:
  base::SpinLock lock_;
  StoredBatch* first_ = nullptr;
  uint32_t count_ = 0;
};

constinit std::array<Depot, kClasses> depots;

void give_to_depot(size_t number, const BlockBatch& batch) noexcept {
  if (batch.first != nullptr && !depots[number].give(batch)) give_to_system(batch);
}

// ---- a thread's cache ----

struct Cache {
  struct Class {
    BlockBatch in_use;
    BlockBatch spare;  // full, or empty
  };
  enum class Life : uint8_t { untouched, open, closed };

  // Of each size a block beside the batch, if one was given when there was none. Mostly blocks are
  // taken and given by turns: then each is one store, and nothing is written into the block.
  std::array<void*, kClasses> in_hand{};
  std::array<Class, kClasses> classes;
  uint32_t room = 0;  // of a batch: kBatch while it is open
  Life life = Life::untouched;
};

// initial-exec: found by one instruction also in a shared library, for which it is small enough.
[[gnu::tls_model("initial-exec")]] constinit thread_local Cache cache;

// From here on nothing is kept.
void close_cache() noexcept {
  cache.life = Cache::Life::closed;
  cache.room = 0;
  for (size_t number = 0; number < kClasses; ++number) {
    Cache::Class& one = cache.classes[number];
    if (one.in_use.count() == kBatch) give_to_depot(number, std::exchange(one.in_use, {}));
    if (void* block = std::exchange(cache.in_hand[number], nullptr)) one.in_use.push(block);
    give_to_depot(number, std::exchange(one.in_use, {}));
    give_to_depot(number, std::exchange(one.spare, {}));
  }
}

struct Closer {
  ~Closer() { close_cache(); }
  void stay() noexcept {}  // made by its first use
};
thread_local Closer closer;

void open_cache() noexcept {
  if (cache.life != Cache::Life::untouched) return;
  closer.stay();
  cache.life = Cache::Life::open;
  cache.room = kBatch;
}

[[nodiscard]] [[gnu::noinline]] void* take_slowly(size_t number) noexcept {
  Cache::Class& one = cache.classes[number];
  open_cache();
  if (cache.life == Cache::Life::open) {
    one.in_use = one.spare.first != nullptr ? std::exchange(one.spare, {}) : depots[number].take();
    if (one.in_use.first != nullptr) return one.in_use.pop();
  }
  return take_from_system((number + 1) * kFutureAlignment);
}

[[gnu::noinline]] void give_slowly(void* block, size_t number) noexcept {
  open_cache();
  if (cache.life == Cache::Life::closed) return give_to_system(block);
  Cache::Class& one = cache.classes[number];
  if (one.in_use.count() == kBatch) {
    give_to_depot(number, one.spare);
    one.spare = std::exchange(one.in_use, {});
  }
  one.in_use.push(block);
}

}  // namespace

void* take_future_block(size_t size) noexcept {
  if (!kKeepsBlocks || size > kLargest) [[unlikely]]
    return take_from_system(size);
  const size_t number = class_of(size);
  if (void* block = cache.in_hand[number]) {
    cache.in_hand[number] = nullptr;
    return block;
  }
  BlockBatch& in_use = cache.classes[number].in_use;
  if (in_use.first == nullptr) [[unlikely]]
    return take_slowly(number);
  return in_use.pop();
}

void give_future_block(void* block, size_t size) noexcept {
  if (!kKeepsBlocks || size > kLargest) [[unlikely]]
    return give_to_system(block);
  const size_t number = class_of(size);
  if (cache.in_hand[number] == nullptr && cache.room != 0) {
    cache.in_hand[number] = block;
    return;
  }
  BlockBatch& in_use = cache.classes[number].in_use;
  if (in_use.count() >= cache.room) [[unlikely]]
    return give_slowly(block, number);
  in_use.push(block);
}

}  // namespace jzx::detail

namespace jzx::async {

BlockGate::BlockGate(RefusesFn function, void* context) noexcept
    : refuses_(function),
      context_(context),
      outer_(std::exchange(detail::gate, this)),
      was_open_(detail::cache.life != detail::Cache::Life::closed) {
  detail::open_cache();  // so that what it keeps later goes back when the thread ends
  detail::close_cache();
}

BlockGate::~BlockGate() {
  detail::gate = outer_;
  if (!was_open_) return;
  detail::cache.life = detail::Cache::Life::open;
  detail::cache.room = detail::kBatch;
}

}  // namespace jzx::async

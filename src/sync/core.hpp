// What every lock, channel and event of this folder is made of: a lock for a few instructions,
// queues of waiters, and a count of who knows it.
//
// The count. A core is known by its owner (a Mutex, the ends of a channel), by each guard, and by
// each waiter in a queue. It ends with the last of them. So a guard may outlive its mutex, and an
// owner that ends need not wait for anybody. All who count do so under the lock, where they are
// anyway: it is a plain word.
//
// Settling. A future is settled after the lock was left, since that runs continuations on this very
// thread. One of them may use the same core again, and, say, drop the guard that it was given,
// which grants the next, whose continuation … To need no stack for that, a thread that is settling
// a core's waiters further up its stack is left to settle these too:
//
//   ~Hold ──▶ settle A ──▶ A's callback ──▶ ~Hold: puts B into the outbox of the first
//     └─────▶ settle B
//
// So a callback of then() must not wait for another grant of the same core: that may be in the
// outbox below it. Callbacks run to their end, as handlers do.
//
// Threads: any. The lock is innermost: neither other locks nor users' code are met under it.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include <jzx/detail/sync_wait.hpp>

#include "base/assert.hpp"
#include "base/spin_lock.hpp"

namespace jzx::sync {

using detail::Waiter;

// In the order in which they came. Linked through the waiters, which unlink themselves.
class WaiterList {
 public:
  WaiterList() noexcept { ends_.next = ends_.prev = &ends_; }
  WaiterList(const WaiterList&) = delete;
  WaiterList& operator=(const WaiterList&) = delete;
  ~WaiterList() { JZX_ASSERT(empty()); }

  [[nodiscard]] bool empty() const noexcept { return ends_.next == &ends_; }
  [[nodiscard]] Waiter* front() const noexcept {
    return empty() ? nullptr : static_cast<Waiter*>(ends_.next);
  }
  void push_back(Waiter& waiter) noexcept {
    JZX_ASSERT(!waiter.is_linked());
    waiter.prev = ends_.prev;
    waiter.next = &ends_;
    ends_.prev->next = &waiter;
    ends_.prev = &waiter;
  }
  void splice_back(WaiterList& other) noexcept {
    while (Waiter* waiter = other.front()) {
      unlink(*waiter);
      push_back(*waiter);
    }
  }
  static void unlink(Waiter& waiter) noexcept {
    JZX_ASSERT(waiter.is_linked());
    waiter.prev->next = waiter.next;
    waiter.next->prev = waiter.prev;
    waiter.next = waiter.prev = nullptr;
  }

 private:
  detail::WaiterLink ends_;
};

class Core {
 public:
  class Hold;

  // By so many owners.
  explicit Core(size_t known_by = 1) noexcept : known_by_(known_by) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // nullptr: no memory.
  template <class Made, class... Args>
  [[nodiscard]] static Made* try_make(Args&&... args) noexcept {
    static_assert(alignof(Made) <= detail::kFutureAlignment);
    void* block = detail::take_future_block(sizeof(Made));
    if (block == nullptr) return nullptr;
    Made* made = ::new (block) Made(std::forward<Args>(args)...);
    made->size_ = sizeof(Made);
    return made;
  }
  template <class Made, class... Args>
  [[nodiscard]] static Made& make(Args&&... args) {
    Made* made = try_make<Made>(std::forward<Args>(args)...);
    if (made == nullptr) detail::throw_no_memory();
    return *made;
  }

 protected:
  virtual ~Core() = default;  // nobody knows it any more
  // Under the lock: a waiter was cancelled, and has left its queue. Others may be granted now.
  virtual void withdrawn(Waiter& waiter, Hold& hold) noexcept;

 private:
  friend void detail::cancel_wait(detail::Waiter& waiter) noexcept;

  // A thread that settles waiters of this core, on its stack.
  struct Settling {
    const void* thread;
    Settling* next;
    WaiterList outbox;
  };
  [[nodiscard]] Settling* settling_here() const noexcept;
  void forget(Settling& settling) noexcept;
  void end() noexcept;

  base::SpinLock lock_;
  size_t known_by_;
  Settling* settling_ = nullptr;
  size_t size_ = 0;
};

// Holds the core's lock. At its end that is left, and then the futures of those who were granted
// something are settled.
class Core::Hold {
 public:
  explicit Hold(Core& core) noexcept : core_(core) { core_.lock_.lock(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold();

  void know() noexcept { ++core_.known_by_; }
  void forget() noexcept {
    JZX_ASSERT(core_.known_by_ > 0);
    --core_.known_by_;
  }

  void enqueue(WaiterList& queue, Waiter& waiter) noexcept {
    know();
    waiter.core = &core_;
    queue.push_back(waiter);
  }
  // It was never queued: what it wants is there, or will never be. Its future is settled by
  // settle_now() after the lock was left, when nobody else knows it yet.
  void answer(Waiter& waiter, Errc outcome) noexcept {
    waiter.core = &core_;
    waiter.outcome = outcome;
    const bool is_first = waiter.claim();
    JZX_ASSERT(is_first);
    (void)is_first;
    if (waiter.is_guarded && ok(outcome)) know();
    answered_ = &waiter;
  }
  // Takes it out of its queue, with this result. A guard that it is given knows the core in its
  // place.
  void finish(Waiter& waiter, Errc outcome) noexcept {
    WaiterList::unlink(waiter);
    waiter.outcome = outcome;
    if (!waiter.claim()) return;  // its canceller is on the way to the lock, and settles it
    leave(waiter);
    finished_.push_back(waiter);
  }
  void finish_all(WaiterList& queue, Errc outcome) noexcept {
    while (Waiter* waiter = queue.front()) finish(*waiter, outcome);
  }

 private:
  friend void detail::cancel_wait(detail::Waiter& waiter) noexcept;
  void leave(const Waiter& waiter) noexcept {
    if (!waiter.is_guarded || !ok(waiter.outcome)) forget();
  }

  Core& core_;
  Waiter* answered_ = nullptr;
  WaiterList finished_;
};

}  // namespace jzx::sync

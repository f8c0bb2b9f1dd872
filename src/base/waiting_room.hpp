// Threads and fibers that wait until somebody calls them, by a key. A guest is a record on the
// waiting one's own stack, so that waiting needs no memory.
//
//   guest    enter ─▶ look once more at what is waited for ─▶ wait ─▶ look again … ─▶ leave
//            (a fiber does not wait here: it asks whether it was called, and is woken when it is)
//   others   call the first few of a key, or all of them; close: everybody
//
// A guest that is called before it waits does not wait. It keeps its place until it leaves, so that
// the longest waiting is called first. One that leaves with a call it did not need hands it to the
// next of its key: a call is never lost.
//
// Threads: any. The locks are innermost: nothing else is taken under them; a guest that is not a
// thread is woken under them, and must not take one for that.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/list.hpp"

namespace jzx::base {

class WaitingRoom {
 public:
  class Guest : public ListNode<> {
   public:
    using WakeFn = void (*)(Guest& self);
    // Without a function, a thread waits.
    explicit Guest(uint64_t key, WakeFn function = nullptr) noexcept : key_(key), wake_(function) {}

   private:
    friend WaitingRoom;
    void wake() noexcept {
      if (wake_ != nullptr) {
        wake_(*this);
      } else {
        called_.notify_one();
      }
    }

    const uint64_t key_;
    const WakeFn wake_;
    bool is_called_ = false;
    std::condition_variable called_;
  };

  // False: it is closed; do not leave.
  [[nodiscard]] bool enter(Guest& guest) noexcept {
    Bench& bench = bench_of(guest.key_);
    const std::lock_guard hold(bench.mutex);
    if (bench.is_closed) return false;
    bench.guests.push_back(guest);
    return true;
  }
  // Until it is called, or was since the last time. False: the room was closed.
  [[nodiscard]] bool wait(Guest& guest) noexcept {
    Bench& bench = bench_of(guest.key_);
    std::unique_lock hold(bench.mutex);
    guest.called_.wait(hold, [&] { return guest.is_called_ || bench.is_closed; });
    guest.is_called_ = false;
    return !bench.is_closed;
  }
  // The same for one that is no thread: was it called, or is the room closed, since the last time?
  enum class Answer : uint8_t { not_yet, called, closed };
  [[nodiscard]] Answer ask(Guest& guest) noexcept {
    Bench& bench = bench_of(guest.key_);
    const std::lock_guard hold(bench.mutex);
    if (bench.is_closed) return Answer::closed;
    return std::exchange(guest.is_called_, false) ? Answer::called : Answer::not_yet;
  }
  void leave(Guest& guest) noexcept {
    Bench& bench = bench_of(guest.key_);
    const std::lock_guard hold(bench.mutex);
    guest.unlink();
    if (guest.is_called_) (void)call(bench, guest.key_, 1);
  }

  // Calls the first `count` of this key that are not called yet. True: more are waiting.
  bool call(uint64_t key, uint32_t count) noexcept {
    Bench& bench = bench_of(key);
    const std::lock_guard hold(bench.mutex);
    return call(bench, key, count);
  }
  void call_all(uint64_t key) noexcept { (void)call(key, UINT32_MAX); }

  // From now on nobody waits here.
  void close() noexcept {
    for (Bench& bench : benches_) {
      const std::lock_guard hold(bench.mutex);
      bench.is_closed = true;
      for (Guest* one = bench.guests.front(); one != nullptr; one = bench.guests.after(*one)) {
        one->wake();
      }
    }
  }

  // A snapshot: guests of this key.
  [[nodiscard]] size_t count(uint64_t key) noexcept {
    Bench& bench = bench_of(key);
    const std::lock_guard hold(bench.mutex);
    size_t result = 0;
    for (Guest* one = bench.guests.front(); one != nullptr; one = bench.guests.after(*one)) {
      if (one->key_ == key) ++result;
    }
    return result;
  }

 private:
  struct Bench {
    std::mutex mutex;
    List<Guest> guests;
    bool is_closed = false;
  };

  [[nodiscard]] Bench& bench_of(uint64_t key) noexcept { return benches_[key % kBenches]; }

  // Under the lock; so are the notifications: a guest that is notified cannot leave its stack
  // before that is done.
  static bool call(Bench& bench, uint64_t key, uint32_t count) noexcept {
    for (Guest* one = bench.guests.front(); one != nullptr; one = bench.guests.after(*one)) {
      if (one->key_ != key || one->is_called_) continue;
      if (count-- == 0) return true;
      one->is_called_ = true;
      one->wake();
    }
    return false;
  }

  static constexpr size_t kBenches = 16;
  Bench benches_[kBenches];
};

}  // namespace jzx::base

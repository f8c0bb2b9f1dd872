// Those who wait for something that an executor would tell them, and must hear of its end instead.
// What they wait for and the end race on the list: whoever takes the entry out goes on.
//
// Threads: any. The lock is innermost: nothing else is taken under it.
#pragma once

#include <mutex>

#include "base/list.hpp"
#include "base/spin_lock.hpp"

namespace jzx::base {

struct InEndList {};

class AtEnd : public ListNode<InEndList> {
 public:
  using EndFn = void (*)(AtEnd& self);
  explicit AtEnd(EndFn function) noexcept : end_(function) {}

 private:
  friend class EndList;
  EndFn end_;
};

class EndList {
 public:
  void add(AtEnd& one) noexcept {
    const std::lock_guard hold(lock_);
    list_.push_back(one);
  }
  // False: somebody else has taken it out.
  [[nodiscard]] bool remove(AtEnd& one) noexcept {
    const std::lock_guard hold(lock_);
    if (!one.is_linked()) return false;
    one.unlink();
    return true;
  }
  // Tells everybody. Who is told may be gone when its function has returned.
  void end_all() noexcept {
    for (;;) {
      AtEnd* one = nullptr;
      {
        const std::lock_guard hold(lock_);
        one = list_.pop_front();
      }
      if (one == nullptr) return;
      one->end_(*one);
    }
  }

 private:
  SpinLock lock_;
  List<AtEnd, InEndList> list_;
};

}  // namespace jzx::base

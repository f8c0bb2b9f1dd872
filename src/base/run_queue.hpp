// The ready work of one worker: an intrusive FIFO that needs no memory and is never full.
// Threads: the owner only.
#pragma once

#include "base/executor.hpp"

namespace jzx::base {

class RunQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  void push(Runnable& work) noexcept {
    work.next_runnable = nullptr;
    if (first_ == nullptr) {
      first_ = &work;
    } else {
      last_->next_runnable = &work;
    }
    last_ = &work;
  }

  // Takes it out of the middle, for what was called off; false if it is not here. Walks the queue.
  [[nodiscard]] bool remove(Runnable& work) noexcept {
    Runnable* before = nullptr;
    for (Runnable* at = first_; at != nullptr; before = at, at = at->next_runnable) {
      if (at != &work) continue;
      (before == nullptr ? first_ : before->next_runnable) = work.next_runnable;
      if (last_ == &work) last_ = before;
      return true;
    }
    return false;
  }

  [[nodiscard]] Runnable* pop() noexcept {
    Runnable* work = first_;
    if (work != nullptr) first_ = work->next_runnable;
    return work;
  }

 private:
  Runnable* first_ = nullptr;
  Runnable* last_ = nullptr;  // meaningful while first_ is not null
};

}  // namespace jzx::base

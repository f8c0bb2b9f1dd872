// Several chains of coroutines that run in turn inside of one coroutine: what scope(),
// with_timeout() of a task and with_stop() are made of. Not for users.
//
//   whoever runs it ──run()──▶ the nursery's coroutine ──run()──▶ a chain ──awaits──▶ a future
//                                     ▲                                                  │
//                                     └── bell ◀── ready list ◀── wake() ◀───────────────┘
//
// Each chain is a TaskRoot of its own, so that it waits, and is asked to stop, by itself. When what
// it waits for has come it is put on the ready list; who finds the nursery waiting rings its bell,
// which is the future that the nursery's coroutine awaits. So all of it runs wherever that
// coroutine does: in an actor, in a fiber, on a thread; one chain at a time.
//
// To cancel the bell is to ask the nursery to stop: that is put on the ready list like a chain,
// once. The bell rings only when there is something to do, also later, when all waits of the
// nursery's coroutine are cancelled from the start: so it stays until all chains have ended.
//
// The bell is used again and again: who rings is done with it when the coroutine goes on.
//
// Threads: note_stop() any, while the nursery is there; the rest the one that runs it.
#pragma once

#include <atomic>
#include <coroutine>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <jzx/async/task.hpp>
#include <jzx/detail/ready_list.hpp>
#include <jzx/detail/task_root.hpp>

namespace jzx::detail {

class Nursery;

// One of the chains.
class ChildChain : public TaskRoot, public ReadyNode {
 public:
  // It has ended, and is no longer known to the nursery.
  using Finish = void (*)(ChildChain& chain);

  ChildChain(Nursery& home, Finish finish) noexcept
      : TaskRoot(&wake), home_(home), finish_(finish) {}

 private:
  friend class Nursery;
  inline static void wake(TaskRoot& root) noexcept;

  Nursery& home_;
  Finish finish_;
  ChildChain* before_ = nullptr;  // among those that have not ended
  ChildChain* after_ = nullptr;
};

class BellAwaiter {
 public:
  explicit BellAwaiter(Nursery& home) noexcept : home_(home) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> task) {
    return suspend(*task.promise().root, task);
  }
  void await_resume() const noexcept {}

 private:
  [[nodiscard]] inline bool suspend(TaskRoot& root, std::coroutine_handle<> who);
  Nursery& home_;
};

// A future of the nursery's own coroutine.
class NurseryBell : public FutureCore {
 public:
  explicit NurseryBell(Nursery& home) noexcept : FutureCore(Stage::pending, 0), home_(home) {
    cancel = &cancelled;
  }
  [[nodiscard]] BellAwaiter awaiter() noexcept { return BellAwaiter(home_); }

 private:
  inline static void cancelled(FutureCore& core);
  Nursery& home_;
};

class Nursery {
 public:
  Nursery() noexcept : bell_(*this) {}
  Nursery(const Nursery&) = delete;
  Nursery& operator=(const Nursery&) = delete;

  // It will have its first turn soon. One that comes late is asked to stop before it begins.
  void add(ChildChain& chain, std::coroutine_handle<> first) noexcept {
    chain.after_ = std::exchange(chains_, &chain);
    if (chain.after_ != nullptr) chain.after_->before_ = &chain;
    chain.begin(first);
    if (is_stopping_) chain.request_stop();
    (void)ready_.put(chain);  // the runner is here, and does not wait
  }

  // Runs whatever can be. False: all chains have ended. Else await bell().
  [[nodiscard]] bool run_ready() {
    is_resting_ = false;
    while (!is_resting_) {
      ReadyNode* node = ready_.take_all();
      if (node == nullptr) break;
      while (node != nullptr) {
        ReadyNode& now = *std::exchange(node, node->next_ready);
        if (&now == &stop_) {
          stop_all();
        } else {
          run(static_cast<ChildChain&>(now));
        }
      }
    }
    return chains_ != nullptr;
  }
  [[nodiscard]] NurseryBell& bell() noexcept { return bell_; }

  // Asks all chains to stop, and those that are still to come; but not this one.
  void stop_all(const ChildChain* but = nullptr) {
    is_stopping_ = true;
    for (ChildChain* chain = chains_; chain != nullptr; chain = chain->after_) {
      if (chain != but) chain->request_stop();
    }
  }
  // The same, by the one that runs it, when it has its next turn.
  void note_stop() {
    // relaxed: only one is to do it; the list orders the rest.
    if (is_stop_noted_.exchange(true, std::memory_order_relaxed)) return;
    if (ready_.put(stop_)) ring();
  }

  // True: the coroutine is suspended until it rings.
  [[nodiscard]] bool wait(TaskRoot& root, std::coroutine_handle<> who) {
    ::new (&bell_) NurseryBell(*this);
    if (!ready_.begin_wait()) {
      if (!is_resting_) return false;
      root.forget_awaited();  // it waits for nothing
      return root.rests(who);
    }
    return root.wait_for(bell_, who) == TaskRoot::Waiting::suspended;
  }

 private:
  friend class ChildChain;

  void run(ChildChain& chain) {
    if (!chain.can_go_on()) return;
    if (!chain.run()) {
      is_resting_ |= chain.is_between_waits();
      return;
    }
    (chain.before_ != nullptr ? chain.before_->after_ : chains_) = chain.after_;
    if (chain.after_ != nullptr) chain.after_->before_ = chain.before_;
    chain.finish_(chain);
  }
  // By the one whom the list told to.
  void ring() noexcept {
    if (bell_.handover.settle() == Settled::second) go_on(&bell_);
  }

  ReadyList<> ready_;
  ReadyNode stop_;
  std::atomic<bool> is_stop_noted_{false};
  bool is_stopping_ = false;
  bool is_resting_ = false;  // one of them does not listen: others get their turns first
  ChildChain* chains_ = nullptr;
  NurseryBell bell_;
};

inline void ChildChain::wake(TaskRoot& root) noexcept {
  auto& chain = static_cast<ChildChain&>(root);
  Nursery& home = chain.home_;
  if (home.ready_.put(chain)) home.ring();
}

inline void NurseryBell::cancelled(FutureCore& core) {
  static_cast<NurseryBell&>(core).home_.note_stop();
}
inline bool BellAwaiter::suspend(TaskRoot& root, std::coroutine_handle<> who) {
  return home_.wait(root, who);
}

// A task as a chain, whose result stays here. Lies in the frame of the nursery's coroutine.
template <class T>
class KeptChain : public ChildChain {
 public:
  using Ended = void (*)(KeptChain& chain);

  KeptChain(Nursery& home, Task<T>&& task, Ended ended = nullptr) noexcept
      : ChildChain(home, &finish), ended_(ended), task_(std::move(task)) {
    if (task_.can_begin()) {
      home.add(*this, task_.begin(*this, nullptr));
    } else {
      result_.emplace(task_.take());
    }
  }
  [[nodiscard]] bool has_ended() const noexcept { return result_.has_value(); }
  [[nodiscard]] Result<T>& result() noexcept { return *result_; }

 private:
  static void finish(ChildChain& chain) {
    auto& self = static_cast<KeptChain&>(chain);
    self.result_.emplace(self.task_.take());
    if (self.ended_ != nullptr) self.ended_(self);
  }
  Ended ended_;
  Task<T> task_;
  std::optional<Result<T>> result_;
};

}  // namespace jzx::detail

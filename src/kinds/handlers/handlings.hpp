// The handlers of one actor that are coroutines and wait. Each has a chain of its own; those whose
// wait is over are run in the actor's turns, one after the other, in the order in which they were
// woken.
//
//   wait ends ──▶ woken (from any thread) ──▶ ready ──▶ run: waits again, or has ended
//
// An actor that ends while handlers wait asks them all to stop, remembers how it will have ended,
// and is suspended until the last of them has.
//
// Threads: wake() from any; the rest in the actor's own turn.
#pragma once

#include <jzx/detail/handling.hpp>

#include "async/waits_for.hpp"
#include "base/assert.hpp"
#include "base/leave.hpp"
#include "base/mpsc_stack.hpp"
#include "core/turn.hpp"

namespace jzx::kinds {

class Handlings {
 public:
  using Handling = detail::Handling;

  explicit Handlings(bool interleaves) noexcept : interleaves_(interleaves) {}

  [[nodiscard]] bool is_empty() const noexcept { return newest_ == nullptr; }
  // No mail may be taken.
  [[nodiscard]] bool block_mail() const noexcept {
    return !is_empty() && (!interleaves_ || is_ending_);
  }
  // Of those that are ready when it is called, there are more than have been run.
  [[nodiscard]] bool has_ready() const noexcept { return ready_ != nullptr; }

  void add(Handling& handling) noexcept {
    handling.older = newest_;
    if (newest_ != nullptr) newest_->newer = &handling;
    newest_ = &handling;
  }
  void remove(Handling& handling) noexcept {
    if (handling.older != nullptr) handling.older->newer = handling.newer;
    (handling.newer != nullptr ? handling.newer->older : newest_) = handling.older;
  }

  // Once for each wait. The actor is still to be woken.
  void wake(Handling& handling) noexcept { woken_.push(handling); }
  // The next whose wait is over; nullptr: none.
  [[nodiscard]] Handling* next_ready() noexcept {
    if (ready_ == nullptr) ready_ = woken_.take_all();
    return ready_;
  }
  // The same, and it is ready no more.
  [[nodiscard]] Handling* take_ready() noexcept {
    Handling* first = next_ready();
    if (first == nullptr) return nullptr;
    ready_ = first->next;
    // Who woke it has not quite left it, perhaps.
    [[maybe_unused]] const bool is_over = first->can_go_on();
    JZX_ASSERT(is_over);
    return first;
  }
  // True every other time that some are ready: those are run when it is called next, at the latest.
  [[nodiscard]] bool give_way() noexcept {
    if (ready_ == nullptr) ready_ = woken_.take_all();
    gave_way_ = ready_ != nullptr && !gave_way_;
    return gave_way_;
  }

  // They go on with what their waits answer then.
  void request_stop() noexcept {
    for (Handling* one = newest_; one != nullptr; one = one->older) one->request_stop();
  }

  // There are some, which were told to stop often enough, and wait for nothing.
  [[nodiscard]] bool are_deaf() const noexcept {
    return !is_empty() &&
           all([](const Handling& one) { return one.is_between_waits() && one.is_deaf(); });
  }
  [[nodiscard]] bool are_between_waits() const noexcept {
    return all([](const Handling& one) { return one.is_between_waits(); });
  }
  [[nodiscard]] bool are_hopeless() const noexcept {
    return all([](const Handling& one) { return one.is_hopeless(); });
  }
  // They are left as they are, for good. Their messages are the caller's, the newest first.
  template <class EndMessage>
  void give_up(EndMessage&& end_message) noexcept {
    while (newest_ != nullptr) {
      Handling& gone = *newest_;
      newest_ = gone.older;
      base::leave_for_good(&gone);
      end_message(*gone.envelope);
    }
  }

  // ---- how the actor will have ended ----

  [[nodiscard]] bool is_ending() const noexcept { return is_ending_; }
  // The first reason stays.
  void begin_end(const core::Host& host, core::Outcome how) noexcept {
    if (is_ending_) return;
    is_ending_ = true;
    outcome_ = how;
    if (how != core::Outcome::failed) return;
    exit_reason_ = host.exit_reason;
    exit_text_ = host.exit_text;
  }
  // Why, once it has begun to.
  [[nodiscard]] ExitReason exit_reason() const noexcept { return exit_reason_; }
  [[nodiscard]] const ExitText& exit_text() const noexcept { return exit_text_; }
  // When all have ended.
  [[nodiscard]] core::Outcome end(core::Turn& turn) const noexcept {
    if (outcome_ != core::Outcome::failed) return outcome_;
    return turn.fail(exit_reason_, exit_text_.view());
  }

 private:
  template <class Is>
  [[nodiscard]] bool all(Is&& is) const noexcept {
    const Handling* one = newest_;
    while (one != nullptr && is(*one)) one = one->older;
    return one == nullptr;
  }

  base::MpscStack<Handling, &Handling::next> woken_;
  Handling* ready_ = nullptr;  // the oldest first
  Handling* newest_ = nullptr;
  const bool interleaves_;
  bool is_ending_ = false;
  bool gave_way_ = false;
  core::Outcome outcome_ = core::Outcome::stopped;
  ExitReason exit_reason_ = ExitReason::normal;
  ExitText exit_text_;
};

// A handler that is a coroutine has ended: answers, and ends its record.
inline void finish_handling(detail::Handling& handling, Context& context) {
  struct End {
    ~End() {
      delete static_cast<async::WaitEdge*>(handling.wait_edge);
      handling.type.destroy(handling);
    }
    detail::Handling& handling;
  } const last{handling};
  handling.type.finish(handling, context);
}

}  // namespace jzx::kinds

// How a fiber receives: it looks at what it has kept, then at its mail, keeps what no pattern fits,
// and waits for more. The common ways are short, and stand next to the functions of
// jzx/detail/fiber.hpp that begin them, so that they become one function each.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <jzx/detail/fiber.hpp>

#include "kinds/fiber/fiber.hpp"

namespace jzx::kinds {

using core::Actor;
using core::Outcome;
using core::Turn;
using detail::ReceivePattern;

namespace {

// Looks at an empty mailbox, without waiting, before others get a turn.
constexpr uint32_t kPollsInATurn = 64;

// The first pattern that fits; `count`: none does.
size_t find_pattern(const ReceivePattern* patterns, size_t count, Envelope& envelope) {
  size_t which = 0;
  while (which < count && !patterns[which].fits(envelope)) ++which;
  return which;
}

}  // namespace

// No pattern fits the message in hand, or a guard threw.
void Fiber::keep_in_hand() {
  // Some room is left for messages whose handlers wait; see put_aside().
  Envelope* envelope = turn_->actor.held < kMostMail ? turn_->hold() : nullptr;
  if (envelope == nullptr) {
    turn_->refuse();
    deadline_.cancel();
    return exit(ExitReason::fail, "too many messages that no receive wants");
  }
  kept_.keep(turn_->host.system.allocator, *envelope);
}

Envelope* Fiber::take_kept(detail::Receive& receive) {
  const MustNotWait guarding(this);
  while (Envelope* envelope = kept_.take(receive.patterns, receive.count, receive.which)) {
    if (turn_->take_held(*envelope)) return envelope;
  }
  return nullptr;
}

// The messages from this one on: the first that fits.
Envelope* Fiber::find_from(detail::Receive& receive, Envelope* envelope) {
  // A guard that throws ends the receive: its message is kept.
  struct Kept {
    ~Kept() {
      if (fiber == nullptr) return;
      fiber->deadline_.cancel();
      fiber->keep_in_hand();
    }
    Fiber* fiber;
  };
  for (; envelope != nullptr; envelope = turn_->take()) {
    Kept undo{this};
    const MustNotWait guarding(this);
    receive.which = find_pattern(receive.patterns, receive.count, *envelope);
    undo.fiber = nullptr;
    if (receive.which < receive.count) break;
    keep_in_hand();
  }
  return envelope;
}

inline void Fiber::found(detail::Receive& receive, Envelope& envelope) noexcept {
  receive.envelope = &envelope;
  sender = envelope.sender;
}

// The common ways through the next two are short, and call nobody. Most often: it is idle, and
// waits for as long as it takes …
inline void Fiber::begin_receive(detail::Receive& receive) {
  const Turn& turn = *turn_;
  const Actor& own = turn.actor;
  if (is_asked_to_end || !kept_.is_empty() || turn.in_hand() != nullptr ||
      core::may_have_mail(own) || receive.timeout_ms >= 0 || has_canary_) [[unlikely]] {
    return look_first(receive);
  }
  outcome_ = Outcome::wants_mail;
  receive.is_waiting = true;
}

// … and then it has got a message of the type it waits for.
inline void Fiber::look_for_mail(detail::Receive& receive) {
  Turn& turn = *turn_;
  if (is_asked_to_end || deadline_.is_armed() || receive.patterns->accepts != nullptr) [[unlikely]]
    return look_again(receive);
  Envelope* envelope = turn.take_first(turn.host, turn.actor);
  if (envelope == nullptr || !receive.patterns->fits_plain(*envelope)) [[unlikely]]
    return look_again(receive);
  receive.which = 0;
  found(receive, *envelope);
}

// A guard is asked about a message that is on its way from here to there; and while a supervisor
// starts, nobody else of this thread is woken. So neither waits.
[[gnu::noinline]] void Fiber::refuse_to_wait_here() {
#ifdef __cpp_exceptions
  throw std::logic_error(
      "jzx: the guard of a receive must not wait, nor the constructor of a supervised child");
#else
  std::fputs(
      "jzx: the guard of a receive must not wait, nor the constructor of a supervised child\n",
      stderr);
  std::abort();
#endif
}

[[gnu::noinline]] void Fiber::look_first(detail::Receive& receive) {
  if (must_not_wait_) refuse_to_wait_here();
  // It has been asked, but does not know yet: that comes before the messages that it has kept.
  if (!is_asked_to_end && turn_->actor.has_note(core::kExitHint)) give_way();
  if (is_asked_to_end) return end_receiving(receive);
  put_aside();
  Envelope* envelope = kept_.is_empty() ? nullptr : take_kept(receive);
  if (envelope != nullptr) return found(receive, *envelope);
  look_again(receive);
}

// From the message in hand on, if there is one.
[[gnu::noinline]] void Fiber::look_again(detail::Receive& receive) {
  if (is_asked_to_end) return end_receiving(receive);
  Envelope* envelope = turn_->in_hand();
  envelope = find_from(receive, envelope != nullptr ? envelope : turn_->take());
  if (envelope == nullptr) return wait_for_mail(receive);
  if (deadline_.is_armed()) deadline_.cancel();
  found(receive, *envelope);
}

void Fiber::wait_for_mail(detail::Receive& receive) noexcept {
  Outcome pause = turn_->pause();
  if (receive.timeout_ms == 0 && has_polled_enough()) {
    pause = Outcome::budget_spent;
    note_resumed();  // before, as for a yield
  }
  receive.is_waiting = pause != Outcome::wants_mail || is_in_time(receive);
  if (receive.is_waiting) {
    prepare_to_leave(pause);
  } else {
    receive.why = Wait::timed_out;
  }
}

// Who only looks does not wait; it must let others run all the same, and hear when it is to end.
bool Fiber::has_polled_enough() noexcept {
  return ++polls_ % kPollsInATurn == 0 || turn_->actor.has_note(core::kExitHint);
}

bool Fiber::is_in_time(const detail::Receive& receive) noexcept {
  if (receive.timeout_ms < 0) return true;
  if (receive.timeout_ms == 0) return false;
  if (!deadline_.is_armed()) {
    deadline_.arm(turn_->host, turn_->actor, static_cast<uint64_t>(receive.timeout_ms));
  } else if (deadline_.has_passed()) {
    deadline_.cancel();
    note_resumed();
    return false;
  }
  return true;
}

void Fiber::end_receiving(detail::Receive& receive) {
  receive.is_waiting = false;
  if (deadline_.is_armed()) deadline_.cancel();
  note_wait_in_vain();
  receive.why = killed();
}

inline void Fiber::end_receive(Envelope& envelope) noexcept {
  if (!turn_->finish_at_once(envelope)) [[unlikely]]
    end_message(envelope);
}
[[gnu::noinline]] void Fiber::end_message(Envelope& envelope) noexcept {
  if (turn_->in_hand() == &envelope) {
    turn_->finish();
  } else {
    Envelope** place = &set_aside_;  // mostly the innermost
    while (*place != &envelope) place = &(*place)->next;
    *place = envelope.next;
    turn_->finish_held(envelope);
  }
}

void Fiber::drop_kept(core::Host& host, Actor& owner) noexcept {
  while (Envelope* envelope = kept_.take_oldest()) core::drop_held(host, owner, *envelope);
  kept_.end(host.system.allocator);
}

Envelope* Fiber::give_up_oldest() noexcept {
  if (kept_.is_empty()) return nullptr;
  constexpr ReceivePattern any{nullptr, nullptr, nullptr};
  size_t which = 0;
  return kept_.take(&any, 1, which);
}

}  // namespace jzx::kinds

namespace jzx::detail {

[[gnu::noinline]] FiberSeat& begin_receive(Receive& receive) {
  kinds::Fiber& fiber = kinds::Fiber::acting_or_throw("receive");
  fiber.begin_receive(receive);
  return fiber;
}
void look_for_mail(FiberSeat& fiber, Receive& receive) {
  static_cast<kinds::Fiber&>(fiber).look_for_mail(receive);
}
void end_receive(FiberSeat& fiber, Envelope& envelope) noexcept {
  static_cast<kinds::Fiber&>(fiber).end_receive(envelope);
}

}  // namespace jzx::detail

// A fiber: an actor whose body is straight-line code on a stack of its own, which may wait in the
// middle. The record lies at the top of that stack, with the body below it, so that a fiber that
// waits holds one page and its actor.
//
//   top ┌────────────────┐
//       │ Fiber          │
//       │ the body       │ what was given to spawn_fn()
//       │ frames         │
//       ⋮                ⋮
//   low │ guard          │
//
// A turn enters the stack and comes back when the body waits or has ended. What it waits for:
//
//   receive    mail, or mail or a timer          wants_mail, budget_spent
//   sleep      a timer                           suspended
//   a future   its result                        suspended
//   a send     room in a mailbox                 suspended
//   yield      nothing                           budget_spent
//
// Ending. One that is asked to end gets its next turn by stop(): the wait that it is in takes its
// timer back, or leaves its future, and then throws; the stack unwinds, and only then do others
// hear of the end. It stays asked: every later wait throws again, those of destructors that run
// meanwhile answer `killed`, and who swallows it and returns has been killed all the same. A body
// that goes on waiting in spite of it is let run between others, and reported once.
//
// Messages. One that is being handled is in the turn's hand. If its handler waits it is put aside
// and counts as queued until the handler returns. One that no pattern of a receive fits is kept,
// see kept_mail.hpp.
//
// Threads: as core::Kind. The body may be on another thread after each wait.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <jzx/detail/fiber.hpp>

#include "core/host.hpp"
#include "core/lifecycle.hpp"
#include "core/turn.hpp"
#include "kinds/fiber/deadline.hpp"
#include "kinds/fiber/kept_mail.hpp"
#include "kinds/fiber/stack_memory.hpp"
#include "kinds/fiber/stack_overflow.hpp"
#include "kinds/fiber/switch.hpp"

namespace jzx::kinds {

// Mail that was seen and not received yet is counted in 16 bits, and the system's is not bounded.
inline constexpr uint32_t kMostMail = 60'000;

// A wait of a fiber, for whoever asks whether it is over. On the thread that runs the fiber.
class FiberWait {
 public:
  [[nodiscard]] virtual bool is_over() const noexcept = 0;

 protected:
  ~FiberWait() = default;
};

class Fiber : public Switch, private RunningStack {
 public:
  // At the top of a stack; the body is still to be made. nullptr: the body is too large for it.
  [[nodiscard]] static Fiber* make(const Stack& stack, const detail::FiberType& type,
                                   bool is_measured) noexcept;
  // It was never entered, or has ended. The stack is the caller's.
  [[nodiscard]] Stack unmake() noexcept;

  // The fiber whose own code runs on this thread, or nullptr: it is not that of an actor that the
  // fiber polls by hand, nor of another system that it runs. Not inlined: a fiber may have moved to
  // another thread between two calls.
  [[nodiscard]] static Fiber* acting() noexcept;
  // The same, for a function that is itself not inlined and in which nothing can wait.
  [[nodiscard]] static Fiber* acting_inlined() noexcept {
    auto* fiber = const_cast<Fiber*>(static_cast<const Fiber*>(running_stack()));
    return fiber != nullptr && fiber->is_acting() ? fiber : nullptr;
  }
  // The same, for one that must be in a fiber; `what` was called.
  [[nodiscard]] static Fiber& acting_or_throw(const char* what) {
    Fiber* fiber = acting_inlined();
    if (fiber == nullptr) [[unlikely]]
      outside(what);
    return *fiber;
  }

  // It has been made.
  void note_body() noexcept { has_body_ = true; }
  [[nodiscard]] const detail::FiberType& type() const noexcept { return *type_; }
  [[nodiscard]] Stack stack() const noexcept { return {low, top}; }
  [[nodiscard]] bool is_measured() const noexcept { return is_measured_; }

  // ---- for the kind, on the stack of who runs the turn ----

  [[nodiscard]] bool has_started() const noexcept { return stage_ != Stage::made; }
  [[nodiscard]] bool has_ended() const noexcept { return stage_ == Stage::ended; }
  // For the length of a scope: the guard of a receive, the constructor of a supervised child.
  // nullptr: nobody's.
  class MustNotWait {
   public:
    explicit MustNotWait(Fiber* fiber) noexcept
        : fiber_(fiber), outer_(fiber != nullptr && std::exchange(fiber->must_not_wait_, true)) {}
    ~MustNotWait() {
      if (fiber_ != nullptr) fiber_->must_not_wait_ = outer_;
    }
    MustNotWait(const MustNotWait&) = delete;
    MustNotWait& operator=(const MustNotWait&) = delete;

   private:
    Fiber* const fiber_;
    const bool outer_;
  };
  [[nodiscard]] bool may_wait() const noexcept { return !must_not_wait_; }
  core::Outcome start(core::Turn& turn) noexcept;
  core::Outcome run(core::Turn& turn) noexcept;
  // From now on its waits fail.
  void ask_to_end() noexcept { is_asked_to_end = true; }
  // For simulated faults: the wait that it is in throws an exception of the usual sort.
  void ask_to_throw() noexcept {
    is_asked_to_end = true;
    is_asked_to_throw_ = true;
  }
  [[nodiscard]] bool can_throw() const noexcept {
    return stage_ == Stage::running && !is_past_body_ && !is_asked_to_end;
  }
  // See core::Kind.
  [[nodiscard]] bool goes_on_without_mail() const noexcept;
  // How often it has waited since.
  [[nodiscard]] uint32_t waits_in_vain() const noexcept { return waits_in_vain_; }
  // It was told often enough, and does not listen.
  [[nodiscard]] bool is_deaf() const noexcept;
  // It lets others run before it is told again, and waits for nothing.
  [[nodiscard]] bool is_between_waits() const noexcept { return is_between_waits_; }
  // Its frames are left as they are, for good: others may refer to them. So the stack is not used
  // again, and the body not ended.
  void give_up() noexcept { is_given_up_ = true; }
  [[nodiscard]] bool is_given_up() const noexcept { return is_given_up_; }
  // Dead-letters what was kept.
  void drop_mail(core::Host& host, core::Actor& owner) noexcept {
    if (kept_.has_memory()) [[unlikely]]
      drop_kept(host, owner);
  }
  // The same of the messages whose handlers were given up.
  void drop_set_aside(core::Host& host, core::Actor& owner) noexcept;
  // Out of what was kept; nullptr: there is none of a user's.
  [[nodiscard]] Envelope* give_up_oldest() noexcept;
  [[nodiscard]] std::vector<const Envelope*> kept_mail() const { return kept_.list(); }
  // Of one that will not be entered.
  void destroy_body() noexcept;

  // ---- for its own code ----

  // See jzx/detail/fiber.hpp.
  void begin_receive(detail::Receive& receive);
  void look_for_mail(detail::Receive& receive);
  void end_receive(Envelope& envelope) noexcept;
  void begin_yield();
  void begin_sleep(int64_t delay_ms);
  [[nodiscard]] bool is_sleeping(Wait& why);
  void exit(ExitReason reason, std::string_view text);
  // Leaves the stack until something wakes the actor, or for nothing. False: it is to end; nothing
  // was thrown. For waits that have something to take back first.
  // `wait` says whether it was woken for nothing; nullptr: nobody knows.
  [[nodiscard]] bool suspend(const FiberWait* wait) noexcept;
  // The same for one that is to end, and waits for the end of what it has cancelled.
  void suspend_to_the_end() noexcept;
  // A chain that it runs does not listen to being asked to stop.
  void let_others_run() noexcept {
    if (is_asked_to_end) return note_wait_in_vain();
    note_resumed();
    give_way();
  }
  // For the wait that follows.
  [[nodiscard]] core::Waker waker() const noexcept {
    return {&turn_->actor, core::generation_of(id()), &turn_->host};
  }
  // It is to end: throws, or answers `killed`.
  Wait killed();

  [[nodiscard]] detail::Port& port() const noexcept {
    return *static_cast<detail::Port*>(turn_->host.port);
  }
  [[nodiscard]] core::Turn& turn() const noexcept { return *turn_; }
  [[nodiscard]] ActorId id() const noexcept { return turn_->actor.id(); }

  ActorId sender = core::kNobody;  // of the message received last

 private:
  enum class Stage : uint8_t { made, running, ended };

  Fiber(const Stack& stack, const detail::FiberType& type, bool is_measured) noexcept;
  ~Fiber() {}

  [[nodiscard]] bool is_acting() const noexcept {
    // One that is unwound when its system ends may be on any thread.
    return turn_->host.acting() == id() &&
           (base::Executor::current_inlined() == &turn_->host || is_asked_to_end);
  }

  static void main(void* fiber);
  [[noreturn]] static void outside(const char* what);
  [[noreturn]] static void refuse_to_wait_here();
  static void prepare_thread() noexcept;
  [[gnu::always_inline]] core::Outcome run_body() noexcept;
  // What follows is no message's: for who watches this host.
  void note_resumed() noexcept {
    turn_->host.note_other_step(is_asked_to_end ? &core::end_step : &core::resumed_step);
  }
  void prepare_to_leave(core::Outcome outcome) noexcept;
  void put_aside() noexcept;
  void drop_kept(core::Host& host, core::Actor& owner) noexcept;
  void keep_in_hand();
  [[nodiscard]] Envelope* take_kept(detail::Receive& receive);
  [[nodiscard]] Envelope* find_from(detail::Receive& receive, Envelope* envelope);
  void found(detail::Receive& receive, Envelope& envelope) noexcept;
  void look_first(detail::Receive& receive);
  void look_again(detail::Receive& receive);
  void wait_for_mail(detail::Receive& receive) noexcept;
  void end_receiving(detail::Receive& receive);
  void end_message(Envelope& envelope) noexcept;
  [[nodiscard]] bool is_in_time(const detail::Receive& receive) noexcept;
  [[nodiscard]] bool has_polled_enough() noexcept;
  void note_wait_in_vain() noexcept;
  void obey_to_throw();
  void give_way() noexcept;
  void begin_unusual_yield();
  void note_exit(ExitReason reason, std::string_view text) noexcept;

  core::Turn* turn_;  // a new one for every turn
  const detail::FiberType* type_;
  KeptMail kept_;
  Envelope* set_aside_ = nullptr;    // messages whose handlers wait, the innermost first
  Deadline deadline_;                // of the wait it is in
  const FiberWait* wait_ = nullptr;  // while it is suspended in one that can be asked
  uint32_t waits_in_vain_ = 0;
  uint32_t polls_ = 0;  // that found nothing
  // Those that begin the same for everybody next to each other: one store.
  core::Outcome outcome_ = core::Outcome::suspended;
  Stage stage_ = Stage::made;
  bool must_not_wait_ = false;  // see MustNotWait
  bool is_past_body_ = false;
  bool is_asked_to_throw_ = false;
  bool has_body_ = false;
  bool is_between_waits_ = false;
  bool is_given_up_ = false;
  bool wants_exit_ = false;  // by exit(), or by what it threw
  const bool is_measured_;
  const bool has_canary_;
  ExitReason exit_reason_ = ExitReason::normal;
  // In a union, since it is long to clear and rarely needed: there when it wants to exit.
  union {
    ExitText exit_text_;
  };
};

extern const core::Kind& fiber_kind;

// A seat for a new fiber, in a stack of this host's. nullptr and the error: no stack, or one that
// is too small, or there are none so large.
[[nodiscard]] Fiber* make_fiber(core::Host& host, const detail::FiberType& type, size_t stack_size,
                                Errc& error) noexcept;
// Gives its stack back: it has ended, or never began.
void give_fiber(core::Host& host, Fiber& fiber) noexcept;
void give_fiber(core::System& system, Fiber& fiber) noexcept;  // on any thread
void describe_fiber(const core::System& system, Fiber& fiber, core::SpawnOptions& options) noexcept;
[[nodiscard]] inline core::Body body_for(Fiber& fiber) noexcept { return {{&fiber, nullptr}}; }
// Its mailbox, if it asks for one of this capacity; 0: the usual one.
[[nodiscard]] inline uint32_t fiber_mailbox(const core::System& system, uint32_t wanted) noexcept {
  return std::min(wanted != 0 ? wanted : system.default_mailbox_cap, kMostMail);
}

}  // namespace jzx::kinds

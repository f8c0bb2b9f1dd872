#include "kinds/fiber/fiber.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include <jzx/detail/task_root.hpp>

#include "base/leave.hpp"
#include "core/guard.hpp"
#include "kinds/fiber/deadline.hpp"
#include "kinds/fiber/host_stacks.hpp"

namespace jzx::kinds {

using core::Actor;
using core::Outcome;
using core::Turn;

namespace {

// What unwinds a stack. No std::exception, so that nobody catches it by mistake.
struct Unwind {};

std::byte* align_down(std::byte* place, size_t alignment) noexcept {
  return place - reinterpret_cast<uintptr_t>(place) % alignment;
}

// Waits that a body may try after it was asked to end, before it is reported.
constexpr uint32_t kWaitsInVain = 1024;
// Before others get their turns: each is an exception thrown, some microseconds.
constexpr uint32_t kWaitsInATurn = 16;
// And at the end of a system, after which its frames are left as they are.
constexpr uint32_t kGivenUp = 10 * kWaitsInVain;

}  // namespace

// ---- made and unmade ----

inline Fiber::Fiber(const Stack& stack, const detail::FiberType& type, bool is_measured) noexcept
    : type_(&type),
      is_measured_(is_measured),
      has_canary_(slab_of(stack.top).guard == Guard::canary) {
  low = stack.low;
  top = stack.top;  // and who is on it, start() says
}

inline Fiber* Fiber::make(const Stack& stack, const detail::FiberType& type,
                          bool is_measured) noexcept {
  std::byte* place = align_down(stack.top - sizeof(Fiber), alignof(Fiber));
  // Most of it is for frames.
  if (type.size > static_cast<size_t>(place - stack.low) / 2) return nullptr;
  auto* fiber = new (place) Fiber(stack, type, is_measured);
  fiber->body = align_down(place - type.size, alignof(std::max_align_t));
  fiber->prepare(stack.low, static_cast<std::byte*>(fiber->body), &main, fiber);
  return fiber;
}

inline Stack Fiber::unmake() noexcept {
  const Stack own = stack();
  Switch::end();
  this->~Fiber();
  return own;
}

void Fiber::destroy_body() noexcept {
  if (std::exchange(has_body_, false)) type_->destroy(body);
}

[[gnu::noinline]] Fiber* Fiber::acting() noexcept { return acting_inlined(); }

// ---- turns ----

void Fiber::prepare_thread() noexcept {
  Switch::prepare_thread();
  prepare_thread_for_fibers();
}

inline Outcome Fiber::run(Turn& turn) noexcept {
  if (!is_thread_prepared()) [[unlikely]]
    prepare_thread();
  turn_ = &turn;
  const RunningStack* outer = running_stack();  // one fiber may poll another by hand
  set_running_stack(this);
  enter();
  set_running_stack(outer);
  return outcome_;
}

inline Outcome Fiber::start(Turn& turn) noexcept {
  RunningStack::actor = turn.actor.id();
  RunningStack::name = turn.actor.label != nullptr ? turn.actor.label : type_->name;
  return run(turn);
}

inline Outcome Fiber::run_body() noexcept {
  stage_ = Stage::running;
  (void)core::guard(
      [&] {
#ifdef __cpp_exceptions
        try {
          type_->run(body);
        } catch (const Unwind&) {
        }
#else
        type_->run(body);
#endif
      },
      [&](const char* text) { note_exit(ExitReason::panic, text); });
  is_past_body_ = true;
  destroy_body();  // which may wait: only then is the host told why
  if (!wants_exit_ || exit_reason_ == ExitReason::normal) return Outcome::stopped;
  return turn_->fail(exit_reason_, exit_text_.view());
}

void Fiber::main(void* fiber) {
  auto& self = *static_cast<Fiber*>(fiber);
  self.outcome_ = self.run_body();
  // Before its mailbox is emptied: what was kept came before that.
  self.drop_mail(self.turn_->host, self.turn_->actor);
  self.stage_ = Stage::ended;
  self.leave_for_good();
}

void Fiber::prepare_to_leave(Outcome outcome) noexcept {
  put_aside();
  outcome_ = outcome;
  if (has_canary_ && !canary_intact(stack())) [[unlikely]]
    end_after_overflow(*this);
}

// The message in hand, whose handler waits now.
void Fiber::put_aside() noexcept {
  if (turn_->in_hand() == nullptr) [[likely]]
    return;
  Envelope* held = turn_->hold();
  JZX_ASSERT(held != nullptr);  // nobody nests thousands of handlers that wait
  held->next = set_aside_;
  set_aside_ = held;
}

void Fiber::drop_set_aside(core::Host& host, Actor& owner) noexcept {
  while (set_aside_ != nullptr) {
    Envelope& envelope = *std::exchange(set_aside_, set_aside_->next);
    core::drop_held(host, owner, envelope);
  }
}

bool Fiber::suspend(const FiberWait* wait) noexcept {
  if (is_asked_to_end) return note_wait_in_vain(), false;
  prepare_to_leave(Outcome::suspended);
  wait_ = wait;
  detail::leave_stack(*this);
  wait_ = nullptr;
  // It may have been woken for nothing.
  if (is_asked_to_end || wait == nullptr || wait->is_over()) note_resumed();
  return !is_asked_to_end;
}

bool Fiber::goes_on_without_mail() const noexcept {
  if (stage_ != Stage::running || is_asked_to_end) return true;
  if (deadline_.is_armed()) return deadline_.has_passed();
  if (outcome_ == Outcome::suspended) return wait_ == nullptr || wait_->is_over();
  return outcome_ != Outcome::wants_mail;
}

void Fiber::suspend_to_the_end() noexcept {
  prepare_to_leave(Outcome::suspended);
  detail::leave_stack(*this);
}

// ---- ending ----

// It goes on as one that was not asked to end; unless it cannot throw, then it ends.
[[gnu::noinline, gnu::cold]] void Fiber::obey_to_throw() {
  is_asked_to_throw_ = false;
#ifdef __cpp_exceptions
  if (std::uncaught_exceptions() == 0 && !is_past_body_) {
    is_asked_to_end = false;
    detail::throw_on_purpose();
  }
#endif
  if (!wants_exit_) note_exit(ExitReason::panic, core::kThrownText);
}

Wait Fiber::killed() {
  if (is_asked_to_throw_) [[unlikely]]
    obey_to_throw();
#ifdef __cpp_exceptions
  // A second exception while one flies would end the process, and so would one that leaves the
  // destructor of what the body captured.
  if (std::uncaught_exceptions() == 0 && !is_past_body_) throw Unwind{};
#endif
  return Wait::killed;
}

// It was told, and waits again. Others get their turns meanwhile; that it does not end is said.
void Fiber::note_wait_in_vain() noexcept {
  if (++waits_in_vain_ % kWaitsInATurn != 0) return;
  if (waits_in_vain_ == kWaitsInVain) {
    const Actor& own = turn_->actor;
    std::fprintf(stderr,
                 "jzx: actor %s (%llx) was asked to end and has waited %u times since: a body must "
                 "return when a wait says killed\n",
                 own.label != nullptr ? own.label : type_->name,
                 static_cast<unsigned long long>(own.id()), waits_in_vain_);
  }
  is_between_waits_ = true;
  give_way();
  is_between_waits_ = false;
}

bool Fiber::is_deaf() const noexcept { return waits_in_vain_ >= kWaitsInVain; }

void Fiber::give_way() noexcept {
  prepare_to_leave(Outcome::budget_spent);
  detail::leave_stack(*this);
  note_resumed();
}

void Fiber::note_exit(ExitReason reason, std::string_view text) noexcept {
  wants_exit_ = true;
  exit_reason_ = reason;
  new (&exit_text_) ExitText(text);
}

void Fiber::exit(ExitReason reason, std::string_view text) {
  if (!wants_exit_) note_exit(reason, text);
  is_asked_to_end = true;
  (void)killed();
}

// ---- other waits ----

inline void Fiber::begin_yield() {
  if (must_not_wait_ || is_asked_to_end) [[unlikely]]
    begin_unusual_yield();
  // Before and not behind it: the way back does not touch the library.
  turn_->host.note_other_step(&core::resumed_step);
  prepare_to_leave(Outcome::budget_spent);
}

void Fiber::begin_unusual_yield() {
  if (must_not_wait_) refuse_to_wait_here();
  note_wait_in_vain();
  (void)killed();
}

void Fiber::begin_sleep(int64_t delay_ms) {
  if (must_not_wait_) [[unlikely]]
    refuse_to_wait_here();
  if (is_asked_to_end) [[unlikely]]
    return note_wait_in_vain();
  deadline_.arm(turn_->host, turn_->actor, static_cast<uint64_t>(std::max<int64_t>(delay_ms, 0)));
}

bool Fiber::is_sleeping(Wait& why) {
  if (!is_asked_to_end && !deadline_.has_passed()) {
    prepare_to_leave(Outcome::suspended);
    return true;
  }
  deadline_.cancel();
  note_resumed();
  if (is_asked_to_end) why = killed();
  return false;
}

// ---- the kind ----

namespace {

Fiber& fiber_of(const Actor& actor) noexcept { return *static_cast<Fiber*>(actor.body.words[0]); }

// give_fiber(), inlined where every fiber ends.
[[gnu::always_inline]] inline void give_stack(core::Host& host, Fiber& fiber) noexcept {
  HostStacks* stacks = stacks_of(host);
  if (stacks == nullptr) return give_fiber(host.system, fiber);
  if (fiber.is_measured()) [[unlikely]] {
    stacks_of(host.system)
        ->marks.note(fiber.type(), fiber.stack(), touched_bytes(fiber.stack()),
                     StackMarks::Life::has_ended);
  }
  stacks->pool.give(fiber.unmake());
}

class FiberKind final : public core::Kind {
 public:
  constexpr FiberKind() noexcept : Kind(&run_own, &run_own_first) {}

  Outcome start(Actor& actor, Turn& turn) const override { return fiber_of(actor).start(turn); }
  Outcome resume(Actor& actor, Turn& turn) const override { return fiber_of(actor).run(turn); }

  bool goes_on_without_mail(Actor& actor) const noexcept override {
    return fiber_of(actor).goes_on_without_mail();
  }
  core::Throw can_throw(Actor& actor) const noexcept override {
    return fiber_of(actor).can_throw() ? core::Throw::in_wait : core::Throw::nowhere;
  }
  Outcome resume_throwing(Actor& actor, Turn& turn) const override {
    fiber_of(actor).ask_to_throw();
    return fiber_of(actor).run(turn);
  }

  Outcome stop(Actor& actor, Turn& turn) const override {
    Fiber& fiber = fiber_of(actor);
    if (!fiber.has_started()) return Outcome::stopped;
    fiber.ask_to_end();
    // It would only be told in vain again, until it is killed.
    if (fiber.is_deaf() && core::has_time_left(actor)) return Outcome::suspended;
    return fiber.run(turn);
  }

  // It is told once more.
  Outcome kill(Actor& actor, Turn& turn) const override {
    Fiber& fiber = fiber_of(actor);
    const Outcome outcome = stop(actor, turn);
    if (!fiber.has_started() || fiber.has_ended()) return Outcome::stopped;
    if (!fiber.is_between_waits()) return outcome;
    fiber.give_up();
    return Outcome::failed;
  }

  void destroy(Actor& actor, core::Host& host, ExitReason) const noexcept override {
    Fiber& fiber = fiber_of(actor);
    if (fiber.is_given_up()) {
      fiber.drop_mail(host, actor);
      fiber.drop_set_aside(host, actor);
      base::leave_for_good_what_is_on(fiber.stack().low, fiber.stack().top);
      fiber.end();  // to the sanitizers it is a thread
      return stacks_of(host.system)->memory.note_given_up();
    }
    if (fiber.has_started() && !fiber.has_ended()) unwind(actor, host, fiber);
    fiber.drop_mail(host, actor);
    fiber.destroy_body();
    give_stack(host, fiber);
  }

  Envelope* give_up_oldest(Actor& actor) const noexcept override {
    return fiber_of(actor).give_up_oldest();
  }
  void show_put_aside(const Actor& actor, See see, void* context) const override {
    for (const Envelope* one : fiber_of(actor).kept_mail()) see(context, *one);
  }

  const char* name() const noexcept override { return "fiber"; }
  const char* type_name(const Actor& actor) const noexcept override {
    return fiber_of(actor).type().name;
  }

 private:
  static void run_own(base::Runnable& runnable, base::Executor& executor) {
    auto& actor = static_cast<Actor&>(runnable);
    core::run_turn(static_cast<core::Host&>(executor), actor,
                   [&](Turn& turn) { return fiber_of(actor).run(turn); });
  }

  static void run_own_first(base::Runnable& runnable, base::Executor& executor) {
    auto& actor = static_cast<Actor&>(runnable);
    core::run_first(static_cast<core::Host&>(executor), actor,
                    [&](Turn& turn) { return fiber_of(actor).start(turn); });
  }

  // The system ends, and with it whatever it may wait for.
  static void unwind(Actor& actor, core::Host& host, Fiber& fiber) noexcept {
    Turn turn(host, actor);
    fiber.ask_to_end();
    while (!fiber.has_ended() && fiber.waits_in_vain() < kGivenUp) {
      (void)fiber.run(turn);
      // What it has cancelled may only end with a look at the outside world.
      if (!fiber.has_ended()) host.system.look_outside();
    }
    turn.finish();
  }
};

constexpr FiberKind the_kind;

}  // namespace

const core::Kind& fiber_kind = the_kind;

Fiber* make_fiber(core::Host& host, const detail::FiberType& type, size_t stack_size,
                  Errc& error) noexcept {
  constexpr auto usual = stack_class_for(kDefaultStackSize);
  const auto stack_class = stack_size == 0 ? usual : stack_class_for(stack_size);
  if (!stack_class) return error = Errc::invalid_arg, nullptr;
  HostStacks* stacks = stacks_of(host);
  const Stack stack = stacks != nullptr ? stacks->pool.take(*stack_class) : Stack{};
  if (!stack) return error = Errc::no_memory, nullptr;
  const bool is_measured = stacks->sampler.is_next(type);
  if (is_measured) [[unlikely]]
    make_fresh(stack);
  Fiber* fiber = Fiber::make(stack, type, is_measured);
  if (fiber != nullptr) return fiber;
  stacks->pool.give(stack);
  return error = Errc::invalid_arg, nullptr;
}

void give_fiber(core::Host& host, Fiber& fiber) noexcept { give_stack(host, fiber); }

void give_fiber(core::System& system, Fiber& fiber) noexcept {
  const Stack stack = fiber.unmake();
  StackBatch one;
  one.push(stack.top);
  stacks_of(system)->memory.give_batch(stack_class_of(stack), one);
}

void describe_fiber(const core::System& system, Fiber& fiber,
                    core::SpawnOptions& options) noexcept {
  options.kind = &fiber_kind;
  options.body = body_for(fiber);
  options.first_turn = true;
  options.mailbox_cap = fiber_mailbox(system, options.mailbox_cap);
}

}  // namespace jzx::kinds

namespace jzx::detail {

// Here, where the fiber's part of it is inlined.
[[gnu::noinline]] FiberSeat& begin_yield() {
  kinds::Fiber& fiber = kinds::Fiber::acting_or_throw("yield");
  fiber.begin_yield();
  return fiber;
}

}  // namespace jzx::detail

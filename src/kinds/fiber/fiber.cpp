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

#include "core/guard.hpp"
#include "kinds/fiber/deadline.hpp"
#include "kinds/fiber/host_stacks.hpp"

namespace jzx::kinds {

using core::Actor;
using core::Outcome;
using core::Turn;
using detail::ReceivePattern;

namespace {

// What unwinds a stack. No std::exception, so that nobody catches it by mistake.
struct Unwind {};

std::byte* align_down(std::byte* place, size_t alignment) noexcept {
  return place - reinterpret_cast<uintptr_t>(place) % alignment;
}

// Mail that was seen and not received yet is counted in 16 bits, and the system's is not bounded.
constexpr uint32_t kMostMail = 60'000;

// Looks at an empty mailbox, without waiting, before others get a turn.
constexpr uint32_t kPollsInATurn = 64;

// Waits that a body may try after it was asked to end, before it is reported.
constexpr uint32_t kWaitsInVain = 1024;
// Before others get their turns: each is an exception thrown, some microseconds.
constexpr uint32_t kWaitsInATurn = 16;
// And at the end of a system, after which its frames are left as they are.
constexpr uint32_t kGivenUp = 10 * kWaitsInVain;

}  // namespace

// ---- made and unmade ----

inline Fiber::Fiber(const Stack& stack, const detail::FiberType& type, bool is_measured) noexcept
    : RunningStack{stack.low, stack.top, core::kNobody, nullptr},
      type_(&type),
      is_measured_(is_measured),
      has_canary_(slab_of(stack.top).guard == Guard::canary) {}

inline Fiber* Fiber::make(const Stack& stack, const detail::FiberType& type,
                          bool is_measured) noexcept {
  std::byte* place = align_down(stack.top - sizeof(Fiber), alignof(Fiber));
  // Most of it is for frames.
  if (type.size > static_cast<size_t>(place - stack.low) / 2) return nullptr;
  auto* fiber = new (place) Fiber(stack, type, is_measured);
  fiber->body_ = align_down(place - type.size, alignof(std::max_align_t));
  fiber->prepare(stack.low, static_cast<std::byte*>(fiber->body_), &main, fiber);
  return fiber;
}

inline Stack Fiber::unmake() noexcept {
  const Stack own = stack();
  Switch::end();
  this->~Fiber();
  return own;
}

void Fiber::destroy_body() noexcept {
  if (std::exchange(has_body_, false)) type_->destroy(body_);
}

[[gnu::noinline]] Fiber* Fiber::acting() noexcept { return acting_inlined(); }

// ---- turns ----

Outcome Fiber::start(Turn& turn) noexcept {
  RunningStack::actor = turn.actor.id();
  RunningStack::name = turn.actor.label != nullptr ? turn.actor.label : type_->name;
  return run(turn);
}

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

void Fiber::main(void* fiber) {
  auto& self = *static_cast<Fiber*>(fiber);
  self.outcome_ = self.run_body();
  // Before its mailbox is emptied: what was kept came before that.
  self.drop_mail(self.turn_->host, self.turn_->actor);
  self.stage_ = Stage::ended;
  self.leave_for_good();
}

Outcome Fiber::run_body() noexcept {
  stage_ = Stage::running;
  (void)core::guard(
      [&] {
#ifdef __cpp_exceptions
        try {
          type_->run(body_);
        } catch (const Unwind&) {
        }
#else
        type_->run(body_);
#endif
      },
      [&](const char* text) { note_exit(ExitReason::panic, text); });
  is_past_body_ = true;
  destroy_body();  // which may wait: only then is the host told why
  if (!wants_exit_ || exit_reason_ == ExitReason::normal) return Outcome::stopped;
  return turn_->fail(exit_reason_, exit_text_.view());
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
  [[maybe_unused]] const Envelope* held = turn_->hold();
  JZX_ASSERT(held != nullptr);  // nobody nests thousands of handlers that wait
}

bool Fiber::suspend() noexcept {
  if (is_asked_to_end) return note_wait_in_vain(), false;
  prepare_to_leave(Outcome::suspended);
  detail::leave_stack(*this);
  return !is_asked_to_end;
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
  give_way();
}

void Fiber::give_way() noexcept {
  prepare_to_leave(Outcome::budget_spent);
  detail::leave_stack(*this);
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

// ---- receive ----

namespace {

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

// While guards look at messages.
class Fiber::Guarding {
 public:
  explicit Guarding(Fiber& fiber) noexcept : fiber_(fiber) { fiber_.is_guarding_ = true; }
  ~Guarding() { fiber_.is_guarding_ = false; }
  Guarding(const Guarding&) = delete;
  Guarding& operator=(const Guarding&) = delete;

 private:
  Fiber& fiber_;
};

Envelope* Fiber::take_kept(detail::Receive& receive) {
  const Guarding guarding(*this);
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
    const Guarding guarding(*this);
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
void Fiber::begin_receive(detail::Receive& receive) {
  const Turn& turn = *turn_;
  const Actor& own = turn.actor;
  if (is_asked_to_end || !kept_.is_empty() || turn.in_hand() != nullptr || own.inbox != nullptr ||
      !own.arrivals.looks_empty() || receive.timeout_ms >= 0 || has_canary_) [[unlikely]] {
    return look_first(receive);
  }
  outcome_ = Outcome::wants_mail;
  receive.is_waiting = true;
}

// … and then it has got a message of the type it waits for.
void Fiber::look_for_mail(detail::Receive& receive) {
  Turn& turn = *turn_;
  if (is_asked_to_end || deadline_.is_armed()) [[unlikely]]
    return look_again(receive);
  Envelope* envelope = turn.take_first(turn.host, turn.actor);
  if (envelope == nullptr || receive.patterns->accepts != nullptr ||
      !receive.patterns->fits(*envelope)) [[unlikely]] {
    return look_again(receive);
  }
  receive.which = 0;
  found(receive, *envelope);
}

// A guard is asked about a message that is on its way from here to there: it must not wait.
[[gnu::noinline]] void Fiber::refuse_to_wait_in_guard() {
#ifdef __cpp_exceptions
  throw std::logic_error("jzx: the guard of a receive must not wait");
#else
  std::fputs("jzx: the guard of a receive must not wait\n", stderr);
  std::abort();
#endif
}

[[gnu::noinline]] void Fiber::look_first(detail::Receive& receive) {
  if (is_guarding_) refuse_to_wait_in_guard();
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
  if (receive.timeout_ms == 0 && has_polled_enough()) pause = Outcome::budget_spent;
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

void Fiber::end_receive(Envelope& envelope) noexcept {
  if (turn_->in_hand() == &envelope) {
    turn_->finish();
  } else {
    turn_->finish_held(envelope);
  }
}

void Fiber::drop_mail(core::Host& host, Actor& owner) noexcept {
  if (!kept_.has_memory()) [[likely]]
    return;
  while (Envelope* envelope = kept_.take_oldest()) core::drop_held(host, owner, *envelope);
  kept_.end(host.system.allocator);
}

Envelope* Fiber::give_up_oldest() noexcept {
  if (kept_.is_empty()) return nullptr;
  constexpr ReceivePattern any{nullptr, nullptr, nullptr};
  size_t which = 0;
  return kept_.take(&any, 1, which);
}

// ---- other waits ----

void Fiber::begin_yield() {
  if (is_guarding_) [[unlikely]]
    refuse_to_wait_in_guard();
  if (is_asked_to_end) [[unlikely]] {
    note_wait_in_vain();
    (void)killed();
  }
  prepare_to_leave(Outcome::budget_spent);
}

void Fiber::begin_sleep(int64_t delay_ms) {
  if (is_guarding_) [[unlikely]]
    refuse_to_wait_in_guard();
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
  if (is_asked_to_end) why = killed();
  return false;
}

// ---- the kind ----

namespace {

Fiber& fiber_of(const Actor& actor) noexcept { return *static_cast<Fiber*>(actor.body.words[0]); }

class FiberKind final : public core::Kind {
 public:
  constexpr FiberKind() noexcept : Kind(&run_own) {}

  Outcome start(Actor& actor, Turn& turn) const override { return fiber_of(actor).start(turn); }
  Outcome resume(Actor& actor, Turn& turn) const override { return fiber_of(actor).run(turn); }

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
    return fiber.run(turn);
  }

  void destroy(Actor& actor, core::Host& host, ExitReason) const noexcept override {
    Fiber& fiber = fiber_of(actor);
    if (fiber.has_started() && !fiber.has_ended()) unwind(actor, host, fiber);
    fiber.drop_mail(host, actor);
    fiber.destroy_body();
    give_fiber(host, fiber);
  }

  Envelope* give_up_oldest(Actor& actor) const noexcept override {
    return fiber_of(actor).give_up_oldest();
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

void give_fiber(core::Host& host, Fiber& fiber) noexcept {
  HostStacks* stacks = stacks_of(host);
  if (stacks == nullptr) return give_fiber(host.system, fiber);
  if (fiber.is_measured()) [[unlikely]] {
    stacks_of(host.system)
        ->marks.note(fiber.type(), fiber.stack(), touched_bytes(fiber.stack()),
                     StackMarks::Life::has_ended);
  }
  stacks->pool.give(fiber.unmake());
}

void give_fiber(core::System& system, Fiber& fiber) noexcept {
  const Stack stack = fiber.unmake();
  StackBatch one;
  one.push(stack.top);
  stacks_of(system)->memory.give_batch(stack_class_of(stack), one);
}

void describe_fiber(const core::System& system, Fiber& fiber,
                    core::SpawnOptions& options) noexcept {
  options.kind = &fiber_kind;
  options.body.words[0] = &fiber;
  options.first_turn = true;
  const uint32_t wanted =
      options.mailbox_cap != 0 ? options.mailbox_cap : system.default_mailbox_cap;
  options.mailbox_cap = std::min(wanted, kMostMail);
}

}  // namespace jzx::kinds

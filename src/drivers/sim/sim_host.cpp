#include "drivers/sim/sim_host.hpp"

#include <algorithm>
#include <utility>

#include "drivers/sim/empty_world.hpp"
#include "drivers/sim/simulator.hpp"

namespace jzx::drivers::sim {

using base::kNanosPerMilli;
using base::kNever;

namespace {

// Some 290 years: added to any clock's time it does not wrap.
constexpr uint64_t kLongestDelayMs = kNever / kNanosPerMilli / 2;

constexpr uint32_t kOneMessage = 1;  // a turn is a step

}  // namespace

SimHost::SimHost(core::System& the_system, Simulator& simulator, io::ReactorPtr reactor,
                 uint32_t node) noexcept
    : Host(the_system, 0, kOneMessage),
      simulator_(simulator),
      clock_(simulator.time()),
      reactor_(std::move(reactor)),
      wheel_(clock_.now_ns() / kNanosPerMilli),
      node_(node) {
  tap = this;
  simulator_.add(*this);
}

SimHost::~SimHost() { switch_off(); }

void SimHost::switch_off() noexcept {
  if (!std::exchange(is_on_, false)) return;
  simulator_.remove(*this);
  end_list.end_all();
  while (ready.pop() != nullptr) {
  }
  // There may still be references to this host, but none is used to begin something.
  reactor_ = EmptyWorld::make(system.allocator);
}

void SimHost::run(base::Runnable& work) {
  const InName here(*this);
  work.run(*this);
}

void SimHost::look() {
  if (has_due_) return catch_up();
  if (reactor_->pending_count() == 0) return;
  const InName here(*this);
  (void)reactor_->wait(0);
}

void SimHost::catch_up() {
  const InName here(*this);
  has_due_ = false;  // what is armed meanwhile is for the next time
  (void)reactor_->wait(0);
  if (simulator_.timer_keeper != nullptr) return;
  wheel_.advance(clock_.now_ns() / kNanosPerMilli, [&](base::Timer& timer) { timer.fire(*this); });
}

void SimHost::fire(base::Timer& timer) {
  const InName here(*this);
  if (unlink_timer(timer)) timer.fire(*this);
}

void SimHost::post(base::Runnable& work) {
  if (work.home() == base::kByHand) return submit_elsewhere(work);
  ready.push(work);
}

uint32_t SimHost::choose(uint32_t count, base::ChoiceSite site) {
  return simulator_.choices().choose(count, site);
}

// ---- timers ----

// Time stands still meanwhile, so the first clock read after the call may as well be now.
void SimHost::arm(base::Timer& timer, uint64_t delay_ms) {
  const uint64_t now_ns = clock_.now_ns();
  const uint64_t due_ns = now_ns + std::min(delay_ms, kLongestDelayMs) * kNanosPerMilli;
  wheel_.insert(timer, (due_ns + kNanosPerMilli - 1) / kNanosPerMilli);
  // Time need not go on for this one.
  has_due_ |= timer.deadline_ms * kNanosPerMilli <= now_ns;
  if (simulator_.timer_keeper != nullptr) simulator_.timer_keeper->armed(*this, timer);
}

bool SimHost::unlink_timer(base::Timer& timer) noexcept {
  if (!timer.is_armed()) return false;
  wheel_.remove(timer);
  if (simulator_.timer_keeper != nullptr) simulator_.timer_keeper->disarmed(timer);
  return true;
}

bool SimHost::disarm(base::Timer& timer) { return unlink_timer(timer); }

uint64_t SimHost::next_timer_ns() const noexcept {
  const uint64_t due_ms = wheel_.next_deadline_ms();
  return due_ms >= kNever / kNanosPerMilli ? kNever : clock_.true_time(due_ms * kNanosPerMilli);
}

// ---- messages ----

Errc SimHost::before_send(core::ActorId target, const Envelope& envelope) noexcept {
  return simulator_.before_send(*this, target, envelope);
}

bool SimHost::hold(core::Actor& target, core::ActorId id, Envelope& envelope) noexcept {
  return simulator_.hold(*this, target, id, envelope);
}

void SimHost::ending(core::Actor& actor) noexcept { simulator_.ending(*this, actor.id()); }

void SimHost::sent(const core::Actor& target, Envelope& envelope) noexcept {
  simulator_.sent(*this, target, envelope);
}

void SimHost::taken(const core::Actor& actor, const Envelope& envelope) noexcept {
  simulator_.taken(*this, actor, envelope);
}

void SimHost::armed(Envelope& envelope) noexcept { simulator_.armed(envelope); }

core::Actor* SimHost::actor_of(base::Runnable& work) noexcept {
  return system.actors.holds(&work) ? &static_cast<core::Actor&>(work) : nullptr;
}

}  // namespace jzx::drivers::sim

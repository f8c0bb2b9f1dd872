#include "drivers/sim/simulator.hpp"

#include <algorithm>

#include "core/lifecycle.hpp"
#include "core/mailbox.hpp"
#include "core/turn.hpp"
#include "drivers/sim/sim_host.hpp"

namespace jzx::drivers::sim {

using base::kNever;
using core::Actor;
using core::ActorId;

// ---- hosts ----

void Simulator::add(SimHost& host) { hosts_.push_back(&host); }

void Simulator::remove(SimHost& host) noexcept {
  std::replace(hosts_.begin(), hosts_.end(), &host, static_cast<SimHost*>(nullptr));
  for (size_t i = first_ready_; i < ready_.size();) {
    if (ready_[i].host != &host) {
      ++i;
      continue;
    }
    const auto at = static_cast<std::ptrdiff_t>(i);
    ready_.erase(ready_.begin() + at);
    candidates_.erase(candidates_.begin() + at);
  }
  late_mail_.drop(host);
  std::erase_if(suspended_, [&](uint64_t who) { return who >> 56 == host.node(); });
}

bool Simulator::take_back(base::Runnable& work) noexcept {
  for (size_t i = first_ready_; i < ready_.size(); ++i) {
    if (ready_[i].work != &work) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    ready_.erase(ready_.begin() + at);
    candidates_.erase(candidates_.begin() + at);
    return true;
  }
  return false;
}

// ---- what is ready ----

void Simulator::collect() {
  // By number: who is told of something may end a node, or add one.
  for (size_t i = 0; i < hosts_.size(); ++i) {
    SimHost* host = hosts_[i];
    if (host == nullptr) continue;
    host->look();
    if (hosts_[i] == nullptr) continue;
    while (base::Runnable* work = host->ready.pop()) take_over(*host, *work);
  }
}

void Simulator::take_over(SimHost& host, base::Runnable& work) {
  Candidate candidate;
  Ready ready{&host, &work, current_step_};
  Actor* actor = host.actor_of(work);
  if (actor == nullptr) {
    candidate.order = ++sequence_;
    causes_.push_back(current_step_);
    candidate.who = (uint64_t{1} << 63) | ++others_;
    return insert(candidate, ready);
  }
  candidate.who = name_of(host.node(), actor->id());
  ready.is_resumed = suspended_.erase(candidate.who) != 0;
  if (!ready.is_resumed && actor->status != core::Status::init && core::has_mail(*actor)) {
    const uint64_t number = number_of(*actor->inbox.oldest());
    candidate.order = number;
    ready.cause = cause_of(number);
  } else {
    candidate.order = ++sequence_;
    causes_.push_back(current_step_);
  }
  insert(candidate, ready);
}

// Only the lower half of a message's number is kept with it.
uint64_t Simulator::number_of(const Envelope& envelope) const noexcept {
  return sequence_ - static_cast<uint32_t>(static_cast<uint32_t>(sequence_) - envelope.trace);
}

void Simulator::insert(const Candidate& candidate, const Ready& ready) {
  const auto first = candidates_.begin() + static_cast<std::ptrdiff_t>(first_ready_);
  // Mostly it is the newest.
  auto at = candidates_.end();
  if (first != at && candidate.order < candidates_.back().order) {
    at = std::upper_bound(first, at, candidate,
                          [](const Candidate& a, const Candidate& b) { return a.order < b.order; });
  }
  ready_.insert(ready_.begin() + (at - candidates_.begin()), ready);
  candidates_.insert(at, candidate);
}

bool Simulator::has_ready() {
  collect();
  return first_ready_ < ready_.size();
}

std::span<const Candidate> Simulator::candidates() {
  collect();
  return std::span(candidates_).subspan(first_ready_);
}

// ---- steps ----

bool Simulator::step(uint64_t latest_ns) {
  std::erase(hosts_, nullptr);
  if (!has_ready() && !advance(latest_ns)) return false;
  run_candidate(choices_.choose_next(candidates()));
  return true;
}

void Simulator::run_candidate(uint32_t index) {
  const size_t place = first_ready_ + index;
  JZX_ASSERT(place < ready_.size());
  const Candidate candidate = candidates_[place];
  const Ready ready = ready_[place];
  if (index == 0) {
    ++first_ready_;
    if (first_ready_ == ready_.size()) {
      ready_.clear();
      candidates_.clear();
      first_ready_ = 0;
    }
  } else {
    const auto at = static_cast<std::ptrdiff_t>(place);
    ready_.erase(ready_.begin() + at);
    candidates_.erase(candidates_.begin() + at);
  }
  constexpr size_t kManyGone = 4096;
  if (first_ready_ >= kManyGone && first_ready_ * 2 > ready_.size()) {
    const auto gone = static_cast<std::ptrdiff_t>(first_ready_);
    ready_.erase(ready_.begin(), ready_.begin() + gone);
    candidates_.erase(candidates_.begin(), candidates_.begin() + gone);
    first_ready_ = 0;
  }
  run(candidate, ready);
}

Step Simulator::describe(const Ready& ready, Actor* actor) {
  Step step;
  step.number = step_number_;
  step.time_ns = time_.now_ns();
  step.cause = ready.cause;
  step.node = ready.host->node();
  if (actor == nullptr) return step;
  step.actor = actor->id();
  if (actor->status == core::Status::init) {
    step.kind = StepKind::first_turn;
  } else if (!ready.is_resumed && core::has_mail(*actor) && !actor->state.exit_requested()) {
    const Envelope& next = *actor->inbox.oldest();
    step.kind = StepKind::message;
    step.message = next.type;
    step.sender = next.sender;
    step.sequence = number_of(next);
    if (next.type == &raw_message_type) {
      step.tag = reinterpret_cast<const RawMessage*>(next.storage)->tag;
    }
  } else {
    step.kind = StepKind::resumed;
  }
  return step;
}

void Simulator::run(const Candidate& candidate, const Ready& ready) {
  current_step_ = ++step_number_;
  SimHost& host = *ready.host;
  Actor* actor = host.actor_of(*ready.work);
  Step step = describe(ready, actor);
  strike(host, actor, step);
  if (witness != nullptr) witness->before_step(host, step);
  if (step.mishap == Mishap::threw) {
    throw_in(host, *actor);
  } else {
    host.run(*ready.work);
  }
  if (actor != nullptr && actor->id() == step.actor && actor->state.is_suspended()) {
    suspended_.insert(candidate.who);
  }
  if (!late_mail_.is_empty()) late_mail_.arrive(time_.now_ns());  // there may be room now
  collect();                                                      // what it caused
  current_step_ = 0;
  tell_after(host, step);
}

// ---- time ----

uint64_t Simulator::next_event_ns() {
  uint64_t next_ns = outside != nullptr ? outside->next_ns() : kNever;
  for (const SimHost* host : hosts_) {
    if (host != nullptr) next_ns = std::min(next_ns, host->next_timer_ns());
  }
  return std::min(next_ns, late_mail_.next_ns(time_.now_ns()));
}

bool Simulator::advance(uint64_t latest_ns) {
  latest_ns = std::min(latest_ns, VirtualTime::kEnd);
  do {
    const uint64_t next_ns = next_event_ns();
    if (next_ns > latest_ns) return false;
    move_to(next_ns);
  } while (!has_ready());
  return true;
}

void Simulator::move_to(uint64_t ns) {
  const uint64_t before_ns = time_.now_ns();
  time_.move_to(ns);
  if (witness != nullptr && time_.now_ns() != before_ns) {
    witness->time_moved(before_ns, time_.now_ns());
  }
  if (outside != nullptr) outside->run_due(time_.now_ns());
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i] != nullptr) hosts_[i]->catch_up();
  }
  if (!late_mail_.is_empty()) late_mail_.arrive(time_.now_ns());
  collect();
}

// ---- messages ----

void Simulator::sent(SimHost& host, const Actor& target, Envelope& envelope) noexcept {
  uint64_t cause = (envelope.flags & Envelope::kTimer) != 0 ? envelope.trace : current_step_;
  if (const uint64_t* held = late_mail_.arriving_because()) cause = *held;
  causes_.push_back(cause);
  envelope.trace = static_cast<uint32_t>(++sequence_);
  if (tells_takes) envelope.flags |= Envelope::kTapped;
  if (witness != nullptr) witness->message_sent(host, target.id(), envelope, sequence_, cause);
}

Errc Simulator::before_send(SimHost& host, ActorId target, const Envelope& envelope) noexcept {
  Errc error = Errc::ok;
  if (faults.full_mailbox != 0 && !is_exempt(host, target) &&
      choices_.chance(faults.full_mailbox, ChoiceSite::fault)) {
    error = Errc::mailbox_full;
  } else if (faults.no_memory != 0 && !is_exempt(host, host.acting()) &&
             choices_.chance(faults.no_memory, ChoiceSite::fault)) {
    error = Errc::no_memory;
  }
  if (!ok(error) && witness != nullptr) witness->send_refused(host, target, envelope, error);
  return error;
}

// What there would be no room for is refused by who comes next. One that ends has the last word:
// nothing of it is held any more, so that the news of its end does not overtake it.
bool Simulator::hold(SimHost& host, Actor& target, ActorId id, Envelope& envelope) noexcept {
  if (faults.delay == 0 && late_mail_.is_empty()) return false;
  const ActorId sender = envelope.sender;
  const Actor* from = host.system.actors.find(sender);
  if (from == nullptr || envelope.flags != 0 || from->status != core::Status::running ||
      !core::System::is_live(*from, sender) || !core::System::is_live(target, id)) {
    return false;
  }
  uint64_t until_ns = time_.now_ns();
  if (!late_mail_.holds(host, sender, id)) {
    if (is_exempt(host, id) || is_exempt(host, sender) ||
        !core::has_room_for_user(target, target.state.sent()) ||
        !choices_.chance(faults.delay, ChoiceSite::fault)) {
      return false;
    }
    until_ns += choices_.between(1, faults.longest_delay_ns, ChoiceSite::fault);
    until_ns = std::max(time_.now_ns(), std::min(until_ns, faults.last_arrival_ns));
  }
  late_mail_.hold(host, id, envelope, until_ns, current_step_);
  if (witness != nullptr) witness->message_held(host, id, envelope);
  return true;
}

// ---- what goes wrong ----

bool Simulator::is_to_throw(Actor& actor, const Step& step) {
  if (step.kind != StepKind::message && step.kind != StepKind::resumed) return false;
  // relaxed: one thread.
  if (actor.attention.load(std::memory_order_relaxed) != 0) return false;
  if (actor.kind->can_throw(actor) == core::Throw::nowhere) return false;
  return ++throwable_ == faults.throw_at || choices_.chance(faults.throws, ChoiceSite::fault);
}

void Simulator::throw_in(SimHost& host, Actor& actor) {
#ifndef __cpp_exceptions
  // What waits cannot be made to throw; it ends as if it had, turn by turn.
  if (actor.kind->can_throw(actor) == core::Throw::in_wait) {
    (void)core::request_exit(host, actor.id(), ExitReason::panic);
    return host.run(actor);
  }
#endif
  const InName here(host);
  core::Turn turn(host, actor);
  host.set_acting(actor.id());
  core::end_turn(host, actor, turn, actor.kind->resume_throwing(actor, turn));
}

void Simulator::strike(SimHost& host, Actor* actor, Step& step) {
  if (actor == nullptr || is_exempt(host, actor->id())) return;
  if (choices_.chance(faults.clock_jump, ChoiceSite::fault)) {
    step.mishap = Mishap::clock_jumped;
    host.clock().jump_ahead(choices_.between(1, faults.longest_jump_ns, ChoiceSite::fault));
    host.catch_up();
  }
  if (actor->status > core::Status::running || actor->state.exit_requested()) return;
  if (faults.storm == 0) storm_left_ = 0;  // healed
  const bool is_in_storm = storm_left_ > 0 && step.kind == StepKind::first_turn;
  if (is_in_storm || choices_.chance(faults.kill, ChoiceSite::fault)) {
    if (is_in_storm) {
      --storm_left_;
    } else if (faults.storm != 0 && choices_.choose(2, ChoiceSite::fault) == 1) {
      storm_left_ = choices_.choose(faults.storm, ChoiceSite::fault) + 1;
    }
    step.mishap = Mishap::killed;
    (void)core::request_exit(host, actor->id(), ExitReason::killed);
    return;  // the turn that it has now obeys
  }
  if (is_to_throw(*actor, step)) step.mishap = Mishap::threw;
}

}  // namespace jzx::drivers::sim

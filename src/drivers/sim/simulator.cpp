#include "drivers/sim/simulator.hpp"

#include <algorithm>

#include "core/lifecycle.hpp"
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
  std::erase_if(delayed_, [&](const Delayed& one) { return one.ready.host == &host; });
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
    const uint64_t number = number_of(*actor->inbox);
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
    const Envelope& next = *actor->inbox;
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
  const bool is_run = !mishap(candidate, ready, actor, step);
  if (witness != nullptr) witness->before_step(host, step);
  if (is_run && step.mishap == Mishap::threw) {
    throw_in(host, *actor);
  } else if (is_run) {
    host.run(*ready.work);
  }
  if (actor != nullptr && actor->id() == step.actor && actor->state.is_suspended()) {
    suspended_.insert(candidate.who);
  }
  collect();  // what it caused
  current_step_ = 0;
  tell_after(host, step);
}

// ---- time ----

uint64_t Simulator::next_event_ns() {
  uint64_t next_ns = outside != nullptr ? outside->next_ns() : kNever;
  for (const SimHost* host : hosts_) {
    if (host != nullptr) next_ns = std::min(next_ns, host->next_timer_ns());
  }
  for (const Delayed& one : delayed_) next_ns = std::min(next_ns, one.until_ns);
  return next_ns;
}

bool Simulator::advance(uint64_t latest_ns) {
  do {
    const uint64_t next_ns = next_event_ns();
    if (next_ns == kNever || next_ns > latest_ns) return false;
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
  collect();
  for (size_t i = 0; i < delayed_.size();) {
    if (delayed_[i].until_ns > time_.now_ns()) {
      ++i;
      continue;
    }
    const Delayed one = delayed_[i];
    delayed_.erase(delayed_.begin() + static_cast<std::ptrdiff_t>(i));
    insert(one.candidate, one.ready);
  }
}

// ---- messages ----

void Simulator::sent(SimHost& host, const Actor& target, Envelope& envelope) noexcept {
  const uint64_t cause = (envelope.flags & Envelope::kTimer) != 0 ? envelope.trace : current_step_;
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

bool Simulator::mishap(const Candidate& candidate, const Ready& ready, Actor* actor, Step& step) {
  SimHost& host = *ready.host;
  if (actor == nullptr || is_exempt(host, actor->id())) return false;
  if (choices_.chance(faults.clock_jump, ChoiceSite::fault)) {
    step.mishap = Mishap::clock_jumped;
    host.clock().jump_ahead(choices_.between(1, faults.longest_jump_ns, ChoiceSite::fault));
    host.catch_up();
  }
  if (actor->status > core::Status::running || actor->state.exit_requested()) return false;
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
    return false;  // the turn that it has now obeys
  }
  if (choices_.chance(faults.delay, ChoiceSite::fault)) {
    step.mishap = Mishap::delayed;
    const uint64_t delay_ns = choices_.between(1, faults.longest_delay_ns, ChoiceSite::fault);
    delayed_.push_back({time_.now_ns() + delay_ns, candidate, ready});
    return true;
  }
  if (is_to_throw(*actor, step)) step.mishap = Mishap::threw;
  return false;
}

}  // namespace jzx::drivers::sim

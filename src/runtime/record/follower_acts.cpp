// How a Follower has things done.
#include <algorithm>
#include <utility>

#include "core/lifecycle.hpp"
#include "core/mailbox.hpp"
#include "runtime/record/follower.hpp"
#include "runtime/record/message_look.hpp"
#include "runtime/record/plain_name.hpp"

namespace jzx::runtime {

using drivers::sim::Candidate;
using drivers::sim::InName;
using drivers::sim::VirtualTime;

namespace {

// Of candidates that are no actors; see Simulator.
constexpr uint64_t kBackground = uint64_t{1} << 63;

// A turn may begin with what is not a message: a start, or what a body waited for.
constexpr int kMostStepsForATake = 3;

thread_local const Follower* resending = nullptr;

}  // namespace

void Follower::follow() {
  if (is_over()) return;
  phase_ = Phase::act;
  for (size_t at = 0; at < record_.events.size() && !is_over();) at = play(at);
  act_ = nullptr;
}

// Answers where to go on.
size_t Follower::play(size_t at) {
  const Event& event = record_.events[at];
  if (event.op != Op::turn && event.op != Op::work && event.op != Op::fire) {
    return play_outside(event), at + 1;
  }
  size_t last = at + 1;
  while (last < record_.events.size() && record_.events[last].op != Op::done) ++last;
  act_ = &event;
  time_ns_ += event.value;
  run_->simulator.time().move_to(VirtualTime::kStart + time_ns_);
  expect(at + 1, last);
  reached(event);
  if (event.op == Op::turn) {
    ++turns_;
    play_turn(at, last);
  } else if (event.op == Op::fire) {
    play_timer(at, last);
  } else {
    play_work(!here_.is_empty());
  }
  if (!here_.is_cut) find_unmet();
  act_ = nullptr;
  here_ = {};
  return last;
}

void Follower::expect(size_t first, size_t last) {
  here_ = {};
  here_.is_cut = last == record_.events.size();
  for (size_t i = first; i < last; ++i) {
    const Event& event = record_.events[i];
    if (event.op == Op::take) ++here_.takes;
    if (event.op == Op::sent) here_.sent.push_back(&event);
    if (event.op == Op::born && !event.is_outside) here_.births.events.push_back(&event);
    if (event.op == Op::arm && !event.is_outside) here_.arms.events.push_back(&event);
    if (event.op == Op::choice) here_.choices.events.push_back(&event);
  }
}

void Follower::play_outside(const Event& event) {
  if (event.op == Op::strange) {
    return stop(ReplayEnd::not_recorded, "this cannot be replayed: " + event.text);
  }
  if (event.op == Op::lost) {
    return stop(ReplayEnd::not_recorded, "the first " + std::to_string(event.number) +
                                             " events are missing: the ring was too small");
  }
  // All else is done by the setup, or when it is needed.
  const bool is_end = event.op == Op::exit || event.op == Op::closing;
  if (is_end && !put_off_.contains(&event)) play_exit(event);
}

void Follower::reached(const Event& event) {
  const auto [first, last] = later_.equal_range(&event);
  for (auto later = first; later != last; ++later) play_exit(*later->second);
}

void Follower::play_exit(const Event& event) {
  if (event.op == Op::closing) return port_->system.refuse_spawns();
  // One that was asked before, by the setup, is asked in vain.
  (void)detail::request_exit(*port_, id_of(event.number), static_cast<ExitReason>(event.value));
}

// ---- turns ----

void Follower::play_turn(size_t first, size_t last) {
  const ActorId actor = id_of(act_->number);
  if (actor == 0) {
    return stop(ReplayEnd::diverged,
                "the record has a turn of " + actor_name(act_->number) +
                    ", which was spawned from outside, and which the setup has not spawned");
  }
  bool has_run = false;
  for (size_t i = first + 1; i < last && !is_over(); ++i) {
    const Event& event = record_.events[i];
    if (event.op == Op::take) {
      take(actor, event);
      has_run = true;
    }
    play_outside(event);
  }
  if (has_run || is_over()) return;
  // A sender that was noted, but had not queued its message yet, may have caused a turn for
  // nothing.
  const bool may_be_void = std::any_of(unsent_.begin(), unsent_.end(), [&](const auto& one) {
    return one.second->actor == act_->number && one.second < act_;
  });
  // One that is cut off may have been about to take a message.
  const bool must_run = !here_.is_empty() || (!may_be_void && !here_.is_cut);
  // It has taken no message, although there may be some: the loop was just being destroyed, or the
  // record does not have it.
  host_->halted.store(true, std::memory_order_relaxed);  // one thread
  (void)run_actor(actor, must_run);
  host_->halted.store(false, std::memory_order_relaxed);  // as above
}

void Follower::take(ActorId actor, const Event& event) {
  const auto unsent = unsent_.find(event.number);
  if (unsent != unsent_.end()) resend(*unsent->second);
  wanted_ = &event;
  is_taken_ = false;
  for (int i = 0; i < kMostStepsForATake && !is_taken_ && !is_over(); ++i) {
    bring_forward(actor, event);
    if (!run_actor(actor, true)) return;
  }
  wanted_ = nullptr;
  if (is_taken_ || is_over()) return;
  stop(ReplayEnd::diverged,
       where() + " the record has it take " + message_text(event.number) + ", and it does not");
}

// False: it did not run, or that was the end.
bool Follower::run_actor(ActorId actor, bool must_run) {
  do {
    const auto candidates = run_->simulator.candidates();
    for (uint32_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].who != actor) continue;
      run_->simulator.run_candidate(i);
      return !is_over();
    }
  } while (run_background());
  if (must_run) {
    stop(ReplayEnd::not_recorded,
         where() + " nothing has woken it: " +
             (world_->operations() != 0
                  ? "what an operation of I/O answered is not recorded"
                  : "what did is not recorded, a future that another thread resolved perhaps"));
  }
  return false;
}

// The oldest work that is no actor's. False: there is none.
bool Follower::run_background() {
  const auto candidates = run_->simulator.candidates();
  for (uint32_t i = 0; i < candidates.size(); ++i) {
    if ((candidates[i].who & kBackground) == 0) continue;
    run_->simulator.run_candidate(i);
    return !is_over();
  }
  return false;
}

void Follower::play_work(bool is_needed) {
  if (run_background() || !is_needed) return;
  stop(ReplayEnd::not_recorded, where() + " nothing is left to do, where the record has something");
}

// Puts the message in front of the actor's mail.
void Follower::bring_forward(ActorId id, const Event& event) {
  const auto sequence = sequences_.find(event.number);
  core::Actor* actor = port_->system.actors.find(id);
  const bool is_ready = actor != nullptr && actor->is_scheduled();
  // It may have been put aside: then the body gives it back by itself.
  if (sequence == sequences_.end() || !is_ready || !core::has_mail(*actor)) return;
  core::fetch_arrivals(*actor);
  core::Inbox& inbox = actor->inbox;
  Envelope* before = nullptr;
  for (Envelope* one = inbox.oldest(); one != nullptr; before = one, one = inbox.after(*one)) {
    if (run_->simulator.number_of(*one) != sequence->second) continue;
    if (is_io_event(*one)) io_event_in(*one).readiness = static_cast<uint32_t>(event.value);
    if (before == nullptr) return;
    inbox.remove_after(*before, *one);
    inbox.put_back(*one, *one);
    return;
  }
}

// ---- timers ----

void Follower::play_timer(size_t first, size_t last) {
  const auto timer = timers_.find(act_->number);
  if (timer != timers_.end()) return host_->fire(*timer->second);
  const auto arm = arms_.find(act_->number);
  if (arm == arms_.end() || !arm->second) {
    return stop(ReplayEnd::diverged, where() + ": it is not armed here");
  }
  // It was armed from outside, and not by the setup: what it sends comes from outside then.
  for (size_t i = first + 1; i < last && !is_over(); ++i) {
    if (record_.events[i].op == Op::sent) resend(record_.events[i]);
  }
  here_ = {};
}

// ---- what came from outside ----

void Follower::resend(const Event& event) {
  const std::string what = message_text(event) + " came from outside, and ";
  if (!event.has_payload && event.carried == Carried::system) {
    return stop(ReplayEnd::not_recorded, what + "such a message cannot be sent again");
  }
  if (!event.has_payload) {
    return stop(ReplayEnd::opaque, what +
                                       "was recorded without its payload: give the recorder, and "
                                       "the replay, a codec for it");
  }
  const Phase outer = std::exchange(phase_, Phase::resending);
  const Follower* other = std::exchange(resending, this);
  resent_ = event.number;
  is_resent_ = false;
  const std::string wrong = deliver(event, id_of(event.actor));
  resending = other;
  phase_ = outer;
  if (wrong.empty() && is_resent_) return;
  stop(ReplayEnd::not_recorded,
       what + "cannot be sent again: " + (wrong.empty() ? "it is refused" : wrong));
}

// What is wrong; empty: nothing, as far as this goes.
std::string Follower::deliver(const Event& event, ActorId target) {
  if (event.carried == Carried::raw) {
    RawMessage raw;
    raw.tag = static_cast<uint32_t>(std::strtoul(record_.name(event.name).c_str(), nullptr, 10));
    (void)port_->send_from_anywhere(target, raw);
    return {};
  }
  if (event.carried == Carried::system) {
    const std::optional<IoEvent> io = ByteCodec<IoEvent>::decode(event.text);
    if (!io) return "its payload is none";
    const InName here(*host_);
    return world_->tell(io->fd, io->readiness) ? "" : "nobody watches the file descriptor";
  }
  const bool is_ask = event.carried == Carried::ask;
  const std::string type = plain_type_name(detail::type_name_of(*port_, target));
  std::string wrong = "the replay has no codec for it";
  for (const detail::MessageCodec& codec : codecs_.list()) {
    if (plain_type_name(codec.message) != record_.name(event.name)) continue;
    if (codec.actor != nullptr && plain_type_name(codec.actor) != type) continue;
    switch (codec.resend(*port_, target, event.text, is_ask)) {
      case detail::Resent::ok:
      case detail::Resent::refused:
        return {};
      case detail::Resent::not_decoded:
        return "its codec does not take its payload";
      case detail::Resent::is_ask:
        wrong = "it is an ask: add its codec for the type of the actor";
        break;
    }
  }
  return wrong;
}

// ---- after the end ----

void Follower::go_on() {
  if (is_over()) return;
  for (const Event& event : record_.events) {
    if (event.op == Op::came && event.has_payload && unsent_.contains(event.number)) {
      resend(event);
    }
  }
  end();
  while (run_->step(base::kNever)) {
  }
  for (const auto& claim : run_->eventually) {
    if (!run_->look_at(claim, "in the end it is not so: ")) break;
  }
}

}  // namespace jzx::runtime

namespace jzx::detail {

Pid pid_in_replay(ActorId recorded) noexcept {
  const runtime::Follower* follower = runtime::resending;
  const ActorId id = follower != nullptr && recorded != 0 ? follower->replayed(recorded) : 0;
  return id != 0 ? Pid(follower->port(), id) : Pid();
}

}  // namespace jzx::detail

#include "runtime/record/follower.hpp"

#include <algorithm>
#include <utility>

#include "runtime/record/message_look.hpp"
#include "runtime/record/plain_name.hpp"

namespace jzx::runtime {

using drivers::sim::ChoiceSite;

namespace {

// Two names of one type. That of a function says in which file and function it stands, which may be
// another in a test.
bool is_same_type(std::string_view a, std::string_view b) {
  const auto is_function = [](std::string_view name) {
    return name.find("lambda") != std::string_view::npos;
  };
  return a == b || is_function(a) || is_function(b);
}

}  // namespace

Follower::Follower(const detail::RecordData& record, const Codecs& codecs)
    : record_(record), codecs_(codecs) {
  bool is_busy = false;
  for (const Event& event : record.events) {
    if (event.op == Op::turn || event.op == Op::work || event.op == Op::fire) is_busy = true;
    if (event.op == Op::done) is_busy = false;
    sort(event, is_busy);
  }
  put_off();
}

void Follower::sort(const Event& event, bool is_busy) {
  if (event.op == Op::born) {
    births_[event.number] = &event;
    recorded_actors_[event.value] = event.number;
    if (event.is_outside) from_outside_.births.events.push_back(&event);
  } else if (event.op == Op::sent) {
    messages_[event.number] = &event;
  } else if (event.op == Op::came) {
    messages_[event.number] = &event;
    unsent_[event.number] = &event;
    from_outside_.sent.push_back(&event);
  } else if (event.op == Op::arm) {
    arms_[event.number] = event.is_outside;
    if (event.is_outside) from_outside_.arms.events.push_back(&event);
  } else if (event.op == Op::choice && !is_busy) {
    from_outside_.choices.events.push_back(&event);
  }
}

// An actor that was asked to end takes no more messages, and is sent none by users; nobody is born
// after the closing.
void Follower::put_off() {
  std::unordered_map<uint64_t, const Event*> exits;  // by actor
  const Event* closing = nullptr;
  const Event* last = nullptr;  // of what is being done
  uint64_t acting = 0;
  const auto put_exit_off = [&](uint64_t actor, const Event& event) {
    const auto exit = exits.find(actor);
    if (exit != exits.end()) put_off_[exit->second] = &event;
  };
  for (const Event& event : record_.events) {
    switch (event.op) {
      case Op::turn:
      case Op::fire:
      case Op::work:
        acting = event.op == Op::turn ? event.number : 0;
        last = &event;
        break;
      case Op::done:
        last = nullptr;
        break;
      case Op::take:
        put_exit_off(acting, event);
        last = &event;
        break;
      case Op::sent:
        if (event.carried != Carried::system) put_exit_off(event.actor, event);
        last = &event;
        break;
      case Op::born:
        if (event.is_outside) break;
        if (closing != nullptr) put_off_[closing] = &event;
        last = &event;
        break;
      case Op::exit:
      case Op::closing:
        if (last != nullptr) put_off_[&event] = last;
        (event.op == Op::exit ? exits[event.number] : closing) = &event;
        break;
      default:
        break;
    }
  }
  for (const auto& [what, after] : put_off_) later_.emplace(after, what);
}

void Follower::begin(detail::SimRun& run, ReplayWorld& world) {
  run_ = &run;
  world_ = &world;
  port_ = detail::port_of(run.sim());
  host_ = static_cast<SimHost*>(&port_->any_host());
  next_ = std::exchange(run.simulator.witness, this);
  run.simulator.tells_takes = true;
  run.simulator.timer_keeper = this;
}

void Follower::end() {
  phase_ = Phase::after;
  run_->simulator.witness = next_;
  run_->simulator.tells_takes = false;
  run_->simulator.timer_keeper = nullptr;
}

void Follower::stop(ReplayEnd how, std::string why) {
  if (is_over()) return;
  how_ = how;
  run_->fail(std::move(why));
}

// ---- who is who ----

uint64_t Follower::number_of(ActorId id) const noexcept {
  const auto known = numbers_.find(id);
  return known != numbers_.end() ? known->second : 0;
}

ActorId Follower::id_of(uint64_t number) const noexcept {
  const auto known = actors_.find(number);
  return known != actors_.end() ? known->second : 0;
}

ActorId Follower::replayed(ActorId recorded) const noexcept {
  const auto known = recorded_actors_.find(recorded);
  return known != recorded_actors_.end() ? id_of(known->second) : 0;
}

// ---- words ----

std::string Follower::where() const {
  if (phase_ == Phase::setup) return "in the setup";
  if (act_ == nullptr) return "between two turns";
  if (act_->op == Op::fire) return "when timer " + std::to_string(act_->number) + " fires";
  if (act_->op == Op::work) return "in the background";
  return "in turn " + std::to_string(turns_) + " of " + std::to_string(record_.turns) + ", of " +
         actor_name(act_->number);
}

std::string Follower::actor_name(uint64_t number) const {
  if (number == 0) return "somebody who had ended";
  const auto born = births_.find(number);
  return (born != births_.end() ? record_.name(born->second->name) : "actor") + '#' +
         std::to_string(number);
}

std::string Follower::message_text(const Event& event) const {
  return (event.carried == Carried::raw ? "message " : "") + record_.name(event.name) + " to " +
         actor_name(event.actor);
}

std::string Follower::message_text(uint64_t number) const {
  const auto known = messages_.find(number);
  return known != messages_.end() ? message_text(*known->second) : "a message";
}

std::string Follower::message_text(ActorId target, const Envelope& envelope) const {
  return message_name(envelope) + " to " + actor_name(number_of(target));
}

// ---- what happens, and what should ----

uint32_t Follower::choose(uint32_t count, ChoiceSite site) {
  if (phase_ == Phase::after || site == ChoiceSite::next_runnable) return 0;
  const Event* choice = expected().choices.take();
  if (choice == nullptr && is_beyond()) return 0;
  if (choice != nullptr && choice->number == count) return static_cast<uint32_t>(choice->value);
  stop(ReplayEnd::diverged,
       where() + " one of " + std::to_string(count) + " is chosen, which the record does not have");
  return 0;
}

void Follower::before_step(SimHost& host, const Step& step) {
  next_->before_step(host, step);
  if (phase_ == Phase::setup) {
    stop(ReplayEnd::diverged, "the setup must not run the simulation: the record does that");
  }
}

void Follower::actor_started(ActorId id, const char* label) {
  ForwardingObserver::actor_started(id, label);
  if (phase_ == Phase::after || run_ == nullptr) return;
  const std::string name = plain_type_name(detail::type_name_of(*port_, id));
  const Event* born = expected().births.take();
  if (born == nullptr) {
    if (is_beyond()) return;
    return stop(ReplayEnd::diverged,
                where() + ' ' + name + " is spawned, which the record does not have");
  }
  if (!is_same_type(name, record_.name(born->name))) {
    return stop(ReplayEnd::diverged, where() + ' ' + name + " is spawned, where the record has " +
                                         actor_name(born->number));
  }
  actors_[born->number] = id;
  numbers_[id] = born->number;
  reached(*born);
}

void Follower::message_sent(SimHost& host, ActorId target, const Envelope& envelope,
                            uint64_t sequence, uint64_t cause) {
  next_->message_sent(host, target, envelope, sequence, cause);
  uint64_t number = resent_;
  const Event* met = nullptr;
  if (phase_ == Phase::after) return;
  if (phase_ == Phase::resending) {
    is_resent_ = true;
  } else {
    const uint64_t to = number_of(target);
    const std::string name = message_name(envelope);
    std::vector<const Event*>& sent = expected().sent;
    const auto match = std::find_if(sent.begin(), sent.end(), [&](const Event* event) {
      return event != nullptr && (event->actor == to || event->actor == 0) &&
             event->carried == carried_by(envelope) && record_.name(event->name) == name;
    });
    if (match == sent.end()) {
      if (is_beyond()) return;
      return stop(ReplayEnd::diverged, where() + ' ' + message_text(target, envelope) +
                                           " is sent, which the record does not have");
    }
    met = std::exchange(*match, nullptr);
    number = met->number;
  }
  unsent_.erase(number);
  sequences_[number] = sequence;
  message_numbers_[sequence] = number;
  if (met != nullptr) reached(*met);
}

void Follower::message_taken(SimHost&, ActorId actor, const Envelope& envelope, uint64_t sequence) {
  if (phase_ != Phase::act || is_over()) return;
  if (wanted_ == nullptr) {
    if (is_beyond()) return;
    return stop(ReplayEnd::diverged, where() + ' ' + message_text(actor, envelope) +
                                         " is taken, which the record does not have");
  }
  if (message_numbers_[sequence] != wanted_->number) {
    return stop(ReplayEnd::diverged, where() + ' ' + message_text(actor, envelope) +
                                         " is taken, where the record has " +
                                         message_text(wanted_->number));
  }
  is_taken_ = true;
  --here_.takes;
  reached(*std::exchange(wanted_, nullptr));
}

void Follower::armed(SimHost&, base::Timer& timer) {
  if (phase_ == Phase::after) return;
  const Event* arm = expected().arms.take();
  if (arm == nullptr) {
    if (is_beyond()) return;
    return stop(ReplayEnd::diverged, where() + " a timer is armed, which the record does not have");
  }
  timers_[arm->number] = &timer;
  timer_numbers_[&timer] = arm->number;
}

void Follower::disarmed(base::Timer& timer) noexcept {
  const auto known = timer_numbers_.find(&timer);
  if (known == timer_numbers_.end()) return;
  timers_.erase(known->second);
  timer_numbers_.erase(known);
}

bool Follower::Expected::is_met() const noexcept {
  return takes == 0 && births.front() == nullptr && arms.front() == nullptr &&
         choices.front() == nullptr &&
         std::all_of(sent.begin(), sent.end(), [](const Event* event) { return event == nullptr; });
}

// What the record says of the act under way, and has not come about.
void Follower::find_unmet() {
  if (is_over()) return;
  const auto sent = std::find_if(here_.sent.begin(), here_.sent.end(),
                                 [](const Event* event) { return event != nullptr; });
  std::string what;
  if (sent != here_.sent.end()) {
    what = message_text(**sent) + " is sent";
  } else if (const Event* born = here_.births.front()) {
    what = actor_name(born->number) + " is spawned";
  } else if (here_.arms.front() != nullptr) {
    what = "a timer is armed";
  } else {
    return;
  }
  stop(ReplayEnd::diverged,
       where() + " the record has it that " + what + ", and here it is not so");
}

}  // namespace jzx::runtime

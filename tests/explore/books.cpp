#include "explore/books.hpp"

#include <algorithm>

namespace jzx::explore {

namespace {

std::string text_of(ActorId id) { return '#' + std::to_string(static_cast<uint32_t>(id)); }

}  // namespace

void Books::open(const std::shared_ptr<Books>& books) {
  books->sim.always("the books agree", [books] { return books->agree(); });
  books->sim.eventually("the books balance", [books] { return books->settle(); });
}

// ---- who is there ----

void Books::started(ActorId id) {
  const Pid pid(detail::port_of(sim), id);
  alive_.insert(id);
  crowd_.push_back(pid);
}

void Books::stopped(ActorId id, ExitReason reason) {
  if (alive_.erase(id) == 0) return wrong("ended twice: " + text_of(id));
  const auto at =
      std::find_if(crowd_.begin(), crowd_.end(), [&](Pid pid) { return pid.id() == id; });
  constexpr size_t kRemembered = 3;
  if (former_.size() == kRemembered) former_.erase(former_.begin());
  former_.push_back(*at);
  crowd_.erase(at);
  for (ActorId& owner : names_) owner = owner == id ? 0 : owner;
  doomed_.erase(id);
  const std::set<ActorId> partners = std::move(links_[id]);
  links_.erase(id);
  for (const ActorId partner : partners) {
    links_[partner].erase(id);
    if (trapping_.contains(partner)) {
      ++exits_[partner].expected;
    } else if (reason != ExitReason::normal) {
      doomed_.insert(partner);
    }
  }
}

Pid Books::somebody() {
  constexpr uint32_t kSeldom = 12;
  if (crowd_.empty() || (!former_.empty() && sim.choose(kSeldom) == kSeldom - 1)) {
    return former_.empty() ? Pid() : former_[sim.choose(static_cast<uint32_t>(former_.size()))];
  }
  return crowd_[sim.choose(static_cast<uint32_t>(crowd_.size()))];
}

// ---- monitors ----

void Books::monitors(Pid watcher, Pid target, MonitorRef ref) {
  watches_[ref.value] = {watcher.id(), target.id(), 0, false};
  watch_order_.push_back(ref.value);
}

void Books::demonitored(MonitorRef ref) {
  const auto at = watches_.find(ref.value);
  if (at == watches_.end()) return wrong("a monitor that nobody had was given back");
  if (at->second.is_withdrawn) wrong("a monitor was given back twice");
  at->second.is_withdrawn = true;
}

void Books::heard_down(Pid watcher, const Down& down) {
  const auto at = watches_.find(down.ref);
  if (at == watches_.end()) return wrong("a Down came without a monitor");
  Watch& watch = at->second;
  if (watch.watcher != watcher.id() || watch.target != down.actor) wrong("a Down went astray");
  if (watch.is_withdrawn) wrong("a Down came in spite of demonitor()");
  if (++watch.told > 1) wrong("a Down came twice");
  if (is_alive(watch.target)) wrong("a Down came from one that lives");
}

MonitorRef Books::some_monitor() {
  if (watch_order_.empty()) return {};
  return {watch_order_[sim.choose(static_cast<uint32_t>(watch_order_.size()))]};
}

// ---- links ----

void Books::linked(Pid a, Pid b) {
  links_[a.id()].insert(b.id());
  links_[b.id()].insert(a.id());
}

void Books::unlinked(Pid a, Pid b) {
  links_[a.id()].erase(b.id());
  links_[b.id()].erase(a.id());
}

void Books::traps(Pid who, bool on) {
  if (on) {
    trapping_.insert(who.id());
  } else {
    trapping_.erase(who.id());
  }
}

void Books::heard_exit(Pid who, const Exit& exit) {
  Mail& mail = exits_[who.id()];
  if (++mail.heard > mail.expected) wrong("an Exit came too many");
  if (is_alive(exit.from)) wrong("an Exit came from one that lives");
}

// ---- timers ----

int Books::new_timer(Pid target, std::chrono::milliseconds delay) {
  timers_.push_back({target.id(), sim.now() + delay, {}, 0, false});
  return static_cast<int>(timers_.size()) - 1;
}

void Books::armed(int timer, TimerId id) { timers_[static_cast<size_t>(timer)].id = id; }

void Books::not_armed(int timer) { timers_[static_cast<size_t>(timer)].is_cancelled = true; }

void Books::cancelled(int timer) {
  Alarm& alarm = timers_[static_cast<size_t>(timer)];
  if (alarm.is_cancelled || alarm.came > 0) wrong("a timer was cancelled too late, or twice");
  alarm.is_cancelled = true;
}

void Books::ticked(int timer, Pid who) {
  Alarm& alarm = timers_[static_cast<size_t>(timer)];
  if (alarm.is_cancelled) wrong("a timer fired although it was cancelled");
  if (++alarm.came > 1) wrong("a timer fired twice");
  if (alarm.target != who.id()) wrong("the message of a timer went astray");
  // A clock that jumped, or runs too fast, makes it early by the true time.
  if (!is_clock_wrong() && sim.now() < alarm.due) {
    wrong("a timer fired early");
  }
}

int Books::some_timer() {
  if (timers_.empty()) return -1;
  const uint32_t newest = std::min<uint32_t>(8, static_cast<uint32_t>(timers_.size()));
  return static_cast<int>(timers_.size() - 1 - sim.choose(newest));
}

// ---- names and asks ----

void Books::named(Pid who, size_t name) {
  if (names_[name] != 0) wrong("two have one name");
  names_[name] = who.id();
}

void Books::check_names() {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (sim.whereis(kNames[i]).id() != names_[i]) wrong("a name is not its owner's");
  }
}

int Books::new_ask(Pid target) {
  asks_.push_back({target.id(), false});
  return static_cast<int>(asks_.size()) - 1;
}

void Books::answered(int ask) {
  Question& question = asks_[static_cast<size_t>(ask)];
  if (question.is_answered) wrong("an ask was answered twice");
  question.is_answered = true;
}

void Books::obeyed(Pid from, Pid who, uint64_t order) {
  uint64_t& last = last_order_[{from.id(), who.id()}];
  if (order < last) wrong("an order was overtaken by a later one");
  last = order;
}

Future<void> Books::for_ever() {
  auto [future, promise] = jzx::promise<void>();
  never_.push_back(std::move(promise));
  return std::move(future);
}

// ---- children ----

Seat Books::new_seat(int family) {
  const Seat seat{static_cast<int>(places_.size()), family};
  places_.push_back({seat, 0});
  return seat;
}

void Books::enter(const Seat& seat, bool is_eager) {
  Place& place = places_[static_cast<size_t>(seat.number)];
  if (++place.present > 1) wrong("a child was started twice");
  if (!is_eager || seat.family < 0) return;
  for (const Place& other : places_) {
    if (other.seat.family != seat.family || other.seat.number <= seat.number) continue;
    if (other.present > 0) wrong("a child was started before a younger one of its group was gone");
  }
}

void Books::leave(const Seat& seat) { --places_[static_cast<size_t>(seat.number)].present; }

SupervisorRef Books::some_supervisor() {
  if (supervisors_.empty()) return {};
  return supervisors_[sim.choose(static_cast<uint32_t>(supervisors_.size()))];
}

void Books::check_supervisor(const SupervisorRef& supervisor) {
  std::set<ActorId> seen;
  for (const ChildInfo& child : supervisor.which_children()) {
    const ActorId id = child.pid.id();
    if (id != 0 && !seen.insert(id).second) wrong("a supervisor has one child twice");
    if (id != 0 && !is_alive(id)) wrong("a supervisor shows a child that has ended");
  }
}

// ---- looking ----

// Now, or once: what it has gained it keeps.
bool Books::is_clock_wrong() {
  const SimFaults faults = sim.faults();
  return was_clock_wrong_ |= faults.clock_jump != 0 || faults.clock_skew != 0;
}

bool Books::agree() {
  (void)is_clock_wrong();
  check_names();
  if (!wrong_.empty()) sim.fail(wrong_);
  return true;
}

bool Books::settle() {
  for (const auto& [ref, watch] : watches_) {
    const bool must_know =
        is_alive(watch.watcher) && !is_alive(watch.target) && !watch.is_withdrawn;
    if (must_know && watch.told == 0) wrong("a Down never came");
  }
  if (!doomed_.empty()) wrong("a link did not kill");
  for (const auto& [who, mail] : exits_) {
    if (is_alive(who) && mail.heard != mail.expected) wrong("an Exit never came");
  }
  for (const Alarm& alarm : timers_) {
    const bool must_have_come =
        !alarm.is_cancelled && is_alive(alarm.target) && listening_.contains(alarm.target);
    if (must_have_come && alarm.came == 0) wrong("a timer never fired");
  }
  for (const Question& question : asks_) {
    const bool is_open = is_alive(question.target) && !listening_.contains(question.target);
    if (!question.is_answered && !is_open) wrong("an ask was never answered");
  }
  for (const SupervisorRef& supervisor : supervisors_) {
    if (!is_alive(supervisor.pid().id())) continue;
    check_supervisor(supervisor);
    const ChildCounts counts = supervisor.count();
    if (counts.active > counts.specs) wrong("a supervisor counts more than it has");
  }
  return agree();
}

}  // namespace jzx::explore

// What an actor may do to others, chosen at random and entered in the books.
#include <new>

#include "explore/crowd.hpp"

namespace jzx::explore {

namespace {

using std::chrono::milliseconds;

constexpr size_t kCrowded = 40;  // nobody is spawned by the crowd itself beyond this

enum class Deed : uint8_t {
  rest,
  tell,
  ask,
  ask_for,
  ask_and_wait,
  sleep,
  stash,
  monitor,
  demonitor,
  link,
  unlink,
  trap,
  take_name,
  call_name,
  arm,
  cancel,
  stop_other,
  kill_other,
  spawn,
  supervise,
  add_child,
  remove_child,
  look,
  stop,
  fail,
  throws,
};

// The more often, the more likely.
constexpr Deed kDeeds[] = {
    Deed::rest,       Deed::tell,      Deed::tell,         Deed::tell,       Deed::ask,
    Deed::ask_for,    Deed::sleep,     Deed::ask_and_wait, Deed::stash,      Deed::monitor,
    Deed::monitor,    Deed::monitor,   Deed::demonitor,    Deed::link,       Deed::link,
    Deed::link,       Deed::unlink,    Deed::trap,         Deed::trap,       Deed::take_name,
    Deed::call_name,  Deed::arm,       Deed::arm,          Deed::cancel,     Deed::cancel,
    Deed::stop_other, Deed::add_child, Deed::kill_other,   Deed::kill_other, Deed::spawn,
    Deed::spawn,      Deed::supervise, Deed::remove_child, Deed::look,       Deed::stop,
    Deed::fail,       Deed::fail,      Deed::throws};

BooksPtr share(Books& books) { return books.shared_from_this(); }

void ask_somebody(Books& books, bool with_timeout) {
  const Pid whom = books.somebody();
  const int number = books.new_ask(whom);
  Future<int> answer = with_timeout ? ask_for<int>(some_time(books), whom, Query{number})
                                    : ask<int>(whom, Query{number});
  try {
    auto chain =
        std::move(answer).finally([books = share(books), number] { books->answered(number); });
  } catch (const std::bad_alloc&) {  // nobody will hear the answer
    books.answered(number);
    throw;
  }
}

void arm_somebody(Books& books, SystemFace& system) {
  const Pid whom = books.somebody();
  const milliseconds delay = some_time(books);
  const int timer = books.new_timer(whom, delay);
  TimerId id;
  if (ok(system.send_after(delay, whom, Tick{timer}, &id))) {
    books.armed(timer, id);
  } else {
    books.not_armed(timer);
  }
}

void spawn_one(Books& books, SystemFace& system, Pid me) {
  if (books.population() >= kCrowded) return;
  SpawnOptions options;
  MonitorRef ref;
  if (me && books.sim.choose(2) == 1) options.supervisor = me;
  if (me && books.sim.choose(3) == 1) options.link = me;
  if (me && books.sim.choose(3) == 1) {
    options.monitor = me;
    options.monitor_ref = &ref;
  }
  const Pid born = spawn_somebody(share(books), system, options);
  if (!born) return;
  if (options.link) books.linked(me, born);
  if (options.monitor) books.monitors(me, born, ref);
}

void supervise_some(Books& books, SystemFace& system, Pid me) {
  if (books.population() >= kCrowded) return;
  const SupervisorOptions options = some_options(books);
  const auto children = some_children(share(books), options, 1);
  const Pid parent = me && books.sim.choose(2) == 1 ? me : Pid();
  const SupervisorRef supervisor = system.supervise(options, children, parent);
  if (supervisor) books.supervises(supervisor);
}

void add_child(Books& books) {
  const SupervisorRef supervisor = books.some_supervisor();
  if (!supervisor || books.population() >= kCrowded) return;
  (void)supervisor.add(some_child(share(books), books.new_seat(-1)));
}

void remove_child(Books& books) {
  const SupervisorRef supervisor = books.some_supervisor();
  if (!supervisor) return;
  const std::vector<ChildInfo> children = supervisor.which_children();
  if (children.empty()) return;
  const ChildInfo& child = children[books.sim.choose(static_cast<uint32_t>(children.size()))];
  if (child.pid) (void)supervisor.remove(child.pid);
}

void monitor_somebody(Books& books, SystemFace& system, Pid me) {
  const Pid whom = books.somebody();
  MonitorRef ref;
  if (ok(system.monitor(me, whom, &ref))) books.monitors(me, whom, ref);
}

void take_name(Books& books, SystemFace& system, Pid me) {
  const uint32_t name = books.sim.choose(static_cast<uint32_t>(Books::kNames.size()));
  if (ok(system.register_name(me, Books::kNames[name]))) books.named(me, name);
}

// What only an actor can do; the scenario rests instead.
Then act_as_actor(Books& books, SystemFace& system, Pid me, Deed deed) {
  if (!me) return Then::go_on;
  switch (deed) {
    case Deed::monitor:
      monitor_somebody(books, system, me);
      break;
    case Deed::link: {
      const Pid whom = books.somebody();
      if (ok(system.link(me, whom))) books.linked(me, whom);
      break;
    }
    case Deed::unlink: {
      const Pid whom = books.somebody();
      if (ok(system.unlink(me, whom))) books.unlinked(me, whom);
      break;
    }
    case Deed::trap: {
      const bool on = !books.is_trapping(me);
      if (ok(system.trap_exit(me, on))) books.traps(me, on);
      break;
    }
    case Deed::take_name:
      take_name(books, system, me);
      break;
    case Deed::ask_and_wait:
      return Then::ask;
    case Deed::sleep:
      return Then::sleep;
    case Deed::stash:
      return Then::stash;
    case Deed::stop:
      return Then::stop;
    case Deed::fail:
      return Then::fail;
    case Deed::throws:
      return Then::throws;
    default:
      break;
  }
  return Then::go_on;
}

}  // namespace

milliseconds some_time(Books& books) {
  constexpr milliseconds kTimes[] = {milliseconds(1),   milliseconds(0),    milliseconds(5),
                                     milliseconds(100), milliseconds(5000), milliseconds(900'000)};
  return kTimes[books.sim.choose(std::size(kTimes))];
}

Then act(Books& books, SystemFace& system, Pid me, uint32_t energy) {
  const Deed deed = kDeeds[books.sim.choose(std::size(kDeeds))];
  switch (deed) {
    case Deed::tell:
      if (energy > 0) (void)books.somebody().send(Do{energy - 1, books.new_order()});
      break;
    case Deed::ask:
    case Deed::ask_for:
      ask_somebody(books, deed == Deed::ask_for);
      break;
    case Deed::demonitor: {
      const MonitorRef ref = books.some_monitor();
      if (ref.value != 0 && ok(system.demonitor(ref))) books.demonitored(ref);
      break;
    }
    case Deed::call_name: {
      const uint32_t name = books.sim.choose(static_cast<uint32_t>(Books::kNames.size()));
      (void)system.whereis(Books::kNames[name]).send(Do{0, books.new_order()});
      break;
    }
    case Deed::arm:
      arm_somebody(books, system);
      break;
    case Deed::cancel: {
      const int timer = books.some_timer();
      if (timer >= 0 && ok(system.cancel(books.id_of(timer)))) books.cancelled(timer);
      break;
    }
    case Deed::stop_other:
      if (const Pid whom = books.somebody()) (void)system.stop(whom);
      break;
    case Deed::kill_other:
      if (const Pid whom = books.somebody()) (void)system.kill(whom);
      break;
    case Deed::spawn:
      spawn_one(books, system, me);
      break;
    case Deed::supervise:
      supervise_some(books, system, me);
      break;
    case Deed::add_child:
      add_child(books);
      break;
    case Deed::remove_child:
      remove_child(books);
      break;
    case Deed::look:
      if (const SupervisorRef supervisor = books.some_supervisor()) {
        books.check_supervisor(supervisor);
      }
      break;
    default:
      return act_as_actor(books, system, me, deed);
  }
  return Then::go_on;
}

}  // namespace jzx::explore

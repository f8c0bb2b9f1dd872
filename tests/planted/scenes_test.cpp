// Small scenes in which the library does what it promises. Each is also the trap for the bugs that
// bugs.txt plants in the library: the same scene over a library with one of them must fail, see
// plant.sh. What is written in them is what a user would write.
//
//   JZX_SEED_COUNT=n    so many seeds
#include <gtest/gtest.h>

#include <jzx/jzx.hpp>
#include <jzx/sim/simulation.hpp>

#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace jzx::planted {
namespace {

using std::chrono::milliseconds;

template <class Scene>
void play(const char* name, Scene scene, const SimFaults& faults = {}) {
  SimOptions options;
  options.name = name;
  options.seeds = 200;
  options.faults = faults;
  const SimReport report = simulate(options, scene);
  EXPECT_TRUE(report) << report.text();
  if (report) std::puts(report.text().c_str());
}

struct Go {
  int left = 0;
};

// ---- mail ----

struct Letter {
  int from = 0;
  int number = 0;
};

struct Desk {
  std::map<int, int> next;  // of each writer
  int arrived = 0;
  bool is_in_order = true;
  bool reader_is_gone = false;
};

// Puts letters aside at times, and looks at them later.
struct Reader {
  Reader(Sim* the_sim, std::shared_ptr<Desk> the_desk) : sim(the_sim), desk(std::move(the_desk)) {}
  void on(Letter letter, Context& self) {
    if (aside == 0 && sim->choose(4) == 3) {
      ++aside;
      (void)self.stash(letter);
    } else if (aside == 1) {
      ++aside;
      (void)self.stash(letter);
      self.unstash_all();
    } else {
      desk->is_in_order &= desk->next[letter.from]++ == letter.number;
      ++desk->arrived;
    }
  }
  void on(Go, Context& self) { self.unstash_all(); }
  void on_stop(ExitReason) { desk->reader_is_gone = true; }
  Sim* sim;
  std::shared_ptr<Desk> desk;
  int aside = 0;
};

struct Writer {
  Writer(int the_number, ActorRef<Reader> the_reader) : number(the_number), reader(the_reader) {}
  void on(Go go, Context& self) {
    reader << Letter{number, written++};
    reader << Letter{number, written++};
    if (go.left > 0) self.self(*this) << Go{go.left - 1};
  }
  int number;
  int written = 0;
  ActorRef<Reader> reader;
};

void mail(Sim& sim) {
  auto desk = std::make_shared<Desk>();
  const auto reader = sim.spawn<Reader>(&sim, desk);
  const auto a = sim.spawn<Writer>(1, reader);
  const auto b = sim.spawn<Writer>(2, reader);
  a << Go{1};
  b << Go{1};
  if (sim.choose(2) == 1) {
    for (uint32_t left = sim.choose(8); left > 0; --left) sim.step();
    (void)sim.kill(reader);
  }
  sim.run();
  reader << Go{};
  sim.run();
  sim.check(desk->is_in_order, "letters are read in the order they were written");
  sim.check(desk->reader_is_gone || desk->arrived == 8, "all letters are read");
}

TEST(Scene, Mail) { play("Scene.Mail", mail); }

// Mail that is taken in the order of its types, not of its arrival.
void fiber_mail(Sim& sim) {
  auto read = std::make_shared<std::vector<int>>();
  const Pid reader = sim.spawn_fn([read] {
    if (receive([](Go) {}) == Wait::killed) return;
    for (int i = 0; i < 6; ++i) {
      if (receive([&](Letter letter) { read->push_back(letter.number); }) == Wait::killed) return;
    }
  });
  (void)sim.spawn_fn([reader] {
    for (int i = 0; i < 6; ++i) {
      reader << Letter{0, i};
      if (yield() == Wait::killed) return;
    }
  });
  for (uint32_t left = sim.choose(12); left > 0; --left) sim.step();
  reader << Go{};
  sim.run();
  sim.check(*read == std::vector<int>{0, 1, 2, 3, 4, 5}, "letters are read in order");
}

TEST(Scene, FiberMail) { play("Scene.FiberMail", fiber_mail); }

// ---- bonds ----

enum class End { well, badly, by_force };

struct Worker {
  void on(End end, Context& self) {
    if (end == End::well) self.stop();
    if (end == End::badly) self.fail("no luck");
    if (end == End::by_force) (void)self.kill(self.self());
  }
};

struct Watching {
  std::map<uint64_t, int> told;
  std::set<uint64_t> withdrawn;
  std::set<ActorId> ended;
};

struct Watcher {
  explicit Watcher(std::shared_ptr<Watching> the_list) : list(std::move(the_list)) {}
  void on(const Down& down) {
    ++list->told[down.ref];
    list->ended.insert(down.actor);
  }
  std::shared_ptr<Watching> list;
};

End some_end(Sim& sim) { return static_cast<End>(sim.choose(3)); }

void monitors(Sim& sim) {
  auto list = std::make_shared<Watching>();
  const auto watcher = sim.spawn<Watcher>(list);
  const auto worker = sim.spawn<Worker>();
  std::vector<MonitorRef> refs(2);
  for (MonitorRef& ref : refs) sim.check(ok(sim.monitor(watcher, worker, &ref)), "it is watched");
  if (sim.choose(3) == 2) {
    if (ok(sim.demonitor(refs[0]))) list->withdrawn.insert(refs[0].value);
  }
  worker << some_end(sim);
  for (uint32_t left = sim.choose(4); left > 0; --left) sim.step();
  if (sim.choose(2) == 1) {
    if (ok(sim.demonitor(refs[1]))) list->withdrawn.insert(refs[1].value);
  }
  sim.run();
  for (const MonitorRef& ref : refs) {
    const int expected = list->withdrawn.contains(ref.value) ? 0 : 1;
    sim.check(list->told[ref.value] >= expected, "the end of a worker is told");
    sim.check(list->told[ref.value] <= expected, "and told once, to who wants to know");
  }
}

TEST(Scene, Monitors) { play("Scene.Monitors", monitors); }

void links(Sim& sim) {
  auto list = std::make_shared<Watching>();
  const auto watcher = sim.spawn<Watcher>(list);
  std::vector<ActorRef<Worker>> workers;
  for (int i = 0; i < 3; ++i) {
    workers.push_back(sim.spawn<Worker>());
    (void)sim.monitor(watcher, workers.back());
    if (i > 0) (void)sim.link(workers.back(), workers[static_cast<size_t>(i) - 1]);
  }
  const End end = some_end(sim);
  workers[sim.choose(3)] << end;
  sim.run();
  const size_t expected = end == End::well ? 1 : 3;
  sim.check(list->ended.size() == expected, "who is linked to one that ends badly ends too");
}

TEST(Scene, Links) { play("Scene.Links", links); }

// ---- timers ----

struct Ring {
  int number = 0;
};

struct Sleeper {
  explicit Sleeper(std::shared_ptr<std::vector<int>> the_rung) : rung(std::move(the_rung)) {}
  void on(Ring ring) { ++(*rung)[static_cast<size_t>(ring.number)]; }
  std::shared_ptr<std::vector<int>> rung;
};

void timers(Sim& sim) {
  constexpr size_t kTimers = 6;
  auto rung = std::make_shared<std::vector<int>>(kTimers);
  std::vector<bool> is_cancelled(kTimers);
  std::vector<TimerId> ids(kTimers);
  const auto sleeper = sim.spawn<Sleeper>(rung);
  for (size_t i = 0; i < kTimers; ++i) {
    (void)sim.send_after(milliseconds(1 + sim.choose(20)), sleeper, Ring{static_cast<int>(i)},
                         &ids[i]);
  }
  for (uint32_t left = sim.choose(6); left > 0; --left) sim.step();
  for (size_t i = 0; i < kTimers; ++i) {
    if (sim.choose(2) == 1) is_cancelled[i] = ok(sim.cancel(ids[i]));
  }
  sim.run();
  for (size_t i = 0; i < kTimers; ++i) {
    sim.check((*rung)[i] == (is_cancelled[i] ? 0 : 1), "a timer rings unless it was cancelled");
  }
}

TEST(Scene, Timers) { play("Scene.Timers", timers); }

// ---- asks ----

struct Question {};

struct Oracle {
  int on(Question) { return 42; }
  void on(End end, Context& self) {
    if (end == End::well) self.stop();
    if (end == End::badly) self.fail("no luck");
  }
};

void asks(Sim& sim) {
  auto answers = std::make_shared<int>(0);
  const auto oracle = sim.spawn<Oracle>();
  for (int i = 0; i < 3; ++i) {
    auto asked = oracle.ask(Question{}).finally([answers] { ++*answers; });
    if (sim.choose(3) == 2) oracle << some_end(sim);
    if (sim.choose(6) == 5) (void)sim.kill(oracle);
    for (uint32_t left = sim.choose(3); left > 0; --left) sim.step();
  }
  sim.run();
  sim.check(*answers == 3, "an ask is answered, or said to be in vain");
}

TEST(Scene, Asks) { play("Scene.Asks", asks); }

// A fiber that is told to end while it waits.
void unwinding(Sim& sim) {
  struct Mark {
    explicit Mark(int* the_count) : count(the_count) { ++*count; }
    ~Mark() { --*count; }
    int* count;
  };
  auto inside = std::make_shared<int>(0);
  const Pid fiber = sim.spawn_fn([inside] {
    const Mark mark(inside.get());
    while (sleep_for(milliseconds(10)) != Wait::killed) {
    }
  });
  for (uint32_t left = sim.choose(4); left > 0; --left) sim.step();
  (void)sim.kill(fiber);
  sim.run();
  sim.check(*inside == 0, "who was killed is gone");
}

TEST(Scene, Unwinding) { play("Scene.Unwinding", unwinding); }

// ---- families ----

constexpr size_t kChildren = 3;

struct Home {
  int born[kChildren] = {};
  int present[kChildren] = {};
};

struct Child {
  Child(std::shared_ptr<Home> the_home, size_t the_place)
      : home(std::move(the_home)), place(the_place) {
    ++home->born[place];
    ++home->present[place];
  }
  ~Child() { --home->present[place]; }
  void on(End end, Context& self) {
    if (end == End::well) self.stop();
    if (end == End::badly) self.fail("no luck");
    if (end == End::by_force) (void)self.kill(self.self());
  }
  std::shared_ptr<Home> home;
  size_t place;
};

SupervisorRef found_family(Sim& sim, const std::shared_ptr<Home>& home,
                           const SupervisorOptions& options, bool is_transient = false) {
  std::vector<ChildSpec> children;
  for (size_t i = 0; i < kChildren; ++i) {
    ChildSpec spec = child<Child>("child", home, i);
    children.push_back(is_transient ? std::move(spec).transient() : std::move(spec));
  }
  sim.always("there is one of each child", [home] {
    return home->present[0] < 2 && home->present[1] < 2 && home->present[2] < 2;
  });
  return sim.supervise(options, children);
}

SupervisorOptions often(Strategy strategy) {
  SupervisorOptions options;
  options.strategy = strategy;
  options.intensity = 100;
  return options;
}

// One ends badly: who is born again?
void group(Sim& sim, Strategy strategy) {
  auto home = std::make_shared<Home>();
  const SupervisorRef family = found_family(sim, home, often(strategy));
  const size_t who = sim.choose(kChildren);
  family.child_as<Child>(who) << End::badly;
  sim.run();
  for (size_t i = 0; i < kChildren; ++i) {
    const bool is_concerned = strategy == Strategy::one_for_all || i == who ||
                              (strategy == Strategy::rest_for_one && i > who);
    sim.check(home->born[i] == (is_concerned ? 2 : 1), "those concerned are born again");
    sim.check(home->present[i] == 1, "all are there");
  }
}

TEST(Scene, OneForOne) {
  play("Scene.OneForOne", [](Sim& sim) { group(sim, Strategy::one_for_one); });
}
TEST(Scene, OneForAll) {
  play("Scene.OneForAll", [](Sim& sim) { group(sim, Strategy::one_for_all); });
}
TEST(Scene, RestForOne) {
  play("Scene.RestForOne", [](Sim& sim) { group(sim, Strategy::rest_for_one); });
}

// Many ends, some of them good, at times that may be just a period apart: the simulator knows
// whether that is too much.
void intensity(Sim& sim) {
  auto home = std::make_shared<Home>();
  SupervisorOptions options;
  options.intensity = 2;
  options.period = milliseconds(10);
  const SupervisorRef family = found_family(sim, home, options);
  for (int i = 0; i < 5; ++i) {
    const auto child = family.child_as<Child>(sim.choose(kChildren));
    if (child) child << some_end(sim);
    sim.run_for(milliseconds(5 * sim.choose(3)));
  }
  sim.run();
}

TEST(Scene, Intensity) { play("Scene.Intensity", intensity); }

void modes(Sim& sim) {
  auto home = std::make_shared<Home>();
  const SupervisorRef family = found_family(sim, home, often(Strategy::one_for_one), true);
  const End end = some_end(sim);
  family.child_as<Child>(0) << end;
  sim.run();
  sim.check(home->present[0] == (end == End::well ? 0 : 1), "who has ended well stays away");
}

TEST(Scene, Modes) { play("Scene.Modes", modes); }

// The same under fire.
void besieged(Sim& sim) {
  auto home = std::make_shared<Home>();
  const auto strategy = static_cast<Strategy>(sim.choose(3));
  const SupervisorRef family = found_family(sim, home, often(strategy));
  sim.protect(family);
  for (int i = 0; i < 3; ++i) {
    const auto child = family.child_as<Child>(sim.choose(kChildren));
    if (child) child << some_end(sim);
  }
  sim.run();
  for (const int present : home->present) sim.check(present == 1, "all are there in the end");
}

TEST(Scene, Besieged) {
  SimFaults faults;
  faults.kill = 50'000;
  faults.delay = 50'000;
  faults.storm = 3;
  play("Scene.Besieged", besieged, faults);
}

}  // namespace
}  // namespace jzx::planted

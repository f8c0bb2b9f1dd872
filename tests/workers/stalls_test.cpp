// What the watch for stalls tells: of whom, of what, and how long. Time is the test's, and what is
// to stall waits until the watch has looked at it.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/runtime_system.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kLimitMs = 1000;

// Moves when it is told to, and to the next timer when the one worker is idle. It counts how often
// it is read: while the worker is held somewhere, every reading is a look of the watch.
class WatchedClock final : public base::Clock {
 public:
  uint64_t now_ns() noexcept override {
    const uint64_t now_ns = clock_.now_ns();
    readings_.add();
    return now_ns;
  }
  uint64_t allowed_wait_ns(uint64_t deadline_ns) noexcept override {
    return clock_.allowed_wait_ns(deadline_ns);
  }
  void advance(uint64_t ms) { clock_.advance_ms(ms); }
  // The first of two may have been under way; the second has seen what is so now.
  void wait_for_a_look() { EXPECT_TRUE(readings_.reaches(readings_.value() + 2)); }

 private:
  base::ManualClock clock_{true};
  Tally readings_;
};

struct Report {
  ActorId actor;
  std::string what;
  uint64_t running_ms;
};

class Reports final : public Observer {
 public:
  void handler_stalled(ActorId actor, const char* what, uint64_t running_ms) override {
    {
      const std::lock_guard hold(mutex_);
      all_.push_back({actor, what, running_ms});
    }
    told_.add();
  }
  // The first, when it has been told.
  [[nodiscard]] Report first() {
    EXPECT_TRUE(told_.reaches(1));
    return all().empty() ? Report{} : all().front();
  }
  [[nodiscard]] std::vector<Report> all() {
    const std::lock_guard hold(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::vector<Report> all_;
  Tally told_;
};

// Where somebody is held until the test has seen enough.
struct Place {
  Gate entered;
  Gate release;
  void stay() {
    entered.open();
    EXPECT_TRUE(release.wait());
  }
};

struct RigParts {
  WatchedClock clock;
  Reports reports;
  Place place;
};

// A runtime of one worker, which is watched.
class Rig : public RigParts, public SystemFace {
 public:
  Rig() : SystemFace(open(clock, reports)) {}
  ~Rig() {
    place.release.open();
    port_->destroy();
  }

  void wait_until_everybody_sleeps() {
    const drivers::WorkerGroup& group = system().group();
    while (!group.idle.everybody_sleeps() || !group.watch->is_dozing()) std::this_thread::yield();
  }

  // Whoever is in the place has run for as long as the limit: what is told then.
  [[nodiscard]] Report stall() {
    EXPECT_TRUE(place.entered.wait());
    clock.wait_for_a_look();
    EXPECT_TRUE(reports.all().empty()) << "it has only begun";
    clock.advance(kLimitMs);
    return reports.first();
  }

 private:
  static detail::Port* open(WatchedClock& clock, Reports& reports) {
    runtime::RuntimeOptions options;
    options.workers = 1;
    options.clock = &clock;
    options.stall_limit_ms = kLimitMs;
    runtime::RuntimeSystem* system = runtime::RuntimeSystem::create(options);
    system->system.set_observer(&reports);
    EXPECT_TRUE(system->start());
    return system;
  }
  runtime::RuntimeSystem& system() { return static_cast<runtime::RuntimeSystem&>(*port_); }
};

struct Quick {
  explicit Quick(int the_number = 0) : number(the_number) {}
  int number;
};
struct Slow {};

struct Plain {
  explicit Plain(Place& the_place) : place(the_place) {}
  void on(Quick) {}
  void on(Slow) { place.stay(); }
  void on(const Down&) { place.stay(); }
  Place& place;
};

TEST(Stalls, OfAHandlerAreToldWithItsMessageAndItsTime) {
  Rig rig;
  const auto actor = rig.spawn<Plain>(rig.place);
  ASSERT_EQ(actor.send(Quick{}), Errc::ok);
  ASSERT_EQ(actor.send(Slow{}), Errc::ok);
  const Report report = rig.stall();
  EXPECT_EQ(report.actor, actor.id());
  EXPECT_NE(report.what.find("Slow"), std::string::npos) << report.what;
  EXPECT_EQ(report.running_ms, kLimitMs);
}

TEST(Stalls, OfAHandlerForWhatTheSystemTellsAreToldWithItsName) {
  Rig rig;
  const auto actor = rig.spawn<Plain>(rig.place);
  const auto other = rig.spawn<Plain>(rig.place);
  ASSERT_EQ(rig.monitor(actor, other), Errc::ok);
  ASSERT_EQ(rig.kill(other), Errc::ok);
  const Report report = rig.stall();
  EXPECT_EQ(report.actor, actor.id());
  EXPECT_EQ(report.what, "jzx::Down");
}

struct SlowToStop {
  explicit SlowToStop(Place& the_place) : place(the_place) {}
  void on(Quick) {}
  void on_stop() { place.stay(); }
  Place& place;
};

struct SlowToDie {
  explicit SlowToDie(Place& the_place) : place(&the_place) {}
  SlowToDie(SlowToDie&& other) noexcept : place(std::exchange(other.place, nullptr)) {}
  ~SlowToDie() {
    if (place != nullptr) place->stay();
  }
  void on(Quick) {}
  Place* place;
};

template <class A>
class StallsAtTheEnd : public ::testing::Test {};
using ThoseThatEndSlowly = ::testing::Types<SlowToStop, SlowToDie>;
TYPED_TEST_SUITE(StallsAtTheEnd, ThoseThatEndSlowly);

// It has handled a message, and then everybody slept, the watch too.
TYPED_TEST(StallsAtTheEnd, AreToldAsThatAndCountedFromThere) {
  Rig rig;
  const auto actor = rig.template spawn<TypeParam>(rig.place);
  ASSERT_EQ(actor.send(Quick{}), Errc::ok);
  rig.wait_until_everybody_sleeps();
  rig.clock.advance(3 * kLimitMs);
  ASSERT_EQ(rig.stop(actor), Errc::ok);
  const Report report = rig.stall();
  EXPECT_EQ(report.actor, actor.id());
  EXPECT_EQ(report.what, "its end");
  EXPECT_EQ(report.running_ms, kLimitMs);
}

// Ends somebody in the middle of its own handler.
struct Drainer {
  Drainer(Place& the_place, ManualRef<Plain> the_other)
      : place(the_place), other(std::move(the_other)) {}
  void on(Slow) {
    EXPECT_GT(other.drain(), 0u);
    place.stay();
  }
  Place& place;
  ManualRef<Plain> other;
};

TEST(Stalls, OfAHandlerThatHasPolledAnotherAreToldWithItsOwnMessage) {
  Rig rig;
  const auto manual = spawn_manual<Plain>(rig, rig.place);
  ASSERT_EQ(manual.send(Quick{}), Errc::ok);
  const auto actor = rig.spawn<Drainer>(rig.place, manual);
  ASSERT_EQ(actor.send(Slow{}), Errc::ok);
  const Report report = rig.stall();
  EXPECT_EQ(report.actor, actor.id());
  EXPECT_NE(report.what.find("Slow"), std::string::npos) << report.what;
}

// ---- who goes on after a wait ----

enum class Way { yield, sleep, receive_for, task };

class StallsAfterAWait : public ::testing::TestWithParam<Way> {
 protected:
  // An actor that waits so, and then does the rest; so many times.
  Pid spawn(Rig& rig, int times, std::function<void()> rest) {
    if (GetParam() == Way::task) return spawn_task(rig, times, std::move(rest));
    return rig.spawn_fn([way = GetParam(), times, rest = std::move(rest)] {
      for (int i = 0; i < times; ++i) {
        wait(way);
        rest();
      }
    });
  }

 private:
  static void wait(Way way) {
    if (way == Way::yield) yield();
    if (way == Way::sleep) sleep_for(0ms);
    if (way == Way::receive_for) (void)receive_for(1ms, [](Quick) {});
  }
  static Task<void> go_on(int times, std::function<void()> rest) {
    for (int i = 0; i < times; ++i) {
      (void)co_await sleep(0ms);
      rest();
    }
  }
  Pid spawn_task(Rig& rig, int times, std::function<void()> rest) {
    Pid actor;
    task_ = rig.spawn_async(go_on(times, std::move(rest)), &actor);
    return actor;
  }

  Future<void> task_;  // who drops it cancels it
};

TEST_P(StallsAfterAWait, AreToldAsThatAndCountedFromThere) {
  Rig rig;
  const Pid actor = spawn(rig, 1, [&] { rig.place.stay(); });
  const Report report = rig.stall();
  EXPECT_EQ(report.actor, actor.id());
  EXPECT_EQ(report.what, "after a wait");
  EXPECT_EQ(report.running_ms, kLimitMs);
}

// The watch sees nobody but this one, and in the middle of something at every look.
TEST_P(StallsAfterAWait, AreNotToldOfOneThatWaitsNowAndThen) {
  Rig rig;
  Tally rounds;
  (void)spawn(rig, 5, [&] {
    rig.clock.wait_for_a_look();
    rig.clock.advance(kLimitMs * 6 / 10);
    rig.clock.wait_for_a_look();
    rounds.add();
  });
  ASSERT_TRUE(rounds.reaches(5));
  EXPECT_TRUE(rig.reports.all().empty());
}

INSTANTIATE_TEST_SUITE_P(Ways, StallsAfterAWait,
                         ::testing::Values(Way::yield, Way::sleep, Way::receive_for, Way::task));

// ---- what is no turn of an actor ----

struct Sleeper {
  explicit Sleeper(Place& the_place) : place(the_place) {}
  void on(Slow, Context& context) {
    context.sleep(0ms).then([this](Result<void>) { place.stay(); });
  }
  Place& place;
};

TEST(Stalls, OfAContinuationAreToldWithoutAnActor) {
  Rig rig;
  const auto actor = rig.spawn<Sleeper>(rig.place);
  ASSERT_EQ(actor.send(Slow{}), Errc::ok);
  const Report report = rig.stall();
  EXPECT_EQ(report.actor, 0u);
  EXPECT_EQ(report.what, "a continuation");
  EXPECT_EQ(report.running_ms, kLimitMs);
}

// Has no answer when it ends.
struct Mute {
  int on(Quick) { return 0; }
};

TEST(Stalls, OfAContinuationThatHearsOfAnEndAreTold) {
  Rig rig;
  const auto mute = rig.spawn<Mute>();
  Place first;
  (void)rig.spawn_fn([&] { first.stay(); });  // until the question is queued, and the end asked for
  ASSERT_TRUE(first.entered.wait());
  mute.ask(Quick{}).then([&](Result<int> answer) {
    EXPECT_FALSE(answer.ok());
    rig.place.stay();
  });
  ASSERT_EQ(rig.kill(mute), Errc::ok);
  first.release.open();
  const Report report = rig.stall();
  EXPECT_EQ(report.actor, 0u);
  EXPECT_EQ(report.what, "a continuation");
}

}  // namespace
}  // namespace jzx::testing

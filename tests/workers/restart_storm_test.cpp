// Restart storms: a tree of supervisors on all workers, whose children fail at once and again.
// Nobody is lost, nobody is left over, and what escalates does so exactly once.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

class StormWatch final : public Observer {
 public:
  void actor_started(ActorId, const char*) override { started_.fetch_add(1); }
  void actor_stopped(ActorId, ExitReason, const ExitText&) override { stopped_.fetch_add(1); }
  void actor_restarted(ActorId, ActorId, uint32_t) override { restarted.add(); }
  void supervisor_escalated(ActorId id) override {
    {
      const std::lock_guard hold(mutex_);
      ++escalations_[id];
    }
    escalated.add();
  }
  [[nodiscard]] bool escalated_once_each() const {
    const std::lock_guard hold(mutex_);
    for (const auto& [id, count] : escalations_) {
      if (count != 1) return false;
    }
    return true;
  }
  [[nodiscard]] uint64_t started() const { return started_.load(); }
  [[nodiscard]] uint64_t stopped() const { return stopped_.load(); }

  Tally restarted;
  Tally escalated;

 private:
  mutable std::mutex mutex_;
  std::map<ActorId, int> escalations_;
  std::atomic<uint64_t> started_{0};
  std::atomic<uint64_t> stopped_{0};
};

// Who fails waits here until somebody has failed on each of so many workers: one that waits is in a
// long turn, and the others take what it has left.
class Muster {
 public:
  void expect(size_t workers) { wanted_ = workers; }
  [[nodiscard]] bool wait() {
    std::unique_lock hold(mutex_);
    seen_.insert(std::this_thread::get_id());
    changed_.notify_all();
    return changed_.wait_for(hold, 1min, [&] { return seen_.size() >= wanted_; });
  }

 private:
  size_t wanted_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::thread::id> seen_;
};

// How many objects of the children there are, and how often the whole lot has failed.
struct Crowd {
  std::atomic<int64_t> alive{0};
  std::atomic<int64_t> failures_left{0};
  Muster failing;
  Tally up;
};

struct Crash {};

// Fails as soon as it is up, while there are failures left.
struct Child {
  Crowd& crowd;
  explicit Child(std::reference_wrapper<Crowd> the_crowd) : crowd(the_crowd) {
    crowd.alive.fetch_add(1);
  }
  ~Child() { crowd.alive.fetch_sub(1); }
  Child(const Child&) = delete;
  void on_start(Context& context) {
    if (crowd.failures_left.fetch_sub(1) > 0) {
      EXPECT_TRUE(crowd.failing.wait()) << "not on all workers";
      return context.fail("fails at once");
    }
    crowd.up.add();
  }
  void on(Crash, Context& context) { context.fail("was told to"); }
};

constexpr SupervisorOptions generous(Strategy strategy = Strategy::one_for_one) {
  return {.strategy = strategy, .intensity = 1'000'000, .period = 1h};
}

std::vector<ChildSpec> children(size_t count, Crowd& crowd) {
  std::vector<ChildSpec> specs;
  for (size_t i = 0; i < count; ++i) specs.push_back(child<Child>("child", std::ref(crowd)));
  return specs;
}

std::vector<ChildSpec> supervisors(size_t count, const SupervisorOptions& options,
                                   const std::vector<ChildSpec>& below) {
  std::vector<ChildSpec> specs;
  for (size_t i = 0; i < count; ++i) specs.push_back(supervisor("supervisor", options, below));
  return specs;
}

class RestartStorm : public ::testing::TestWithParam<uint32_t> {
 protected:
  StormWatch watch;
  Crowd crowd;
  Runtime runtime{RuntimeOptions{.workers = GetParam(), .observer = &watch}};

  // At the end everybody who was started has ended, and no object is left.
  void end() {
    EXPECT_TRUE(runtime.shutdown(1min).empty());
    EXPECT_EQ(crowd.alive.load(), 0);
    EXPECT_EQ(watch.started(), watch.stopped());
    EXPECT_TRUE(watch.escalated_once_each());
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, RestartStorm, ::testing::Values(1u, 2u, 4u));

TEST_P(RestartStorm, TenThousandChildrenUnderATreeFailAtOnceAndAllComeBack) {
  const size_t wide = scaled(10, 2);
  const size_t count = wide * wide * 100;
  crowd.failures_left.store(static_cast<int64_t>(count));
  crowd.failing.expect(GetParam());
  const auto root = runtime.supervise(
      generous(),
      supervisors(wide, generous(), supervisors(wide, generous(), children(100, crowd))));
  ASSERT_TRUE(root);
  ASSERT_TRUE(crowd.up.reaches(count)) << crowd.up.value() << " of " << count << " are up";
  EXPECT_EQ(crowd.alive.load(), static_cast<int64_t>(count));
  end();
  EXPECT_EQ(watch.restarted.value(), count) << "one restart for every failure";
  EXPECT_EQ(watch.escalated.value(), 0u);
}

TEST_P(RestartStorm, TenThousandChildrenFailAtOnceAndEachFamilyThatHasHadEnoughEscalatesOnce) {
  const size_t families = scaled(100, 4);
  constexpr size_t kEach = 100;
  constexpr uint32_t kIntensity = 50;
  crowd.failures_left.store(0);
  const SupervisorOptions strict{.intensity = kIntensity, .period = 1h};
  const auto root =
      runtime.supervise(generous(), supervisors(families, strict, children(kEach, crowd)));
  ASSERT_TRUE(root);
  ASSERT_TRUE(crowd.up.reaches(families * kEach));
  std::vector<ActorRef<Child>> all;
  for (size_t i = 0; i < families; ++i) {
    const SupervisorRef family(root.child(i));
    for (size_t k = 0; k < kEach; ++k) all.push_back(family.child_as<Child>(k));
  }
  for (const auto& one : all) {
    const Errc error = one.send(Crash{});  // its family may have had enough by now
    ASSERT_TRUE(error == Errc::ok || error == Errc::no_such_actor);
  }
  ASSERT_TRUE(watch.escalated.reaches(families));
  for (size_t i = 0; i < families; ++i) {  // all come back, with all their children
    while (SupervisorRef(root.child(i)).count().active < kEach) std::this_thread::yield();
  }
  while (crowd.alive.load() != static_cast<int64_t>(families * kEach)) std::this_thread::yield();
  end();
  EXPECT_EQ(watch.escalated.value(), families);
  EXPECT_EQ(watch.restarted.value(), families * (kIntensity + 1));
}

TEST_P(RestartStorm, EverySupervisorThatHasHadEnoughEscalatesOnce) {
  const size_t count = scaled(200, 4);
  constexpr uint32_t kIntensity = 5;
  // Each of these fails by itself, and its parent starts it anew, calm at last.
  crowd.failures_left.store(0);
  const SupervisorOptions strict{.intensity = kIntensity, .period = 1h};
  const auto root = runtime.supervise(generous(), supervisors(count, strict, children(1, crowd)));
  ASSERT_TRUE(root);
  ASSERT_TRUE(crowd.up.reaches(count));
  // Every supervisor of the second row: more failures than it takes, one at a time.
  for (size_t i = 0; i < count; ++i) {
    const SupervisorRef family(root.child(i));
    Pid now = family.child(0);
    for (uint32_t k = 0; k < kIntensity; ++k) {
      ASSERT_EQ(ActorRef<Child>(now).send(Crash{}), Errc::ok);
      const Pid before = now;
      do {  // it is down for a moment
        std::this_thread::yield();
        now = family.child(0);
      } while (!now || now == before);
    }
  }
  ASSERT_TRUE(watch.restarted.reaches(count * kIntensity));
  EXPECT_EQ(watch.escalated.value(), 0u) << "within what they are allowed";
  ASSERT_TRUE(crowd.up.reaches(count * (1 + kIntensity)));
  for (size_t i = 0; i < count; ++i) {  // one more is one too many, for all of them at once
    ASSERT_EQ(SupervisorRef(root.child(i)).child_as<Child>(0).send(Crash{}), Errc::ok);
  }
  ASSERT_TRUE(watch.escalated.reaches(count));
  ASSERT_TRUE(crowd.up.reaches(count * (2 + kIntensity))) << "each comes back with its child";
  end();
  EXPECT_EQ(watch.restarted.value(), count * (kIntensity + 1));
  EXPECT_EQ(watch.escalated.value(), count);
}

TEST_P(RestartStorm, NeverMoreRestartsThanTheIntensityAllows) {
  const size_t count = scaled(300, 6);
  constexpr uint32_t kIntensity = 7;
  crowd.failures_left.store(1'000'000'000);  // for ever
  const SupervisorOptions strict{.intensity = kIntensity, .period = 1h};
  for (size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(runtime.supervise(strict, children(1, crowd)));
  }
  EXPECT_EQ(runtime.run(), Errc::ok) << "until nobody is left";
  EXPECT_EQ(watch.restarted.value(), count * kIntensity);
  EXPECT_EQ(watch.escalated.value(), count);
  end();
}

TEST_P(RestartStorm, GroupsOfAllStrategiesSettleWithEverybodyUp) {
  const size_t wide = scaled(30, 3);
  constexpr size_t kEach = 10;
  crowd.failures_left.store(static_cast<int64_t>(wide * kEach));
  std::vector<SupervisorRef> families;
  for (size_t i = 0; i < wide; ++i) {
    const Strategy strategy = i % 2 == 0 ? Strategy::one_for_all : Strategy::rest_for_one;
    families.push_back(runtime.supervise(generous(strategy), children(kEach, crowd)));
    ASSERT_TRUE(families.back());
  }
  // There is an end to the failures, so at some moment all are up, and stay.
  for (const SupervisorRef& family : families) {
    while (family.count().active < kEach || crowd.failures_left.load() > 0) {
      std::this_thread::yield();
    }
  }
  while (crowd.alive.load() != static_cast<int64_t>(wide * kEach)) std::this_thread::yield();
  EXPECT_EQ(watch.escalated.value(), 0u);
  end();
}

#ifndef JZX_LIBRARY_NOEXCEPT
// The last of a family, which refuses to be made for a while.
struct Reluctant {
  Crowd& crowd;
  Reluctant(std::reference_wrapper<Crowd> the_crowd, std::reference_wrapper<std::atomic<int>> no)
      : crowd(the_crowd) {
    if (no.get().fetch_sub(1) > 0) throw std::runtime_error("not now");
    crowd.alive.fetch_add(1);
  }
  ~Reluctant() { crowd.alive.fetch_sub(1); }
  Reluctant(const Reluctant&) = delete;
  void on_start() { crowd.up.add(); }
  void on(Crash, Context& context) { context.fail("was told to"); }
};

TEST_P(RestartStorm, ANestedRestartThatFailsHalfWayEndsThoseThatHadStarted) {
  const size_t rounds = scaled(100, 5);
  std::atomic<int> refusals{0};
  std::vector<ChildSpec> family = children(20, crowd);
  family.push_back(child<Reluctant>("reluctant", std::ref(crowd), std::ref(refusals)));
  const SupervisorOptions strict{.intensity = 0, .period = 1h};
  const auto root = runtime.supervise(generous(), supervisors(1, strict, family));
  ASSERT_TRUE(root);
  for (size_t i = 0; i < rounds; ++i) {
    Pid reluctant;
    while (!reluctant) reluctant = SupervisorRef(root.child(0)).child(20);
    refusals.store(3);
    ASSERT_EQ(ActorRef<Reluctant>(reluctant).send(Crash{}), Errc::ok);
    ASSERT_TRUE(watch.escalated.reaches(i + 1));
    while (refusals.load() >= 0) std::this_thread::yield();  // until one was made again
  }
  end();
}
#endif

}  // namespace
}  // namespace jzx::testing

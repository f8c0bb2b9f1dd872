// What a supervised child, a worker of a pool and an actor with an event source were given for
// themselves: they have it from their first start on, and after every restart.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t kRestarts = 8;
constexpr SupervisorOptions kPatient{.intensity = 1000};

struct Where {};
struct Crash {};
struct Block {};
struct Note {};

// Tells its thread, and crashes when it is told to.
struct Settler {
  using Messages = jzx::Messages<Crash>;
  Tally& starts;
  void on_start() { starts.add(); }
  std::thread::id on(Where) { return std::this_thread::get_id(); }
  void on(Crash, Context& context) { context.fail("told to"); }
};

struct Guide {
  std::thread::id on(Where) { return std::this_thread::get_id(); }
};

std::thread::id thread_of(Runtime& runtime, uint32_t worker) {
  SpawnOptions options;
  options.placement = Placement::pin_to(worker);
  return *runtime.block_on(runtime.spawn_with<Guide>(options).ask(Where{}));
}

std::set<std::thread::id> threads_of_workers(Runtime& runtime) {
  std::set<std::thread::id> all;
  for (uint32_t i = 0; i < runtime.worker_count(); ++i) all.insert(thread_of(runtime, i));
  return all;
}

// The threads of a child's first life and of the next ones. All of its family have started.
std::set<std::thread::id> threads_of_lives(Runtime& runtime, const SupervisorRef& family,
                                           size_t index, Tally& starts) {
  std::set<std::thread::id> threads;
  for (uint32_t life = 0; life <= kRestarts; ++life) {
    const auto child = family.child_as<Settler>(index);
    threads.insert(*runtime.block_on(child.ask(Where{})));
    const uint64_t before = starts.value();
    EXPECT_EQ(child.send(Crash{}), Errc::ok);
    EXPECT_TRUE(starts.reaches(before + 1));
  }
  return threads;
}

TEST(ChildOptions, ABlockingChildIsOnAThreadThatMayBlockAlsoAfterARestart) {
  Tally starts;
  Runtime runtime(RuntimeOptions{.workers = 2, .max_blocking_threads = 2});
  const SupervisorRef family = runtime.supervise(
      kPatient, {child<Settler>("b", std::ref(starts)).placement(Placement::blocking())});
  ASSERT_TRUE(family);
  const auto workers = threads_of_workers(runtime);
  for (const std::thread::id thread : threads_of_lives(runtime, family, 0, starts)) {
    EXPECT_FALSE(workers.contains(thread));
  }
}

TEST(ChildOptions, APinnedChildIsOnItsWorkerAfterEveryRestart) {
  constexpr uint32_t kWorkers = 3;
  Tally starts;
  Runtime runtime(RuntimeOptions{.workers = kWorkers});
  std::vector<ChildSpec> specs;
  for (uint32_t i = 0; i < kWorkers; ++i) {
    specs.push_back(child<Settler>("p", std::ref(starts)).placement(Placement::pin_to(i)));
  }
  uint64_t expected = 0;
  for (const Strategy strategy : {Strategy::one_for_one, Strategy::one_for_all}) {
    const SupervisorRef family =
        runtime.supervise({.strategy = strategy, .intensity = 1000}, specs);
    ASSERT_TRUE(family);
    ASSERT_TRUE(starts.reaches(expected += kWorkers));
    for (uint32_t i = 0; i < kWorkers; ++i) {
      std::set<std::thread::id> seen;
      for (uint32_t life = 0; life <= kRestarts; ++life) {
        seen.insert(*runtime.block_on(family.child_as<Settler>(i).ask(Where{})));
        EXPECT_EQ(family.child_as<Settler>(i).send(Crash{}), Errc::ok);
        expected += strategy == Strategy::one_for_one ? 1 : kWorkers;
        ASSERT_TRUE(starts.reaches(expected));
      }
      EXPECT_EQ(seen, std::set{thread_of(runtime, i)}) << "worker " << i;
    }
  }
}

TEST(ChildOptions, AChildPinnedToWhicheverWorkerStaysThereAfterEveryRestart) {
  constexpr size_t kChildren = 6;
  Tally starts;
  Runtime runtime(RuntimeOptions{.workers = 3});
  const std::vector<ChildSpec> specs(
      kChildren, child<Settler>("p", std::ref(starts)).placement(Placement::pinned()));
  // Who starts them again is on one worker, too, and none of them moves there.
  const SupervisorRef top = runtime.supervise(
      kPatient, {supervisor("inner", kPatient, specs).placement(Placement::pin_to(0))});
  ASSERT_TRUE(top);
  const SupervisorRef family(top.child(0));
  ASSERT_TRUE(family);
  ASSERT_TRUE(starts.reaches(kChildren));
  const auto workers = threads_of_workers(runtime);
  std::set<std::thread::id> used;
  for (size_t i = 0; i < kChildren; ++i) {
    const auto seen = threads_of_lives(runtime, family, i, starts);
    EXPECT_EQ(seen.size(), 1u) << "child " << i;
    EXPECT_TRUE(workers.contains(*seen.begin()));
    used.insert(*seen.begin());
  }
  EXPECT_GT(used.size(), 1u) << "they are spread";
}

// ---- whatever a child is made of ----

// Told by fibers and tasks, which answer no asks.
struct Diary {
  std::mutex mutex;
  std::vector<std::thread::id> threads;
  Tally starts;

  void add() {
    {
      const std::lock_guard hold(mutex);
      threads.push_back(std::this_thread::get_id());
    }
    starts.add();
  }
};

TEST(ChildOptions, AFiberAndATaskAreWhereTheirSpecsSayInEveryLife) {
  Diary fiber_diary;
  Diary task_diary;
  Diary blocking_diary;
  Runtime runtime(RuntimeOptions{.workers = 2});
  // Each returns at once and is started again; the supervisor gives up after so many.
  const auto fiber = child_fn("fiber", [&] { fiber_diary.add(); });
  const auto task = child_async("task", [&]() -> Task<void> {
    task_diary.add();
    co_return;
  });
  const auto blocking = child_fn("blocking", [&] { blocking_diary.add(); });
  const auto start = [&](ChildSpec spec, Placement where) {
    EXPECT_TRUE(runtime.supervise({.intensity = kRestarts}, {std::move(spec).placement(where)}));
  };
  start(fiber, Placement::pin_to(0));
  start(task, Placement::pin_to(1));
  start(blocking, Placement::blocking());
  for (Diary* diary : {&fiber_diary, &task_diary, &blocking_diary}) {
    ASSERT_TRUE(diary->starts.reaches(kRestarts + 1));
  }
  EXPECT_EQ(runtime.run(), Errc::ok) << "they have all given up";
  for (const std::thread::id thread : fiber_diary.threads) {
    EXPECT_EQ(thread, thread_of(runtime, 0));
  }
  for (const std::thread::id thread : task_diary.threads) EXPECT_EQ(thread, thread_of(runtime, 1));
  const auto workers = threads_of_workers(runtime);
  for (const std::thread::id thread : blocking_diary.threads) {
    EXPECT_FALSE(workers.contains(thread));
  }
}

// Tells where it is made, which is where its supervisor is at work.
struct Born {
  Born(Diary& the_diary, Tally& tally) : diary(the_diary), starts(tally) { diary.add(); }
  Diary& diary;
  Tally& starts;
  void on_start() { starts.add(); }
  void on(Crash, Context& context) { context.fail("told to"); }
};

TEST(ChildOptions, ASupervisorThatIsAChildIsPlacedWithoutItsChildren) {
  Diary pinned_diary;
  Diary blocking_diary;
  Tally starts;
  uint64_t expected = 0;
  Runtime runtime(RuntimeOptions{.workers = 2});
  for (Diary* diary : {&pinned_diary, &blocking_diary}) {
    const auto leaf = child<Born>("leaf", std::ref(*diary), std::ref(starts));
    const Placement where = diary == &pinned_diary ? Placement::pin_to(1) : Placement::blocking();
    const SupervisorRef top =
        runtime.supervise(kPatient, {supervisor("inner", kPatient,
                                                {ChildSpec(leaf)
                                                     .placement(Placement::pin_to(0))
                                                     .backoff({.initial = 1ms, .max = 1ms})})
                                         .placement(where)});
    ASSERT_TRUE(top);
    const SupervisorRef inner(top.child(0));
    for (uint32_t life = 1; life <= kRestarts; ++life) {
      ASSERT_TRUE(starts.reaches(++expected));
      EXPECT_EQ(inner.child_as<Born>(0).send(Crash{}), Errc::ok);
    }
    ASSERT_TRUE(starts.reaches(++expected));
  }
  const std::thread::id pinned = thread_of(runtime, 1);
  const auto workers = threads_of_workers(runtime);
  EXPECT_TRUE(runtime.shutdown(1min).empty());
  // The first was made by the start of the family, the others by the supervisor's turns.
  for (size_t i = 1; i <= kRestarts; ++i) {
    EXPECT_EQ(pinned_diary.threads.at(i), pinned);
    EXPECT_FALSE(workers.contains(blocking_diary.threads.at(i)));
  }
}

// ---- priority ----

// What waits for the only worker is handled by rank.
struct Ranked {
  using Messages = jzx::Messages<Note, Crash>;
  std::vector<std::string>& order;
  std::string name;
  Tally& starts;
  Tally& handled;
  void on_start() { starts.add(); }
  void on(Note) {
    order.push_back(name);
    handled.add();
  }
  void on(Crash, Context& context) { context.fail("told to"); }
};

struct Doorkeeper {
  Gate& is_blocked;
  Gate& release;
  void on(Block) {
    is_blocked.open();
    EXPECT_TRUE(release.wait());
  }
};

TEST(ChildOptions, AChildOfHighPriorityGoesFirstAlsoAfterARestart) {
  constexpr int kRounds = 30;
  std::vector<std::string> order;
  Tally starts;
  Tally handled;
  Runtime runtime(RuntimeOptions{.workers = 1});
  const auto ranked = [&](const char* name, Priority priority) {
    return child<Ranked>(name, std::ref(order), std::string(name), std::ref(starts),
                         std::ref(handled))
        .priority(priority);
  };
  const SupervisorRef family = runtime.supervise(
      kPatient, {ranked("low", Priority::low), ranked("critical", Priority::critical)});
  ASSERT_TRUE(family);
  uint64_t notes = 0;
  for (uint64_t life = 1; life <= 3; ++life) {
    ASSERT_TRUE(starts.reaches(2 * life));
    int in_order = 0;
    for (int round = 0; round < kRounds; ++round) {
      Gate is_blocked;
      Gate release;
      const auto keeper = runtime.spawn<Doorkeeper>(is_blocked, release);
      ASSERT_EQ(keeper.send(Block{}), Errc::ok);
      ASSERT_TRUE(is_blocked.wait());
      for (size_t i = 0; i < 2; ++i) EXPECT_EQ(family.child(i).send(Note{}), Errc::ok);
      release.open();
      ASSERT_TRUE(handled.reaches(notes += 2));
      in_order += std::exchange(order, {}) == std::vector<std::string>{"critical", "low"} ? 1 : 0;
    }
    // One pick in about 61 goes to whoever is not first.
    EXPECT_GT(in_order, kRounds * 3 / 4) << "life " << life;
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(family.child(i).send(Crash{}), Errc::ok);
  }
  ASSERT_TRUE(starts.reaches(8));
}

// ---- what cannot be ----

TEST(ChildOptions, APlaceThatIsNotThereIsRefusedWhenTheChildIsStartedOrAdded) {
  Tally starts;
  Runtime runtime(RuntimeOptions{.workers = 2});
  const auto settler = [&] { return child<Settler>("s", std::ref(starts)); };
  const SupervisorRef family = runtime.supervise(kPatient, {settler()});
  ASSERT_TRUE(family);
  for (const uint32_t worker : {2u, 249u, 250u, UINT32_MAX}) {
    const auto spec = settler().placement(Placement::pin_to(worker));
    EXPECT_FALSE(runtime.supervise(kPatient, {settler(), spec})) << worker;
    EXPECT_EQ(runtime.supervise_error(), Errc::invalid_arg) << worker;
    EXPECT_FALSE(runtime.supervise(kPatient, {settler(), supervisor("inner", {}, {spec})}));
    EXPECT_EQ(runtime.supervise_error(), Errc::invalid_arg) << worker;
    const Result<Pid> added = family.add(spec);
    ASSERT_FALSE(added.ok()) << worker;
    EXPECT_EQ(added.error().code(), Errc::invalid_arg) << worker;
    EXPECT_EQ(family.count().specs, 1u);
  }
  ASSERT_TRUE(starts.reaches(1));
  EXPECT_TRUE(runtime.shutdown(1min).empty());
  EXPECT_EQ(starts.value(), 1u) << "nobody of a family that was refused has lived";
}

TEST(ChildOptions, ASupervisorCannotBeRunByHand) {
  Runtime runtime(RuntimeOptions{.workers = 1});
  EXPECT_FALSE(
      runtime.supervise({}, {supervisor("inner", {}, {}).placement(Placement::by_hand())}));
  EXPECT_EQ(runtime.supervise_error(), Errc::invalid_arg);
}

TEST(SpawnOptions, APriorityOrOverloadThatDoesNotExistIsRefused) {
  Tally starts;
  Runtime runtime(RuntimeOptions{.workers = 1});
  const auto settler = [&] { return child<Settler>("s", std::ref(starts)); };
  for (const int number : {4, 77, 255}) {
    const auto priority = static_cast<Priority>(number);
    const auto overload = static_cast<Overload>(number);
    for (const SpawnOptions& options :
         {jzx::SpawnOptions{.priority = priority}, jzx::SpawnOptions{.overload = overload}}) {
      EXPECT_FALSE(runtime.spawn_with<Settler>(options, starts));
      EXPECT_EQ(runtime.spawn_error(), Errc::invalid_arg) << number;
      EXPECT_FALSE(runtime.spawn_fn_with(options, [&] { starts.add(); }));
      EXPECT_EQ(runtime.spawn_error(), Errc::invalid_arg) << number;
      const auto task = [](Tally& tally) -> Task<void> {
        tally.add();
        co_return;
      };
      const Result<void> ended = runtime.spawn_async_with(options, task(starts)).get();
      ASSERT_FALSE(ended.ok());
      EXPECT_EQ(ended.error().code(), Errc::invalid_arg) << number;
      EXPECT_FALSE(spawn_manual_with<Settler>(runtime, options, starts));
      EXPECT_EQ(runtime.spawn_error(), Errc::invalid_arg) << number;
    }
    EXPECT_FALSE(runtime.supervise({}, {settler().priority(priority)}));
    EXPECT_EQ(runtime.supervise_error(), Errc::invalid_arg) << number;
    EXPECT_FALSE(runtime.supervise({}, {settler().overload(overload)}));
    EXPECT_EQ(runtime.supervise_error(), Errc::invalid_arg) << number;
  }
  EXPECT_EQ(starts.value(), 0u);
}

// ---- pools ----

TEST(PoolOptions, WorkersOfAPoolAreOnThreadsThatMayBlockAlsoAfterARestart) {
  Tally starts;
  Runtime runtime(RuntimeOptions{.workers = 2});
  WorkerPoolOptions options;
  options.size = 3;
  options.placement = Placement::blocking();
  options.intensity = 1000;
  const auto pool = spawn_pool_with<Settler>(runtime, options, std::ref(starts));
  ASSERT_TRUE(pool);
  ASSERT_TRUE(starts.reaches(options.size));
  const auto workers = threads_of_workers(runtime);
  for (size_t i = 0; i < options.size; ++i) {
    for (const auto thread : threads_of_lives(runtime, pool.supervisor(), i, starts)) {
      EXPECT_FALSE(workers.contains(thread));
    }
  }
}

TEST(PoolOptions, APoolOnAWorkerThatIsNotThereIsRefused) {
  Tally starts;
  Runtime runtime(RuntimeOptions{.workers = 2});
  WorkerPoolOptions options;
  options.placement = Placement::pin_to(2);
  EXPECT_FALSE(spawn_pool_with<Settler>(runtime, options, std::ref(starts)));
  EXPECT_EQ(runtime.supervise_error(), Errc::invalid_arg);
  EXPECT_EQ(starts.value(), 0u);
}

// ---- event sources ----

struct Heart {
  Diary& diary;
  void on(const TimerEvent&) { diary.add(); }
};

TEST(EventOptions, AClockBeatsOnTheWorkerAndOnTheThreadItsActorWasGiven) {
  constexpr uint64_t kBeats = 5;
  Diary pinned_diary;
  Diary blocking_diary;
  Runtime runtime(RuntimeOptions{.workers = 2});
  SpawnOptions options;
  options.placement = Placement::pin_to(1);
  ASSERT_TRUE(spawn_on_with<Heart>(runtime, options, EventSource::every(1ms), pinned_diary));
  options.placement = Placement::blocking();
  ASSERT_TRUE(spawn_on_with<Heart>(runtime, options, EventSource::every(1ms), blocking_diary));
  ASSERT_TRUE(pinned_diary.starts.reaches(kBeats));
  ASSERT_TRUE(blocking_diary.starts.reaches(kBeats));
  const auto workers = threads_of_workers(runtime);
  const std::thread::id home = thread_of(runtime, 1);
  EXPECT_TRUE(runtime.shutdown(1min).empty());
  for (const std::thread::id thread : pinned_diary.threads) EXPECT_EQ(thread, home);
  for (const std::thread::id thread : blocking_diary.threads) {
    EXPECT_FALSE(workers.contains(thread));
  }
}

}  // namespace
}  // namespace jzx::testing

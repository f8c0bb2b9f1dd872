// Actors that run by hand, actors that events drive, and the names of types.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx {
namespace {

using namespace std::chrono_literals;
using testing::ClockedLoop;

struct Tick {
  int number;
};
struct Echo {};

struct Game {
  explicit Game(std::vector<int>* ticks) : log(ticks) {}
  std::vector<int>* log;
  void on(Tick tick) { log->push_back(tick.number); }
  ActorId on(Echo, Context& context) { return context.self().id(); }
};

JZX_SUITE_ON_ALL_DRIVERS(ManualActor);

TEST_P(ManualActor, RunsOnlyWhenItIsPolled) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto game = spawn_manual<Game>(loop, &log);
  ASSERT_TRUE(game);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(game.send(Tick{i}), Errc::ok);
  loop.settle();
  EXPECT_TRUE(log.empty());
  EXPECT_TRUE(game.poll_one());
  EXPECT_EQ(log, std::vector<int>{0});
  EXPECT_EQ(game.drain(), 4u);
  EXPECT_EQ(log, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_FALSE(game.poll_one());
  EXPECT_EQ(game.drain(), 0u);
}

struct Starter {
  std::vector<int>* log;
  void on_start() { log->push_back(-1); }
  void on(Tick tick) { log->push_back(tick.number); }
};

TEST_P(ManualActor, ItsStartIsNoMessage) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto game = spawn_manual<Starter>(loop, &log);
  EXPECT_FALSE(game.poll_one());
  EXPECT_EQ(log, std::vector<int>{-1});
  const auto other = spawn_manual<Starter>(loop, &log);
  (void)other.send(Tick{1});
  EXPECT_TRUE(other.poll_one());
  EXPECT_EQ(log, (std::vector<int>{-1, -1, 1}));
}

TEST_P(ManualActor, IsPolledAsLongAsTheOwnerWants) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto game = spawn_manual<Game>(loop, &log);
  for (int i = 0; i < 10; ++i) (void)game.send(Tick{i});
  EXPECT_EQ(game.poll_while([&] { return log.size() < 3; }), 3u);
  EXPECT_EQ(game.poll_while([] { return true; }), 7u);
}

TEST_P(ManualActor, HasTheNameAndTheMailboxItIsGiven) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto game = spawn_manual_with<Game>(
      loop, {.name = "game", .mailbox_cap = 8, .overload = Overload::drop_oldest}, &log);
  ASSERT_TRUE(game);
  EXPECT_EQ(loop.seen().started(), std::vector<std::string>{"game"});
  for (int i = 0; i < 6; ++i) ASSERT_EQ(game.send(Tick{i}), Errc::ok);
  EXPECT_EQ(game.drain(), 4u);
  EXPECT_EQ(log, (std::vector<int>{2, 3, 4, 5}));
}

TEST_P(ManualActor, HasNoOtherPlace) {
  ClockedLoop loop;
  std::vector<int> log;
  for (const Placement place : {Placement::pin_to(0), Placement::pinned(), Placement::blocking()}) {
    EXPECT_FALSE(spawn_manual_with<Game>(loop, {.placement = place}, &log));
    EXPECT_EQ(loop.spawn_error(), Errc::invalid_arg);
  }
  EXPECT_TRUE(spawn_manual_with<Game>(loop, {.placement = Placement::by_hand()}, &log));
}

TEST_P(ManualActor, EndsWhenItIsPolledAfterItWasStopped) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto game = spawn_manual<Game>(loop, &log);
  (void)game.send(Tick{1});
  EXPECT_EQ(loop.stop(game), Errc::ok);
  loop.settle();
  EXPECT_EQ(game.drain(), 0u) << "what was queued is dead-lettered";
  EXPECT_EQ(loop.seen().dead.size(), 1u);
  EXPECT_EQ(game.send(Tick{2}), Errc::no_such_actor);
  EXPECT_FALSE(game.poll_one());
}

struct Outer {
  ManualRef<Game> inner;
  Pid before;
  Pid after;
  void on(Tick tick, Context& context) {
    before = context.self();
    (void)inner.send(tick);
    EXPECT_EQ(inner.drain(), 1u);
    after = context.self();
    auto mine = context.self(*this).send(Echo{});
    EXPECT_EQ(mine, Errc::ok);
  }
  void on(Echo, Context& context) { EXPECT_EQ(context.sender(), context.self()); }
};

TEST_P(ManualActor, MayBePolledFromInsideAnothersHandler) {
  ClockedLoop loop;
  std::vector<int> log;
  const auto game = spawn_manual<Game>(loop, &log);
  const auto outer = loop.spawn<Outer>(Outer{game, {}, {}});
  ASSERT_EQ(outer.send(Tick{7}), Errc::ok);
  loop.settle();
  EXPECT_EQ(log, std::vector<int>{7});
}

TEST(ManualActorOfARuntime, IsPolledByMainWhileOthersSend) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  std::vector<int> log;
  const auto game = spawn_manual<Game>(runtime, &log);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&game] {
      for (int i = 0; i < 1000; ++i) {
        while (game.send(Tick{i}) == Errc::mailbox_full) std::this_thread::yield();
      }
    });
  }
  while (log.size() < 3000) game.drain();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(log.size(), 3000u);
  auto id = game.ask(Echo{});
  game.drain();
  EXPECT_EQ(*runtime.block_on(std::move(id)), game.pid().id());
}

// ---- events ----

struct Heart {
  explicit Heart(std::vector<uint64_t>* beats) : log(beats) {}
  std::vector<uint64_t>* log;
  void on(const TimerEvent& event, Context& context) {
    log->push_back(event.beat);
    if (event.beat == 4) context.stop();
  }
};

JZX_SUITE_ON_ALL_DRIVERS(EventDriven);

TEST_P(EventDriven, ATimerBeatsUntilTheActorEnds) {
  ClockedLoop loop;
  std::vector<uint64_t> log;
  const auto heart = spawn_on<Heart>(loop, EventSource::every(10ms), &log);
  ASSERT_TRUE(heart);
  loop.advance(9ms);
  EXPECT_TRUE(log.empty());
  for (int i = 0; i < 10; ++i) loop.advance(11ms);
  EXPECT_EQ(log, (std::vector<uint64_t>{1, 2, 3, 4}));
}

TEST_P(EventDriven, ATimerBeatsInAMailboxThatDropsTheNewest) {
  ClockedLoop loop;
  std::vector<uint64_t> log;
  const auto heart = spawn_on_with<Heart>(
      loop, {.name = "heart", .overload = Overload::drop_newest}, EventSource::every(10ms), &log);
  ASSERT_TRUE(heart);
  EXPECT_EQ(loop.seen().started(), std::vector<std::string>{"heart"});
  for (int i = 0; i < 10; ++i) loop.advance(11ms);
  EXPECT_EQ(log, (std::vector<uint64_t>{1, 2, 3, 4}));
}

// A beat that is dropped would arm no other.
TEST_P(EventDriven, ATimerForAMailboxThatDropsTheOldestIsRefused) {
  ClockedLoop loop;
  std::vector<uint64_t> log;
  const auto heart = spawn_on_with<Heart>(loop, {.overload = Overload::drop_oldest},
                                          EventSource::every(10ms), &log);
  ASSERT_FALSE(heart);
  EXPECT_EQ(heart.error().code(), Errc::invalid_arg);
  EXPECT_TRUE(loop.seen().started().empty());
}

TEST_P(EventDriven, APlaceThatIsNotThereIsRefused) {
  ClockedLoop loop;
  std::vector<uint64_t> log;
  const auto heart = spawn_on_with<Heart>(loop, {.placement = Placement::blocking()},
                                          EventSource::every(10ms), &log);
  ASSERT_FALSE(heart);
  EXPECT_EQ(heart.error().code(), Errc::invalid_arg);
}

struct Reader {
  explicit Reader(std::string* text) : log(text) {}
  std::string* log;
  void on(const IoEvent& event, Context& context) {
    char byte = 0;
    if (::read(event.fd, &byte, 1) == 1) *log += byte;
    context.stop();
  }
};

TEST(EventDrivenByTheSystem, AFileDescriptorThatBecomesReadyReachesItsActor) {
  ClockedLoop loop;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::string log;
  const auto reader = spawn_on<Reader>(loop, EventSource::fd(ends[0], kIoRead), &log);
  ASSERT_TRUE(reader);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(log, "x");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_P(EventDriven, ASourceThatCannotBeLeavesNoActorBehind) {
  ClockedLoop loop;
  std::string log;
  const auto refused = spawn_on<Reader>(loop, EventSource::fd(-1, kIoRead), &log);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::invalid_arg);
  EXPECT_EQ(loop.run(), Errc::ok) << "nobody is left";
}

// ---- types ----

JZX_SUITE_ON_ALL_DRIVERS(ActorTypes);

TEST_P(ActorTypes, AreKnownByTheirNamesAtRunTime) {
  ClockedLoop loop;
  std::vector<int> log;
  EXPECT_TRUE(loop.actor_types().empty());
  const auto game = loop.spawn<Game>(&log);
  (void)loop.spawn<Game>(&log);
  EXPECT_NE(loop.type_name(game).find("Game"), std::string_view::npos);
  const auto types = loop.actor_types();
  ASSERT_EQ(types.size(), 1u);
  EXPECT_EQ(types[0].name, loop.type_name(game));
  EXPECT_EQ(types[0].state_size, sizeof(Game));
  EXPECT_EQ(loop.kill(game), Errc::ok);
  loop.settle();
  EXPECT_TRUE(loop.type_name(game).empty());
}

// ---- waitless ----

struct Waiter {
  void on(Tick, Context& context) {
    auto [future, promise] = jzx::promise<int>();
    const Result<int> answer = future.get();
    EXPECT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code(), Errc::invalid_arg);
    EXPECT_NE(std::string(answer.error().message()).find("runs to its end"), std::string::npos);
    context.stop();
  }
};

TEST(Waitless, AHandlerThatWouldWaitIsToldSoAtOnce) {
  ClockedLoop loop;
  (void)loop.spawn<Waiter>().send(Tick{0});
  EXPECT_EQ(loop.run(), Errc::ok);
  Runtime runtime(RuntimeOptions{.workers = 1});
  (void)runtime.spawn<Waiter>().send(Tick{0});
  EXPECT_EQ(runtime.run(), Errc::ok);
}

TEST(Waitless, AnActorRunByHandMustNotWaitOnAnyThread) {
  Runtime runtime(RuntimeOptions{.workers = 1});
  const auto here = spawn_manual<Waiter>(runtime);
  ASSERT_EQ(here.send(Tick{0}), Errc::ok);
  EXPECT_EQ(here.drain(), 1u);
  const auto there = spawn_manual<Waiter>(runtime);
  ASSERT_EQ(there.send(Tick{0}), Errc::ok);
  EXPECT_EQ(*runtime.block_on(runtime.spawn_blocking([&] { return there.drain(); })), 1u);
}

struct Nester {
  Loop* inner;
  void on(Tick, Context& context) {
    EXPECT_EQ(inner->run(), Errc::invalid_arg);
    EXPECT_FALSE(inner->run_once(1h));
    EXPECT_TRUE(inner->run_once(0ms)) << "that does not wait";
    context.stop();
  }
};

TEST(Waitless, AHandlerThatRunsAnotherLoopIsToldSoAtOnce) {
  Loop inner;
  std::vector<int> log;
  (void)inner.spawn<Game>(&log);  // which would keep it waiting
  ClockedLoop loop;
  (void)loop.spawn<Nester>(&inner).send(Tick{0});
  EXPECT_EQ(loop.run(), Errc::ok);
  Runtime runtime(RuntimeOptions{.workers = 1});
  (void)runtime.spawn<Nester>(&inner).send(Tick{0});
  EXPECT_EQ(runtime.run(), Errc::ok);
}

struct Blocker {
  Promise<int>* answer;
  Future<int>* question;
  void on(Tick, Context& context) {
    answer->resolve(*question->get() + 1);  // may wait: it is on a thread for that
    context.stop();
  }
};

TEST(Waitless, AnActorOnABlockingThreadMayWait) {
  Runtime runtime(RuntimeOptions{.workers = 1});
  auto [question, asked] = jzx::promise<int>();
  auto [future, answer] = jzx::promise<int>();
  const auto blocker = runtime.spawn_with<Blocker>({.placement = Placement::blocking()},
                                                   Blocker{&answer, &question});
  ASSERT_EQ(blocker.send(Tick{0}), Errc::ok);
  asked.resolve(41);
  EXPECT_EQ(*runtime.block_on(std::move(future)), 42);
}

}  // namespace
}  // namespace jzx

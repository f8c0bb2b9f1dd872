// Actors that take messages while handlers wait.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Fetch {
  int key = 0;
};
struct Sum {};
struct Put {
  int key = 0;
  int value = 0;
};
struct Crash {};
struct Leave {};

// Waits for each key until that is put.
struct Store {
  static constexpr bool interleaves = true;
  std::vector<std::string>* notes = nullptr;
  std::map<int, std::vector<Promise<int>>> waiting = {};
  int answered = 0;

  Task<int> on(Fetch fetch) {
    auto [future, promise] = jzx::promise<int>();
    waiting[fetch.key].push_back(std::move(promise));
    Result<int> value = co_await future;
    if (notes != nullptr) {
      notes->push_back(std::to_string(fetch.key) + (value.ok() ? "" : " cancelled"));
    }
    const int got = co_await value;
    ++answered;
    co_return got;
  }
  void on(Put put) {
    for (Promise<int>& promise : waiting[put.key]) promise.resolve(put.value);
    waiting.erase(put.key);
  }
  int on(Sum) { return answered; }
  Task<void> on(Crash) { co_await fail(Errc::closed, "crashed"); }
  void on(Leave, Context& context) { context.stop(); }
  void on_stop() {
    if (notes != nullptr) notes->push_back("on_stop");
  }
};

JZX_SUITE_ON_ALL_DRIVERS(Interleaving);

TEST_P(Interleaving, TakesMessagesWhileHandlersWait) {
  ClockedLoop loop;
  const auto store = loop.spawn<Store>();
  Future<int> first = store.ask(Fetch{1});
  Future<int> second = store.ask(Fetch{2});
  loop.settle();
  EXPECT_EQ(loop.ledger().queued, 2u);
  store << Put{2, 20};
  loop.settle();
  EXPECT_FALSE(first.is_ready());
  EXPECT_EQ(second.get().value(), 20);
  store << Put{1, 10};
  loop.settle();
  EXPECT_EQ(first.get().value(), 10);
  EXPECT_EQ(loop.run_until(store.ask(Sum{})).value(), 2);
}

TEST_P(Interleaving, ResumesHandlersInTheOrderInWhichTheyWereWoken) {
  std::vector<std::string> notes;
  ClockedLoop loop;
  const auto store = loop.spawn<Store>(&notes);
  for (const int key : {1, 2, 3}) store << Fetch{key};
  store << Put{3, 0} << Put{1, 0} << Put{2, 0};
  loop.settle();
  EXPECT_EQ(notes, (std::vector<std::string>{"3", "1", "2"}));
}

TEST_P(Interleaving, HandlersThatAreWokenDoNotKeepMailWaiting) {
  for (const uint32_t messages_per_turn : {1u, 2u, 4u}) {
    SCOPED_TRACE(messages_per_turn);
    LoopOptions options;
    options.max_msgs_per_actor = messages_per_turn;
    ClockedLoop loop(Time::manual, options);
    const auto store = loop.spawn<Store>();
    std::vector<Future<int>> asked;
    for (int i = 0; i < 100; ++i) asked.push_back(store.ask(Fetch{1}));
    loop.settle();
    store << Put{1, 7};
    Future<int> sum = store.ask(Sum{});
    loop.settle();
    EXPECT_LT(sum.get().value(), 100) << "it did not wait for all of them";
    for (Future<int>& one : asked) EXPECT_EQ(one.get().value(), 7);
  }
}

struct Serve {};
struct Return {};
struct Referee {
  static constexpr bool interleaves = true;
  Notify here;
  Notify there;
  bool is_over = false;
  Task<void> on(Serve) { return play(here, there); }
  Task<void> on(Return) { return play(there, here); }
  void on(Leave) { is_over = true; }
  Task<void> play(Notify& mine, Notify& other) {
    while (!is_over) {
      other.notify_one();
      auto ball = mine.wait();
      co_await co_await ball;
    }
    other.notify_one();
  }
};

TEST_P(Interleaving, HandlersThatWakeOneAnotherDoNotKeepMailWaiting) {
  for (const uint32_t messages_per_turn : {1u, 2u, 4u}) {
    SCOPED_TRACE(messages_per_turn);
    LoopOptions options;
    options.max_msgs_per_actor = messages_per_turn;
    ClockedLoop loop(Time::manual, options);
    const auto referee = loop.spawn<Referee>();
    referee << Serve{} << Return{};
    (void)loop.run_once(0ms);
    Future<void> over = referee.ask(Leave{});
    for (int tick = 0; tick < 100 && !over.is_ready(); ++tick) (void)loop.run_once(0ms);
    EXPECT_TRUE(over.is_ready());
  }
}

TEST_P(Interleaving, AStoppedActorEndsWhenItsHandlersHave) {
  std::vector<std::string> notes;
  ClockedLoop loop;
  const auto store = loop.spawn<Store>(&notes);
  Future<int> first = store.ask(Fetch{1});
  store << Fetch{2} << Leave{} << Put{1, 1};
  EXPECT_EQ(loop.run(), Errc::ok);
  std::sort(notes.begin(), notes.begin() + 2);
  EXPECT_EQ(notes, (std::vector<std::string>{"1 cancelled", "2 cancelled", "on_stop"}));
  EXPECT_FALSE(first.get().ok());
  EXPECT_EQ(loop.seen().stop_of(store.id()).reason, ExitReason::normal);
  EXPECT_EQ(loop.ledger().handled, 3u);
  EXPECT_EQ(loop.ledger().dead_lettered, 1u);
}

TEST_P(Interleaving, AHandlerThatFailsTakesTheOthersWithIt) {
  std::vector<std::string> notes;
  ClockedLoop loop;
  const auto store = loop.spawn<Store>(&notes);
  store << Fetch{1} << Crash{} << Put{1, 1};
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(notes, (std::vector<std::string>{"1 cancelled", "on_stop"}));
  EXPECT_EQ(loop.seen().stop_of(store.id()).reason, ExitReason::fail);
  EXPECT_EQ(loop.seen().stop_of(store.id()).text, "crashed");
  EXPECT_EQ(loop.ledger().handled, 2u);
  EXPECT_EQ(loop.ledger().dead_lettered, 1u);
}

// One that is slow to stop: what it waits for cannot be cancelled at once.
struct Slow {
  static constexpr bool interleaves = true;
  Task<void> on(Fetch) {
    auto task = last_words();
    auto words = co_await task;
    (void)words;
  }
  static Task<void> last_words() {
    auto slept = sleep(std::chrono::milliseconds(1000));
    (void)co_await slept;
    // It was asked to stop: every wait from here on answers at once.
    auto again = sleep(std::chrono::milliseconds(1000));
    Result<void> result = co_await again;
    EXPECT_EQ(result.error().code(), Errc::cancelled);
  }
  void on(Crash) {}
};

TEST_P(Interleaving, AKilledActorAsksEveryHandlerOnce) {
  ClockedLoop loop;
  const auto slow = loop.spawn<Slow>();
  for (int i = 0; i < 200; ++i) slow << Fetch{i};
  loop.settle();
  EXPECT_EQ(loop.ledger().queued, 200u);
  EXPECT_EQ(loop.kill(slow), Errc::ok);
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(loop.ledger().handled, 200u);
  EXPECT_EQ(loop.seen().stop_of(slow.id()).reason, ExitReason::killed);
}

TEST_P(Interleaving, HandlersAreAskedToStopWhenTheSystemEnds) {
  std::vector<std::string> notes;
  std::vector<Future<int>> asked;
  {
    ClockedLoop loop;
    const auto store = loop.spawn<Store>(&notes);
    for (int key = 0; key < 100; ++key) asked.push_back(store.ask(Fetch{key}));
    loop.settle();
  }
  EXPECT_EQ(notes.size(), 100u);
  for (Future<int>& one : asked) EXPECT_FALSE(one.get().ok());
}

// ---- on all cores ----

// Its state has no lock: of its handlers one runs at a time, whatever wakes them.
struct Counter {
  static constexpr bool interleaves = true;
  int64_t running = 0;
  int64_t done = 0;

  Task<int> on(Fetch fetch) {
    EXPECT_EQ(++running, 1);
    --running;
    for (int i = 0; i < fetch.key; ++i) {
      auto slept = sleep(std::chrono::milliseconds(1));
      Result<void> result = co_await slept;
      EXPECT_EQ(++running, 1);
      ++done;
      --running;
      co_await result;
    }
    co_return fetch.key;
  }
  int64_t on(Sum) { return done; }
};

TEST(InterleavingOnWorkers, NeedsNoLock) {
  Runtime runtime = Runtime::builder().workers(2).build();
  const auto counter = runtime.spawn<Counter>();
  std::vector<Future<int>> asked;
  for (int i = 0; i < 100; ++i) asked.push_back(counter.ask(Fetch{i % 5}));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(asked[static_cast<size_t>(i)].get().value(), i % 5);
  }
  EXPECT_EQ(counter.ask(Sum{}).get().value(), 200);
}

TEST(InterleavingOnWorkers, ManyAreKilledWhileTheyAreWoken) {
  Runtime runtime = Runtime::builder().workers(2).build();
  for (int round = 0; round < 50; ++round) {
    const auto counter = runtime.spawn<Counter>();
    std::vector<Future<int>> asked;
    for (int i = 0; i < 20; ++i) asked.push_back(counter.ask(Fetch{1}));
    (void)asked.front().get();
    EXPECT_EQ(runtime.kill(counter), Errc::ok);
    for (size_t i = 1; i < asked.size(); ++i) (void)asked[i].get();  // each has an end
  }
}

}  // namespace
}  // namespace jzx::testing

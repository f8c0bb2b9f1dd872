// Locks and channels among tasks on workers, fibers and threads, with waits cancelled at random;
// and the same tasks and fibers on the simulator, in many orders.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cpp/clocked_loop.hpp"
#include "support/scale.hpp"

namespace jzx {
namespace {

using testing::scaled;

constexpr size_t kTasks = 8;

[[nodiscard]] bool is_on_sim() { return testing::is_simulated(testing::chosen_driver()); }
[[nodiscard]] size_t rounds() { return is_on_sim() ? 100 : scaled(4000, 8); }

// On one thread nobody comes in between but where one waits: in the middle of what must be whole.
Task<void> let_others_in() {
  if (!is_on_sim()) co_return;
  Future<void> moment = sleep(std::chrono::milliseconds(0));
  Result<void> passed = co_await moment;
  co_await passed;
}

[[nodiscard]] std::vector<std::string> workers_and_sims() {
  std::vector<std::string> all = testing::sim_drivers();
  all.insert(all.begin(), "workers");
  return all;
}

class SyncStress : public ::testing::TestWithParam<std::string> {
 protected:
  SyncStress() {
    if (is_on_sim()) {
      sim_.emplace(testing::Time::jumping);
    } else {
      runtime_.emplace(RuntimeOptions{.workers = 2});
    }
  }
  [[nodiscard]] SystemFace& system() { return sim_ ? static_cast<SystemFace&>(*sim_) : *runtime_; }
  template <class T>
  [[nodiscard]] Result<T> finish(Future<T>& future) {
    return sim_ ? sim_->run_until(std::move(future)) : future.get();
  }
  // While the test itself sends.
  void take_a_turn() {
    if (sim_) (void)sim_->run_once(std::chrono::milliseconds(0));
  }

 private:
  testing::ChosenDriver driver_{GetParam()};
  std::optional<testing::ClockedLoop> sim_;
  std::optional<Runtime> runtime_;
};
INSTANTIATE_TEST_SUITE_P(All, SyncStress, ::testing::ValuesIn(workers_and_sims()),
                         [](const auto& one) { return one.param; });

// A small generator, so that a run can be repeated as far as threads allow.
struct Dice {
  uint32_t state;
  [[nodiscard]] bool one_in(uint32_t n) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % n == 0;
  }
};

struct Counted {
  Mutex mutex;
  size_t value = 0;                 // under the mutex
  std::atomic<size_t> expected{0};  // how often somebody had it
};

Task<void> count_in_task(Counted& counted, uint32_t seed) {
  Dice dice{seed};
  for (size_t i = 0; i < rounds(); ++i) {
    Future<MutexGuard> asked = counted.mutex.lock();
    if (dice.one_in(5)) asked.cancel();
    if (dice.one_in(7)) continue;  // dropped
    Result<MutexGuard> guard = co_await asked;
    if (!guard) continue;
    const size_t before = counted.value;
    Task<void> others = let_others_in();
    (void)co_await others;
    counted.value = before + 1;
    counted.expected.fetch_add(1);
  }
}
void count_here(Counted& counted) {
  for (size_t i = 0; i < rounds(); ++i) {
    const Result<MutexGuard> guard = counted.mutex.lock().get();
    if (!guard) continue;
    const size_t before = counted.value;
    if (is_on_sim()) yield();
    counted.value = before + 1;
    counted.expected.fetch_add(1);
  }
}

TEST_P(SyncStress, AMutexIsHeldByOneAtATime) {
  Counted counted;
  std::vector<Future<void>> ended;
  for (uint32_t i = 0; i < kTasks; ++i) {
    ended.push_back(system().spawn_async(count_in_task(counted, i + 1)));
  }
  auto [fiber_ended, end] = promise<void>();
  system().spawn_fn([&counted, e = std::move(end)]() mutable {
    count_here(counted);
    e.resolve();
  });
  if (!is_on_sim()) std::thread([&] { count_here(counted); }).join();
  EXPECT_TRUE(finish(fiber_ended).ok());
  for (auto& one : ended) EXPECT_TRUE(finish(one).ok());
  EXPECT_EQ(counted.value, counted.expected.load());
  EXPECT_TRUE(counted.mutex.try_lock());
}

TEST_P(SyncStress, ASemaphoreNeverHandsOutTooMuch) {
  struct Things {
    Semaphore semaphore{3};
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
  } things;
  const auto use = [](Things& it, uint32_t seed) -> Task<void> {
    Dice dice{seed};
    for (size_t i = 0; i < rounds(); ++i) {
      const size_t count = dice.one_in(3) ? 2 : 1;
      Future<Permit> asked = it.semaphore.acquire(count);
      if (dice.one_in(5)) asked.cancel();
      Result<Permit> permit = co_await asked;
      if (!permit) continue;
      const int now = it.inside.fetch_add(static_cast<int>(count)) + static_cast<int>(count);
      if (now > it.most.load()) it.most.store(now);
      Task<void> others = let_others_in();
      (void)co_await others;
      it.inside.fetch_sub(static_cast<int>(count));
    }
  };
  std::vector<Future<void>> ended;
  for (uint32_t i = 0; i < kTasks; ++i) ended.push_back(system().spawn_async(use(things, i + 1)));
  for (auto& one : ended) EXPECT_TRUE(finish(one).ok());
  EXPECT_LE(things.most.load(), 3);
  EXPECT_EQ(things.semaphore.available(), 3u);
}

TEST_P(SyncStress, WritersAreAloneAndReadersSeeWholeValues) {
  struct Things {
    RwLock lock;
    size_t a = 0;
    size_t b = 0;
    std::atomic<size_t> written{0};
  } things;
  const auto use = [](Things& it, uint32_t seed) -> Task<bool> {
    Dice dice{seed};
    for (size_t i = 0; i < rounds(); ++i) {
      if (dice.one_in(4)) {
        Future<WriteGuard> asked = it.lock.write();
        if (dice.one_in(5)) asked.cancel();
        Result<WriteGuard> guard = co_await asked;
        if (!guard) continue;
        ++it.a;
        Task<void> others = let_others_in();
        (void)co_await others;
        ++it.b;
        it.written.fetch_add(1);
      } else {
        Future<ReadGuard> asked = it.lock.read();
        if (dice.one_in(5)) asked.cancel();
        Result<ReadGuard> guard = co_await asked;
        if (!guard) continue;
        const size_t seen = it.a;
        Task<void> others = let_others_in();
        (void)co_await others;
        if (seen != it.b) co_return false;
      }
    }
    co_return true;
  };
  std::vector<Future<bool>> ended;
  for (uint32_t i = 0; i < kTasks; ++i) ended.push_back(system().spawn_async(use(things, i + 1)));
  for (auto& one : ended) EXPECT_TRUE(*finish(one));
  EXPECT_EQ(things.a, things.written.load());
  EXPECT_TRUE(things.lock.try_write());
}

TEST_P(SyncStress, AChannelLosesAndDoublesNothing) {
  auto [sender, receiver] = channel<size_t>(4);
  const auto produce = [](Sender<size_t> out, uint32_t seed) -> Task<size_t> {
    Dice dice{seed};
    size_t sum = 0;
    for (size_t i = 1; i <= rounds(); ++i) {
      if (dice.one_in(3)) {
        Future<SendPermit<size_t>> asked = out.reserve();
        if (dice.one_in(3)) asked.cancel();
        Result<SendPermit<size_t>> permit = co_await asked;
        if (permit && !dice.one_in(3) && ok(permit->send(i))) sum += i;
      } else {
        auto sending = out.send(i);
        Result<void> sent = co_await sending;
        if (sent) sum += i;
      }
    }
    co_return sum;
  };
  const auto consume = [](Receiver<size_t> in) -> Task<size_t> {
    Dice dice{7};
    size_t sum = 0;
    for (;;) {
      Result<size_t> one = in.try_recv();
      if (one) {
        sum += *one;
      } else if (one.error().code() == Errc::closed) {
        co_return sum;
      } else {
        Future<void> ready = in.ready();
        if (dice.one_in(3)) ready.cancel();
        Result<void> waited = co_await ready;
        (void)waited;
      }
    }
  };
  auto received = system().spawn_async(consume(std::move(receiver)));
  std::vector<Future<size_t>> producers;
  for (uint32_t i = 0; i < 4; ++i)
    producers.push_back(system().spawn_async(produce(sender, i + 1)));
  sender = {};
  size_t sum = 0;
  for (auto& one : producers) sum += *finish(one);
  EXPECT_EQ(*finish(received), sum);
  EXPECT_GT(sum, 0u);
}

TEST_P(SyncStress, SelectLosesNothing) {
  auto [left_in, left] = channel<size_t>(2);
  auto [right_in, right] = unbounded_channel<size_t>();
  const auto fill_left = [](Sender<size_t> out) -> Task<void> {
    for (size_t i = 1; i <= rounds(); ++i) {
      auto sending = out.send(i);
      Result<void> sent = co_await sending;
      co_await sent;
    }
  };
  const auto fill_right = [](UnboundedSender<size_t> out) -> Task<void> {
    for (size_t i = 1; i <= rounds(); ++i) {
      if (!ok(out.send(i))) co_await fail(Errc::unknown);
    }
  };
  const auto sum_both = [](Receiver<size_t> a, Receiver<size_t> b) -> Task<size_t> {
    size_t sum = 0;
    while (a && b) {
      Future<Selection> first = select(a.ready(), b.ready());
      Result<Selection> selection = co_await first;
      Receiver<size_t>& winner = selection->index == 0 ? a : b;
      Result<size_t> one = winner.try_recv();
      if (one) sum += *one;
      if (one.error().code() == Errc::closed) winner = {};
    }
    Receiver<size_t>& rest = a ? a : b;
    for (;;) {
      auto receiving = rest.recv();
      Result<size_t> one = co_await receiving;
      if (!one) co_return sum;
      sum += *one;
    }
  };
  auto filled_left = system().spawn_async(fill_left(std::move(left_in)));
  auto filled_right = system().spawn_async(fill_right(std::move(right_in)));
  auto sum = system().spawn_async(sum_both(std::move(left), std::move(right)));
  EXPECT_EQ(*finish(sum), rounds() * (rounds() + 1));
  EXPECT_TRUE(finish(filled_left).ok());
  EXPECT_TRUE(finish(filled_right).ok());
}

TEST_P(SyncStress, ABroadcastIsHeardInOrderOrMissedAloud) {
  auto [sender, receiver] = broadcast<size_t>(8);
  const auto listen = [](BroadcastReceiver<size_t> in) -> Task<size_t> {
    size_t next = 1;
    for (;;) {
      auto receiving = in.recv();
      Result<size_t> one = co_await receiving;
      if (one && *one != next) co_return 0;
      if (one) ++next;
      if (one.error().code() == Errc::lagged) next += in.missed();
      if (one.error().code() == Errc::closed) co_return next;
    }
  };
  std::vector<Future<size_t>> heard;
  for (int i = 0; i < 3; ++i) heard.push_back(system().spawn_async(listen(receiver)));
  for (size_t i = 1; i <= rounds(); ++i) {
    ASSERT_EQ(sender.send(i), Errc::ok);
    if (i % 5 == 0) take_a_turn();
  }
  sender = {};
  for (auto& one : heard) EXPECT_EQ(*finish(one), rounds() + 1);
}

TEST(SyncStressOfThreads, APrimitiveMayEndWhileItsWaitsAreCancelled) {
  for (size_t i = 0; i < scaled(2000, 4); ++i) {
    auto mutex = std::make_unique<Mutex>();
    auto changed = std::make_unique<Condition>(*mutex);
    auto notify = std::make_unique<Notify>();
    auto [sender, receiver] = channel<int>(1);
    Future<MutexGuard> told = changed->wait(mutex->try_lock());
    MutexGuard held = mutex->try_lock();
    Future<MutexGuard> locking = mutex->lock();
    Future<void> waiting = notify->wait();
    Future<void> reading = receiver.ready();
    std::atomic<bool> go{false};
    std::thread canceller([&] {
      while (!go.load()) std::this_thread::yield();
      locking.cancel();
      told.cancel();
      waiting = {};
      reading.cancel();
    });
    go.store(true);
    if (i % 2 == 0) changed->notify_one();
    held.unlock();
    mutex.reset();
    changed.reset();
    notify.reset();
    sender = {};
    canceller.join();
    EXPECT_TRUE(locking.is_ready());
    EXPECT_TRUE(told.is_ready());
    EXPECT_TRUE(reading.is_ready());
  }
}

}  // namespace
}  // namespace jzx

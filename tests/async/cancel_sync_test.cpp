// Locks, events, channels and other actors, waited for by tasks that are cancelled at every
// suspension: no permit, no message and no notification is gone afterwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "async/cancel_everywhere.hpp"

namespace jzx::testing {
namespace {

using Numbers = std::vector<int>;

// From 1 to the last.
Numbers count_to(int last) {
  Numbers numbers(static_cast<size_t>(last));
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}
Numbers joined(Numbers a, const Numbers& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
template <class Receiver>
Numbers take_all(Receiver& receiver) {
  Numbers taken;
  while (auto number = receiver.try_recv()) taken.push_back(*number);
  return taken;
}

// ---- locks ----

struct Locks final : Script {
  using Script::Script;
  Mutex mutex;
  RwLock lock;
  MutexGuard held = mutex.try_lock();
  ReadGuard read = lock.try_read();
  WriteGuard written;

  Task<int> run() override {
    world.after(2, [this] { held.unlock(); });
    auto locking = mutex.lock();
    Result<MutexGuard> locked = co_await locking;
    const MutexGuard mine = co_await locked;
    world.after(2, [this] { read.unlock(); });
    {
      auto writing = lock.write();
      Result<WriteGuard> may_write = co_await writing;
      written = co_await may_write;
    }
    world.after(2, [this] { written.unlock(); });
    auto reading = lock.read();
    Result<ReadGuard> may_read = co_await reading;
    const ReadGuard guard = co_await may_read;
    co_return 1;
  }
  void check() override {
    held.unlock();
    read.unlock();
    written.unlock();
    EXPECT_TRUE(mutex.try_lock());
    EXPECT_TRUE(lock.try_write());
  }
};

struct Told final : Script {
  using Script::Script;
  Mutex mutex;
  Condition changed{mutex};
  int value = 0;

  Task<int> run() override {
    world.after(1, [this] {
      value = 1;
      changed.notify_one();
    });
    // Told, but the mutex is taken: it waits once more.
    world.after(3, [this] {
      hindrance = mutex.try_lock();
      value = 2;
      changed.notify_one();
    });
    world.after(5, [this] { hindrance.unlock(); });
    auto locking = mutex.lock();
    Result<MutexGuard> locked = co_await locking;
    MutexGuard guard = co_await locked;
    while (value < 2) {
      auto waiting = changed.wait(std::move(guard));
      Result<MutexGuard> again = co_await waiting;
      guard = co_await again;
    }
    co_return 1;
  }
  void check() override { EXPECT_TRUE(mutex.try_lock()); }

 private:
  MutexGuard hindrance;
};

struct Permits final : Script {
  using Script::Script;
  Semaphore semaphore{1};
  Permit others = semaphore.try_acquire();

  Task<int> run() override {
    world.after(2, [this] { others.release(); });
    auto asking = semaphore.acquire();
    Result<Permit> got = co_await asking;
    const Permit one = co_await got;
    world.after(2, [this] { semaphore.add_permits(2); });
    auto asking_for_more = semaphore.acquire(2);
    Result<Permit> got_more = co_await asking_for_more;
    const Permit two = co_await got_more;
    co_return one.count() + two.count() == 3 ? 1 : 0;
  }
  void check() override {
    others.release();
    const size_t added = semaphore.available() - 1;
    EXPECT_TRUE(added == 0 || added == 2) << added;
    EXPECT_TRUE(semaphore.try_acquire(1 + added)) << "none is held, and nobody waits";
  }
};

// ---- events ----

struct Events final : Script {
  using Script::Script;
  Notify notify;
  Latch latch{2};
  Barrier barrier{2};
  Future<BarrierPass> other;
  int notified = 0;
  int heard = 0;
  bool has_passed = false;

  Task<int> run() override {
    for (int i = 0; i < 2; ++i) {
      world.after(2, [this] {
        ++notified;
        notify.notify_one();
      });
      auto waiting = notify.wait();
      Result<void> told = co_await waiting;
      co_await told;
      ++heard;
    }
    world.after(1, [this] { latch.count_down(); });
    world.after(2, [this] { latch.count_down(); });
    auto opening = latch.wait();
    Result<void> opened = co_await opening;
    co_await opened;
    world.after(2, [this] { other = barrier.arrive_and_wait(); });
    auto arriving = barrier.arrive_and_wait();
    Result<BarrierPass> passed = co_await arriving;
    co_await passed;
    has_passed = true;
    co_return 1;
  }
  void check() override {
    EXPECT_EQ(notify.wait().is_ready(), heard < notified) << "it is kept for who comes next";
    if (!other.is_valid()) return;
    EXPECT_EQ(other.is_ready(), has_passed);
    EXPECT_EQ(barrier.arrive_and_wait().is_ready(), !has_passed) << "the place is still free";
  }
};

// ---- channels ----

struct Receives final : Script {
  using Script::Script;
  Channel<int> bounded = channel<int>(2);
  UnboundedChannel<int> unbounded = unbounded_channel<int>();
  Oneshot<int> once = oneshot<int>();
  Numbers got;

  Task<int> run() override {
    for (int i = 1; i <= 2; ++i) {
      world.after(2 * i, [this, i] { EXPECT_EQ(bounded.sender.try_send(i), Errc::ok); });
    }
    world.after(6, [this] { EXPECT_EQ(unbounded.sender.send(3), Errc::ok); });
    world.after(8, [this] { EXPECT_EQ(std::move(once.sender).send(4), Errc::ok); });
    for (Receiver<int>* from :
         {&bounded.receiver, &bounded.receiver, &unbounded.receiver, &once.receiver}) {
      auto receiving = from->recv();
      Result<int> number = co_await receiving;
      got.push_back(co_await number);
    }
    co_return 1;
  }
  void check() override {
    for (Receiver<int>* from : {&bounded.receiver, &unbounded.receiver, &once.receiver}) {
      got = joined(std::move(got), take_all(*from));
    }
    EXPECT_EQ(got, count_to(4));
  }
};

struct Sends final : Script {
  using Script::Script;
  Channel<int> numbers = channel<int>(1);
  int sent = 0;
  Numbers taken;

  Task<int> run() override {
    for (int i = 1; i <= 3; ++i) {
      auto sending = numbers.sender.send(i);
      if (i > 1) {
        world.after(2, [this] { taken.push_back(*numbers.receiver.try_recv()); });
      }
      Result<void> done = co_await sending;
      co_await done;
      sent = i;
    }
    world.after(2, [this] { taken.push_back(*numbers.receiver.try_recv()); });
    auto reserving = numbers.sender.reserve();
    Result<SendPermit<int>> reserved = co_await reserving;
    SendPermit<int> place = co_await reserved;
    EXPECT_EQ(place.send(4), Errc::ok);
    sent = 4;
    co_return 1;
  }
  void check() override {
    EXPECT_EQ(joined(taken, take_all(numbers.receiver)), count_to(sent))
        << "what was not sent is not there, and what was is";
    EXPECT_EQ(numbers.sender.try_send(1), Errc::ok) << "no place is lost";
  }
};

// No wait between taking and putting: nothing is lost on the way; see docs/sync.md.
struct Forwards final : Script {
  using Script::Script;
  Channel<int> from = channel<int>(4);
  Channel<int> to = channel<int>(1);
  Numbers arrived;

  Task<int> run() override {
    for (int i = 1; i <= 4; ++i) {
      world.after(2 * i, [this, i] { EXPECT_EQ(from.sender.try_send(i), Errc::ok); });
      world.after(2 * i + 3, [this] { take(); });
    }
    for (int i = 0; i < 4; ++i) {
      auto asked = to.sender.reserve();
      Result<SendPermit<int>> granted = co_await asked;
      SendPermit<int> place = co_await granted;
      auto receiving = from.receiver.recv();
      Result<int> number = co_await receiving;
      EXPECT_EQ(place.send(co_await number), Errc::ok);
    }
    co_return 1;
  }
  void check() override {
    take();
    EXPECT_EQ(joined(arrived, take_all(from.receiver)), count_to(4));
    EXPECT_EQ(to.sender.try_send(1), Errc::ok) << "a place that was reserved is free again";
  }
  void take() { arrived = joined(std::move(arrived), take_all(to.receiver)); }
};

struct Broadcasts final : Script {
  using Script::Script;
  Broadcast<int> prices = broadcast<int>(8);
  Watch<int> state = watch<int>(0);
  Numbers got;
  int seen = 0;

  Task<int> run() override {
    for (int i = 1; i <= 3; ++i) {
      world.after(2 * i, [this, i] {
        EXPECT_EQ(prices.sender.send(i), Errc::ok);
        EXPECT_EQ(state.sender.send(i), Errc::ok);
      });
    }
    while (got.size() < 3) {
      auto receiving = prices.receiver.recv();
      Result<int> number = co_await receiving;
      got.push_back(co_await number);
    }
    world.after(2, [this] { EXPECT_EQ(state.sender.send(4), Errc::ok); });
    while (seen < 4) {
      auto changing = state.receiver.changed();
      Result<void> changed = co_await changing;
      co_await changed;
      seen = *state.receiver.get();
    }
    co_return 1;
  }
  void check() override {
    EXPECT_EQ(joined(got, take_all(prices.receiver)), count_to(3));
    const bool is_news = state.receiver.changed().is_ready();
    EXPECT_EQ(is_news, *state.receiver.get() != seen) << "what was not seen stays so";
  }
};

struct Selects final : Script {
  using Script::Script;
  Channel<int> odd = channel<int>(2);
  Channel<int> even = channel<int>(2);
  Numbers got;

  Task<int> run() override {
    for (int i = 1; i <= 4; ++i) {
      world.after(2 * i,
                  [this, i] { EXPECT_EQ((i % 2 == 1 ? odd : even).sender.try_send(i), Errc::ok); });
    }
    while (got.size() < 4) {
      auto first = select(odd.receiver.ready(), even.receiver.ready(), sleep(1h));
      Result<Selection> selection = co_await first;
      const size_t which = (co_await selection).index;
      EXPECT_LT(which, 2u);
      got.push_back(*(which == 0 ? odd : even).receiver.try_recv());
    }
    co_return 1;
  }
  void check() override {
    const Numbers rest = joined(take_all(odd.receiver), take_all(even.receiver));
    got = joined(std::move(got), rest);
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, count_to(4));
  }
};

// ---- other actors ----

struct Question {
  int turns;
};
struct Clerk {
  World& world;
  int answered = 0;
  Task<int> on(Question question) {
    auto thinking = world.later(question.turns, 1);
    Result<Counted> thought = co_await thinking;
    ++answered;
    co_return (co_await thought).value;
  }
};

struct Asks final : Script {
  using Script::Script;
  ActorRef<Clerk> clerk = world.system.spawn<Clerk>(world);

  Task<int> run() override {
    int sum = 0;
    for (int i = 0; i < 2; ++i) {
      auto asking = clerk.ask(Question{2});
      Result<int> answer = co_await asking;
      sum += co_await answer;
    }
    auto asking = clerk.ask_for(1h, Question{2});
    Result<int> answer = co_await asking;
    sum += co_await answer;
    auto late = clerk.ask_for(3ms, Question{8});
    Result<int> none = co_await late;
    if (none.error().code() != Errc::timed_out) co_return none.error();
    co_return sum == 3 ? 1 : 0;
  }
  void check() override {
    // It is not disturbed by askers that have gone.
    auto asking = clerk.ask(Question{0});
    while (!asking.is_ready()) {
      (void)sleep_for(1ms);
      world.turn();
    }
    EXPECT_EQ(*asking.get(), 1);
    EXPECT_EQ(world.system.stop(clerk), Errc::ok);
  }
};

struct Watches final : Script {
  using Script::Script;
  Pid first = world.system.spawn<Clerk>(world);
  Pid second = world.system.spawn<Clerk>(world);

  Task<int> run() override {
    world.after(2, [this] { EXPECT_EQ(world.system.kill(first), Errc::ok); });
    world.after(4, [this] { EXPECT_EQ(world.system.stop(second), Errc::ok); });
    for (const Pid whom : {first, second}) {
      auto watching = world.system.when_down(whom);
      Result<Down> down = co_await watching;
      EXPECT_EQ((co_await down).actor, whom.id());
    }
    co_return 1;
  }
};

const Sample kSamples[] = {
    {"locks", script<Locks>},       {"told", script<Told>},
    {"permits", script<Permits>},   {"events", script<Events>},
    {"receives", script<Receives>}, {"sends", script<Sends>},
    {"forwards", script<Forwards>}, {"broadcasts", script<Broadcasts>},
    {"selects", script<Selects>},   {"asks", script<Asks>},
    {"watches", script<Watches>},
};

JZX_SUITE_ON_ALL_DRIVERS(CancelSyncEverywhere);

TEST_P(CancelSyncEverywhere, TheSamplesCompleteIfNobodyDisturbsThem) {
  for (const Sample& sample : kSamples) expect_to_complete(sample);
}

TEST_P(CancelSyncEverywhere, TakesNothingAndLeavesNothing) {
  for (const Sample& sample : kSamples) cancel_everywhere(sample);
}

}  // namespace
}  // namespace jzx::testing

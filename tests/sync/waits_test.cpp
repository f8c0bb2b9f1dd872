// Every wait of this folder, in every place where one can wait.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <jzx/jzx.hpp>

namespace jzx {
namespace {

using namespace std::chrono_literals;

// ---- what is waited for ----

template <class T>
Task<Errc> code_of(Future<T> future) {
  Result<T> result = co_await future;
  co_return result.error().code();
}
template <class T>
Task<Errc> code_of(Task<T> task) {
  Result<T> result = co_await task;
  co_return result.error().code();
}

// A wait that does not end before trigger(). is_whole() afterwards: what the wait was for is there,
// and was neither lost nor taken.
struct Scene {
  std::function<Errc()> block;
  std::function<Task<Errc>()> await;
  std::function<void()> trigger;
  std::function<bool()> is_whole;
};

template <class Make>
Scene scene(Make make, std::function<void()> trigger, std::function<bool()> is_whole) {
  return {[make] { return make().get().error().code(); }, [make] { return code_of(make()); },
          std::move(trigger), std::move(is_whole)};
}

Scene mutex_scene() {
  struct Things {
    Mutex mutex;
    MutexGuard held = mutex.try_lock();
  };
  auto it = std::make_shared<Things>();
  return scene([it] { return it->mutex.lock(); }, [it] { it->held.unlock(); },
               [it] { return static_cast<bool>(it->mutex.try_lock()); });
}
Scene condition_scene() {
  struct Things {
    Mutex mutex;
    Condition changed{mutex};
    Latch has_begun{1};
  };
  auto it = std::make_shared<Things>();
  return scene(
      [it] {
        Future<MutexGuard> waiting = it->changed.wait(it->mutex.try_lock());
        it->has_begun.count_down();
        return waiting;
      },
      [it] {
        while (!it->has_begun.is_open()) std::this_thread::yield();
        it->changed.notify_one();
      },
      [it] { return static_cast<bool>(it->mutex.try_lock()); });
}
Scene semaphore_scene() {
  auto it = std::make_shared<Semaphore>(1);
  return scene([it] { return it->acquire(3); }, [it] { it->add_permits(2); },
               [it] { return it->available() == 3; });
}
Scene read_scene() {
  struct Things {
    RwLock lock;
    WriteGuard held = lock.try_write();
  };
  auto it = std::make_shared<Things>();
  return scene([it] { return it->lock.read(); }, [it] { it->held.unlock(); },
               [it] { return static_cast<bool>(it->lock.try_write()); });
}
Scene write_scene() {
  struct Things {
    RwLock lock;
    ReadGuard held = lock.try_read();
  };
  auto it = std::make_shared<Things>();
  return scene([it] { return it->lock.write(); }, [it] { it->held.unlock(); },
               [it] { return static_cast<bool>(it->lock.try_write()); });
}
Scene latch_scene() {
  auto it = std::make_shared<Latch>(1);
  return scene([it] { return it->wait(); }, [it] { it->count_down(); },
               [it] { return it->is_open(); });
}
Scene barrier_scene() {
  struct Things {
    Barrier barrier{2};
    Future<BarrierPass> other;
  };
  auto it = std::make_shared<Things>();
  return scene([it] { return it->barrier.arrive_and_wait(); },
               [it] { it->other = it->barrier.arrive_and_wait(); },
               // Passed together, or alone at a barrier where nobody has arrived.
               [it] { return it->other.is_ready() || it->barrier.arrive_and_wait().is_ready(); });
}
Scene ready_scene() {
  auto it = std::make_shared<Channel<int>>(channel<int>(1));
  return scene([it] { return it->receiver.ready(); },
               [it] { EXPECT_EQ(it->sender.try_send(1), Errc::ok); },
               [it] { return it->receiver.try_recv().ok(); });
}
Scene send_scene() {
  auto it = std::make_shared<Channel<int>>(channel<int>(1));
  EXPECT_EQ(it->sender.try_send(1), Errc::ok);
  return scene([it] { return it->sender.send(2); },
               [it] { EXPECT_EQ(*it->receiver.try_recv(), 1); },
               // Sent, or the place is free.
               [it] { return it->receiver.try_recv().ok() || ok(it->sender.try_send(3)); });
}
Scene reserve_scene() {
  auto it = std::make_shared<Channel<int>>(channel<int>(1));
  EXPECT_EQ(it->sender.try_send(1), Errc::ok);
  return scene([it] { return it->sender.reserve(); },
               [it] { EXPECT_EQ(*it->receiver.try_recv(), 1); },
               [it] { return ok(it->sender.try_send(3)); });
}
Scene broadcast_scene() {
  auto it = std::make_shared<Broadcast<int>>(broadcast<int>(2));
  return scene([it] { return it->receiver.ready(); },
               [it] { EXPECT_EQ(it->sender.send(1), Errc::ok); },
               [it] { return it->receiver.try_recv().ok(); });
}
Scene watch_scene() {
  auto it = std::make_shared<Watch<int>>(watch<int>(1));
  return scene([it] { return it->receiver.changed(); },
               [it] { EXPECT_EQ(it->sender.send(2), Errc::ok); },
               [it] { return *it->receiver.get() == 2; });
}
Scene select_scene() {
  struct Things {
    Channel<int> numbers = channel<int>(1);
    Latch never{1};
  };
  auto it = std::make_shared<Things>();
  return scene([it] { return select(it->never.wait(), it->numbers.receiver.ready()); },
               [it] { EXPECT_EQ(it->numbers.sender.try_send(1), Errc::ok); },
               [it] { return it->numbers.receiver.try_recv().ok(); });
}

struct Named {
  const char* name;
  Scene (*make)();
};
constexpr Named kScenes[] = {
    {"mutex", &mutex_scene},     {"condition", &condition_scene}, {"semaphore", &semaphore_scene},
    {"read", &read_scene},       {"write", &write_scene},         {"latch", &latch_scene},
    {"barrier", &barrier_scene}, {"ready", &ready_scene},         {"send", &send_scene},
    {"reserve", &reserve_scene}, {"broadcast", &broadcast_scene}, {"watch", &watch_scene},
    {"select", &select_scene},
};

// ---- where ----

class Waits : public ::testing::TestWithParam<Named> {
 protected:
  Scene it_ = GetParam().make();
};

TEST_P(Waits, EndInATaskOfALoop) {
  Loop loop;
  auto result = loop.spawn_async(it_.await());
  loop.run_once(0ms);
  EXPECT_FALSE(result.is_ready());
  it_.trigger();
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(*result.get(), Errc::ok);
  EXPECT_TRUE(it_.is_whole());
}

TEST_P(Waits, EndInATaskOnWorkers) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  auto result = runtime.spawn_async(it_.await());
  it_.trigger();
  EXPECT_EQ(*result.get(), Errc::ok);
  EXPECT_TRUE(it_.is_whole());
}

TEST_P(Waits, EndInAFiber) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  auto [result, done] = promise<Errc>();
  runtime.spawn_fn([this, d = std::move(done)]() mutable { d.resolve(it_.block()); });
  it_.trigger();
  EXPECT_EQ(*result.get(), Errc::ok);
  EXPECT_TRUE(it_.is_whole());
}

TEST_P(Waits, EndOnAThread) {
  Errc result = Errc::unknown;
  std::thread thread([&] { result = it_.block(); });
  it_.trigger();
  thread.join();
  EXPECT_EQ(result, Errc::ok);
  EXPECT_TRUE(it_.is_whole());
}

TEST_P(Waits, ThatAreCancelledInATaskOfALoopTakeNothing) {
  Loop loop;
  auto result = loop.spawn_async(it_.await());
  loop.run_once(0ms);
  result.cancel();
  EXPECT_EQ(loop.run(), Errc::ok);
  const Result<Errc> code = result.get();
  EXPECT_EQ(code ? *code : code.error().code(), Errc::cancelled);
  it_.trigger();
  EXPECT_TRUE(it_.is_whole());
}

TEST_P(Waits, ThatAreCancelledWhileTheyEndTakeNothingOrAll) {
  for (int i = 0; i < 50; ++i) {
    Runtime runtime(RuntimeOptions{.workers = 1});
    Scene again = GetParam().make();
    auto result = runtime.spawn_async(again.await());
    std::thread other([&] { again.trigger(); });
    result.cancel();
    (void)result.get();
    other.join();
    EXPECT_TRUE(again.is_whole());
  }
}

TEST_P(Waits, OfAFiberThatIsKilledTakeNothing) {
  Runtime runtime(RuntimeOptions{.workers = 2});
  auto [begun, begin] = promise<void>();
  auto [result, done] = promise<Errc>();
  const Pid fiber = runtime.spawn_fn([this, b = std::move(begin), d = std::move(done)]() mutable {
    b.resolve();
    d.resolve(it_.block());
  });
  EXPECT_TRUE(begun.get().ok());
  EXPECT_EQ(runtime.kill(fiber), Errc::ok);
  // It unwinds, or without exceptions in the library its wait says so.
  const Result<Errc> end = result.get();
  EXPECT_TRUE(!end.ok() || *end == Errc::killed);
  it_.trigger();
  EXPECT_TRUE(it_.is_whole());
}

INSTANTIATE_TEST_SUITE_P(All, Waits, ::testing::ValuesIn(kScenes),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(WaitsInHandlers, AreForThen) {
  struct Go {};
  struct Asker {
    void on(Go) {
      // Handlers do not wait, and are told so at once.
      refused = mutex->lock().get().error().code();
      mutex->lock().then([this](Result<MutexGuard> guard) { got = guard.ok(); });
    }
    Mutex* mutex = nullptr;
    Errc& refused;
    bool& got;
  };
  Mutex mutex;
  MutexGuard held = mutex.try_lock();
  Errc refused = Errc::ok;
  bool got = false;
  Loop loop;
  auto asker = loop.spawn<Asker>(&mutex, refused, got);
  EXPECT_EQ(asker.send(Go{}), Errc::ok);
  loop.run_once(0ms);
  EXPECT_EQ(refused, Errc::invalid_arg);
  EXPECT_FALSE(got);
  held.unlock();
  EXPECT_TRUE(got);
}

}  // namespace
}  // namespace jzx

// The waits that only some have. Mail is for those with a mailbox: a fiber that calls receive(), a
// handler, a handler that is a coroutine; threads and tasks have none. And a handler must not wait
// in any other way.
#include <gtest/gtest.h>

#include "support/place.hpp"
#include "waits/scene.hpp"

namespace jzx::testing {
namespace {

struct Letter {
  int value;
};

struct Reader {
  using Messages = jzx::Messages<Letter>;  // it is sent to by its Pid
  void on(Letter letter) { got.resolve(letter.value); }
  Promise<int> got;
};
struct CoroutineReader {
  using Messages = jzx::Messages<Letter>;
  Task<void> on(Letter letter) {
    auto pausing = sleep(1ms);
    Result<void> paused = co_await pausing;
    co_await paused;
    got.resolve(letter.value);
  }
  Promise<int> got;
};

class Mail : public Place {
 protected:
  // Whoever waits for a letter in the way of the setting.
  [[nodiscard]] Pid spawn_reader(Promise<int> got) {
    switch (GetParam().waiter) {
      case Waiter::coroutine:
        return system().spawn<CoroutineReader>(std::move(got));
      case Waiter::handler:
        return system().spawn<Reader>(std::move(got));
      default:
        return system().spawn_fn([g = std::move(got)]() mutable {
          receive([&](Letter letter) { g.resolve(letter.value); });
        });
    }
  }
};
INSTANTIATE_TEST_SUITE_P(All, Mail, ::testing::ValuesIn(settings_that([](const Setting& one) {
                           return one.waiter != Waiter::thread;
                         })),
                         [](const auto& one) { return name_of(one.param); });

TEST_P(Mail, ComesToWhoeverHasAMailbox) {
  auto [got, promise] = jzx::promise<int>();
  const Pid reader = spawn_reader(std::move(promise));
  if (loop() != nullptr) loop()->run_once(0ms);
  EXPECT_FALSE(got.is_ready());
  EXPECT_EQ(reader.send(Letter{7}), Errc::ok);
  EXPECT_EQ(*finish(std::move(got)), 7);
}

class FiberMail : public Place {};
INSTANTIATE_TEST_SUITE_P(All, FiberMail, ::testing::ValuesIn(settings_that([](const Setting& one) {
                           return one.waiter == Waiter::fiber;
                         })),
                         [](const auto& one) { return name_of(one.param); });

TEST_P(FiberMail, ThatDidNotComeInTimeIsThereForTheNextReceive) {
  auto [late, told] = jzx::promise<void>();
  auto [got, promise] = jzx::promise<int>();
  const Pid reader = system().spawn_fn([t = std::move(told), p = std::move(promise)]() mutable {
    const auto take = [&](Letter letter) { p.resolve(letter.value); };
    receive_for(1ms, take, after([&] { t.resolve(); }));
    receive(take);
  });
  EXPECT_TRUE(finish(std::move(late)).ok());
  EXPECT_FALSE(got.is_ready());
  EXPECT_EQ(reader.send(Letter{7}), Errc::ok);
  EXPECT_EQ(*finish(std::move(got)), 7);
}

TEST_P(FiberMail, IsKeptWhileTheFiberWaitsForSomethingElse) {
  Latch latch(1);
  auto [got, promise] = jzx::promise<int>();
  const Pid reader = system().spawn_fn([&latch, p = std::move(promise)]() mutable {
    EXPECT_TRUE(latch.wait().get().ok());
    receive([&](Letter letter) { p.resolve(letter.value); });
  });
  EXPECT_EQ(reader.send(Letter{7}), Errc::ok);
  if (loop() != nullptr) loop()->run_once(0ms);
  EXPECT_FALSE(got.is_ready());
  latch.count_down();
  EXPECT_EQ(*finish(std::move(got)), 7);
}

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
}  // namespace jzx::testing

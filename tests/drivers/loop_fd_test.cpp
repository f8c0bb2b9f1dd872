// The fd for foreign event loops: readable exactly when a tick that does not wait has work.
#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "core/message_timer.hpp"
#include "core/rig.hpp"

namespace jzx::drivers {
namespace {

using jzx::testing::Rig;

constexpr uint64_t kAnHour = 3'600'000;  // in ms; the fd's alarm runs on real time

class TheLoopFd : public ::testing::TestWithParam<io::Backend> {
 protected:
  TheLoopFd() : rig(options()) {
    fd = loop().fd();
    EXPECT_GE(fd, 0);
  }

  static runtime::LoopOptions options() {
    runtime::LoopOptions result;
    result.backend = GetParam();
    result.max_actors_per_tick = 2;
    return result;
  }

  Loop& loop() { return rig.parts->loop; }

  [[nodiscard]] bool is_readable() const {
    pollfd asked{fd, POLLIN, 0};
    EXPECT_GE(::poll(&asked, 1, 0), 0);
    return (asked.revents & POLLIN) != 0;
  }

  // What a foreign loop does when the fd is readable. False: it is over.
  bool run_once() {
    bool again = false;
    EXPECT_EQ(loop().run_once(0, again), Errc::ok);
    return again;
  }

  // On the loop's thread, between ticks, as the C interface does it.
  void send(ActorId to) {
    EXPECT_EQ(rig.send(to, 0), Errc::ok);
    loop().enter_call();
    loop().leave_call();
  }

  template <class Action>
  static void on_another_thread(Action&& action) {
    std::thread(std::forward<Action>(action)).join();
  }

  Rig rig;
  int fd = -1;
  ActorId id = rig.spawn();
};

TEST_P(TheLoopFd, IsNotReadableWhenThereIsNothingToDo) {
  EXPECT_FALSE(is_readable());
  EXPECT_TRUE(run_once());
  EXPECT_FALSE(is_readable());
}

TEST_P(TheLoopFd, IsReadableFromASendUntilItWasHandled) {
  send(id);
  EXPECT_TRUE(is_readable());
  run_once();
  EXPECT_FALSE(is_readable());
}

TEST_P(TheLoopFd, IsReadableWhileATickLeftWork) {
  for (int n = 0; n < 5; ++n) send(rig.spawn());
  for (int tick = 0; tick < 3; ++tick) {
    EXPECT_TRUE(is_readable()) << "two turns a tick, five actors";
    run_once();
  }
  EXPECT_FALSE(is_readable());
}

TEST_P(TheLoopFd, IsReadableFromAForeignSendUntilItWasHandledAndNoLonger) {
  for (int round = 0; round < 3; ++round) {
    on_another_thread([&] { EXPECT_EQ(rig.parts->send_from_anywhere(id, {}), Errc::ok); });
    EXPECT_TRUE(is_readable());
    run_once();
    EXPECT_FALSE(is_readable()) << "round " << round;
  }
}

TEST_P(TheLoopFd, IsNotLeftReadableByAForeignSendThatWasHandledWithOtherWork) {
  send(id);
  on_another_thread([&] { EXPECT_EQ(rig.parts->send_from_anywhere(id, {}), Errc::ok); });
  run_once();
  EXPECT_FALSE(is_readable());
}

TEST_P(TheLoopFd, IsReadableFromAForeignStopRequestUntilARunTookIt) {
  on_another_thread([&] { loop().request_stop(); });
  EXPECT_TRUE(is_readable());
  EXPECT_FALSE(run_once());
  EXPECT_FALSE(is_readable());
}

TEST_P(TheLoopFd, IsReadableWhenATimerIsDueAndNotBefore) {
  Errc error = Errc::ok;
  core::MessageTimer* timer = core::make_timer(rig.host(), id, error);
  ASSERT_NE(timer, nullptr);
  timer->type = &raw_message_type;
  new (timer->storage) RawMessage{};
  (void)core::arm_timer(rig.host(), *timer, kAnHour);
  loop().enter_call();
  loop().leave_call();
  EXPECT_FALSE(is_readable());
  run_once();
  EXPECT_FALSE(is_readable());
  rig.clock.advance_ms(kAnHour);
  loop().enter_call();
  loop().leave_call();
  EXPECT_TRUE(is_readable());
  run_once();  // the timer fires, and its message is handled
  EXPECT_FALSE(is_readable());
}

TEST_P(TheLoopFd, IsTheSameFdEveryTime) { EXPECT_EQ(loop().fd(), fd); }

TEST_P(TheLoopFd, ShowsWhatWasLeftBeforeItWasMade) {
  Rig other(options());
  const ActorId early = other.spawn();
  ASSERT_EQ(other.send(early, 0), Errc::ok);
  fd = other.parts->loop.fd();
  EXPECT_TRUE(is_readable());
}

TEST_P(TheLoopFd, NeverMissesASendOfAThreadThatRunsBesideIt) {
  constexpr int kMessages = 500;
  int handled = 0;
  const ActorId counter = rig.spawn({.handle = [&](core::Turn&, Envelope&) {
    ++handled;
    return core::Outcome::wants_mail;
  }});
  std::thread sender([&] {
    for (int n = 0; n < kMessages; ++n) {
      while (rig.parts->send_from_anywhere(counter, {}) == Errc::mailbox_full) {
        std::this_thread::yield();
      }
    }
  });
  // A foreign loop: sleeps on the fd alone. A missed send shows as a test that never ends.
  while (handled < kMessages) {
    pollfd asked{fd, POLLIN, 0};
    ASSERT_EQ(::poll(&asked, 1, -1), 1);
    run_once();
  }
  sender.join();
}

INSTANTIATE_TEST_SUITE_P(Reactor, TheLoopFd,
                         ::testing::Values(io::Backend::epoll, io::Backend::automatic),
                         [](const auto& test) {
                           return test.param == io::Backend::epoll ? "epoll" : "automatic";
                         });

}  // namespace
}  // namespace jzx::drivers

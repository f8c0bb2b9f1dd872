// What a `ready` callback may do to watches, while events of theirs were already taken from the
// kernel. Which of two ready fds is told first is the kernel's choice, so each test gives both
// the same thing to do to the other.
#include <sys/eventfd.h>

#include <memory>

#include "io/reactor_fixture.hpp"

namespace jzx::io {
namespace {

class WatchCallbacks : public ReactorTest {
 protected:
  void SetUp() override {
    ReactorTest::SetUp();
    if (reactor == nullptr) return;
    for (int i = 0; i < 2; ++i)
      watches[i] = std::make_unique<RecordingWatch>(pipes[i].reader, kReadable);
    for (auto& each : watches) watch(*each);
  }

  // Both pipes become ready, and the watch that is told first does `deed` to the other.
  void first_does(const std::function<void(int other)>& deed) {
    for (int i = 0; i < 2; ++i) {
      watches[i]->then = [this, i, deed] {
        if (++told_ == 1) deed(1 - i);
      };
    }
    for (const Pipe& pipe : pipes) put(pipe.writer);
    tell();
  }
  [[nodiscard]] int told() const { return told_; }

  Pipe pipes[2];
  std::unique_ptr<RecordingWatch> watches[2];

 private:
  int told_ = 0;
};
JZX_TEST_BOTH_REACTORS(WatchCallbacks);

TEST_P(WatchCallbacks, BothAreToldIfNobodyInterferes) {
  first_does([](int) {});
  EXPECT_EQ(told(), 2);
}

TEST_P(WatchCallbacks, AWatchUnwatchedInTheSameBatchHearsNothing) {
  first_does([this](int other) { EXPECT_EQ(reactor->unwatch(*watches[other]), 0); });
  tell();
  EXPECT_EQ(told(), 1);
}

TEST_P(WatchCallbacks, AWatchMayBeDestroyedInTheSameBatch) {
  first_does([this](int other) {
    EXPECT_EQ(reactor->unwatch(*watches[other]), 0);
    watches[other].reset();
  });
  EXPECT_EQ(told(), 1);
}

TEST_P(WatchCallbacks, AWatchMayDestroyItself) {
  first_does([this](int other) {
    EXPECT_EQ(reactor->unwatch(*watches[1 - other]), 0);
    watches[1 - other].reset();
  });
  EXPECT_EQ(told(), 2) << "the other one is told all the same";
}

TEST_P(WatchCallbacks, AWatchRewatchedInTheSameBatchIsToldOnce) {
  first_does([this](int other) { EXPECT_EQ(reactor->watch(*watches[other]), 0); });
  tell();
  tell();
  EXPECT_EQ(told(), 2);
}

TEST_P(WatchCallbacks, AWatchThatRewatchesItselfIsToldByTheNextWait) {
  first_does([this](int other) { EXPECT_EQ(reactor->watch(*watches[1 - other]), 0); });
  EXPECT_EQ(told(), 2) << "not in the same wait, or it could go on for ever";
  tell();
  EXPECT_EQ(told(), 3);
}

TEST_P(WatchCallbacks, AnEventOfAClosedFdDoesNotReachTheNewWatchOfItsNumber) {
  const Pipe silent;
  std::unique_ptr<RecordingWatch> heir;
  first_does([&](int other) {
    const int number = pipes[other].reader.get();
    pipes[other].reader.close();
    EXPECT_EQ(reactor->unwatch(*watches[other]), -EBADF);
    pipes[other].reader = Fd(::dup2(silent.reader.get(), number));
    EXPECT_EQ(pipes[other].reader.get(), number);
    heir = std::make_unique<RecordingWatch>(number, kReadable);
    EXPECT_EQ(reactor->watch(*heir), 0);
  });
  tell();
  EXPECT_EQ(told(), 1);
  EXPECT_EQ(heir->take(), Told{});
  put(silent.writer);
  tell();
  EXPECT_EQ(heir->take(), Told{kReadable});
}

TEST_P(WatchCallbacks, ACallbackMayWatchManyNewFds) {
  std::vector<Fd> fds;
  std::vector<std::unique_ptr<RecordingWatch>> added;
  first_does([&](int) {
    for (int i = 0; i < 600; ++i) {  // enough for the tables to grow
      fds.emplace_back(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
      added.push_back(std::make_unique<RecordingWatch>(fds.back(), kReadable));
      ASSERT_EQ(reactor->watch(*added.back()), 0);
    }
  });
  EXPECT_EQ(told(), 2);
  while (is_readable(reactor->pollable_fd())) tell();
  for (auto& each : added) EXPECT_EQ(each->take(), Told{kReadable});
}

}  // namespace
}  // namespace jzx::io

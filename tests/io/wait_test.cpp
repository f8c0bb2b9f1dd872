// wait(): how long it waits, what ends it, and what a foreign event loop sees of it.
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <memory>
#include <thread>

#include "io/reactor_fixture.hpp"
#include "support/scale.hpp"

namespace jzx::io {
namespace {

class Wait : public ReactorTest {};
JZX_TEST_BOTH_REACTORS(Wait);

TEST_P(Wait, WithoutTimeReturnsAlthoughNothingHappened) {
  tell();
  tell();
}

TEST_P(Wait, WithALittleTimeReturnsAlthoughNothingHappened) {
  const Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  for (const uint64_t timeout_ns : {1u, 999u, 1'000'001u}) {
    EXPECT_EQ(reactor->wait(timeout_ns), 0);
    EXPECT_EQ(reader.take(), Told{});
  }
  put(pipe.writer);
  EXPECT_EQ(reactor->wait(1), 0);
  EXPECT_EQ(reader.take(), Told{kReadable});
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

// Told twice over: by a wait that blocked, then by one that did not, and the other way round.
TEST_P(Wait, TellsTheSameWhetherItMayBlockOrNot) {
  const SocketPair pair;
  RecordingWatch reader(pair.near, kReadable);
  watch(reader);
  for (int i = 0; i < 100; ++i) {
    const uint64_t timeout_ns = i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : base::kNever;
    put(pair.far);
    EXPECT_EQ(reactor->wait(timeout_ns), 0);
    EXPECT_EQ(reader.take(), Told{kReadable}) << i;
    EXPECT_EQ(reactor->wait(i % 2 == 0 ? 0 : 1), 0);
    EXPECT_EQ(reader.take(), Told{}) << i;
  }
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

// A timeout that overflowed somewhere would make the waiter spin instead of sleep, and return
// far more often than it was woken.
TEST_P(Wait, WithVeryMuchTimeSleepsUntilSomethingHappens) {
  const uint64_t rounds = jzx::testing::scaled(2'000);
  for (const uint64_t timeout_ns :
       {base::kNever, base::kNever - 1, base::kNever / 2, base::kNever / 2 + 1, uint64_t{1} << 62,
        uint64_t{3'000'000'000} * 1'000'000}) {
    std::atomic<uint64_t> asked{0};
    std::atomic<uint64_t> answered{0};
    std::thread asker([&] {
      for (uint64_t round = 1; round <= rounds; ++round) {
        asked.store(round);
        reactor->wake();
        for (uint64_t seen = answered.load(); seen < round; seen = answered.load()) {
          answered.wait(seen);
        }
      }
    });
    uint64_t returns = 0;
    for (uint64_t round = 1; round <= rounds; ++round) {
      while (asked.load() < round) {
        ASSERT_EQ(reactor->wait(timeout_ns), 0);
        ++returns;
      }
      answered.store(round);
      answered.notify_one();
    }
    asker.join();
    EXPECT_LE(returns, 2 * rounds + 10) << timeout_ns;
  }
}

// True once the thread sleeps in the kernel.
bool is_asleep(pid_t thread) {
  std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(stat, line);
  const size_t name_end = line.rfind(')');
  return name_end != std::string::npos && line.compare(name_end, 3, ") S") == 0;
}

TEST_P(Wait, ReturnsWithoutAnErrorWhenASignalInterruptsIt) {
  struct sigaction before {};
  struct sigaction ignore {};
  ignore.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR1, &ignore, &before), 0);
  for (const uint64_t timeout_ns : {base::kNever, base::kNever / 4}) {
    std::atomic<pid_t> about_to_wait{0};
    int error = 1;
    std::thread waiter([&] {
      about_to_wait.store(::gettid());
      error = reactor->wait(timeout_ns);
    });
    while (about_to_wait.load() == 0 || !is_asleep(about_to_wait.load())) {
      std::this_thread::yield();
    }
    ::pthread_kill(waiter.native_handle(), SIGUSR1);
    waiter.join();
    EXPECT_EQ(error, 0);
  }
  ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
}

// Stays in the kernel, deaf to everything, until a byte can be read: the parent of a vfork waits
// for its child.
void be_deaf_until(const Fd& release, const Fd& report) {
  char byte = 'x';
  const pid_t child = ::vfork();
  if (child == 0) {
    if (::write(report.get(), &byte, 1) != 1) ::_exit(1);
    pollfd asked{release.get(), POLLIN, 0};
    ::_exit(::poll(&asked, 1, -1) == 1 ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// The loop of a C program may be run by one thread now and by another one later, and the first
// may then be where it can finish nothing for the second.
TEST_P(Wait, MayMoveToAnotherThreadWhileTheFirstIsDeaf) {
  const SocketPair pair;
  const Pipe deaf;
  const Pipe release;
  RecordingWatch reader(pair.near, kReadable);
  watch(reader);
  std::atomic<bool> handed_over{false};
  std::thread first([&] {
    EXPECT_EQ(reactor->wait(1), 0);
    handed_over.store(true);
    be_deaf_until(release.reader, deaf.writer);
  });
  pollfd asked{deaf.reader.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&asked, 1, -1), 1);
  ASSERT_TRUE(handed_over.load());

  for (int i = 0; i < 3; ++i) {
    std::thread writer([&] { put(pair.far); });
    Told told;
    while (told.empty()) {
      ASSERT_EQ(reactor->wait(base::kNever), 0);
      told = reader.take();
    }
    EXPECT_EQ(told, Told{kReadable});
    writer.join();
  }
  put(release.writer);
  first.join();
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(Wait, OutlivesTheThreadThatWaitedLast) {
  const SocketPair pair;
  RecordingWatch reader(pair.near, kReadable);
  watch(reader);
  for (int i = 0; i < 20; ++i) {
    std::thread([&] { EXPECT_EQ(reactor->wait(1), 0); }).join();
    put(pair.far);
    Told told;
    while (told.empty()) {
      ASSERT_EQ(reactor->wait(base::kNever), 0);
      told = reader.take();
    }
    EXPECT_EQ(told, Told{kReadable});
  }
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

class PollableFd : public ReactorTest {
 protected:
  [[nodiscard]] bool readable() const { return is_readable(reactor->pollable_fd()); }
};
JZX_TEST_BOTH_REACTORS(PollableFd);

TEST_P(PollableFd, IsNotReadableWhileNothingHappened) {
  EXPECT_FALSE(readable());
  EXPECT_EQ(reactor->wait(1), 0);
  EXPECT_FALSE(readable());
}

TEST_P(PollableFd, IsReadableFromTheReadinessUntilItIsTold) {
  const Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  EXPECT_FALSE(readable());
  put(pipe.writer);
  EXPECT_TRUE(readable());
  EXPECT_TRUE(readable()) << "looking changes nothing";
  tell();
  EXPECT_FALSE(readable()) << "told, though not drained";
  watch(reader);
  EXPECT_TRUE(readable()) << "armed again";
  drain(pipe.reader);
  EXPECT_FALSE(readable()) << "drained before it was told";
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(PollableFd, IsNotReadableForAnUnwatchedFd) {
  const Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  put(pipe.writer);
  EXPECT_EQ(reactor->unwatch(reader), 0);
  EXPECT_FALSE(readable());
}

TEST_P(PollableFd, IsReadableFromAWakeToTheNextWait) {
  for (int i = 0; i < 3; ++i) {
    reactor->wake();
    EXPECT_TRUE(readable());
    EXPECT_EQ(reactor->wait(i == 1 ? 1 : 0), 0);
    EXPECT_FALSE(readable());
  }
}

TEST_P(PollableFd, StaysReadableUntilTheLastOfManyIsTold) {
  constexpr size_t kMany = 1000;  // more than one wait tells
  std::vector<Fd> fds;
  std::vector<std::unique_ptr<RecordingWatch>> watches;
  for (size_t i = 0; i < kMany; ++i) {
    fds.emplace_back(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
    watches.push_back(std::make_unique<RecordingWatch>(fds.back(), kReadable));
    watch(*watches.back());
  }
  size_t told = 0;
  while (told < kMany) {
    ASSERT_TRUE(readable()) << told;
    tell();
    for (auto& each : watches) told += each->take().size();
  }
  EXPECT_EQ(told, kMany);
  EXPECT_FALSE(readable());
}

}  // namespace
}  // namespace jzx::io

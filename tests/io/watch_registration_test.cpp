// Whose registration is whose: closed fds, reused numbers, refused fds, no memory.
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "io/reactor_fixture.hpp"

namespace jzx::io {
namespace {

class WatchRegistration : public ReactorTest {
 protected:
  // Closes `fd` and makes its number mean the file of `other`.
  static void reuse_number(const Fd& fd, const Fd& other) {
    ASSERT_EQ(::close(fd.get()), 0);
    ASSERT_EQ(::dup2(other.get(), fd.get()), fd.get());
  }
};
JZX_TEST_BOTH_REACTORS(WatchRegistration);

TEST_P(WatchRegistration, WhatIsNoFdIsRefused) {
  RecordingWatch negative(-1, kReadable);
  EXPECT_EQ(reactor->watch(negative), -EBADF);
  Pipe pipe;
  RecordingWatch closed(pipe.reader, kReadable);
  pipe.reader.close();
  EXPECT_EQ(reactor->watch(closed), -EBADF);
  EXPECT_EQ(reactor->unwatch(closed), -ENOENT);
}

TEST_P(WatchRegistration, AHighNumberThatIsNoFdCostsNoMemory) {
  const uint64_t before = memory.allocations();
  RecordingWatch high(INT32_MAX, kReadable);
  EXPECT_EQ(reactor->watch(high), -EBADF);
  EXPECT_EQ(memory.allocations(), before);
}

TEST_P(WatchRegistration, ARegularFileIsRefused) {
  const Fd file(::memfd_create("regular", MFD_CLOEXEC));
  ASSERT_GE(file.get(), 0);
  RecordingWatch reader(file, kReadable);
  EXPECT_EQ(reactor->watch(reader), -EPERM);
  EXPECT_EQ(reactor->unwatch(reader), -ENOENT);
  tell();
  EXPECT_EQ(reader.take(), Told{});
}

// The epoll fds, eventfds and rings that this process has open.
std::set<int> event_fds() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string file = std::filesystem::read_symlink(entry.path(), gone).string();
    if (file.find("[event") != std::string::npos || file.find("[io_uring]") != std::string::npos) {
      found.insert(std::stoi(entry.path().filename()));
    }
  }
  return found;
}

TEST_P(WatchRegistration, TheReactorsOwnFdsAreRefused) {
  const std::set<int> before = event_fds();
  const ReactorPtr other = make_reactor(GetParam(), base::Allocator{});
  ASSERT_NE(other, nullptr);
  int refused = 0;
  for (const int fd : event_fds()) {
    if (before.contains(fd)) continue;
    RecordingWatch intruder(fd, kReadable);
    EXPECT_EQ(other->watch(intruder), -EINVAL) << fd;
    ++refused;
  }
  EXPECT_EQ(refused, GetParam() == Backend::epoll ? 2 : 3);
  other->wake();
  EXPECT_TRUE(is_readable(other->pollable_fd()));
  EXPECT_EQ(other->wait(base::kNever), 0);
}

TEST_P(WatchRegistration, UnwatchingTwiceSaysSo) {
  const Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  EXPECT_EQ(reactor->unwatch(reader), 0);
  EXPECT_EQ(reactor->unwatch(reader), -ENOENT);
}

TEST_P(WatchRegistration, AClosedFdIsForgottenByUnwatch) {
  Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  pipe.reader.close();
  EXPECT_EQ(reactor->unwatch(reader), -EBADF);
  EXPECT_EQ(reactor->unwatch(reader), -ENOENT);
}

TEST_P(WatchRegistration, AClosedFdWhoseNumberMeansAnotherFileIsForgottenByUnwatch) {
  const Pipe pipe;
  const Pipe other;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  reuse_number(pipe.reader, other.reader);
  EXPECT_EQ(reactor->unwatch(reader), -ENOENT);
  put(other.writer);
  tell();
  EXPECT_EQ(reader.take(), Told{});
}

TEST_P(WatchRegistration, AWatchOfAClosedFdCanBeRefusedAndUsedAgain) {
  Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  const Fd twin(::dup(pipe.reader.get()));  // the kernel's registration lives on
  pipe.reader.close();
  EXPECT_EQ(reactor->watch(reader), -EBADF);
  put(pipe.writer);
  tell();
  EXPECT_EQ(reader.take(), Told{});
  EXPECT_EQ(reactor->unwatch(reader), -ENOENT);

  const Pipe other;
  reader.fd = other.reader.get();
  watch(reader);
  put(other.writer);
  tell();
  EXPECT_EQ(reader.take(), Told{kReadable});
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(WatchRegistration, TheSameWatchWorksOnAReusedNumber) {
  const Pipe pipe;
  const Pipe other;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  reuse_number(pipe.reader, other.reader);
  watch(reader);
  put(other.writer);
  tell();
  EXPECT_EQ(reader.take(), Told{kReadable});
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(WatchRegistration, ANewWatchOnAReusedNumberIsNotHurtByTheOldOne) {
  const Pipe pipe;
  const Pipe other;
  RecordingWatch old_one(pipe.reader, kReadable);
  watch(old_one);
  reuse_number(pipe.reader, other.reader);
  RecordingWatch new_one(pipe.reader, kReadable);
  watch(new_one);

  EXPECT_EQ(reactor->unwatch(old_one), -ENOENT);
  put(other.writer);
  tell();
  EXPECT_EQ(old_one.take(), Told{});
  EXPECT_EQ(new_one.take(), Told{kReadable});
  EXPECT_EQ(reactor->unwatch(new_one), 0);
}

TEST_P(WatchRegistration, AFileThatLivesOnUnderAnotherNumberReachesNobody) {
  const Pipe pipe;
  const Pipe other;
  const Fd twin(::dup(pipe.reader.get()));
  RecordingWatch old_one(pipe.reader, kReadable);
  watch(old_one);
  reuse_number(pipe.reader, other.reader);
  EXPECT_EQ(reactor->unwatch(old_one), -ENOENT);
  RecordingWatch new_one(pipe.reader, kReadable);
  watch(new_one);

  put(pipe.writer);  // the kernel still knows the old file by the number that is now another's
  tell();
  EXPECT_EQ(old_one.take(), Told{});
  EXPECT_EQ(new_one.take(), Told{});
  EXPECT_EQ(reactor->unwatch(new_one), 0);
}

TEST_P(WatchRegistration, AFileThatTheKernelDidNotForgetCanBeWatchedAgain) {
  const Pipe pipe;
  const Fd twin(::dup(pipe.reader.get()));
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  ASSERT_EQ(::close(pipe.reader.get()), 0);
  EXPECT_EQ(reactor->unwatch(reader), -EBADF);

  ASSERT_EQ(::dup2(twin.get(), pipe.reader.get()), pipe.reader.get());
  put(pipe.writer);
  watch(reader);
  tell();
  EXPECT_EQ(reader.take(), Told{kReadable});
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(WatchRegistration, AWatchTakesOverTheFdOfAnother) {
  const Pipe pipe;
  RecordingWatch first(pipe.reader, kReadable);
  RecordingWatch second(pipe.reader, kReadable);
  watch(first);
  watch(second);
  put(pipe.writer);
  tell();
  EXPECT_EQ(first.take(), Told{});
  EXPECT_EQ(second.take(), Told{kReadable});
  EXPECT_EQ(reactor->unwatch(first), -ENOENT);
  EXPECT_EQ(reactor->unwatch(second), 0);
}

TEST_P(WatchRegistration, AWatchOfAnotherReactorIsNotKnown) {
  const Pipe pipe;
  const ReactorPtr elsewhere = make_reactor(GetParam(), base::Allocator{});
  ASSERT_NE(elsewhere, nullptr);
  RecordingWatch ours(pipe.reader, kReadable);
  RecordingWatch theirs(pipe.reader, kReadable);
  watch(ours);
  ASSERT_EQ(elsewhere->watch(theirs), 0);
  EXPECT_EQ(reactor->unwatch(theirs), -ENOENT);
  put(pipe.writer);
  tell();
  EXPECT_EQ(ours.take(), Told{kReadable});
  EXPECT_EQ(reactor->unwatch(ours), 0);
}

TEST_P(WatchRegistration, AWatchThatMovesToAnotherFdLeavesTheOldOne) {
  const Pipe from;
  const Pipe to;
  RecordingWatch reader(from.reader, kReadable);
  watch(reader);
  reader.fd = to.reader.get();
  watch(reader);
  put(from.writer);
  tell();
  EXPECT_EQ(reader.take(), Told{});
  put(to.writer);
  tell();
  EXPECT_EQ(reader.take(), Told{kReadable});
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(WatchRegistration, AWatchThatCannotMoveStaysWhereItWas) {
  const Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  reader.fd = -1;
  EXPECT_EQ(reactor->watch(reader), -EBADF);
  put(pipe.writer);
  tell();
  EXPECT_EQ(reader.take(), Told{kReadable});
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(WatchRegistration, AnFdWithAHighNumberIsWatched) {
  const Pipe pipe;
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const auto high = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 100'000)) - 1;
  const Fd twin(::fcntl(pipe.reader.get(), F_DUPFD_CLOEXEC, high));
  ASSERT_EQ(twin.get(), high);
  RecordingWatch low_watch(pipe.reader, kReadable);
  RecordingWatch high_watch(twin, kReadable);
  watch(low_watch);
  watch(high_watch);
  put(pipe.writer);
  tell();
  EXPECT_EQ(low_watch.take(), Told{kReadable});
  EXPECT_EQ(high_watch.take(), Told{kReadable});
  EXPECT_EQ(reactor->unwatch(low_watch), 0);
  EXPECT_EQ(reactor->unwatch(high_watch), 0);
}

// The ring must not hold what the reactor watches, or close() would not be one.
TEST_P(WatchRegistration, ClosingAWatchedSocketTellsTheOtherEndAtOnce) {
  SocketPair pair;
  RecordingWatch reader(pair.near, kReadable);
  watch(reader);
  EXPECT_EQ(reactor->wait(1), 0);  // so that whatever is to wait for the socket, waits for it
  pair.near.close();
  char byte = 0;
  EXPECT_EQ(::read(pair.far.get(), &byte, 1), 0);
}

TEST_P(WatchRegistration, EveryAllocationMayFailAndTheNextTryWorks) {
  const Pipe pipe;
  uint64_t failures = 0;
  for (uint64_t n = 1;; ++n) {
    RecordingWatch reader(pipe.reader, kReadable);
    memory.refuse_nth(n);
    const int error = reactor->watch(reader);
    memory.refuse_nth(0);
    if (error == 0) {
      EXPECT_EQ(reactor->unwatch(reader), 0);
      break;
    }
    ++failures;
    EXPECT_EQ(error, -ENOMEM);
    EXPECT_EQ(reactor->unwatch(reader), -ENOENT);
  }
  EXPECT_GE(failures, 1u);

  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  put(pipe.writer);
  tell();
  EXPECT_EQ(reader.take(), Told{kReadable});
}

TEST_P(WatchRegistration, WatchesLeftBehindDoNotLeak) {
  const Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  put(pipe.writer);
  reactor.reset();
  EXPECT_EQ(memory.live_blocks(), 0);
}

}  // namespace
}  // namespace jzx::io

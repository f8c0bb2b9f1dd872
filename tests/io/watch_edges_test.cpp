// What a watch hears, and how often: one readiness, one call.
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>

#include "io/reactor_fixture.hpp"

namespace jzx::io {
namespace {

class WatchEdges : public ReactorTest {};
JZX_TEST_BOTH_REACTORS(WatchEdges);

TEST_P(WatchEdges, OneReadinessIsToldOnce) {
  const Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  tell();
  EXPECT_EQ(reader.take(), Told{});

  put(pipe.writer);
  tell();
  EXPECT_EQ(reader.take(), Told{kReadable});
  reactor->unwatch(reader);
}

TEST_P(WatchEdges, DataThatNobodyReadsIsNotToldAgain) {
  const Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  put(pipe.writer);
  tell();
  reader.take();

  for (int i = 0; i < 3; ++i) tell();
  EXPECT_EQ(reader.take(), Told{});
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(WatchEdges, NewDataIsToldAlthoughTheOldIsStillThere) {
  const SocketPair pair;
  RecordingWatch reader(pair.near, kReadable);
  watch(reader);
  for (int i = 0; i < 3; ++i) {
    put(pair.far);
    tell();
    EXPECT_EQ(reader.take(), Told{kReadable});
  }
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(WatchEdges, DataThatWasReadBeforeTheWaitIsNotTold) {
  const SocketPair pair;
  RecordingWatch reader(pair.near, kReadable);
  watch(reader);
  put(pair.far);
  drain(pair.near);
  tell();
  EXPECT_EQ(reader.take(), Told{});
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(WatchEdges, WatchingWhatIsReadyAlreadyTellsIt) {
  const Pipe pipe;
  put(pipe.writer);
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  EXPECT_EQ(reader.take(), Told{}) << "never from inside watch()";
  tell();
  EXPECT_EQ(reader.take(), Told{kReadable});
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(WatchEdges, WatchingAgainTellsWhatIsReadyOnceMore) {
  const Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  put(pipe.writer);
  tell();
  reader.take();

  for (int i = 0; i < 3; ++i) {
    watch(reader);
    tell();
    tell();
    EXPECT_EQ(reader.take(), Told{kReadable});
  }
  drain(pipe.reader);
  watch(reader);
  tell();
  EXPECT_EQ(reader.take(), Told{}) << "nothing is ready any more";
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(WatchEdges, ReadAndWriteReadyTogetherComeInOneCall) {
  const SocketPair pair;
  put(pair.far);
  RecordingWatch both(pair.near, kReadable | kWritable);
  watch(both);
  tell();
  EXPECT_EQ(both.take(), Told{kReadable | kWritable});
  EXPECT_EQ(reactor->unwatch(both), 0);
}

TEST_P(WatchEdges, ManyEdgesBetweenTwoWaitsComeInOneCall) {
  const SocketPair pair;
  RecordingWatch reader(pair.near, kReadable);
  watch(reader);
  for (int i = 0; i < 100; ++i) put(pair.far);
  tell();
  tell();
  EXPECT_EQ(reader.take(), Told{kReadable});
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(WatchEdges, OnlyWhatWasAskedForIsTold) {
  const SocketPair pair;
  put(pair.far);
  RecordingWatch writer(pair.near, kWritable);
  watch(writer);
  tell();
  EXPECT_EQ(writer.take(), Told{kWritable});

  put(pair.far);
  tell();
  EXPECT_EQ(writer.take(), Told{}) << "data is none of a writer's business";
  EXPECT_EQ(reactor->unwatch(writer), 0);
}

TEST_P(WatchEdges, WatchingAgainReplacesTheInterest) {
  const SocketPair pair;
  RecordingWatch either(pair.near, kWritable);
  watch(either);
  tell();
  EXPECT_EQ(either.take(), Told{kWritable});

  either.interest = kReadable;
  watch(either);
  tell();
  EXPECT_EQ(either.take(), Told{});
  put(pair.far);
  tell();
  EXPECT_EQ(either.take(), Told{kReadable});
  EXPECT_EQ(reactor->unwatch(either), 0);
}

TEST_P(WatchEdges, RoomInAFullPipeIsTold) {
  const Pipe pipe;
  RecordingWatch writer(pipe.writer, kWritable);
  const std::vector<char> much(4096, 'x');
  while (::write(pipe.writer.get(), much.data(), much.size()) > 0) {
  }
  watch(writer);
  tell();
  EXPECT_EQ(writer.take(), Told{}) << "the pipe is full";
  drain(pipe.reader);
  tell();
  EXPECT_EQ(writer.take(), Told{kWritable});
  EXPECT_EQ(reactor->unwatch(writer), 0);
}

TEST_P(WatchEdges, TheOtherEndOfASocketGoneIsAHangup) {
  SocketPair pair;
  RecordingWatch reader(pair.near, kReadable);
  watch(reader);
  pair.far.close();
  tell();
  EXPECT_EQ(reader.take(), Told{kReadable | kHangup});
  tell();
  EXPECT_EQ(reader.take(), Told{});
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(WatchEdges, AReaderIsToldWhenTheOtherEndWillSendNoMore) {
  const SocketPair pair;
  RecordingWatch reader(pair.near, kReadable);
  watch(reader);
  ASSERT_EQ(::shutdown(pair.far.get(), SHUT_WR), 0);
  tell();
  EXPECT_EQ(reader.take(), Told{kReadable | kHangup});
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(WatchEdges, TheWriterOfAPipeGoneIsAHangupForItsReader) {
  Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  pipe.writer.close();
  tell();
  EXPECT_EQ(reader.take(), Told{kHangup});
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_P(WatchEdges, AnErrorComesUnasked) {
  Pipe pipe;
  RecordingWatch nothing(pipe.writer, 0);
  watch(nothing);
  tell();
  EXPECT_EQ(nothing.take(), Told{}) << "writable, but nobody asked";
  pipe.reader.close();
  tell();
  EXPECT_EQ(nothing.take(), Told{kError});
  EXPECT_EQ(reactor->unwatch(nothing), 0);
}

TEST_P(WatchEdges, AHangupComesUnasked) {
  SocketPair pair;
  RecordingWatch nothing(pair.near, 0);
  watch(nothing);
  pair.far.close();
  tell();
  EXPECT_EQ(nothing.take(), Told{kHangup});
  EXPECT_EQ(reactor->unwatch(nothing), 0);
}

TEST_P(WatchEdges, AnUnwatchedFdIsSilent) {
  const Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  watch(reader);
  put(pipe.writer);
  EXPECT_EQ(reactor->unwatch(reader), 0);
  tell();
  EXPECT_EQ(reader.take(), Told{});
}

TEST_P(WatchEdges, TenThousandWatchesAreToldOnceEach) {
  constexpr size_t kWatches = 10'000;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  if (before.rlim_max < kWatches + 100) GTEST_SKIP() << "not so many fds allowed here";
  const rlimit raised{std::max<rlim_t>(before.rlim_cur, kWatches + 100), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &raised), 0);

  std::vector<Fd> fds;
  std::vector<std::unique_ptr<RecordingWatch>> watches;
  for (size_t i = 0; i < kWatches; ++i) {
    fds.emplace_back(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    ASSERT_GE(fds.back().get(), 0);
    watches.push_back(std::make_unique<RecordingWatch>(fds.back(), kReadable));
    watch(*watches.back());
  }
  // Every other one is ready: events find their own watch, not a neighbour.
  for (size_t i = 0; i < kWatches; i += 2) ASSERT_EQ(::eventfd_write(fds[i].get(), 1), 0);
  while (is_readable(reactor->pollable_fd())) tell();
  for (size_t i = 0; i < kWatches; ++i) {
    ASSERT_EQ(watches[i]->take(), i % 2 == 0 ? Told{kReadable} : Told{}) << i;
    ASSERT_EQ(reactor->unwatch(*watches[i]), 0);
  }
  fds.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace jzx::io

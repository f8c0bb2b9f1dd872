// Writes of many that are served together: on io_uring they are gathered and handed over at once,
// which must show in nothing but time. And tries without waiting, which a gathered write is not.
#include <sys/socket.h>

#include <deque>
#include <mutex>
#include <string>

#include "io/operation_fixture.hpp"

namespace jzx::io {
namespace {

// What is there now, without the reactor.
std::string seen_at(Handle handle) {
  char bytes[64];
  const ssize_t count =
      ::recv(static_cast<int>(handle.value & INT32_MAX), bytes, sizeof bytes, MSG_DONTWAIT);
  return count < 0 ? "nothing" : std::string(bytes, static_cast<size_t>(count));
}

// A worker's reactor, whose last wait() had much to tell: four reads that came together.
class Gathered : public OperationTest {
 protected:
  void SetUp() override {
    OperationTest::SetUp();
    if (reactor == nullptr) return;
    reactor->share(mutex);
    for (int i = 0; i < 4; ++i) crowd.push_back(socket_pair());
    serve_many();
  }
  void serve_many() {
    std::deque<Reading> readings;
    for (const auto& [ours, theirs] : crowd) {
      ASSERT_EQ(submit(readings.emplace_back(ours)), Submitted::pending);
      ASSERT_EQ(::send(static_cast<int>(theirs.value & INT32_MAX), "?", 1, 0), 1);
    }
    tell();
    for (const Reading& reading : readings) ASSERT_EQ(reading.text(), "?");
  }
  [[nodiscard]] bool gathers() const { return GetParam() == Backend::io_uring; }
  void submit_gathered(Call& call) {
    ASSERT_EQ(submit(call), gathers() ? Submitted::pending : Submitted::done);
  }

  std::mutex mutex;
  std::vector<std::array<Handle, 2>> crowd;
};
JZX_TEST_BOTH_REACTORS(Gathered);

TEST_P(Gathered, WritesArriveWithTheNextWaitWhateverItIsAskedToWaitFor) {
  std::deque<Writing> writings;
  for (const auto& [ours, theirs] : crowd) submit_gathered(writings.emplace_back(ours, "answer"));
  if (gathers()) {
    EXPECT_EQ(seen_at(crowd[0][1]), "nothing");
    EXPECT_EQ(reactor->wait(base::kNever), 0);
  }
  for (const Writing& writing : writings) EXPECT_EQ(writing.result, 6);
  for (const auto& [ours, theirs] : crowd) EXPECT_EQ(seen_at(theirs), "answer");
  EXPECT_EQ(reactor->pending_count(), 0u);
}

TEST_P(Gathered, WhoIsReadyIsToldInTheWaitAfterThat) {
  for (int round = 0; round < 3; ++round) {
    serve_many();
    Writing writing(crowd[0][0], "answer");
    Reading reading(crowd[1][0]);
    submit_gathered(writing);
    ASSERT_EQ(submit(reading), Submitted::pending);
    ASSERT_EQ(::send(static_cast<int>(crowd[1][1].value & INT32_MAX), "more", 4, 0), 4);
    tell();
    tell();
    EXPECT_EQ(writing.result, 6);
    EXPECT_EQ(reading.text(), "more");
    EXPECT_EQ(seen_at(crowd[0][1]), "answer");
  }
}

TEST_P(Gathered, WhoeverWritesWithoutEndLeavesARestOfTheTimeToOthers) {
  const std::array<Handle, 2> other = socket_pair();
  serve_many();
  bool goes_on = true;
  std::deque<Writing> writings;
  for (const auto& [ours, theirs] : crowd) {
    Writing& writing = writings.emplace_back(ours, "x");
    writing.then = [this, &writing, &goes_on] {
      if (goes_on) (void)submit(writing);
    };
    submit_gathered(writing);
  }
  Reading reading(other[0]);
  ASSERT_EQ(submit(reading), Submitted::pending);
  ASSERT_EQ(::send(static_cast<int>(other[1].value & INT32_MAX), "me too", 6, 0), 6);
  for (int waits = 0; waits < 3; ++waits) tell();
  EXPECT_EQ(reading.text(), "me too");
  goes_on = false;
  while (reactor->pending_count() > 0) tell();
}

TEST_P(Gathered, OneWhoWritesToManyDoesNotKeepTheFirstWaiting) {
  std::vector<std::array<Handle, 2>> pairs;
  std::deque<Writing> writings;
  for (int i = 0; i < 40; ++i) pairs.push_back(socket_pair());
  serve_many();
  for (const auto& [ours, theirs] : pairs) submit_gathered(writings.emplace_back(ours, "news"));
  EXPECT_EQ(seen_at(pairs[0][1]), "news");
  if (gathers()) {
    EXPECT_EQ(seen_at(pairs[39][1]), "nothing");
  }
  while (reactor->pending_count() > 0) tell();
  EXPECT_EQ(seen_at(pairs[39][1]), "news");
  for (const Writing& writing : writings) EXPECT_EQ(writing.result, 4);
}

TEST_P(Gathered, OneThatIsCancelledNeedNotWaitAndSoIsMade) {
  Writing writing(crowd[0][0], "goodbye");
  submit_gathered(writing);
  reactor->cancel(writing);
  EXPECT_EQ(seen_at(crowd[0][1]), "goodbye");
  while (reactor->pending_count() > 0) tell();
  EXPECT_EQ(writing.result, 7);
  EXPECT_EQ(seen_at(crowd[0][1]), "nothing");
}

TEST_P(Gathered, OneWhoseHandleIsClosedHasArrivedBeforeTheEnd) {
  Writing writing(crowd[0][0], "goodbye");
  submit_gathered(writing);
  EXPECT_EQ(close(crowd[0][0]), 0);
  EXPECT_EQ(seen_at(crowd[0][1]), "goodbye");
  EXPECT_EQ(seen_at(crowd[0][1]), "");
  while (reactor->pending_count() > 0) tell();
  EXPECT_EQ(writing.result, 7);
}

TEST_P(Gathered, OneThatFindsNoRoomWaitsAndCanBeCancelled) {
  const std::array<Handle, 2> full = crowd[0];
  const std::string much(1 << 16, 'x');
  while (::send(static_cast<int>(full[0].value & INT32_MAX), much.data(), much.size(),
                MSG_DONTWAIT) > 0) {
  }
  Writing cancelled(full[0], "more");
  ASSERT_EQ(submit(cancelled), Submitted::pending);
  tell();
  EXPECT_EQ(cancelled.completions, 0);
  reactor->cancel(cancelled);
  EXPECT_EQ(await(cancelled), -ECANCELED);

  crowd[0] = socket_pair();
  serve_many();
  Writing writing(full[0], "more");
  ASSERT_EQ(submit(writing), Submitted::pending);
  tell();
  EXPECT_EQ(writing.completions, 0);
  std::string last;
  const auto empty = [&] {
    for (std::string some = seen_at(full[1]); some != "nothing"; some = seen_at(full[1])) {
      last = some;
    }
  };
  empty();  // the kernel may make the write meanwhile
  EXPECT_EQ(await(writing), 4);
  empty();
  EXPECT_TRUE(last.ends_with("more"));
}

TEST_P(Gathered, WritingToNobodyIsAnErrorAndNoSignal) {
  ASSERT_EQ(close(crowd[3][1]), 0);
  Writing writing(crowd[3][0], "hello?");
  submit_gathered(writing);
  while (reactor->pending_count() > 0) tell();
  EXPECT_EQ(writing.result, -EPIPE);
}

TEST_P(Gathered, AfterAWaitWithLittleToTellAWriteIsMadeAtOnce) {
  tell();
  Writing writing(crowd[0][0], "alone");
  EXPECT_EQ(submit(writing), Submitted::done);
  EXPECT_EQ(seen_at(crowd[0][1]), "alone");
}

// ---- tries without waiting ----

TEST_P(Gathered, ATryIsDoneIfItNeedNotWait) {
  tell();
  Writing writing(crowd[0][0], "at once");
  ASSERT_TRUE(reactor->try_now(writing));
  EXPECT_EQ(writing.result, 7);
  EXPECT_EQ(seen_at(crowd[0][1]), "at once");
}

TEST_P(Gathered, ATryThatWouldHaveToWaitLeavesNothingBehind) {
  Reading reading(crowd[0][0]);
  EXPECT_FALSE(reactor->try_now(reading));
  EXPECT_EQ(reactor->pending_count(), 0u);
  ASSERT_EQ(submit(reading), Submitted::pending);
  ASSERT_EQ(::send(static_cast<int>(crowd[0][1].value & INT32_MAX), "late", 4, 0), 4);
  EXPECT_EQ(await(reading), 4);
}

TEST_P(Gathered, ATryBesideOneThatWaitsIsRefused) {
  Reading waiting(crowd[0][0]);
  ASSERT_EQ(submit(waiting), Submitted::pending);
  Reading second(crowd[0][0]);
  ASSERT_TRUE(reactor->try_now(second));
  EXPECT_EQ(second.result, -EBUSY);
  reactor->cancel(waiting);
  EXPECT_EQ(await(waiting), -ECANCELED);
}

}  // namespace
}  // namespace jzx::io

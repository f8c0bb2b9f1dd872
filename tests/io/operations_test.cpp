// What every operation promises, whatever it does: it ends once, from inside wait() if not at once,
// also if it is cancelled or its handle is closed.
#include <memory>

#include "io/operation_fixture.hpp"

namespace jzx::io {
namespace {

class Operations : public OperationTest {};
JZX_TEST_ALL_REACTORS(Operations);

class OperationsOnFds : public OperationTest {};
JZX_TEST_BOTH_REACTORS(OperationsOnFds);

TEST_P(Operations, OneThatTheReactorCannotDoIsDoneAtOnce) {
  Call call(static_cast<Opcode>(kOpcodes));
  EXPECT_EQ(submit(call), Submitted::done);
  EXPECT_EQ(call.result, -ENOSYS);
  EXPECT_EQ(reactor->pending_count(), 0u);
  tell();
}

TEST_P(Operations, CompleteOnceFromInsideAWait) {
  const auto [reader, writer] = pipe();
  Reading reading(reader);
  EXPECT_EQ(submit(reading), Submitted::pending);
  EXPECT_EQ(reactor->pending_count(), 1u);
  tell();
  EXPECT_EQ(reading.completions, 0);
  EXPECT_EQ(write(writer, "hello"), 5);
  EXPECT_EQ(reading.completions, 0);
  EXPECT_EQ(await(reading), 5);
  EXPECT_EQ(reading.text(), "hello");
  EXPECT_EQ(reactor->pending_count(), 0u);
  tell();
  EXPECT_EQ(reading.completions, 1);
}

TEST_P(OperationsOnFds, TheirCompletionShowsFromOutside) {
  const auto [reader, writer] = pipe();
  Reading reading(reader);
  EXPECT_EQ(submit(reading), Submitted::pending);
  reactor->flush();
  EXPECT_FALSE(is_readable(reactor->pollable_fd()));
  EXPECT_EQ(write(writer, "x"), 1);
  EXPECT_TRUE(is_readable(reactor->pollable_fd()));
  EXPECT_EQ(await(reading), 1);
  tell();
  EXPECT_FALSE(is_readable(reactor->pollable_fd()));
}

TEST_P(Operations, OneMayBeSubmittedAgainByItsCompletion) {
  const auto [reader, writer] = socket_pair();
  Reading reading(reader, 1);
  std::string heard;
  reading.then = [&] {
    for (heard += reading.text(); heard.size() < 4; heard += reading.text()) {
      if (submit(reading) == Submitted::pending) return;
    }
  };
  EXPECT_EQ(submit(reading), Submitted::pending);
  EXPECT_EQ(write(writer, "abcd"), 4);
  while (heard.size() < 4) ASSERT_EQ(reactor->wait(base::kNever), 0);
  EXPECT_EQ(heard, "abcd");
}

TEST_P(Operations, ANumberThatIsNoHandleIsRefused) {
  for (const int64_t number : {int64_t{-1}, int64_t{1} << 20, int64_t{INT32_MAX}}) {
    for (const Opcode opcode : {Opcode::read, Opcode::accept, Opcode::close, Opcode::wait_exit}) {
      Call call(opcode, Handle{number});
      EXPECT_EQ(submit(call), Submitted::done);
      EXPECT_EQ(call.result, -EBADF);
    }
  }
}

TEST_P(Operations, MoreThanAnyQueueHoldsMayBePending) {
  constexpr size_t kMany = 300;
  std::vector<std::array<Handle, 2>> pipes;
  std::vector<std::unique_ptr<Reading>> readings;
  for (size_t i = 0; i < kMany; ++i) {
    pipes.push_back(pipe());
    readings.push_back(std::make_unique<Reading>(pipes.back()[0]));
    ASSERT_EQ(submit(*readings.back()), Submitted::pending);
  }
  EXPECT_EQ(reactor->pending_count(), kMany);
  tell();
  // A third by data, a third by cancelling, a third by closing.
  for (size_t i = 0; i < kMany; ++i) {
    if (i % 3 == 0) {
      EXPECT_GT(write(pipes[i][1], std::to_string(i)), 0);
    } else if (i % 3 == 1) {
      reactor->cancel(*readings[i]);
    } else {
      EXPECT_EQ(close(pipes[i][0]), 0);
    }
  }
  for (size_t i = 0; i < kMany; ++i) {
    (void)await(*readings[i]);
    EXPECT_EQ(readings[i]->text(), i % 3 == 0 ? std::to_string(i) : "");
    EXPECT_TRUE(i % 3 == 0 || readings[i]->result == -ECANCELED);
  }
}

// ---- two at once ----

TEST_P(Operations, ASecondReaderIsRefused) {
  const auto [reader, writer] = pipe();
  Reading first(reader);
  Reading second(reader);
  EXPECT_EQ(submit(first), Submitted::pending);
  EXPECT_EQ(submit(second), Submitted::done);
  EXPECT_EQ(second.result, -EBUSY);
  EXPECT_EQ(write(writer, "x"), 1);
  EXPECT_EQ(await(first), 1);
}

TEST_P(Operations, AReaderAndAWriterOfOneHandleDoNotDisturbEachOther) {
  const auto [near, far] = socket_pair();
  Reading reading(near);
  EXPECT_EQ(submit(reading), Submitted::pending);
  EXPECT_EQ(write(near, "question"), 8);
  EXPECT_EQ(read(far), "question");
  EXPECT_EQ(write(far, "answer"), 6);
  EXPECT_EQ(await(reading), 6);
}

// ---- cancelling ----

TEST_P(Operations, ACancelledOneCompletesOnce) {
  const auto [reader, writer] = pipe();
  Reading reading(reader);
  EXPECT_EQ(submit(reading), Submitted::pending);
  reactor->cancel(reading);
  EXPECT_EQ(reading.completions, 0) << "never from inside cancel()";
  EXPECT_TRUE(is_simulated() || is_readable(reactor->pollable_fd()))
      << "whoever sleeps there is woken";
  EXPECT_EQ(await(reading), -ECANCELED);
  tell();
  EXPECT_EQ(reading.completions, 1);
}

TEST_P(Operations, OneThatTheKernelKnowsAlreadyCanBeCancelledToo) {
  const auto [reader, writer] = pipe();
  Reading reading(reader);
  EXPECT_EQ(submit(reading), Submitted::pending);
  tell();
  tell();
  reactor->cancel(reading);
  reactor->cancel(reading);
  EXPECT_EQ(await(reading), -ECANCELED);
  EXPECT_EQ(write(writer, "later"), 5);
  EXPECT_EQ(read(reader), "later") << "what it did not read is there for the next";
}

TEST_P(Operations, ToCancelOneThatIsDoneDoesNothing) {
  const auto [reader, writer] = pipe();
  Reading never(reader);
  reactor->cancel(never);
  EXPECT_EQ(write(writer, "x"), 1);
  Reading reading(reader);
  EXPECT_EQ(run(reading), 1);
  reactor->cancel(reading);
  tell();
  EXPECT_EQ(reading.result, 1);
}

TEST_P(Operations, DataIsNeverLostToACancel) {
  const auto [reader, writer] = pipe();
  for (int round = 0; round < 20; ++round) {
    Reading reading(reader);
    ASSERT_EQ(submit(reading), Submitted::pending);
    tell();
    ASSERT_EQ(write(writer, "won"), 3);
    reactor->cancel(reading);
    const int64_t result = await(reading);
    if (result == -ECANCELED) {
      EXPECT_EQ(read(reader), "won");
    } else {
      EXPECT_EQ(reading.text(), "won");
    }
  }
}

TEST_P(Operations, ACancelFromInsideACompletionIsHeard) {
  const auto [reader, writer] = pipe();
  const auto [other_reader, other_writer] = pipe();
  Reading other(other_reader);
  EXPECT_EQ(submit(other), Submitted::pending);
  Reading reading(reader);
  reading.then = [&] { reactor->cancel(other); };
  EXPECT_EQ(submit(reading), Submitted::pending);
  EXPECT_EQ(write(writer, "x"), 1);
  EXPECT_EQ(await(other), -ECANCELED);
  EXPECT_EQ(reading.completions, 1);
}

// ---- closing ----

TEST_P(Operations, ACloseEndsWhatIsPendingBeforeItIsDone) {
  const auto [near, far] = socket_pair();
  Reading reading(near);
  EXPECT_EQ(submit(reading), Submitted::pending);
  tell();
  EXPECT_EQ(close(near), 0);
  EXPECT_EQ(await(reading), -ECANCELED);
  EXPECT_EQ(read(far), "") << "the other end hears of it";
}

TEST_P(Operations, ANewHandleOfTheSameNumberStartsAnew) {
  const auto [first, second] = pipe();
  Reading reading(first);
  EXPECT_EQ(submit(reading), Submitted::pending);
  EXPECT_EQ(close(first), 0);
  EXPECT_EQ(await(reading), -ECANCELED);
  const auto [reader, writer] = pipe();
  EXPECT_EQ(reader, first) << "the kernel takes the lowest number";
  Reading again(reader);
  EXPECT_EQ(submit(again), Submitted::pending);
  EXPECT_EQ(write(writer, "new"), 3);
  EXPECT_EQ(await(again), 3);
}

TEST_P(Operations, WhatIsPendingWhenTheReactorEndsIsNotTouchedAnyMore) {
  const auto [reader, writer] = pipe();
  Reading reading(reader);
  EXPECT_EQ(submit(reading), Submitted::pending);
  const Handle listening = listener();
  Address peer;
  Call accept(Opcode::accept, listening);
  accept.address = &peer;
  EXPECT_EQ(submit(accept), Submitted::pending);
  tell();
  Reading not_handed_over(socket_pair()[0]);
  EXPECT_EQ(submit(not_handed_over), Submitted::pending);
  reactor.reset();
  EXPECT_EQ(reading.completions, 0);
  const int fd = static_cast<int>(writer.value & INT32_MAX);
  EXPECT_TRUE(is_simulated() || ::write(fd, "x", 1) == 1);
  EXPECT_EQ(reading.bytes[0], '\0');
  close_all_by_hand();
}

}  // namespace
}  // namespace jzx::io

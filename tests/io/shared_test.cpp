// Operations of several threads on one reactor.
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "io/operation_fixture.hpp"
#include "support/scale.hpp"

namespace jzx::io {
namespace {

using jzx::testing::scaled;

// The reactor's own thread waits until the test ends; the test's thread is another one.
class Shared : public OperationTest {
 protected:
  void SetUp() override {
    OperationTest::SetUp();
    if (reactor == nullptr) return;
    reactor->share(mutex);
  }
  void start() {
    own = std::thread([this] {
      while (!stop.load()) ASSERT_EQ(reactor->wait(base::kNever), 0);
    });
  }
  void end() {
    stop.store(true);
    reactor->wake();
    own.join();
  }

  std::mutex mutex;
  std::thread own;
  std::atomic<bool> stop{false};
};
JZX_TEST_BOTH_REACTORS(Shared);

// Counts where another thread can see it.
class SeenCall : public Operation {
 public:
  explicit SeenCall(Opcode what, Handle on)
      : Operation(what, [](Operation& self) { static_cast<SeenCall&>(self).completed(); }) {
    handle = on;
    buffer = &byte;
    size = 1;
  }
  int64_t await() {
    for (int heard = bell.load(); completions.load() == 0; heard = bell.load()) bell.wait(heard);
    return seen_result;
  }

  std::atomic<int> completions{0};
  std::mutex* must_be_free = nullptr;
  char byte = 0;

 private:
  void completed() {
    if (must_be_free != nullptr) {
      const std::unique_lock held(*must_be_free, std::try_to_lock);
      EXPECT_TRUE(held.owns_lock()) << "a completion could not submit";
    }
    seen_result = result;
    ++completions;  // from here on the operation may be gone
    ++bell;
    bell.notify_all();
  }
  static inline std::atomic<int> bell{0};
  int64_t seen_result = 0;
};

TEST_P(Shared, ASubmissionOfAnotherThreadNeedsNobodyToWakeTheReactor) {
  const auto [reader, writer] = pipe();
  start();
  for (uint64_t round = 0; round < scaled(2'000); ++round) {
    SeenCall read(Opcode::read, reader);
    read.must_be_free = &mutex;
    const Submitted submitted = reactor->submit(read);
    ASSERT_EQ(submitted, Submitted::pending);
    SeenCall write(Opcode::write, writer);
    write.byte = static_cast<char>(round);
    ASSERT_EQ(reactor->submit(write), Submitted::done);
    ASSERT_EQ(read.await(), 1);
    ASSERT_EQ(read.byte, static_cast<char>(round));
  }
  end();
}

TEST_P(Shared, ACancelOfAnotherThreadIsHeardAndEachOperationCompletesOnce) {
  const auto [reader, writer] = pipe();
  start();
  int written = 0;
  int arrived = 0;
  for (uint64_t round = 0; round < scaled(2'000); ++round) {
    SeenCall read(Opcode::read, reader);
    const Submitted submitted = reactor->submit(read);
    if (submitted == Submitted::done) {
      ASSERT_EQ(read.result, 1);
      ++arrived;
      continue;
    }
    if (round % 3 != 0) {
      SeenCall write(Opcode::write, writer);
      ASSERT_EQ(reactor->submit(write), Submitted::done);
      ++written;
    }
    reactor->cancel(read);
    const int64_t result = read.await();
    ASSERT_TRUE(result == 1 || result == -ECANCELED) << result;
    reactor->cancel(read);
    arrived += result == 1 ? 1 : 0;
    ASSERT_EQ(read.completions.load(), 1);
  }
  end();
  while (arrived < written) {
    SeenCall read(Opcode::read, reader);
    if (reactor->submit(read) == Submitted::pending) {
      while (read.completions.load() == 0) ASSERT_EQ(reactor->wait(base::kNever), 0);
    }
    ASSERT_EQ(read.result, 1) << "a byte was lost";
    ++arrived;
  }
  EXPECT_EQ(reactor->pending_count(), 0u);
}

TEST_P(Shared, ACloseOfAnotherThreadEndsTheReader) {
  start();
  for (uint64_t round = 0; round < scaled(500); ++round) {
    std::array<Handle, 2> ends;
    Operation make(Opcode::pipe, nullptr);
    make.buffer = ends.data();
    ASSERT_EQ(reactor->submit(make), Submitted::done);
    SeenCall read(Opcode::read, ends[0]);
    ASSERT_EQ(reactor->submit(read), Submitted::pending);
    for (const Handle end : ends) {
      SeenCall close(Opcode::close, end);
      const Submitted submitted = reactor->submit(close);
      ASSERT_EQ(submitted == Submitted::pending ? close.await() : close.result, 0);
    }
    ASSERT_EQ(read.await(), -ECANCELED);
  }
  end();
}

TEST_P(Shared, AReadGoesOnWhenTheThreadThatBeganItHasExited) {
  const auto [reader, writer] = pipe();
  const auto [near, far] = socket_pair();
  Reading from_pipe(reader);
  Reading from_socket(near);
  std::thread first([&] {
    EXPECT_EQ(submit(from_pipe), Submitted::pending);
    EXPECT_EQ(submit(from_socket), Submitted::pending);
    EXPECT_EQ(reactor->wait(0), 0);
  });
  first.join();
  tell();
  tell();
  EXPECT_EQ(from_pipe.completions + from_socket.completions, 0);
  EXPECT_EQ(write(writer, "pipe"), 4);
  EXPECT_EQ(await(from_pipe), 4);
  EXPECT_EQ(write(far, "socket"), 6);
  EXPECT_EQ(await(from_socket), 6);
}

}  // namespace
}  // namespace jzx::io

// The ring of the io_uring reactor: its completions end a wait() like every other event. They come
// from a second ring, which posts them into the reactor's as the kernel would.
#include "io/reactor_uring.hpp"

#include <atomic>
#include <memory>
#include <thread>

#include "io/reactor_fixture.hpp"
#include "support/scale.hpp"

namespace jzx::io {
namespace {

class Poster {
 public:
  Poster() { EXPECT_EQ(io_uring_queue_init(8, &ring_, 0), 0); }
  ~Poster() { io_uring_queue_exit(&ring_); }
  Poster(const Poster&) = delete;
  Poster& operator=(const Poster&) = delete;

  // True if the kernel can do this: Linux 5.18.
  [[nodiscard]] static bool can_post() {
    io_uring_probe* probe = io_uring_get_probe();
    const bool can = probe != nullptr && io_uring_opcode_supported(probe, IORING_OP_MSG_RING);
    io_uring_free_probe(probe);
    return can;
  }

  void post_completion_to(int ring_fd) {
    io_uring_prep_msg_ring(io_uring_get_sqe(&ring_), ring_fd, 0, 0, 0);
    ASSERT_EQ(io_uring_submit(&ring_), 1);
    io_uring_cqe* done = nullptr;
    ASSERT_EQ(io_uring_wait_cqe(&ring_, &done), 0);
    ASSERT_EQ(done->res, 0);
    io_uring_cqe_seen(&ring_, done);
  }

 private:
  io_uring ring_{};
};

class Ring : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_have_uring()) GTEST_SKIP() << "no io_uring here";
    if (!Poster::can_post()) GTEST_SKIP() << "no completion can be posted here";
    reactor = std::make_unique<UringReactor>(base::Allocator{});
    ASSERT_EQ(reactor->open(), 0);
    poster = std::make_unique<Poster>();
  }

  void post_completion() { poster->post_completion_to(reactor->ring_fd()); }
  [[nodiscard]] bool readable() const { return is_readable(reactor->pollable_fd()); }

  std::unique_ptr<UringReactor> reactor;
  std::unique_ptr<Poster> poster;
};

TEST_F(Ring, ACompletionIsSeenFromOutsideAndEndsTheNextWait) {
  for (const uint64_t timeout_ns : {base::kNever, uint64_t{0}, base::kNever - 1}) {
    EXPECT_FALSE(readable());
    post_completion();
    EXPECT_TRUE(readable());
    EXPECT_EQ(reactor->wait(timeout_ns), 0);
  }
  EXPECT_FALSE(readable());
}

TEST_F(Ring, WatchesAreToldAndWakesTakenInTheWaitThatItEnds) {
  const Pipe pipe;
  RecordingWatch reader(pipe.reader, kReadable);
  ASSERT_EQ(reactor->watch(reader), 0);
  post_completion();
  put(pipe.writer);
  reactor->wake();
  EXPECT_EQ(reactor->wait(base::kNever), 0);
  EXPECT_EQ(reader.take(), Told{kReadable});
  EXPECT_FALSE(readable());
  EXPECT_EQ(reactor->unwatch(reader), 0);
}

TEST_F(Ring, MoreCompletionsThanItHoldsKeepTheSetReadyUntilTheLastIsTaken) {
  for (int i = 0; i < 3000; ++i) post_completion();
  int waits = 0;
  for (; readable(); ++waits) {
    ASSERT_LT(waits, 1000) << "completions that nobody takes";
    ASSERT_EQ(reactor->wait(base::kNever), 0);
  }
  EXPECT_GT(waits, 4) << "they all fit, and nothing was tested";
  post_completion();
  EXPECT_TRUE(readable());
  EXPECT_EQ(reactor->wait(base::kNever), 0);
  EXPECT_FALSE(readable());
}

// Each side sleeps until the other has acted: one missed completion and the test stands still.
TEST_F(Ring, ACompletionIsNeverMissedByAThreadThatIsAboutToSleep) {
  const uint64_t rounds = jzx::testing::scaled(50'000);
  std::atomic<uint64_t> posted{0};
  std::atomic<uint64_t> answered{0};
  std::thread kernel([&] {
    Poster mine;
    for (uint64_t round = 1; round <= rounds; ++round) {
      posted.store(round);
      mine.post_completion_to(reactor->ring_fd());
      for (uint64_t seen = answered.load(); seen < round; seen = answered.load()) {
        answered.wait(seen);
      }
    }
  });
  uint64_t returns = 0;
  for (uint64_t round = 1; round <= rounds; ++round) {
    while (posted.load() < round) {
      ASSERT_EQ(reactor->wait(base::kNever), 0);
      ++returns;
    }
    answered.store(round);
    answered.notify_one();
  }
  kernel.join();
  EXPECT_LE(returns, 3 * rounds + 10) << "it spins";
  EXPECT_EQ(reactor->wait(0), 0);
  EXPECT_FALSE(readable());
}

}  // namespace
}  // namespace jzx::io

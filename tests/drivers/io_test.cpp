// The worker and its reactor's operations; the loop and work that blocks.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "drivers/loop/loop.hpp"
#include "drivers/scripted_reactor.hpp"
#include "io/reactor.hpp"

namespace jzx::drivers {
namespace {

using jzx::testing::make_scripted_reactor;
using jzx::testing::ScriptedReactor;

class Job : public base::Runnable {
 public:
  explicit Job(std::function<void(base::Executor&)> action)
      : Runnable([](base::Runnable& self, base::Executor& executor) {
          static_cast<Job&>(self).action_(executor);
        }),
        action_(std::move(action)) {}

 private:
  std::function<void(base::Executor&)> action_;
};

TEST(WorkerIo, ABusyWorkerLooksAtItsReactorWhileOperationsArePending) {
  core::System system{core::SystemOptions{}};
  base::SteadyClock clock;
  auto [owner, reactor] = make_scripted_reactor();
  Worker worker(system, clock, std::move(owner), WorkerOptions{});
  Job job([](base::Executor&) {});
  worker.post(job);
  EXPECT_EQ(worker.tick(base::kNever), 0);
  EXPECT_EQ(reactor->looks, 0) << "nothing could be told";
  reactor->pending = 1;
  worker.post(job);
  EXPECT_EQ(worker.tick(base::kNever), 0);
  EXPECT_EQ(reactor->looks, 1);
}

class LoopWithReactor : public ::testing::TestWithParam<io::Backend> {
 protected:
  void SetUp() override {
    io::ReactorPtr reactor = io::make_reactor(GetParam(), base::Allocator{});
    if (reactor == nullptr) GTEST_SKIP() << "there is no such reactor here";
    worker.emplace(system, clock, std::move(reactor), WorkerOptions{});
    loop.emplace(*worker);
    io::Operation pipe(io::Opcode::pipe, nullptr);
    pipe.buffer = ends;
    ASSERT_EQ(worker->io().submit(pipe), io::Submitted::done);
  }
  void TearDown() override {
    for (const io::Handle end : ends) {
      io::Operation close(io::Opcode::close, nullptr);
      close.handle = end;
      if (!worker) return;
      EXPECT_EQ(worker->io().submit(close), io::Submitted::done);
    }
  }

  void begin_read() {
    read.handle = ends[0];
    read.buffer = &byte;
    read.size = 1;
    ASSERT_EQ(worker->io().submit(read), io::Submitted::pending);
  }
  // On any thread.
  void write() {
    io::Operation writing(io::Opcode::write, nullptr);
    writing.handle = ends[1];
    writing.buffer = const_cast<char*>("x");
    writing.size = 1;
    worker->io().perform(writing);
    EXPECT_EQ(writing.result, 1);
  }
  static bool is_readable(int fd) {
    pollfd asked{fd, POLLIN, 0};
    return ::poll(&asked, 1, 0) == 1;
  }

  struct Read : io::Operation {
    Read()
        : Operation(io::Opcode::read,
                    [](io::Operation& self) { ++static_cast<Read&>(self).completions; }) {}
    int completions = 0;
  };
  io::Handle ends[2];
  char byte = 0;
  Read read;

  core::System system{core::SystemOptions{}};
  base::SteadyClock clock;
  std::optional<Worker> worker;
  std::optional<Loop> loop;
};
INSTANTIATE_TEST_SUITE_P(Reactor, LoopWithReactor,
                         ::testing::Values(io::Backend::epoll, io::Backend::io_uring),
                         [](const auto& about) {
                           return about.param == io::Backend::epoll ? "epoll" : "io_uring";
                         });

TEST_P(LoopWithReactor, AWorkerAsleepHearsOfAnOperationsEnd) {
  begin_read();
  std::thread other([&] { write(); });
  while (read.completions == 0) ASSERT_EQ(worker->tick(base::kNever), 0);
  other.join();
  EXPECT_EQ(read.result, 1);
  EXPECT_EQ(byte, 'x');
}

TEST_P(LoopWithReactor, AnOperationsEndMakesTheLoopsFdReadable) {
  const int fd = loop->fd();
  ASSERT_GE(fd, 0);
  loop->enter_call();
  begin_read();
  loop->leave_call();
  EXPECT_FALSE(is_readable(fd));
  write();
  EXPECT_TRUE(is_readable(fd));
  while (read.completions == 0) ASSERT_EQ(worker->tick(0), 0);
}

TEST_P(LoopWithReactor, ALoopThatNobodyLivesInDoesNotWaitForOperations) {
  begin_read();
  EXPECT_EQ(loop->run(), Errc::ok);
  EXPECT_EQ(read.completions, 0);
  worker->io().cancel(read);
  while (read.completions == 0) ASSERT_EQ(worker->tick(base::kNever), 0);
  EXPECT_EQ(read.result, -ECANCELED);
}

TEST_P(LoopWithReactor, WorkThatBlocksRunsElsewhereAndComesBack) {
  const std::thread::id here = std::this_thread::get_id();
  bool is_back = false;
  std::thread::id there;
  Job back([&](base::Executor&) {
    is_back = true;
    EXPECT_EQ(std::this_thread::get_id(), here);
  });
  Job blocking([&](base::Executor& executor) {
    there = std::this_thread::get_id();
    EXPECT_EQ(base::Executor::current(), nullptr);
    executor.post(back);
  });
  ASSERT_TRUE(worker->post_blocking(blocking));
  while (!is_back) ASSERT_EQ(worker->tick(base::kNever), 0);
  EXPECT_NE(there, here);
}

TEST_P(LoopWithReactor, TheEndOfTheLoopWaitsForWorkThatBlocks) {
  std::atomic<int> runs{0};
  std::atomic<bool> may_go{false};
  Job slow([&](base::Executor&) {
    may_go.wait(false);
    ++runs;
  });
  Job quick([&](base::Executor&) {
    ++runs;
    may_go = true;
    may_go.notify_all();
  });
  ASSERT_TRUE(worker->post_blocking(slow));
  ASSERT_TRUE(worker->post_blocking(quick)) << "a thread that blocks holds up nobody";
  loop->end_blocking();
  EXPECT_EQ(runs, 2);
  EXPECT_FALSE(worker->post_blocking(quick));
}

}  // namespace
}  // namespace jzx::drivers

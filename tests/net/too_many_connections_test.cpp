// A process that has no file descriptors left: its server lives on, and accepts again when there is
// room. The client is another process.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <vector>

#include "fiber/checked_runtime.hpp"
#include "net/client_process.hpp"
#include "support/open_files.hpp"
#include "workers/tally.hpp"

namespace jzx {
namespace {

using net::Address;
using net::Listener;
using net::Stream;
using net_test::ClientProcess;
using testing::CheckedRuntime;
using testing::NoFileLeft;
using testing::Tally;

// ---- the server ----

// Does nothing; it is the parent of the connections.
struct Parent {};

Task<void> echo(Stream stream) {
  std::array<std::byte, 256> buffer;
  for (;;) {
    auto reading = stream.read(buffer);
    Result<size_t> count = co_await reading;
    if (!count) co_await fail(count.error());
    if (*count == 0) co_return;
    auto writing = stream.write_all(std::span(buffer).first(*count));
    Result<void> written = co_await writing;
    co_await written;
  }
}

class Server {
 public:
  explicit Server(Reactor reactor) : runtime_(RuntimeOptions{.workers = 2, .reactor = reactor}) {
    if (!runtime_) return;
    parent_ = runtime_.spawn<Parent>();
    Result<Listener> listener = Listener::open(Address::loopback(), {.backlog = 1024}, runtime_);
    EXPECT_TRUE(listener.ok()) << listener.error().message();
    if (!listener) return;
    listener_ = std::move(*listener);
    port = listener_.address()->port;
    accepting_ = runtime_.spawn_async(accept_all());
  }

  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(runtime_); }
  [[nodiscard]] Pid connection(size_t which) {
    const std::lock_guard hold(lock_);
    return connections_[which];
  }
  [[nodiscard]] size_t accepted() {
    const std::lock_guard hold(lock_);
    return connections_.size();
  }
  Errc kill(Pid connection) { return runtime_.kill(connection); }
  // Accepts no more, and asks every connection to end.
  void drain() {
    accepting_.cancel();
    EXPECT_TRUE(accepting_.get().ok());
    EXPECT_EQ(runtime_.stop(parent_), Errc::ok);
  }
  // Everybody has ended, and the books are in order.
  void close() {
    runtime_.close();
    listener_.close();
  }

  uint16_t port = 0;
  // When there are no file descriptors left, accepting waits for the next of these.
  Tally times_full;
  int error = 0;
  std::array<FutureAndPromise<void>, 2> rooms = {jzx::promise<void>(), jzx::promise<void>()};

 private:
  Task<void> accept_all() {
    for (size_t full = 0;;) {
      auto accepting = listener_.accept();
      Result<Stream> accepted = co_await accepting;
      if (co_await stop_requested()) co_return;
      if (!accepted) {
        error = accepted.error().system_code();
        times_full.add();
        if (full == rooms.size()) co_await fail(accepted.error());
        (void)co_await rooms[full++].future;
        continue;
      }
      Pid connection;
      (void)runtime_.spawn_async_with({.name = "connection", .supervisor = parent_},
                                      echo(std::move(*accepted)), &connection);
      const std::lock_guard hold(lock_);
      connections_.push_back(connection);
    }
  }

  CheckedRuntime runtime_;
  Listener listener_;
  Pid parent_;
  Future<void> accepting_;
  std::mutex lock_;
  std::vector<Pid> connections_;
};

// Numbers are given from the lowest on.
int next_file_descriptor() {
  const int fd = ::dup(STDIN_FILENO);
  EXPECT_GE(fd, 0);
  ::close(fd);
  return fd;
}

class LoweredLimit {
 public:
  explicit LoweredLimit(int files) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit lowered = before_;
    lowered.rlim_cur = static_cast<rlim_t>(files);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &lowered), 0);
  }
  ~LoweredLimit() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  LoweredLimit(const LoweredLimit&) = delete;

 private:
  rlimit before_{};
};

class TooManyConnections : public ::testing::TestWithParam<Reactor> {};

INSTANTIATE_TEST_SUITE_P(By, TooManyConnections,
                         ::testing::Values(Reactor::epoll, Reactor::io_uring), [](const auto& one) {
                           return one.param == Reactor::epoll ? "epoll" : "io_uring";
                         });

TEST_P(TooManyConnections, WithoutFileDescriptorsTheServerLivesOnAndAcceptsWhenThereIsRoom) {
  ClientProcess client;
  const NoFileLeft no_file_left;
  Server server(GetParam());
  if (!server) GTEST_SKIP() << "the kernel has no such reactor";
  constexpr size_t kWanted = 12;
  ASSERT_EQ(client.connect(server.port, 1), 1);
  ASSERT_EQ(client.echo(0), 1);
  {
    const LoweredLimit lowered(next_file_descriptor() + 4);
    ASSERT_EQ(client.connect(server.port, kWanted - 1), static_cast<int64_t>(kWanted));
    ASSERT_TRUE(server.times_full.reaches(1));
    EXPECT_EQ(server.error, EMFILE);
    const size_t accepted = server.accepted();
    ASSERT_LT(accepted, kWanted - 1);
    EXPECT_EQ(client.echo(0), 1) << "who is there is served";

    EXPECT_EQ(server.kill(server.connection(0)), Errc::ok);
    EXPECT_EQ(client.wait_for_end(0), 0);
    server.rooms[0].promise.resolve();
    EXPECT_EQ(client.echo(accepted), 1) << "one has left, so there is room for one";
    ASSERT_TRUE(server.times_full.reaches(2));
    EXPECT_EQ(server.accepted(), accepted + 1);
  }
  server.rooms[1].promise.resolve();
  EXPECT_EQ(client.echo(kWanted - 1), 1) << "who had to wait is served";
  server.drain();
  EXPECT_EQ(client.wait_for_all_ends(), static_cast<int64_t>(kWanted - 1));
  server.close();
}

}  // namespace
}  // namespace jzx

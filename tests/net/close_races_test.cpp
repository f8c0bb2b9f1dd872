// One thread closes what another is about to use. Whoever comes too late is told so; nobody is
// given what another file has, though its number may be the same.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <jzx/jzx.hpp>
#include <jzx/net/net.hpp>

#include "support/open_files.hpp"
#include "support/scale.hpp"

namespace jzx {
namespace {

using net::Stream;

class CloseRaces : public ::testing::TestWithParam<Reactor> {
 protected:
  void SetUp() override {
    if (!runtime) GTEST_SKIP() << "the kernel has no such reactor";
  }
  // Both at once, on threads of their own.
  template <class A, class B>
  static void at_once(A&& a, B&& b) {
    std::atomic<int> ready{0};
    const auto meet = [&] {
      ready.fetch_add(1);
      while (ready.load() < 2) std::this_thread::yield();
    };
    std::thread other([&] {
      meet();
      b();
    });
    meet();
    a();
    other.join();
  }
  static void expect_ended(const Error& error) {
    EXPECT_TRUE(error.code() == Errc::closed || error.code() == Errc::cancelled)
        << error.message() << ' ' << error.system_code();
  }

  testing::NoFileLeft no_file_left;
  Runtime runtime{RuntimeOptions{.workers = 2, .reactor = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(By, CloseRaces, ::testing::Values(Reactor::epoll, Reactor::io_uring),
                         [](const auto& one) {
                           return one.param == Reactor::epoll ? "epoll" : "io_uring";
                         });

TEST_P(CloseRaces, AReadAndACloseOfAStream) {
  for (uint64_t i = 0; i < testing::scaled(200, 4); ++i) {
    auto ends = Stream::pair(runtime);
    ASSERT_TRUE(ends.ok());
    std::array<std::byte, 16> buffer;
    std::pair<Stream, Stream> next;
    at_once([&] { expect_ended(ends->first.read(buffer).get().error()); },
            [&] {
              ends->first.close();
              // Perhaps of the same number, and with something to read.
              next = std::move(*Stream::pair(runtime));
              ASSERT_TRUE(next.second.write_all("not for you").get().ok());
            });
    EXPECT_FALSE(ends->first.is_open());
  }
}

TEST_P(CloseRaces, AWriteAndACloseOfAStream) {
  for (uint64_t i = 0; i < testing::scaled(200, 4); ++i) {
    auto ends = Stream::pair(runtime);
    ASSERT_TRUE(ends.ok());
    at_once(
        [&] {
          const Result<void> written = ends->first.write_all("text").get();
          if (!written) expect_ended(written.error());
        },
        [&] { ends->first.close(); });
  }
}

TEST_P(CloseRaces, AnAcceptAndACloseOfAListener) {
  for (uint64_t i = 0; i < testing::scaled(100, 4); ++i) {
    auto listener = net::Listener::open(net::Address::loopback(), {}, runtime);
    ASSERT_TRUE(listener.ok());
    at_once([&] { expect_ended(listener->accept().get().error()); }, [&] { listener->close(); });
  }
}

TEST_P(CloseRaces, AReceiveAndACloseOfASocketForDatagrams) {
  for (uint64_t i = 0; i < testing::scaled(100, 4); ++i) {
    auto socket = net::UdpSocket::open(net::Address::loopback(), runtime);
    ASSERT_TRUE(socket.ok());
    std::array<std::byte, 16> buffer;
    at_once([&] { expect_ended(socket->receive(buffer).get().error()); }, [&] { socket->close(); });
  }
}

TEST_P(CloseRaces, TwoClosesOfOneStreamCloseItOnce) {
  for (uint64_t i = 0; i < testing::scaled(100, 4); ++i) {
    auto ends = Stream::pair(runtime);
    ASSERT_TRUE(ends.ok());
    at_once([&] { ends->first.close(); }, [&] { ends->first.close(); });
  }
}

Task<void> tell(Promise<void> promise) {
  promise.resolve();
  co_return;
}

// A file whose number would come again if it was closed while a thread is about to read it.
TEST(CloseOfAFile, WaitsForTheReadThatAThreadHasInHand) {
  const testing::NoFileLeft no_file_left;
  char path[] = "/tmp/jzx-test-XXXXXX";
  const int fd = ::mkstemp(path);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::write(fd, "mine", 4), 4);
  ::close(fd);
  {
    Runtime runtime(
        RuntimeOptions{.workers = 1, .max_blocking_threads = 1, .reactor = Reactor::epoll});
    ASSERT_TRUE(runtime);
    Result<net::File> file = net::File::open(path, {}, runtime).get();
    ASSERT_TRUE(file.ok());
    // The only thread that may block is busy until the file is closed.
    auto [gate, opener] = promise<void>();
    Future<void> busy = runtime.spawn_blocking(
        [gate = std::make_shared<Future<void>>(std::move(gate))] { (void)std::move(*gate).get(); });
    std::array<std::byte, 16> buffer;
    auto [begun, beginner] = promise<void>();
    auto reading =
        runtime.spawn_async(jzx::all(file->read_at(0, buffer), tell(std::move(beginner))));
    ASSERT_TRUE(begun.get().ok());
    file->close();
    EXPECT_FALSE(file->is_open());
    const int next = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
    opener.resolve();
    const auto result = reading.get();
    ASSERT_TRUE(result.ok()) << result.error().message();
    const std::string text(reinterpret_cast<const char*>(buffer.data()), std::get<0>(*result));
    EXPECT_EQ(text, "mine");
    EXPECT_TRUE(busy.get().ok());
    ::close(next);
  }
  ::unlink(path);
}

}  // namespace
}  // namespace jzx

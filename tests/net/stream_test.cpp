// Streams: TCP, Unix sockets, pipes.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "net/operate.hpp"
#include "net/streams.hpp"

namespace jzx {
namespace {

using namespace std::chrono_literals;
using net::Address;
using net::Listener;
using net::Stream;
using testing::bytes_of;

class Streams : public testing::Place {};
JZX_IN_ALL_PLACES(Streams);

Task<std::string> read_some(Stream& stream) {
  std::array<std::byte, 256> buffer;
  auto reading = stream.read(buffer);
  Result<size_t> count = co_await reading;
  if (!count) co_return count.error();
  co_return std::string(reinterpret_cast<const char*>(buffer.data()), *count);
}

Task<void> echo_once(Listener& listener) {
  auto accepting = listener.accept();
  Result<Stream> accepted = co_await accepting;
  Stream stream = co_await accepted;
  for (;;) {
    auto reading = read_some(stream);
    Result<std::string> text = co_await reading;
    if (!text) co_await fail(text.error());
    if (text->empty()) co_return;
    auto writing = stream.write_all(*text);
    Result<void> written = co_await writing;
    co_await written;
  }
}

Task<std::string> talk(Address where, std::string text, net::Home home) {
  auto connecting = Stream::connect(where, home);
  Result<Stream> connected = co_await connecting;
  Stream stream = co_await connected;
  auto writing = stream.write_all(text);
  Result<void> written = co_await writing;
  co_await written;
  Result<void> ended = stream.shut_down_writing();
  co_await ended;
  std::string answer;
  for (;;) {
    auto reading = read_some(stream);
    Result<std::string> more = co_await reading;
    if (!more) co_return more.error();
    if (more->empty()) co_return answer;
    answer += *more;
  }
}

TEST_P(Streams, EchoOverTcp) {
  Result<Listener> listener = Listener::open(Address::loopback(), {}, system());
  ASSERT_TRUE(listener.ok()) << listener.error().message();
  const Address where = *listener->address();
  EXPECT_NE(where.port, 0);
  auto server = begin(echo_once(*listener));
  Result<std::string> answer = run(talk(where, "hello, world", system()));
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_EQ(*answer, "hello, world");
  EXPECT_TRUE(finish(std::move(server)).ok());
}

TEST_P(Streams, EchoOverAUnixSocket) {
  std::string name("\0jzx-", 5);
  name += std::to_string(::getpid()) + testing::name_of(GetParam());
  Result<Listener> listener = Listener::open(Address::local(name), {}, system());
  ASSERT_TRUE(listener.ok()) << listener.error().message();
  auto server = begin(echo_once(*listener));
  Result<std::string> answer = run(talk(*listener->address(), "by path", system()));
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_EQ(*answer, "by path");
  EXPECT_TRUE(finish(std::move(server)).ok());
}

TEST_P(Streams, ATemporaryTextIsKeptUntilItIsWritten) {
  auto ends = Stream::pair(system());
  ASSERT_TRUE(ends.ok());
  auto& [a, b] = *ends;
  auto writing = a.write_all(std::string(100, 'k'));  // the text is gone, but for the task
  const std::string other(100, 'o');                  // where it may have been
  ASSERT_TRUE(run(std::move(writing)).ok());
  EXPECT_EQ(*run(read_some(b)), std::string(100, 'k'));
  EXPECT_EQ(other[0], 'o');
}

TEST_P(Streams, APipeCarriesMoreThanItHolds) {
  auto ends = Stream::pipe(system());
  ASSERT_TRUE(ends.ok());
  auto& [reads, writes] = *ends;
  const std::string large(1 << 20, 'x');
  auto writing = begin([](Stream& stream, std::string_view text) -> Task<void> {
    auto all = stream.write_all(text);
    Result<void> result = co_await all;
    stream.close();
    co_await result;
  }(writes, large));
  Result<size_t> total = run([](Stream& stream) -> Task<size_t> {
    size_t count = 0;
    for (;;) {
      auto reading = read_some(stream);
      Result<std::string> more = co_await reading;
      if (!more) co_return more.error();
      if (more->empty()) co_return count;
      count += more->size();
    }
  }(reads));
  EXPECT_EQ(*total, large.size());
  EXPECT_TRUE(finish(std::move(writing)).ok());
}

TEST_P(Streams, AConnectionThatIsRefusedSaysSo) {
  Address nobody;
  {
    Result<Listener> listener = Listener::open(Address::loopback(), {}, system());
    nobody = *listener->address();
  }
  Result<std::string> answer = run(talk(nobody, "anybody?", system()));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::io_failed);
  EXPECT_EQ(answer.error().system_code(), ECONNREFUSED);
  EXPECT_STREQ(answer.error().source(), "connect");
}

TEST_P(Streams, ReadExactlyTellsThatThePeerEndedBefore) {
  auto ends = Stream::pair(system());
  ASSERT_TRUE(ends.ok());
  auto& [a, b] = *ends;
  ASSERT_TRUE(run(a.write_all("abc")).ok());
  a.close();
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(run(b.read_exact(buffer)).error().code(), Errc::end_of_stream);
}

TEST_P(Streams, AReadIntoNothingIsNothingAtOnce) {
  auto ends = Stream::pair(system());
  ASSERT_TRUE(ends.ok());
  EXPECT_EQ(*run(ends->first.read({})), 0u);
}

TEST_P(Streams, AResetInTheMiddleIsAnError) {
  Result<Listener> listener = Listener::open(Address::loopback(), {}, system());
  ASSERT_TRUE(listener.ok());
  auto accepting = begin(listener->accept());
  Result<Stream> client = run(Stream::connect(*listener->address(), system()));
  ASSERT_TRUE(client.ok());
  Result<Stream> server = finish(std::move(accepting));
  ASSERT_TRUE(server.ok());
  ASSERT_TRUE(client->set_reset_on_close().ok());
  client->close();
  std::array<std::byte, 8> buffer;
  Result<size_t> count = run(server->read(buffer));
  ASSERT_FALSE(count.ok());
  EXPECT_EQ(count.error().system_code(), ECONNRESET);
}

TEST_P(Streams, AWriteToNobodyIsAnErrorAndNoSignal) {
  auto ends = Stream::pair(system());
  ASSERT_TRUE(ends.ok());
  ends->second.close();
  Result<size_t> count = run(ends->first.write(bytes_of("x")));
  ASSERT_FALSE(count.ok());
  EXPECT_EQ(count.error().system_code(), EPIPE);
}

TEST_P(Streams, PiecesAreOneStream) {
  auto ends = Stream::pair(system());
  ASSERT_TRUE(ends.ok());
  auto& [a, b] = *ends;
  const auto one = bytes_of("one ");
  const auto two = bytes_of("two");
  const net::Piece pieces[] = {{one.data(), one.size()}, {two.data(), two.size()}};
  EXPECT_EQ(*run(a.write_pieces(pieces)), 7u);
  std::array<std::byte, 3> left;
  std::array<std::byte, 16> right;
  const net::MutablePiece into[] = {{left.data(), left.size()}, {right.data(), right.size()}};
  EXPECT_EQ(*run(b.read_pieces(into)), 7u);
  EXPECT_EQ(std::memcmp(left.data(), "one", 3), 0);
  EXPECT_EQ(std::memcmp(right.data(), " two", 4), 0);
}

TEST(StreamOutsideOfASystem, IsRefused) {
  EXPECT_EQ(Stream::connect(Address::loopback(1)).get().error().code(), Errc::invalid_arg);
  EXPECT_EQ(Listener::open(Address::loopback()).error().code(), Errc::invalid_arg);
}

TEST(StreamOfASystemThatEnded, SaysSo) {
  Stream stream;
  {
    Runtime runtime(RuntimeOptions{.workers = 1});
    stream = std::move(Stream::pair(runtime)->first);
  }
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(stream.read(buffer).get().error().code(), Errc::loop_closed);
}

TEST(StreamThatWaits, EndsWhenItIsClosed) {
  for (const Reactor reactor : {Reactor::epoll, Reactor::io_uring}) {
    Loop loop(LoopOptions{.reactor = reactor});
    if (!loop) continue;
    auto ends = Stream::pair(loop);
    std::array<std::byte, 8> buffer;
    auto reading = loop.spawn_async(ends->first.read(buffer));
    loop.run_once(0ms);
    ends->first.close();
    EXPECT_EQ(loop.run_until(std::move(reading)).error().code(), Errc::cancelled);
  }
}

// The thread may free its buffer when it has been told.
TEST(StreamThatWaits, OnAThreadEndsWithItsSystem) {
  for (const Reactor reactor : {Reactor::epoll, Reactor::io_uring}) {
    auto runtime = std::make_unique<Runtime>(RuntimeOptions{.workers = 1, .reactor = reactor});
    if (!*runtime) continue;
    auto ends = Stream::pair(*runtime);
    Errc code = Errc::ok;
    std::thread reader([&] {
      const auto buffer = std::make_unique<std::array<std::byte, 64>>();
      code = ends->first.read(*buffer).get().error().code();
    });
    io::Reactor& outside = net::executor_of(net::Home(*runtime).keeper())->io();
    while (outside.pending_count() == 0) std::this_thread::yield();
    runtime.reset();
    reader.join();
    // Its handle was closed first, or it was.
    EXPECT_TRUE(code == Errc::cancelled || code == Errc::loop_closed) << to_string(code);
  }
}

TEST(StreamThatWaits, EndsWithItsSystem) {
  auto runtime = std::make_unique<Runtime>(RuntimeOptions{.workers = 1});
  auto ends = Stream::pair(*runtime);
  std::array<std::byte, 8> buffer;
  auto reading = runtime->spawn_async(ends->first.read(buffer));
  runtime.reset();
  EXPECT_EQ(reading.get().error().code(), Errc::cancelled);
}

}  // namespace
}  // namespace jzx

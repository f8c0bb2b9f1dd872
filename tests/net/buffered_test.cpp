// Readers that keep what came too early.
#include <chrono>

#include "net/streams.hpp"

namespace jzx {
namespace {

using namespace std::chrono_literals;
using net::BufferedReader;
using net::Stream;

class Buffered : public testing::PlaceWithStream {
 protected:
  void say(std::string_view text) { ASSERT_TRUE(run(peer.write_all(text)).ok()); }
};
JZX_IN_ALL_PLACES(Buffered);

TEST_P(Buffered, LinesComeOneByOne) {
  say("one\r\ntwo\n\nlast");
  peer.close();
  BufferedReader reader(stream);
  EXPECT_EQ(*run(reader.read_line()), "one");
  EXPECT_EQ(*run(reader.read_line()), "two");
  EXPECT_EQ(*run(reader.read_line()), "");
  EXPECT_EQ(*run(reader.read_line()), "last");
  EXPECT_EQ(run(reader.read_line()).error().code(), Errc::end_of_stream);
}

TEST_P(Buffered, APeerThatSendsNoNewlineIsCutOff) {
  auto saying = begin([](Stream& to) -> Task<void> {
    const std::string noise(8192, 'x');
    for (;;) {
      auto writing = to.write_all(noise);
      Result<void> result = co_await writing;
      if (!result) co_return;
    }
  }(peer));
  BufferedReader reader(stream, 16384);
  EXPECT_EQ(run(reader.read_line()).error().code(), Errc::too_long);
  EXPECT_LE(reader.buffered(), 16384u + 2 * 4096u);
  stream.close();
  EXPECT_TRUE(finish(std::move(saying)).ok());
}

TEST_P(Buffered, ADelimiterMayComeInTwoParts) {
  BufferedReader reader(stream);
  say("head\r\n\r");
  auto reading = begin(reader.read_until("\r\n\r\n"));
  say("\nbody");
  EXPECT_EQ(*finish(std::move(reading)), "head\r\n\r\n");
  EXPECT_EQ(*run(reader.read_exact(4)), "body");
  EXPECT_EQ(run(reader.read_until("")).error().code(), Errc::invalid_arg);
}

TEST_P(Buffered, FramesKeepTheirBoundaries) {
  const std::string large(100'000, 'y');
  auto writing = begin([](Stream& to, std::string_view text) -> Task<void> {
    for (const std::string_view each : {std::string_view("first"), std::string_view(), text}) {
      auto frame = net::write_frame(to, std::as_bytes(std::span(each)));
      Result<void> result = co_await frame;
      co_await result;
    }
    to.close();
  }(peer, large));
  BufferedReader reader(stream, 200'000);
  EXPECT_EQ(*run(reader.read_frame()), "first");
  EXPECT_EQ(*run(reader.read_frame()), "");
  EXPECT_EQ(*run(reader.read_frame()), large);
  EXPECT_EQ(run(reader.read_frame()).error().code(), Errc::end_of_stream);
  EXPECT_TRUE(finish(std::move(writing)).ok());
}

TEST_P(Buffered, AFrameBeyondTheLimitIsRefusedBeforeItIsRead) {
  say(std::string("\x7f\xff\xff\xff", 4));
  BufferedReader reader(stream);
  EXPECT_EQ(run(reader.read_frame()).error().code(), Errc::too_long);
}

TEST_P(Buffered, ACancelledReadKeepsWhatCame) {
  BufferedReader reader(stream);
  say("half a li");
  auto reading = system().spawn_async(reader.read_line());
  reading.cancel();
  EXPECT_EQ(finish(std::move(reading)).error().code(), Errc::cancelled);
  say("ne\n");
  EXPECT_EQ(*run(reader.read_line()), "half a line");
}

TEST_P(Buffered, AReadMayHaveADeadline) {
  BufferedReader reader(stream);
  say("too sl");
  Result<std::string> late = run(with_timeout(5ms, reader.read_line()));
  if (GetParam().waiter == testing::Waiter::thread) {
    // A thread has no timers of its own.
    EXPECT_FALSE(late.ok());
  } else {
    EXPECT_EQ(late.error().code(), Errc::timed_out);
  }
  say("ow\n");
  EXPECT_EQ(*run(reader.read_line()), "too slow");
}

}  // namespace
}  // namespace jzx

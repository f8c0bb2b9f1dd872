// What a cancelled operation has done, and that nothing of it is lost: it goes on where it was.
#include <array>
#include <string>

#include "net/streams.hpp"

namespace jzx {
namespace {

using net::Address;
using net::BufferedReader;
using net::Listener;
using net::Stream;
using testing::bytes_of;

// More than two sockets hold: who writes so much has been read from.
constexpr size_t kPlenty = size_t{2} << 20;

std::string pattern(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 23);
  return text;
}
std::span<std::byte> room_in(std::string& text) { return std::as_writable_bytes(std::span(text)); }

class Progress : public testing::PlaceWithStream {};
JZX_IN_ALL_PLACES(Progress);

TEST_P(Progress, OfAReadThatWasCancelledIsKept) {
  const std::string sent = pattern(2 * kPlenty);
  std::string got(sent.size(), '?');
  size_t done = 0;
  auto reading = system().spawn_async(stream.read_exact(room_in(got), &done));
  ASSERT_TRUE(run(peer.write_all(bytes_of(sent).first(kPlenty))).ok());
  reading.cancel();
  EXPECT_EQ(finish(std::move(reading)).error().code(), Errc::cancelled);
  EXPECT_GT(done, 0u);
  EXPECT_LE(done, kPlenty);
  auto rest = begin(peer.write_all(bytes_of(sent).subspan(kPlenty)));
  EXPECT_TRUE(run(stream.read_exact(room_in(got), &done)).ok());
  EXPECT_TRUE(finish(std::move(rest)).ok());
  EXPECT_EQ(done, sent.size());
  EXPECT_TRUE(got == sent);
}

TEST_P(Progress, OfAWriteThatWasCancelledIsKept) {
  const std::string sent = pattern(2 * kPlenty);
  std::string got(sent.size(), '?');
  size_t done = 0;
  auto writing = system().spawn_async(stream.write_all(bytes_of(sent), &done));
  ASSERT_TRUE(run(peer.read_exact(room_in(got).first(8))).ok());  // it has begun
  writing.cancel();
  EXPECT_EQ(finish(std::move(writing)).error().code(), Errc::cancelled);
  EXPECT_GE(done, 8u);
  EXPECT_LT(done, sent.size());
  auto rest = begin(stream.write_all(bytes_of(sent), &done));
  EXPECT_TRUE(run(peer.read_exact(room_in(got).subspan(8))).ok());
  EXPECT_TRUE(finish(std::move(rest)).ok());
  EXPECT_EQ(done, sent.size());
  EXPECT_TRUE(got == sent);
}

TEST_P(Progress, OfAFrameThatWasCancelledIsKept) {
  const std::string sent = pattern(kPlenty);
  size_t done = 0;
  BufferedReader reader(peer, kPlenty);
  auto writing = system().spawn_async(net::write_frame(stream, bytes_of(sent), &done));
  auto until_it_began = begin(reader.read_until("a"));
  EXPECT_TRUE(finish(std::move(until_it_began)).ok());  // the length, and the first letter
  writing.cancel();
  EXPECT_EQ(finish(std::move(writing)).error().code(), Errc::cancelled);
  EXPECT_GE(done, 5u);
  EXPECT_LT(done, sent.size());
  auto rest = begin(net::write_frame(stream, bytes_of(sent), &done));
  Result<std::string> got = run(reader.read_exact(sent.size() - 1));
  EXPECT_TRUE(finish(std::move(rest)).ok());
  EXPECT_EQ(done, sent.size() + 4);
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE('a' + *got == sent);
  // What is done is done: nothing is written any more.
  EXPECT_TRUE(run(net::write_frame(stream, bytes_of(sent), &done)).ok());
  stream.close();
  EXPECT_EQ(*run(reader.read_to_end()), "");
}

// In one turn, so that whoever waits for them hears of both at once.
Task<void> say_both(Stream& one, Stream& two) {
  auto first = one.write_all("first\n");
  Result<void> written = co_await first;
  co_await written;
  auto second = two.write_all("second\n");
  written = co_await second;
  co_await written;
}

TEST_P(Progress, ALineOfAReaderThatLosesARaceStaysThere) {
  for (const bool is_early : {false, true}) {
    auto one = Stream::pair(system());
    auto two = Stream::pair(system());
    ASSERT_TRUE(one.ok() && two.ok());
    BufferedReader first(one->second);
    BufferedReader second(two->second);
    if (is_early) (void)run(say_both(one->first, two->first));
    auto racing = begin(race(first.read_line(), second.read_line()));
    if (!is_early) (void)run(say_both(one->first, two->first));
    const std::string won = *finish(std::move(racing));
    one->first.close();
    two->first.close();
    const auto lost = run(won == "first" ? second.read_line() : first.read_line());
    ASSERT_TRUE(lost.ok());
    EXPECT_EQ(*lost, won == "first" ? "second" : "first");
  }
}

TEST_P(Progress, AConnectionOfAListenerThatLosesARaceStaysThere) {
  auto first = Listener::open(Address::loopback(), {}, system());
  auto second = Listener::open(Address::loopback(), {}, system());
  ASSERT_TRUE(first.ok() && second.ok());
  auto a = run(Stream::connect(*first->address(), system()));
  auto b = run(Stream::connect(*second->address(), system()));
  ASSERT_TRUE(a.ok() && b.ok());
  // Both wait; or they are there at once, which is the same to who asks.
  Result<Stream> won = run(race(first->accept(), second->accept()));
  ASSERT_TRUE(won.ok());
  const bool is_first = *won->local_address() == *first->address();
  Address from;
  Result<Stream> other = run((is_first ? *second : *first).accept(&from));
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(from, *(is_first ? *b : *a).local_address());
}

// Reads when it has been asked to stop.
Task<size_t> read_late(Stream& stream, std::span<std::byte> buffer, Future<void> before) {
  Result<void> told = co_await before;
  auto reading = stream.read(buffer);
  Result<size_t> count = co_await reading;
  co_return count;
}

TEST_P(Progress, ATaskThatWasAskedToStopTakesNothing) {
  ASSERT_TRUE(run(peer.write_all("kept")).ok());
  auto [never, promise] = jzx::promise<void>();
  std::array<std::byte, 8> buffer;
  auto reading = system().spawn_async(read_late(stream, buffer, std::move(never)));
  reading.cancel();
  EXPECT_EQ(finish(std::move(reading)).error().code(), Errc::cancelled);
  EXPECT_EQ(*run(stream.read(buffer)), 4u);
}

}  // namespace
}  // namespace jzx

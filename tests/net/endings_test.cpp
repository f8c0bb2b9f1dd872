// How a conversation ends that nobody wanted to end: resets, kills, short writes. The owner gets an
// error, the peer sees the end, and nothing stays open.
#include <array>
#include <cerrno>

#include "net/streams.hpp"
#include "support/open_files.hpp"

namespace jzx {
namespace {

using net::Address;
using net::Listener;
using net::Stream;
using testing::read_to_end;

// More than the buffers of two sockets hold.
constexpr size_t kMuch = size_t{32} << 20;

class Endings : private testing::NoFileLeft, public testing::Place {
 protected:
  // Both ends of a TCP connection.
  std::pair<Stream, Stream> connected() {
    Result<Listener> listener = Listener::open(Address::loopback(), {}, system());
    EXPECT_TRUE(listener.ok());
    auto accepting = begin(listener->accept());
    Result<Stream> client = run(Stream::connect(*listener->address(), system()));
    Result<Stream> server = finish(std::move(accepting));
    EXPECT_TRUE(client.ok() && server.ok());
    return {std::move(*client), std::move(*server)};
  }
  // Asks the stream's owner to end. A thread is nobody who can be asked.
  template <class T>
  [[nodiscard]] Pid begin_actor(Task<T> task) {
    if (GetParam().waiter == testing::Waiter::fiber) {
      return system().spawn_fn([t = std::move(task)]() mutable { (void)t.get(); });
    }
    Pid actor;
    (void)system().spawn_async(std::move(task), &actor);
    return actor;
  }
};
JZX_IN_ALL_PLACES(Endings);

// Nobody kills a thread.
class EndingsOfActors : public Endings {};
INSTANTIATE_TEST_SUITE_P(All, EndingsOfActors, ::testing::ValuesIn(testing::settings_of_actors()),
                         [](const auto& one) { return testing::name_of(one.param); });

TEST_P(Endings, AShortWriteSaysHowMuchWasTaken) {
  auto ends = Stream::pair(system());
  ASSERT_TRUE(ends.ok());
  auto& [a, b] = *ends;
  const std::vector<std::byte> much(kMuch);
  Result<size_t> taken = run(a.write(much));
  ASSERT_TRUE(taken.ok());
  EXPECT_GT(*taken, 0u);
  EXPECT_LT(*taken, much.size());
  a.close();
  EXPECT_EQ(*run(read_to_end(b)), *taken);
}

TEST_P(Endings, AReadThatWaitsHearsOfAReset) {
  auto [client, server] = connected();
  std::array<std::byte, 8> buffer;
  auto reading = begin(server.read(buffer));
  ASSERT_TRUE(client.set_reset_on_close().ok());
  client.close();
  EXPECT_EQ(finish(std::move(reading)).error().system_code(), ECONNRESET);
}

TEST_P(Endings, AWriteThatWaitsHearsOfAReset) {
  auto [client, server] = connected();
  const std::vector<std::byte> much(kMuch);
  auto writing = begin(server.write_all(much));
  std::array<std::byte, 8> buffer;
  ASSERT_TRUE(run(client.read_exact(buffer)).ok());  // it has begun
  ASSERT_TRUE(client.set_reset_on_close().ok());
  client.close();
  Result<void> written = finish(std::move(writing));
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code(), Errc::io_failed);
  const int why = written.error().system_code();
  EXPECT_TRUE(why == ECONNRESET || why == EPIPE) << why;
}

TEST_P(Endings, AResetInTheMiddleOfAReadLosesWhatWasExpected) {
  auto [client, server] = connected();
  ASSERT_TRUE(run(client.write_all("half")).ok());
  std::array<std::byte, 8> buffer;
  ASSERT_TRUE(run(server.read_exact(std::span(buffer).first(2))).ok());
  auto reading = begin(server.read_exact(buffer));
  ASSERT_TRUE(client.set_reset_on_close().ok());
  client.close();
  EXPECT_EQ(finish(std::move(reading)).error().system_code(), ECONNRESET);
}

// Says that it is there, and then waits for what never comes.
Task<void> say_and_read(Stream stream) {
  auto writing = stream.write_all("!");
  Result<void> written = co_await writing;
  co_await written;
  std::array<std::byte, 8> buffer;
  auto reading = stream.read(buffer);
  Result<size_t> count = co_await reading;
  if (!count) co_await fail(count.error());
}

Task<void> write_much(Stream stream) {
  const std::vector<std::byte> much(kMuch);
  auto writing = stream.write_all(much);
  Result<void> written = co_await writing;
  co_await written;
}

TEST_P(EndingsOfActors, AnActorThatIsKilledInAReadLeavesNothingOpen) {
  auto [client, server] = connected();
  const Pid actor = begin_actor(say_and_read(std::move(server)));
  std::array<std::byte, 1> buffer;
  ASSERT_TRUE(run(client.read_exact(buffer)).ok());
  ASSERT_EQ(system().kill(actor), Errc::ok);
  Result<size_t> rest = run(read_to_end(client));
  ASSERT_TRUE(rest.ok()) << rest.error().message();
  EXPECT_EQ(*rest, 0u);
}

Task<void> have_come(Future<Down> end) {
  Result<Down> down = co_await end;
  if (!down) co_await fail(down.error());
}

TEST_P(EndingsOfActors, AnActorThatIsKilledInAWriteLeavesNothingOpen) {
  auto [client, server] = connected();
  const Pid actor = begin_actor(write_much(std::move(server)));
  std::array<std::byte, 8> buffer;
  ASSERT_TRUE(run(client.read_exact(buffer)).ok());  // it has begun, and cannot end
  auto end = system().when_down(actor);
  ASSERT_EQ(system().kill(actor), Errc::ok);
  // Who reads before that may read all of it, if the kernel is quicker than the kill.
  ASSERT_TRUE(run(have_come(std::move(end))).ok());
  Result<size_t> rest = run(read_to_end(client));
  ASSERT_TRUE(rest.ok()) << rest.error().message();
  EXPECT_LT(*rest + buffer.size(), kMuch);
}

TEST_P(EndingsOfActors, APeerThatIsKilledIsTheEndOfWhoReads) {
  auto [client, server] = connected();
  const Pid actor = begin_actor(say_and_read(std::move(client)));
  auto reading = begin(read_to_end(server));
  ASSERT_EQ(system().kill(actor), Errc::ok);
  Result<size_t> rest = finish(std::move(reading));
  ASSERT_TRUE(rest.ok()) << rest.error().message();
  EXPECT_LE(*rest, 1u) << "it may have been killed before it began";
}

}  // namespace
}  // namespace jzx

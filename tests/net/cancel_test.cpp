// Operations that wait for the world, and are taken back.
#include <array>
#include <csignal>
#include <vector>

#include "net/streams.hpp"
#include "support/open_files.hpp"

namespace jzx {
namespace {

using net::Address;
using net::Listener;
using net::Stream;
using testing::read_to_end;

class CancelledOperations : private testing::NoFileLeft, public testing::Place {};
JZX_IN_ALL_PLACES(CancelledOperations);

// Writes until there is no room any more, and says how much was taken.
Task<void> fill(Stream& stream, size_t& taken) {
  const std::vector<std::byte> much(size_t{1} << 20);
  for (;;) {
    auto writing = stream.write(much);
    Result<size_t> count = co_await writing;
    if (!count) co_await fail(count.error());
    taken += *count;
  }
}

TEST_P(CancelledOperations, AWriteThatWaitsForRoomHasWrittenNothing) {
  auto ends = Stream::pair(system());
  ASSERT_TRUE(ends.ok());
  size_t taken = 0;
  auto filling = system().spawn_async(fill(ends->first, taken));
  std::array<std::byte, 1> byte;
  ASSERT_TRUE(run(ends->second.read_exact(byte)).ok());  // it has begun
  filling.cancel();
  EXPECT_EQ(finish(std::move(filling)).error().code(), Errc::cancelled);
  EXPECT_GT(taken, 0u);
  ends->first.close();
  EXPECT_EQ(*run(read_to_end(ends->second)) + 1, taken);
}

// Nobody accepts, and the queue of the kernel, for two, is full: who comes then waits for an answer
// to the first packet.
TEST_P(CancelledOperations, AConnectThatWaitsClosesItsSocket) {
  auto listener = Listener::open(Address::loopback(), {.backlog = 1}, system());
  ASSERT_TRUE(listener.ok());
  const Address where = *listener->address();
  auto first = run(Stream::connect(where, system()));
  auto second = run(Stream::connect(where, system()));
  ASSERT_TRUE(first.ok() && second.ok());
  for (int i = 0; i < 3; ++i) {
    auto connecting = system().spawn_async(Stream::connect(where, system()));
    EXPECT_TRUE(run(net::resolve("127.0.0.1", 1, system())).ok());  // lets it begin
    connecting.cancel();
    EXPECT_EQ(finish(std::move(connecting)).error().code(), Errc::cancelled);
  }
}

TEST_P(CancelledOperations, AWaitForAProcessMayBeBegunAgain) {
  net::ProcessSpec spec;
  spec.program = "sleep";
  spec.arguments = {"1000"};
  Result<net::Process> process = run(net::Process::start(spec, system()));
  ASSERT_TRUE(process.ok()) << process.error().message();
  for (int i = 0; i < 3; ++i) {
    auto waiting = system().spawn_async(process->wait());
    EXPECT_TRUE(run(net::resolve("127.0.0.1", 1, system())).ok());  // lets it begin
    waiting.cancel();
    EXPECT_EQ(finish(std::move(waiting)).error().code(), Errc::cancelled);
  }
  EXPECT_TRUE(process->kill(SIGKILL).ok());
  EXPECT_EQ(run(process->wait())->signal, SIGKILL);
}

TEST_P(CancelledOperations, AnAcceptMayBeBegunAgain) {
  auto listener = Listener::open(Address::loopback(), {}, system());
  ASSERT_TRUE(listener.ok());
  auto accepting = system().spawn_async(listener->accept());
  EXPECT_TRUE(run(net::resolve("127.0.0.1", 1, system())).ok());  // lets it begin
  accepting.cancel();
  EXPECT_EQ(finish(std::move(accepting)).error().code(), Errc::cancelled);
  auto client = run(Stream::connect(*listener->address(), system()));
  ASSERT_TRUE(client.ok());
  EXPECT_TRUE(run(listener->accept()).ok());
}

}  // namespace
}  // namespace jzx

// Bytes that come and go: TCP, Unix sockets and pipes.
#include <sys/resource.h>

#include "io/operation_fixture.hpp"

namespace jzx::io {
namespace {

class Streams : public OperationTest {
 protected:
  // As much as fits.
  size_t fill(Handle to) {
    size_t total = 0;
    for (;;) {
      Writing writing(to, std::string(4096, 'f'));
      if (submit(writing) == Submitted::pending) {
        tell();
        if (writing.completions == 0) {
          reactor->cancel(writing);
          (void)await(writing);
          if (writing.result < 0) return total;
        }
      }
      EXPECT_GT(writing.result, 0);
      total += static_cast<size_t>(writing.result);
    }
  }
};
JZX_TEST_ALL_REACTORS(Streams);

class StreamsOnFds : public Streams {};
JZX_TEST_BOTH_REACTORS(StreamsOnFds);

TEST_P(Streams, ATcpConnectionCarriesBytesBothWays) {
  const auto [client, server] = connection();
  EXPECT_EQ(write(client, "ping"), 4);
  EXPECT_EQ(read(server), "ping");
  EXPECT_EQ(write(server, "pong"), 4);
  EXPECT_EQ(read(client), "pong");
}

TEST_P(Streams, AConnectionOverIpv6) {
  std::array<uint8_t, 16> host{};
  host[15] = 1;
  const Handle probe = socket(Family::ipv6);
  if (with_address(Opcode::bind, probe, Address::ipv6(host, 0)) != 0) {
    GTEST_SKIP() << "no IPv6 here";
  }
  const auto [client, server] = connection(Address::ipv6(host, 0));
  EXPECT_EQ(name_of_socket(server, Opcode::peer_name), name_of_socket(client));
  EXPECT_EQ(write(client, "six"), 3);
  EXPECT_EQ(read(server), "six");
}

TEST_P(Streams, AUnixSocketHasAPathOrAnAbstractName) {
  const std::string path = ::testing::TempDir() + "jzx_io_" + name_of(GetParam()) + "_" +
                           std::to_string(::getpid()) + ".socket";
  const std::string abstract = std::string(1, '\0') + "jzx" + path;
  for (const std::string& where : {path, abstract}) {
    const Handle listening = listener(Address::local(where));
    EXPECT_EQ(name_of_socket(listening).path(), where);
    const Handle client = socket(Family::local);
    EXPECT_EQ(with_address(Opcode::connect, client, Address::local(where)), 0);
    Call accept(Opcode::accept, listening);
    const Handle server = keep(run(accept));
    EXPECT_EQ(name_of_socket(server, Opcode::peer_name).family, Family::none);
    EXPECT_EQ(write(client, "hello"), 5);
    EXPECT_EQ(read(server), "hello");
  }
  Call remove(Opcode::remove);
  remove.buffer = const_cast<char*>(path.c_str());
  EXPECT_EQ(run(remove), 0);
  EXPECT_EQ(run(remove), -ENOENT);
}

TEST_P(Streams, AnAcceptTellsWhoItWas) {
  const Handle listening = listener();
  Address peer;
  Call accept(Opcode::accept, listening);
  accept.address = &peer;
  EXPECT_EQ(submit(accept), Submitted::pending);
  const Handle client = socket(Family::ipv4);
  EXPECT_EQ(with_address(Opcode::connect, client, name_of_socket(listening)), 0);
  keep(await(accept));
  EXPECT_EQ(peer, name_of_socket(client));
  EXPECT_EQ(name_of_socket(accept.made(), Opcode::peer_name), peer);
}

TEST_P(Streams, SeveralConnectionsAreAcceptedOneByOne) {
  const Handle listening = listener();
  const Address address = name_of_socket(listening);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(with_address(Opcode::connect, socket(Family::ipv4), address), 0);
  }
  for (int i = 0; i < 5; ++i) {
    Call accept(Opcode::accept, listening);
    keep(run(accept));
  }
  Call accept(Opcode::accept, listening);
  EXPECT_EQ(submit(accept), Submitted::pending);
  EXPECT_EQ(close(listening), 0);
  EXPECT_EQ(await(accept), -ECANCELED);
}

TEST_P(StreamsOnFds, WithoutAFreeDescriptorAnAcceptFailsAndTheNextMaySucceed) {
  const Handle listening = listener();
  const Handle client = socket(Family::ipv4);
  EXPECT_EQ(with_address(Opcode::connect, client, name_of_socket(listening)), 0);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(client.value & INT32_MAX) + 1;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  Call accept(Opcode::accept, listening);
  EXPECT_EQ(run(accept), -EMFILE);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  keep(run(accept));
}

TEST_P(Streams, AConnectToNobodyIsRefused) {
  const Handle listening = listener();
  const Address address = name_of_socket(listening);
  EXPECT_EQ(close(listening), 0);
  EXPECT_EQ(with_address(Opcode::connect, socket(Family::ipv4), address), -ECONNREFUSED);
  EXPECT_EQ(with_address(Opcode::connect, socket(Family::local), Address::local("/nobody/here")),
            -ENOENT);
  EXPECT_EQ(with_address(Opcode::connect, socket(Family::ipv4), Address{}), -EINVAL);
}

TEST_P(Streams, AConnectThatNobodyAnswersCanBeCancelled) {
  // A listener with a full queue answers no more.
  const Handle listening = socket(Family::ipv4);
  EXPECT_EQ(with_address(Opcode::bind, listening, loopback()), 0);
  EXPECT_EQ(with_value(Opcode::listen, listening, 1), 0);
  Address address = name_of_socket(listening);
  std::vector<std::unique_ptr<Call>> calls;
  bool is_waiting = false;
  for (int i = 0; i < 8 && !is_waiting; ++i) {
    calls.push_back(std::make_unique<Call>(Opcode::connect, socket(Family::ipv4)));
    calls.back()->address = &address;
    if (submit(*calls.back()) != Submitted::pending) continue;
    for (int looks = 0; looks < 3; ++looks) tell();
    is_waiting = calls.back()->completions == 0;
  }
  ASSERT_TRUE(is_waiting) << "the queue does not fill";
  reactor->cancel(*calls.back());
  EXPECT_EQ(await(*calls.back()), -ECANCELED);
}

TEST_P(Streams, AnEndIsReadAsNothing) {
  for (const auto& [near, far] : {connection(), socket_pair()}) {
    EXPECT_EQ(write(far, "last"), 4);
    EXPECT_EQ(with_value(Opcode::shutdown, far, static_cast<int64_t>(Direction::writing)), 0);
    EXPECT_EQ(read(near), "last");
    EXPECT_EQ(read(near), "");
    EXPECT_EQ(read(near), "");
    EXPECT_EQ(write(near, "half open"), 9);
    EXPECT_EQ(read(far), "half open");
  }
}

TEST_P(Streams, AnEndThatIsToldWithTheLastBytesIsReadAfterThem) {
  for (const auto& [near, far] : {connection(), socket_pair(), pipe()}) {
    Reading reading(near);
    EXPECT_EQ(submit(reading), Submitted::pending);
    tell();
    EXPECT_EQ(write(far, "last"), 4);
    EXPECT_EQ(close(far), 0);
    EXPECT_EQ(await(reading), 4);
    EXPECT_EQ(run(reading), 0) << "no edge follows the one that told of both";
  }
}

TEST_P(Streams, AnEndThatComesWhileOneReadsIsHeard) {
  const auto [near, far] = connection();
  Reading reading(near);
  EXPECT_EQ(submit(reading), Submitted::pending);
  tell();
  EXPECT_EQ(close(far), 0);
  EXPECT_EQ(await(reading), 0);
}

TEST_P(Streams, AResetIsAnErrorOfTheReader) {
  const auto [near, far] = connection();
  Reading reading(near);
  EXPECT_EQ(submit(reading), Submitted::pending);
  Call linger(Opcode::set_option, far);
  linger.option = Option::linger_s;
  linger.value = 0;
  EXPECT_EQ(run(linger), 0);
  EXPECT_EQ(close(far), 0);
  EXPECT_EQ(await(reading), -ECONNRESET);
}

TEST_P(Streams, WritingToNobodyIsAnErrorAndNoSignal) {
  const auto [near, far] = socket_pair();
  EXPECT_EQ(close(far), 0);
  EXPECT_EQ(write(near, "x"), -EPIPE);
  const auto [reader, writer] = pipe();
  EXPECT_EQ(close(reader), 0);
  EXPECT_EQ(write(writer, "x"), -EPIPE);
}

TEST_P(Streams, AFullOneIsWrittenWhenSomebodyReads) {
  for (const auto& [from, to] : {pipe(), socket_pair(), connection()}) {
    const size_t filled = fill(to);
    EXPECT_GT(filled, 0u);
    Writing writing(to, "more");
    EXPECT_EQ(submit(writing), Submitted::pending);
    tell();
    EXPECT_EQ(writing.completions, 0);
    EXPECT_EQ(read_exactly(from, filled).size(), filled);
    EXPECT_EQ(await(writing), 4);
    EXPECT_EQ(read(from), "more");
  }
}

TEST_P(Streams, AWriterAndAReaderOfOneHandleMayBothWait) {
  for (const auto& [near, far] : {socket_pair(), connection()}) {
    const size_t filled = fill(near);
    Writing writing(near, "more");
    EXPECT_EQ(submit(writing), Submitted::pending);
    Reading reading(near);
    EXPECT_EQ(submit(reading), Submitted::pending);
    tell();
    EXPECT_EQ(read_exactly(far, filled).size(), filled);
    EXPECT_EQ(await(writing), 4);
    EXPECT_EQ(read(far), "more");
    EXPECT_EQ(write(far, "answer"), 6);
    EXPECT_EQ(await(reading), 6);
  }
}

TEST_P(Streams, AWriterWhoWaitsForAReaderHearsThatHeHasGone) {
  const auto [reader, writer] = pipe();
  (void)fill(writer);
  Writing writing(writer, "more");
  EXPECT_EQ(submit(writing), Submitted::pending);
  tell();
  EXPECT_EQ(close(reader), 0);
  EXPECT_EQ(await(writing), -EPIPE);
}

TEST_P(Streams, ALargeWriteGoesInParts) {
  const auto [near, far] = connection();
  std::string large(4 << 20, '\0');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7 % 251);
  size_t written = 0;
  std::string arrived;
  Writing writing(near, large);
  Reading reading(far, 1 << 16);
  const auto step = [&](auto& call, auto&& advance) {
    while (submit(call) == Submitted::done) {
      if (call.result <= 0 || !advance()) return;
    }
  };
  const auto wrote = [&] {
    written += static_cast<size_t>(writing.result);
    writing.buffer = writing.bytes.data() + written;
    writing.size = large.size() - written;
    return writing.size > 0;
  };
  const auto got = [&] {
    arrived += reading.text();
    return arrived.size() < large.size();
  };
  writing.then = [&] {
    if (wrote()) step(writing, wrote);
  };
  reading.then = [&] {
    if (got()) step(reading, got);
  };
  step(writing, wrote);
  step(reading, got);
  while (reactor->pending_count() > 0) ASSERT_EQ(reactor->wait(base::kNever), 0);
  EXPECT_EQ(written, large.size());
  EXPECT_TRUE(arrived == large);
}

TEST_P(Streams, AReadWithLittleRoomLeavesTheRest) {
  for (const auto& [from, to] : {pipe(), socket_pair(), connection()}) {
    EXPECT_EQ(write(to, "abcdef"), 6);
    EXPECT_EQ(read(from, 2), "ab");
    EXPECT_EQ(read(from, 3), "cde");
    EXPECT_EQ(read(from, 3), "f");
  }
}

// What the kernel was not asked it was not asked in vain: known from the bytes that were there
// and were not taken.
TEST_P(StreamsOnFds, AfterAShortReadTheNextOneWaitsForItsEdge) {
  for (const auto& [from, to] : {pipe(), socket_pair(), connection()}) {
    Reading reading(from);
    EXPECT_EQ(submit(reading), Submitted::pending);
    EXPECT_EQ(write(to, "first"), 5);
    EXPECT_EQ(await(reading), 5);
    EXPECT_EQ(write(to, "second"), 6);
    EXPECT_EQ(submit(reading), Submitted::pending);
    EXPECT_EQ(await(reading), 6);
  }
}

TEST_P(Streams, SlicesAreReadAndWrittenInOrder) {
  for (const auto& [from, to] : {pipe(), socket_pair(), connection()}) {
    char first[] = "one ";
    char second[] = "two";
    std::array<Slice, 2> slices{{{first, 4}, {second, 3}}};
    Call writing(Opcode::write_vector, to);
    writing.buffer = slices.data();
    writing.size = slices.size();
    EXPECT_EQ(run(writing), 7);
    char head[3] = {};
    char tail[16] = {};
    slices = {{{head, 3}, {tail, 16}}};
    Call reading(Opcode::read_vector, from);
    reading.buffer = slices.data();
    reading.size = slices.size();
    EXPECT_EQ(run(reading), 7);
    EXPECT_EQ(std::string(head, 3) + tail, "one two");
    EXPECT_EQ(submit(reading), Submitted::pending);
    EXPECT_EQ(write(to, "x"), 1);
    EXPECT_EQ(await(reading), 1);
    for (const size_t count : {size_t{0}, kMaxSlices + 1}) {
      Call refused(Opcode::write_vector, to);
      refused.size = count;
      EXPECT_EQ(run(refused), -EINVAL);
    }
  }
}

TEST_P(Streams, OptionsAreSetAndRead) {
  const auto [client, server] = connection();
  Call option(Opcode::set_option, client);
  for (const Option which : {Option::no_delay, Option::keep_alive, Option::reuse_address}) {
    for (const int64_t value : {1, 0}) {
      option.opcode = Opcode::set_option;
      option.option = which;
      option.value = value;
      EXPECT_EQ(run(option), 0);
      option.opcode = Opcode::get_option;
      EXPECT_EQ(run(option), value);
    }
  }
  for (const int64_t seconds : {5, 0, -1}) {
    option.opcode = Opcode::set_option;
    option.option = Option::linger_s;
    option.value = seconds;
    EXPECT_EQ(run(option), 0);
    option.opcode = Opcode::get_option;
    EXPECT_EQ(run(option), seconds);
  }
  option.option = Option::error;
  EXPECT_EQ(run(option), 0);
  option.opcode = Opcode::set_option;
  EXPECT_EQ(run(option), -EINVAL);
}

}  // namespace
}  // namespace jzx::io

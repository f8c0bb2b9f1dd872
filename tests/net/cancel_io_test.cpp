// I/O in tasks that are cancelled at every suspension, with both reactors: no byte, no connection
// and no signal is gone afterwards, and nothing is left open.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "async/cancel_everywhere.hpp"
#include "net/streams.hpp"
#include "support/fds.hpp"
#include "support/open_files.hpp"
#include "support/raw_socket.hpp"

namespace jzx::testing {
namespace {

using net::Address;
using net::Listener;
using net::Stream;

// A stream of the script's, and its other end, which is the world's.
class Conversation : public Script {
 public:
  Conversation(World& the_world, std::pair<Fd, Fd> ends)
      : Script(the_world), near(std::move(ends.first)), far(std::move(ends.second)) {
    Result<Stream> adopted = Stream::adopt(::dup(near.get()));
    EXPECT_TRUE(adopted.ok());
    stream = std::move(*adopted);
  }

 protected:
  // It sends so much at this turn.
  void will_send(int turns, std::string text) {
    sent += text;
    world.after(turns, [this, text] { write_raw(far, text); });
  }
  // What was read, and what nobody has read, is what was sent.
  void expect_all_there(const std::string& read) { EXPECT_EQ(read + read_raw(near), sent); }

  Fd near;
  Fd far;
  Stream stream;
  std::string sent;
};

// ---- reading ----

struct Reads final : Conversation {
  explicit Reads(World& the_world) : Conversation(the_world, tcp_pair()) {}
  std::string got;

  Task<int> run() override {
    for (int i = 0; i < 4; ++i) will_send(2 * i + 1, "part" + std::to_string(i));
    std::array<std::byte, 5> buffer;
    while (got.size() < 20) {
      auto reading = stream.read(buffer);
      Result<size_t> count = co_await reading;
      const size_t size = co_await count;
      got.append(reinterpret_cast<const char*>(buffer.data()), size);
    }
    co_return 1;
  }
  void check() override { expect_all_there(got); }
};

struct ReadsLines final : Conversation {
  explicit ReadsLines(World& the_world) : Conversation(the_world, tcp_pair()) {}
  net::BufferedReader reader{stream};
  std::string got;

  Task<int> run() override {
    will_send(1, "one\ntw");
    will_send(3, "o\nfo");
    will_send(5, "ur, five\n");
    for (int i = 0; i < 2; ++i) {
      auto reading = reader.read_line();
      Result<std::string> line = co_await reading;
      got += co_await line + "\n";
    }
    auto reading_more = reader.read_until(", ");
    Result<std::string> more = co_await reading_more;
    got += co_await more;
    auto reading_exactly = reader.read_exact(4);
    Result<std::string> exact = co_await reading_exactly;
    got += co_await exact;
    co_return 1;
  }
  void check() override { expect_all_there(got + reader.take_rest()); }
};

// ---- writing ----

struct Writes final : Conversation {
  explicit Writes(World& the_world) : Conversation(the_world, pair()) {}
  static std::pair<Fd, Fd> pair() {
    Pipe pipe;
    return {std::move(pipe.writer), std::move(pipe.reader)};
  }
  std::string written;

  Task<int> run() override {
    for (int i = 0; i < 3; ++i) {
      filled += fill_up(near);
      world.after(2, [this] {
        read_off(far, filled - emptied);  // and not what is written by then
        emptied = filled;
      });
      const std::string text = "part" + std::to_string(i);
      auto writing = stream.write(bytes_of(text));
      Result<size_t> count = co_await writing;
      written += text.substr(0, co_await count);
      EXPECT_EQ(read_raw(far), text);
    }
    co_return 1;
  }
  void check() override {
    EXPECT_EQ(read_raw(far), "") << "an error says that nothing was written";
  }

 private:
  size_t filled = 0;
  size_t emptied = 0;
};

// ---- connecting ----

struct Accepts final : Script {
  using Script::Script;
  Listener listener;
  std::vector<Fd> peers;
  std::vector<Stream> accepted;

  Task<int> run() override {
    Result<Listener> opened = Listener::open(Address::loopback());
    listener = co_await opened;
    for (int i = 0; i < 3; ++i) {
      world.after(2 * i + 1, [this] { peers.push_back(connect_raw(*listener.address())); });
    }
    while (accepted.size() < 3) {
      auto accepting = listener.accept();
      Result<Stream> stream = co_await accepting;
      accepted.push_back(co_await stream);
    }
    co_return 1;
  }
  void check() override {
    while (accepted.size() < peers.size()) {
      Result<Stream> stream = listener.accept().get();  // it waits there, so this ends
      ASSERT_TRUE(stream.ok());
      accepted.push_back(std::move(*stream));
    }
    // Each is the other end of one of ours.
    for (size_t i = 0; i < peers.size(); ++i) {
      write_raw(peers[i], "?");
      std::array<std::byte, 1> byte;
      EXPECT_EQ(*accepted[i].read(byte).get(), 1u);
    }
  }
};

struct Connects final : Script {
  using Script::Script;
  Fd listener = listen_raw(8);
  Fd full = listen_raw(0);
  std::vector<Fd> before;
  int connected = 0;

  Task<int> run() override {
    for (int i = 0; i < 2; ++i) {
      auto connecting = Stream::connect(address_of(listener));
      Result<Stream> stream = co_await connecting;
      const Stream own = co_await stream;
      ++connected;
    }
    // Here nobody is let in.
    for (int i = 0; i < 3; ++i) before.push_back(connect_raw(address_of(full), SOCK_NONBLOCK));
    auto connecting = with_timeout(3ms, Stream::connect(address_of(full)));
    Result<Stream> stream = co_await connecting;
    if (stream.error().code() != Errc::timed_out) co_return stream.error();
    co_return 1;
  }
  void check() override {
    // Each that got as far as that has been closed since: the kernel may have let in one more than
    // has heard of it.
    EXPECT_EQ(::fcntl(listener.get(), F_SETFL, O_NONBLOCK), 0);
    int arrived = 0;
    for (;;) {
      const Fd peer(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (peer.get() < 0) break;
      ++arrived;
      char byte = 0;
      EXPECT_LE(::read(peer.get(), &byte, 1), 0);
    }
    EXPECT_GE(arrived, connected);
    EXPECT_LE(arrived, connected + 1);
  }
};

// ---- datagrams ----

struct Datagrams final : Script {
  using Script::Script;
  net::UdpSocket socket;
  net::UdpSocket peer;
  int got = 0;
  int sent = 0;

  Task<int> run() override {
    Result<net::UdpSocket> opened = net::UdpSocket::open(Address::loopback());
    socket = co_await opened;
    Result<net::UdpSocket> other = net::UdpSocket::open(Address::loopback());
    peer = co_await other;
    for (int i = 0; i < 3; ++i) {
      world.after(2 * i + 1, [this] {
        ASSERT_TRUE(peer.send_to(*socket.address(), bytes_of("datagram")).get().ok());
        ++sent;
      });
    }
    std::array<std::byte, 64> buffer;
    while (got < 3) {
      auto receiving = socket.receive(buffer);
      Result<net::Datagram> datagram = co_await receiving;
      EXPECT_EQ((co_await datagram).size, 8u);
      ++got;
    }
    co_return 1;
  }
  void check() override {
    std::array<std::byte, 64> buffer;
    for (; got < sent; ++got) EXPECT_TRUE(socket.receive(buffer).get().ok());
  }
};

// A wait that is always cancelled, after those that a blocking thread brings to their end.
Task<void> pause_a_little() {
  auto pausing = sleep(1ms);
  Result<void> paused = co_await pausing;
  co_await paused;
}

// ---- files ----

struct Files final : Script {
  explicit Files(World& the_world) : Script(the_world) {
    const Fd made(::mkstemp(path));
    EXPECT_GE(made.get(), 0);
  }
  ~Files() override { ::unlink(path); }
  char path[32] = "/tmp/jzx-cancel-XXXXXX";
  std::string written;

  Task<int> run() override {
    auto opening = net::File::open(path, net::OpenMode{.read = true, .write = true});
    Result<net::File> opened = co_await opening;
    net::File file = co_await opened;
    for (const std::string text : {"one", "two"}) {
      auto writing = file.write_at(written.size(), bytes_of(text));
      Result<size_t> count = co_await writing;
      written += text.substr(0, co_await count);
    }
    auto syncing = file.sync();
    Result<void> synced = co_await syncing;
    co_await synced;
    std::array<std::byte, 16> buffer;
    auto reading = file.read_at(0, buffer);
    Result<size_t> read = co_await reading;
    auto asking = file.size();
    Result<uint64_t> size = co_await asking;
    auto pausing = pause_a_little();
    co_await co_await pausing;
    co_return co_await read == 6 && co_await size == 6 ? 1 : 0;
  }
  void check() override {
    const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
    const std::string content = read_raw(file);
    // Of a write that was cancelled a part may be there, but of none after it.
    EXPECT_EQ(content.substr(0, written.size()), written);
    EXPECT_EQ(content, std::string("onetwo").substr(0, content.size()));
    EXPECT_LE(content.size(), written.size() + 3);
  }
};

// ---- processes, signals, names ----

struct Processes final : Script {
  using Script::Script;
  net::Process process;

  Task<int> run() override {
    net::ProcessSpec spec;
    spec.program = "sleep";
    spec.arguments = {"1000"};
    auto starting = net::Process::start(spec);
    Result<net::Process> started = co_await starting;
    process = co_await started;
    world.after(2, [this] { EXPECT_TRUE(process.kill(SIGKILL).ok()); });
    auto waiting = process.wait();
    Result<net::ProcessEnd> end = co_await waiting;
    EXPECT_EQ((co_await end).signal, SIGKILL);
    process = {};
    co_return 1;
  }
  void check() override {
    if (!process.is_open()) return;
    const Result<net::ProcessEnd> end = process.wait().get();  // nobody has taken it
    ASSERT_TRUE(end.ok()) << end.error().message();
    EXPECT_EQ(end->signal, SIGKILL);
  }
};

struct Signals final : Script {
  using Script::Script;
  net::Signal signal;
  uint32_t raised = 0;
  uint32_t heard = 0;

  Task<int> run() override {
    Result<net::Signal> opened = net::Signal::open(SIGUSR2);
    signal = co_await opened;
    for (int i = 0; i < 3; ++i) {
      world.after(2 * i + 1, [this] {
        ++raised;
        EXPECT_EQ(::raise(SIGUSR2), 0);
      });
    }
    while (heard < 3) {
      auto waiting = signal.next();
      Result<uint32_t> count = co_await waiting;
      heard += co_await count;
    }
    co_return 1;
  }
  void check() override {
    // Signals that come together may be one.
    if (heard < raised) {
      EXPECT_GE(*signal.next().get(), 1u);
    }
  }
};

struct Names final : Script {
  using Script::Script;
  Task<int> run() override {
    auto looking = net::resolve("localhost", 80);
    Result<std::vector<Address>> found = co_await looking;
    const bool is_there = !(co_await found).empty();
    auto pausing = pause_a_little();
    co_await co_await pausing;
    co_return is_there ? 1 : 0;
  }
};

const Sample kSamples[] = {
    {"reads", script<Reads>},       {"lines", script<ReadsLines>},
    {"writes", script<Writes>},     {"accepts", script<Accepts>},
    {"connects", script<Connects>}, {"datagrams", script<Datagrams>},
    {"files", script<Files>},       {"processes", script<Processes>},
    {"signals", script<Signals>},   {"names", script<Names>},
};

struct IoCase {
  Sample sample;
  Reactor reactor;
};
std::vector<IoCase> io_cases() {
  std::vector<IoCase> cases;
  for (const Sample& sample : kSamples) {
    for (const Reactor reactor : {Reactor::epoll, Reactor::io_uring}) {
      cases.push_back({sample, reactor});
    }
  }
  return cases;
}

void PrintTo(const IoCase& one, std::ostream* out) { *out << one.sample.name; }

class CancelIoEverywhere : private NoFileLeft, public ::testing::TestWithParam<IoCase> {
 protected:
  void SetUp() override {
    const Loop loop(LoopOptions{.reactor = GetParam().reactor});
    if (!loop) GTEST_SKIP() << "the kernel has no such reactor";
  }
};

INSTANTIATE_TEST_SUITE_P(All, CancelIoEverywhere, ::testing::ValuesIn(io_cases()),
                         [](const auto& one) {
                           return std::string(one.param.sample.name) + "_by_" +
                                  (one.param.reactor == Reactor::epoll ? "epoll" : "io_uring");
                         });

TEST_P(CancelIoEverywhere, TheSampleCompletesIfNobodyDisturbsIt) {
  expect_to_complete(GetParam().sample, GetParam().reactor);
}

TEST_P(CancelIoEverywhere, TakesNothingAndLeavesNothing) {
  cancel_everywhere(GetParam().sample, GetParam().reactor);
}

}  // namespace
}  // namespace jzx::testing

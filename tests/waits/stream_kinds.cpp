// Streams, and who listens for them: TCP, Unix sockets, pipes; and datagrams.
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

#include "support/raw_socket.hpp"
#include "waits/scene.hpp"

namespace jzx::testing {
namespace {

using net::Address;
using net::Listener;
using net::Stream;

constexpr std::string_view kText = "text";
constexpr auto kIsAll = [](size_t count) { return count == kText.size(); };

std::span<const std::byte> text_bytes() { return std::as_bytes(std::span(kText)); }

// A stream of the system's, and its other end, which is the test's.
struct Conversation {
  Conversation(Stage& stage, Fd near, Fd the_far) : far(std::move(the_far)) {
    // The stream closes what it is given, also if it cannot use it.
    Result<Stream> adopted = Stream::adopt(::dup(near.get()), stage.system());
    EXPECT_TRUE(adopted.ok());
    if (adopted) stream = std::move(*adopted);
  }
  [[nodiscard]] std::string_view read_text() const {
    return {reinterpret_cast<const char*>(buffer.data()), kText.size()};
  }

  Fd far;
  Stream stream;
  std::array<std::byte, 64> buffer{};
  size_t filled = 0;
};
using Pair = std::pair<Fd, Fd>;

Pair unix_pair() {
  SocketPair pair;
  return {std::move(pair.near), std::move(pair.far)};
}
Pair pipe_to_read() {
  Pipe pipe;
  return {std::move(pipe.reader), std::move(pipe.writer)};
}
Pair pipe_to_write() {
  Pipe pipe;
  return {std::move(pipe.writer), std::move(pipe.reader)};
}

// ---- reading ----

std::shared_ptr<Conversation> conversation(Stage& stage, Pair pair) {
  return std::make_shared<Conversation>(stage, std::move(pair.first), std::move(pair.second));
}

// The text came once: it is what was read, and there is no more of it.
auto has_read(std::shared_ptr<Conversation> it) {
  return [it] { return it->read_text() == kText; };
}

template <Pair (*kPair)()>
Scene read(Stage& stage) {
  auto it = conversation(stage, kPair());
  return scene(
      stage, [it] { return it->stream.read(it->buffer); }, [it] { write_raw(it->far, kText); },
      has_read(it), kIsAll);
}
Scene read_exact(Stage& stage) {
  auto it = conversation(stage, tcp_pair());
  return scene(
      stage, [it] { return it->stream.read_exact(std::span(it->buffer).first(kText.size())); },
      [it] { write_raw(it->far, kText); }, has_read(it));
}
Scene read_pieces(Stage& stage) {
  struct InPieces : Conversation {
    using Conversation::Conversation;
    std::array<net::MutablePiece, 2> pieces{net::MutablePiece{buffer.data(), 2},
                                            net::MutablePiece{buffer.data() + 2, 2}};
  };
  Pair pair = tcp_pair();
  auto it = std::make_shared<InPieces>(stage, std::move(pair.first), std::move(pair.second));
  return scene(
      stage, [it] { return it->stream.read_pieces(it->pieces); },
      [it] { write_raw(it->far, kText); }, has_read(it), kIsAll);
}
Scene read_line(Stage& stage) {
  struct WithReader : Conversation {
    using Conversation::Conversation;
    net::BufferedReader reader{stream};
  };
  Pair pair = tcp_pair();
  auto it = std::make_shared<WithReader>(stage, std::move(pair.first), std::move(pair.second));
  write_raw(it->far, "te");
  return scene(
      stage, [it] { return it->reader.read_line(); }, [it] { write_raw(it->far, "xt\nmore"); },
      [it] { return it->reader.take_rest() == "more"; },
      [](const std::string& line) { return line == kText; });
}

// ---- writing ----

// Nothing fits in any more.
std::shared_ptr<Conversation> full_conversation(Stage& stage, Pair pair) {
  const size_t filled = fill_up(pair.first);
  auto it = conversation(stage, std::move(pair));
  it->filled = filled;
  return it;
}
auto takes_all(std::shared_ptr<Conversation> it) {
  return [it] { read_off(it->far, it->filled); };
}
auto has_text(std::shared_ptr<Conversation> it) {
  return [it] { return read_raw(it->far) == kText; };
}

template <Pair (*kPair)()>
Scene write(Stage& stage) {
  auto it = full_conversation(stage, kPair());
  return scene(
      stage, [it] { return it->stream.write(text_bytes()); }, takes_all(it), has_text(it), kIsAll);
}
Scene write_all(Stage& stage) {
  auto it = full_conversation(stage, tcp_pair());
  return scene(
      stage, [it] { return it->stream.write_all(kText); }, takes_all(it), has_text(it));
}

// ---- connecting ----

struct Listening {
  Listener listener;
  Address address;
  std::vector<Fd> peers;
};

std::shared_ptr<Listening> listening(Stage& stage, const Address& address) {
  auto it = std::make_shared<Listening>();
  Result<Listener> opened = Listener::open(address, {}, stage.system());
  EXPECT_TRUE(opened.ok()) << opened.error().message();
  it->listener = std::move(*opened);
  it->address = *it->listener.address();
  return it;
}
Address local_name() {
  static int number = 0;
  const std::string name = "jzx-waits-" + std::to_string(::getpid()) + "-";
  return Address::local(std::string(1, '\0') + name + std::to_string(number++));
}

Scene accept(Stage& stage, const Address& address) {
  auto it = listening(stage, address);
  return scene(
      stage, [it] { return it->listener.accept(); },
      [it] { it->peers.push_back(connect_raw(it->address)); }, Always{},
      [](const Stream& stream) { return stream.is_open(); });
}
Scene accept_tcp(Stage& stage) { return accept(stage, Address::loopback()); }
Scene accept_unix(Stage& stage) { return accept(stage, local_name()); }

Scene connect(Stage& stage, const Address& address) {
  auto it = listening(stage, address);
  return scene(
      stage, [it, &stage] { return Stream::connect(it->address, stage.system()); }, [] {}, Always{},
      [](const Stream& stream) { return stream.is_open(); });
}
Scene connect_tcp(Stage& stage) { return connect(stage, Address::loopback()); }
Scene connect_unix(Stage& stage) { return connect(stage, local_name()); }

// Nobody accepts, and there is no room for one more to wait.
Scene connect_in_vain(Stage& stage) {
  struct Full {
    Fd listener = listen_raw(0);
    std::vector<Fd> before;
  };
  auto it = std::make_shared<Full>();
  const Address address = address_of(it->listener);
  for (int i = 0; i < 3; ++i) it->before.push_back(connect_raw(address, SOCK_NONBLOCK));
  return scene(
      stage, [it, address, &stage] { return Stream::connect(address, stage.system()); }, [] {});
}

// ---- datagrams ----

struct Post {
  net::UdpSocket socket;
  Fd peer{::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  std::array<std::byte, 64> buffer{};
};
std::shared_ptr<Post> post(Stage& stage) {
  auto it = std::make_shared<Post>();
  Result<net::UdpSocket> opened = net::UdpSocket::open(Address::loopback(), stage.system());
  EXPECT_TRUE(opened.ok());
  it->socket = std::move(*opened);
  SocketAddress address;
  const socklen_t size = fill(address, Address::loopback());
  EXPECT_EQ(::bind(it->peer.get(), &address.any, size), 0);
  return it;
}

Scene receive(Stage& stage) {
  auto it = post(stage);
  return scene(
      stage, [it] { return it->socket.receive(it->buffer); },
      [it] {
        SocketAddress address;
        const socklen_t size = fill(address, *it->socket.address());
        EXPECT_EQ(::sendto(it->peer.get(), kText.data(), kText.size(), 0, &address.any, size), 4);
      },
      Always{}, [](const net::Datagram& datagram) { return datagram.size == kText.size(); });
}
Scene send_to(Stage& stage) {
  auto it = post(stage);
  return scene(
      stage, [it] { return it->socket.send_to(address_of(it->peer), text_bytes()); }, [] {},
      [it] { return read_raw(it->peer) == kText; });
}

}  // namespace

std::vector<Kind> stream_kinds() {
  return {{"tcp_read", &read<&tcp_pair>, Trait::takes},
          {"unix_read", &read<&unix_pair>, Trait::takes},
          {"pipe_read", &read<&pipe_to_read>, Trait::takes},
          {"tcp_read_exact", &read_exact, Trait::takes},
          {"tcp_read_pieces", &read_pieces, Trait::takes},
          {"tcp_read_line", &read_line, Trait::takes},
          {"tcp_write", &write<&tcp_pair>, Trait::takes},
          {"unix_write", &write<&unix_pair>, Trait::takes},
          {"pipe_write", &write<&pipe_to_write>, Trait::takes},
          {"tcp_write_all", &write_all, Trait::takes},
          {"tcp_accept", &accept_tcp, Trait::takes},
          {"unix_accept", &accept_unix, Trait::takes},
          {"tcp_connect", &connect_tcp, Trait::ends_by_itself},
          {"unix_connect", &connect_unix, Trait::ends_by_itself},
          {"tcp_connect_in_vain", &connect_in_vain, Trait::never_ends},
          {"udp_receive", &receive, Trait::takes},
          {"udp_send_to", &send_to, Trait::ends_by_itself}};
}

}  // namespace jzx::testing

// tcp_echo: one actor per connection, 64 bytes there and back, over loopback. Guards the promise
// that a connection as an actor costs no more than a hand-written epoll loop: `tcp_echo_c_epoll` is
// that loop, measured in the same run with the same client.
//
// The client is plain C on a thread of its own: one request in flight on each connection, all
// answers checked, and taken in the order of the requests. It waits for an answer by asking again
// and never sleeps, since the server would have to pay for waking it. The server has one thread.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "base/atomic.hpp"
#include "echo.hpp"
#include "workers_support.hpp"

namespace {

constexpr size_t kSize = 64;
using Message = std::array<char, kSize>;

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::abort();
}
int checked(int result, const char* what) {
  if (result < 0) die(what);
  return result;
}

// ---- the client ----

class Client {
 public:
  Client(uint16_t port, size_t connections) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (size_t i = 0; i < connections; ++i) {
      const int fd = checked(::socket(AF_INET, SOCK_STREAM, 0), "socket");
      checked(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), "connect");
      const int on = 1;
      checked(::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), "no delay");
      fds_.push_back(fd);
      counts_.push_back(0);
    }
  }
  ~Client() {
    for (const int fd : fds_) ::close(fd);
  }
  Client(const Client&) = delete;

  [[nodiscard]] uint64_t requests() const { return requests_; }
  // Of every connection, each checked.
  [[nodiscard]] uint64_t answers() const {
    return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0});
  }

  // So many requests, shared by the connections.
  void talk(size_t requests) {
    requests_ += requests;
    const size_t ahead = std::min(requests, fds_.size());
    for (size_t i = 0; i < ahead; ++i) send(i);
    for (size_t n = 0; n < requests; ++n) {
      const size_t i = n % fds_.size();
      receive(i);
      if (n + ahead < requests) send(i);
    }
  }

 private:
  [[nodiscard]] Message message(size_t i) const {
    Message text{};
    const uint64_t numbers[] = {i, counts_[i]};
    std::memcpy(text.data(), numbers, sizeof(numbers));
    return text;
  }
  void send(size_t i) {
    const Message text = message(i);
    if (::send(fds_[i], text.data(), kSize, MSG_NOSIGNAL) != kSize) die("send");
  }
  void receive(size_t i) {
    Message answer;
    for (size_t got = 0; got < kSize;) {
      const ssize_t n = ::recv(fds_[i], answer.data() + got, kSize - got, MSG_DONTWAIT);
      if (n < 0 && errno == EAGAIN) {
        for (int spin = 0; spin < 16; ++spin) jzx::base::spin_hint();
        continue;
      }
      if (n <= 0) die("the server has hung up");
      got += static_cast<size_t>(n);
    }
    if (answer != message(i)) die("a wrong answer");
    ++counts_[i];
  }

  std::vector<int> fds_;
  std::vector<uint64_t> counts_;
  uint64_t requests_ = 0;
};

void measure(benchmark::State& state, uint16_t port) {
  constexpr size_t kRequests = 20'000;
  const auto connections = static_cast<size_t>(state.range(0));
  Client client(port, connections);
  client.talk(connections);  // every connection is accepted
  bench::measure_warm(state, [&](bench::WorkersWatch& watch) {
    watch.start();
    client.talk(kRequests);
    watch.stop();
    BENCH_CHECK_COUNT(client.answers(), client.requests());
    return kRequests;
  });
}

// ---- the server ----

jzx::Task<void> serve(jzx::net::Listener& listener, jzx::Runtime& runtime) {
  for (;;) {
    auto accepting = listener.accept();
    jzx::Result<jzx::net::Stream> stream = co_await accepting;
    if (!stream) co_return;
    (void)stream->set_no_delay(true);
    (void)runtime.spawn_async(bench::echo(std::move(*stream)));
  }
}

void tcp_echo(benchmark::State& state, jzx::Reactor reactor) {
  jzx::Runtime runtime(jzx::RuntimeOptions{.workers = 1, .reactor = reactor});
  if (!runtime) return state.SkipWithError("no such reactor");
  auto listener =
      jzx::net::Listener::open(jzx::net::Address::loopback(), {.backlog = 1024}, runtime);
  if (!listener) return state.SkipWithError(listener.error().message());
  auto serving = runtime.spawn_async(serve(*listener, runtime));
  measure(state, listener->address()->port);
  serving.cancel();
  (void)serving.get();
}

// ---- the loop to compare with ----

constexpr int kEvents = 256;

class EpollServer {
 public:
  EpollServer()
      : epoll_(checked(::epoll_create1(0), "epoll")),
        listener_(checked(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), "socket")),
        stop_(checked(::eventfd(0, 0), "eventfd")) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    checked(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), "bind");
    checked(::listen(listener_, 1024), "listen");
    add(listener_);
    add(stop_);
    thread_ = std::thread([this] { run(); });
  }
  ~EpollServer() {
    (void)::eventfd_write(stop_, 1);
    thread_.join();
    for (const int fd : {listener_, stop_, epoll_}) ::close(fd);
  }
  EpollServer(const EpollServer&) = delete;

  [[nodiscard]] uint16_t port() const {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    checked(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), "name");
    return ntohs(address.sin_port);
  }

 private:
  void add(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    checked(::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
  }
  void run() const {
    std::array<epoll_event, kEvents> events;
    std::array<char, 4096> buffer;
    for (;;) {
      const int count = checked(::epoll_wait(epoll_, events.data(), kEvents, -1), "wait");
      for (int e = 0; e < count; ++e) {
        const int fd = events[static_cast<size_t>(e)].data.fd;
        if (fd == stop_) return;
        if (fd == listener_) {
          const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
          if (peer < 0) continue;
          const int on = 1;
          checked(::setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), "no delay");
          add(peer);
          continue;
        }
        const ssize_t n = ::recv(fd, buffer.data(), buffer.size(), 0);
        if (n <= 0 || ::send(fd, buffer.data(), static_cast<size_t>(n), MSG_NOSIGNAL) != n) {
          ::close(fd);
        }
      }
    }
  }

  int epoll_;
  int listener_;
  int stop_;
  std::thread thread_;
};

void tcp_echo_c_epoll(benchmark::State& state) {
  const EpollServer server;
  measure(state, server.port());
}

void tcp_echo_automatic(benchmark::State& state) { tcp_echo(state, jzx::Reactor::automatic); }
void tcp_echo_epoll(benchmark::State& state) { tcp_echo(state, jzx::Reactor::epoll); }
BENCHMARK(tcp_echo_automatic)->Name("tcp_echo")->Arg(100)->Arg(1000);
BENCHMARK(tcp_echo_epoll)->Arg(100)->Arg(1000);
BENCHMARK(tcp_echo_c_epoll)->Arg(100)->Arg(1000);

}  // namespace

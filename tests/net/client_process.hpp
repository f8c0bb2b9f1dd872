// A client in a process of its own, so that it has its own file descriptors and its own memory:
// many TCP connections to one port of loopback, in plain system calls. It does what it is told, one
// order after the other. Its waits have an end, as those of a Tally, so that a server that lost
// something fails its test and does not hang.
//
// Threads: the test's own; made before there are any others, since it forks.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

namespace jzx::net_test {

class ClientProcess {
 public:
  ClientProcess() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    std::fflush(nullptr);  // or both print what is there
    process_ = ::fork();
    if (process_ == 0) {
      ::close(ends[0]);
      Client(ends[1]).obey();
      ::_exit(0);
    }
    ::close(ends[1]);
    control_ = ends[0];
  }
  ~ClientProcess() {
    ::close(control_);
    int status = -1;
    EXPECT_EQ(::waitpid(process_, &status, 0), process_);
    EXPECT_EQ(status, 0) << "the client has crashed";
  }
  ClientProcess(const ClientProcess&) = delete;

  // So many more connections: how many there are now, or -errno.
  int64_t connect(uint16_t port, size_t count) { return order({'c', port, count}); }
  // One request on the connection with this number: 1, if the answer is right.
  int64_t echo(size_t which) { return order({'e', 0, which}); }
  // The first `count` connections, each `rounds` requests, all of them under way at the same time:
  // how many answers were right, up to the first that was not.
  int64_t echo_all(size_t count, uint16_t rounds) { return order({'b', rounds, count}); }
  // Waits for the end of this one: 0, or -errno of a connection that was reset; 1: there was more.
  int64_t wait_for_end(size_t which) { return order({'w', 0, which}); }
  // Waits for the end of all others: how many have ended well, up to the first that has not.
  int64_t wait_for_all_ends() { return order({'W', 0, 0}); }

 private:
  struct Order {
    char what = 0;
    uint16_t number = 0;
    uint64_t count = 0;
  };

  int64_t order(const Order& what) const {
    int64_t answer = -EIO;
    if (::send(control_, &what, sizeof(what), MSG_NOSIGNAL) != sizeof(what)) return -EPIPE;
    return ::recv(control_, &answer, sizeof(answer), MSG_WAITALL) == sizeof(answer) ? answer : -EIO;
  }

  // What runs in the other process.
  class Client {
   public:
    explicit Client(int control) : control_(control) {}
    void obey() {
      Order order;
      while (::recv(control_, &order, sizeof(order), MSG_WAITALL) == sizeof(order)) {
        const int64_t answer = perform(order);
        if (::send(control_, &answer, sizeof(answer), MSG_NOSIGNAL) < 0) return;
      }
    }

   private:
    using Text = std::array<uint64_t, 8>;

    int64_t perform(const Order& order) {
      switch (order.what) {
        case 'c':
          return connect_more(order.number, order.count);
        case 'e':
          return send(order.count, 0) && check(order.count, 0) ? 1 : 0;
        case 'b':
          return echo_all(order.count, order.number);
        case 'w':
          return wait_for_end(order.count);
        case 'W':
          return wait_for_all_ends();
        default:
          return -EINVAL;
      }
    }
    int64_t connect_more(uint16_t port, uint64_t count) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(port);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      for (uint64_t i = 0; i < count; ++i) {
        const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) return -errno;
        const timeval a_minute{.tv_sec = 60, .tv_usec = 0};
        (void)::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &a_minute, sizeof(a_minute));
        if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
          return -errno;
        }
        fds_.push_back(fd);
      }
      return static_cast<int64_t>(fds_.size());
    }
    [[nodiscard]] static Text text(uint64_t which, uint64_t round) {
      Text made{};
      for (uint64_t i = 0; i < made.size(); ++i) made[i] = which * 1'000'003 + round * 17 + i;
      return made;
    }
    [[nodiscard]] bool send(uint64_t which, uint64_t round) {
      const Text request = text(which, round);
      return ::send(fds_[which], request.data(), sizeof(request), MSG_NOSIGNAL) == sizeof(request);
    }
    [[nodiscard]] bool check(uint64_t which, uint64_t round) {
      Text answer{};
      return ::recv(fds_[which], answer.data(), sizeof(answer), MSG_WAITALL) == sizeof(answer) &&
             answer == text(which, round);
    }
    // Every connection has a request under way before the first answer is taken.
    int64_t echo_all(uint64_t count, uint64_t rounds) {
      int64_t right = 0;
      for (uint64_t round = 1; round <= rounds; ++round) {
        for (uint64_t i = 0; i < count; ++i) {
          if (!send(i, round)) return -errno;
        }
        for (uint64_t i = 0; i < count; ++i) {
          if (!check(i, round)) return right;
          ++right;
        }
      }
      return right;
    }
    int64_t wait_for_end(uint64_t which) {
      char byte = 0;
      const ssize_t count = ::recv(fds_[which], &byte, 1, 0);
      const int64_t result = count < 0 ? -errno : count;
      ::close(std::exchange(fds_[which], -1));
      return result;
    }
    int64_t wait_for_all_ends() {
      int64_t well = 0;
      for (uint64_t i = 0; i < fds_.size(); ++i) {
        if (fds_[i] < 0) continue;
        if (wait_for_end(i) != 0) return well;
        ++well;
      }
      return well;
    }

    int control_;
    std::vector<int> fds_;
  };

  pid_t process_ = -1;
  int control_ = -1;
};

}  // namespace jzx::net_test

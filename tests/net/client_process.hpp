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
#include <cstring>
#include <string>
#include <string_view>
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
  // The first `count` connections each say "work", and are told that it has begun: how many.
  int64_t begin_work(size_t count) { return order({'k', 0, count}); }
  // Waits for the end of this one, whatever is said before: how many bytes that were, or -errno of
  // a connection that was reset.
  int64_t wait_for_end(size_t which) { return order({'w', 0, which}); }
  // Waits for the end of all others: how many have ended well, without a word, up to the first that
  // has not.
  int64_t wait_for_all_ends() { return order({'W', 0, 0}); }
  // The same, but each is told goodbye, and the first `count` that their work is done before that.
  int64_t wait_for_goodbyes(size_t count) { return order({'g', 0, count}); }

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
    using Text = std::array<char, 64>;  // a line

    int64_t perform(const Order& order) {
      switch (order.what) {
        case 'c':
          return connect_more(order.number, order.count);
        case 'e':
          return send(order.count, 0) && check(order.count, 0) ? 1 : 0;
        case 'b':
          return echo_all(order.count, order.number);
        case 'k':
          return begin_work(order.count);
        case 'w':
          return wait_for_end(order.count);
        case 'W':
          return wait_for_all_ends([](uint64_t) { return std::string(); });
        case 'g':
          return wait_for_all_ends([&](uint64_t which) {
            return std::string(which < order.count ? "work\n" : "") + "closing, goodbye\n";
          });
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
      Text made;
      made.fill('.');
      std::snprintf(made.data(), made.size(), "connection %d, round %d", static_cast<int>(which),
                    static_cast<int>(round));
      made[std::strlen(made.data())] = ' ';
      made.back() = '\n';
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
    int64_t begin_work(uint64_t count) {
      static constexpr std::string_view kBegun = "working\n";
      for (uint64_t i = 0; i < count; ++i) {
        if (::send(fds_[i], "work\n", 5, MSG_NOSIGNAL) != 5) return -errno;
      }
      for (uint64_t i = 0; i < count; ++i) {
        char told[kBegun.size()];
        if (::recv(fds_[i], told, sizeof(told), MSG_WAITALL) != sizeof(told)) return -EIO;
        if (std::string_view(told, sizeof(told)) != kBegun) return -EIO;
      }
      return static_cast<int64_t>(count);
    }
    // What is said until the end, and why it ended: 0, or an errno.
    int read_to_end(uint64_t which, std::string& said) {
      char some[256];
      ssize_t count = 0;
      while ((count = ::recv(fds_[which], some, sizeof(some), 0)) > 0) {
        said.append(some, static_cast<size_t>(count));
      }
      const int why = count < 0 ? errno : 0;
      ::close(std::exchange(fds_[which], -1));
      return why;
    }
    int64_t wait_for_end(uint64_t which) {
      std::string said;
      const int why = read_to_end(which, said);
      return why != 0 ? -why : static_cast<int64_t>(said.size());
    }
    template <class LastWords>
    int64_t wait_for_all_ends(LastWords last_words) {
      int64_t well = 0;
      for (uint64_t i = 0; i < fds_.size(); ++i) {
        if (fds_[i] < 0) continue;
        std::string said;
        if (read_to_end(i, said) != 0 || said != last_words(i)) return well;
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

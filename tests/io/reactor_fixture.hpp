// What the reactor's tests share: a reactor of each backend in counted memory, or the simulator's,
// and a watch that writes down what it hears.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "io/reactor.hpp"
#include "io/simulated.hpp"
#include "support/counting_allocator.hpp"
#include "support/fds.hpp"

namespace jzx::io {

using jzx::testing::drain;
using jzx::testing::Fd;
using jzx::testing::Pipe;
using jzx::testing::put;
using jzx::testing::SocketPair;

inline base::Allocator counted(jzx::testing::CountingAllocator& memory) {
  const jzx_allocator allocator = memory.c_allocator();
  return base::Allocator{allocator.alloc, allocator.free, allocator.ctx};
}

// True if a poll() on the fd says so now.
inline bool is_readable(int fd) {
  pollfd asked{fd, POLLIN, 0};
  EXPECT_GE(::poll(&asked, 1, 0), 0);
  return (asked.revents & POLLIN) != 0;
}

// True if this kernel, administrator and sandbox let us have io_uring.
inline bool can_have_uring() {
  static const bool can = make_reactor(Backend::io_uring, base::Allocator{}) != nullptr;
  return can;
}

class RecordingWatch : public Watch {
 public:
  RecordingWatch(int watched_fd, uint32_t asked) : Watch(&RecordingWatch::heard) {
    fd = watched_fd;
    interest = asked;
  }
  RecordingWatch(const Fd& watched_fd, uint32_t asked) : RecordingWatch(watched_fd.get(), asked) {}

  // What was told since the last question; empty if nothing.
  std::vector<uint32_t> take() { return std::exchange(told_, {}); }

  std::function<void()> then;  // runs inside `ready`

 private:
  static void heard(Watch& watch, uint32_t readiness) {
    auto& self = static_cast<RecordingWatch&>(watch);
    self.told_.push_back(readiness);
    // A copy: what it does may destroy this watch.
    if (const auto next = self.then) next();
  }

  std::vector<uint32_t> told_;
};

using Told = std::vector<uint32_t>;

// For tests that need neither file descriptors nor processes.
inline constexpr auto kSimulated = static_cast<Backend>(UINT8_MAX);

class ReactorTest : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::io_uring && !can_have_uring()) {
      GTEST_SKIP() << "no io_uring here";
    }
    reactor = is_simulated() ? SimulatedReactor::make() : make_reactor(GetParam(), counted(memory));
    ASSERT_NE(reactor, nullptr);
  }
  void TearDown() override {
    reactor.reset();
    EXPECT_EQ(memory.live_blocks(), 0);
  }

  static bool is_simulated() { return GetParam() == kSimulated; }

  void watch(Watch& watch) { ASSERT_EQ(reactor->watch(watch), 0); }
  void tell() { ASSERT_EQ(reactor->wait(0), 0); }

  jzx::testing::CountingAllocator memory;
  ReactorPtr reactor;
};

inline std::string name_of(Backend backend) {
  if (backend == kSimulated) return "sim";
  switch (backend) {
    case Backend::automatic:
      return "automatic";
    case Backend::io_uring:
      return "io_uring";
    case Backend::epoll:
      break;
  }
  return "epoll";
}
inline std::string backend_name(const ::testing::TestParamInfo<Backend>& info) {
  return name_of(info.param);
}
inline void PrintTo(Backend backend, std::ostream* out) { *out << name_of(backend); }

#define JZX_TEST_BOTH_REACTORS(Suite)                                                             \
  INSTANTIATE_TEST_SUITE_P(                                                                       \
      Reactor, Suite, ::testing::Values(::jzx::io::Backend::epoll, ::jzx::io::Backend::io_uring), \
      ::jzx::io::backend_name)

// What the contract promises, and not only the kernel.
#define JZX_TEST_ALL_REACTORS(Suite)                                                               \
  INSTANTIATE_TEST_SUITE_P(Reactor, Suite,                                                         \
                           ::testing::Values(::jzx::io::Backend::epoll,                            \
                                             ::jzx::io::Backend::io_uring, ::jzx::io::kSimulated), \
                           ::jzx::io::backend_name)

}  // namespace jzx::io

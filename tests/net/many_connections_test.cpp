// Ten thousand connections at a time to the echo server of the examples, a thousand of them busy;
// one is killed, the others are drained. The client is another process. What is printed of memory
// holds for a test that runs alone, as ctest runs it: a later one uses what an earlier one gave
// back.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "echo_server.hpp"
#include "fiber/checked_runtime.hpp"
#include "net/client_process.hpp"
#include "support/open_files.hpp"
#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx {
namespace {

using namespace std::chrono_literals;
using net_test::ClientProcess;
using testing::CheckedRuntime;
using testing::NoFileLeft;
using testing::scaled;
using testing::Tally;

// ---- what is seen of the server, and what it needs ----

// The connections, in the order in which they came, and how many have been killed.
class Connections final : public Observer {
 public:
  void actor_started(ActorId id, const char* label) override {
    if (label == nullptr || std::strcmp(label, "connection") != 0) return;
    const std::lock_guard hold(lock_);
    ids_.push_back(id);
  }
  void actor_stopped(ActorId, ExitReason reason, const ExitText&) override {
    if (reason == ExitReason::killed) killed.add();
  }
  [[nodiscard]] size_t size() {
    const std::lock_guard hold(lock_);
    return ids_.size();
  }
  [[nodiscard]] Pid at(const Runtime& runtime, size_t which) {
    const std::lock_guard hold(lock_);
    return Pid(detail::port_of(runtime), ids_[which]);
  }

  Tally killed;

 private:
  std::mutex lock_;
  std::vector<ActorId> ids_;
};

size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  size_t all = 0;
  size_t resident = 0;
  statm >> all >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

// May this process, and those that it makes, open so many files? If not, the limit is raised, the
// hard one too if that is allowed.
[[nodiscard]] bool may_open(rlim_t files) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  if (limit.rlim_cur >= files) return true;
  limit.rlim_cur = files;
  limit.rlim_max = std::max(limit.rlim_max, files);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

class ManyConnections : public ::testing::TestWithParam<Reactor> {};

INSTANTIATE_TEST_SUITE_P(By, ManyConnections, ::testing::Values(Reactor::epoll, Reactor::io_uring),
                         [](const auto& one) {
                           return one.param == Reactor::epoll ? "epoll" : "io_uring";
                         });

TEST_P(ManyConnections, TenThousandAreOpenWhileAThousandAreBusyAndAllEnd) {
  const size_t connections = scaled(10'000, 5);
  const size_t busy = connections / 10;
  const size_t at_work = 10;      // when the server drains
  constexpr size_t kBatch = 250;  // fewer than wait to be accepted
  ASSERT_TRUE(may_open(connections + 200))
      << "the test needs " << connections + 200
      << " open files, more than the hard limit of this user (ulimit -Hn): raise it";
  ClientProcess client;
  const NoFileLeft no_file_left;
  Connections seen;
  CheckedRuntime runtime(RuntimeOptions{.workers = 2, .observer = &seen, .reactor = GetParam()});
  if (!runtime) GTEST_SKIP() << "the kernel has no such reactor";
  echo::Server server(runtime, net::Address::loopback(), {.most = connections, .idle = 1h});
  ASSERT_TRUE(server);

  const size_t resident_before = resident_bytes();
  for (size_t open = 0; open < connections;) {
    const size_t more = std::min(kBatch, connections - open);
    open += more;
    ASSERT_EQ(client.connect(server.address().port, more), static_cast<int64_t>(open));
    ASSERT_EQ(client.echo(open - 1), 1);  // the last one is served, so all were accepted
  }
  const size_t resident = resident_bytes() - resident_before;
  std::printf("%zu connections are open, at %zu bytes each that waits\n", connections,
              resident / connections);
  ASSERT_EQ(seen.size(), connections);

  EXPECT_EQ(client.echo_all(busy, 5), static_cast<int64_t>(5 * busy));

  EXPECT_EQ(runtime.kill(seen.at(runtime, busy)), Errc::ok);
  EXPECT_GE(client.wait_for_end(busy), 0) << "the peer of a killed connection sees its end";
  EXPECT_EQ(client.echo(busy - 1), 1) << "the others do not mind";
  ASSERT_TRUE(seen.killed.reaches(1));

  // Some are in the middle of a request: it is answered first.
  ASSERT_EQ(client.begin_work(at_work), static_cast<int64_t>(at_work));
  const echo::Report report = server.drain(1min);
  EXPECT_EQ(report.open, 0u);
  EXPECT_EQ(report.served, connections - 1);
  EXPECT_EQ(report.crashed, 1u) << "the one that was killed";
  EXPECT_EQ(report.refused, 0u);
  EXPECT_EQ(client.wait_for_goodbyes(at_work), static_cast<int64_t>(connections - 1));
  runtime.close();
}

}  // namespace
}  // namespace jzx

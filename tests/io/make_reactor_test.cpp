// Which reactor is made, and what is left when none can be.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "io/reactor_fixture.hpp"

namespace jzx::io {
namespace {

using jzx::testing::CountingAllocator;

size_t open_fds() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

// Sets JZX_REACTOR, or unsets it, and puts it back in the end.
class Environment {
 public:
  explicit Environment(const char* value) {
    if (const char* before = std::getenv("JZX_REACTOR")) before_ = before;
    set(value);
  }
  ~Environment() { set(before_ ? before_->c_str() : nullptr); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static void set(const char* value) {
    if (value == nullptr) {
      ::unsetenv("JZX_REACTOR");
    } else {
      ::setenv("JZX_REACTOR", value, 1);
    }
  }
  std::optional<std::string> before_;
};

std::string made(Backend backend) {
  const ReactorPtr reactor = make_reactor(backend, base::Allocator{});
  return reactor == nullptr ? "none" : reactor->name();
}
std::string best() { return can_have_uring() ? "io_uring" : "epoll"; }

// What a child process answers in which `syscall` fails with `refusal`; it cannot be undone, so
// it is not for this process. kCannot: the sandbox around us does not let us build one.
constexpr int kCannot = 99;
template <class Question>
int ask_where_refused(int syscall, int refusal, const Question& question) {
  const pid_t child = ::fork();
  if (child == 0) {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(syscall), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(refusal)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
      ::_exit(kCannot);
    }
    ::_exit(question());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(MakeReactor, TheBackendThatIsNamedIsTheOneThatIsMade) {
  EXPECT_EQ(made(Backend::epoll), "epoll");
  if (!can_have_uring()) GTEST_SKIP() << "no io_uring here";
  EXPECT_EQ(made(Backend::io_uring), "io_uring");
}

TEST(MakeReactor, AutomaticTakesUringWhereItCanBeHad) {
  const Environment none(nullptr);
  EXPECT_EQ(made(Backend::automatic), best());
  const Environment empty("");
  EXPECT_EQ(made(Backend::automatic), best());
}

TEST(MakeReactor, TheEnvironmentForcesTheAutomaticChoice) {
  const Environment epoll("epoll");
  EXPECT_EQ(made(Backend::automatic), "epoll");
  if (!can_have_uring()) GTEST_SKIP() << "no io_uring here";
  const Environment uring("io_uring");
  EXPECT_EQ(made(Backend::automatic), "io_uring");
}

TEST(MakeReactor, TheEnvironmentDoesNotChangeAnExplicitChoice) {
  if (!can_have_uring()) GTEST_SKIP() << "no io_uring here";
  const Environment uring("io_uring");
  EXPECT_EQ(made(Backend::epoll), "epoll");
  const Environment epoll("epoll");
  EXPECT_EQ(made(Backend::io_uring), "io_uring");
}

TEST(MakeReactor, AnUnknownWishIsSaidAloudAndLeavesTheChoiceToUs) {
  const Environment typo("iouring");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(made(Backend::automatic), best());
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("JZX_REACTOR"), std::string::npos) << said;
  EXPECT_NE(said.find("iouring"), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
}

// Some refuse to make rings, and some only to use them.
constexpr int kUringCalls[] = {SYS_io_uring_setup, SYS_io_uring_enter};

TEST(MakeReactor, WhereUringIsRefusedAutomaticFallsBackToEpoll) {
  for (const int call : kUringCalls) {
    for (const int refusal : {EPERM, ENOSYS, EACCES}) {
      const int answer = ask_where_refused(call, refusal, [] {
        const Environment none(nullptr);
        const size_t fds = open_fds();
        if (made(Backend::automatic) != "epoll") return 1;
        return open_fds() == fds ? 0 : 2;
      });
      if (answer == kCannot) GTEST_SKIP() << "cannot refuse system calls here";
      EXPECT_EQ(answer, 0) << call << " " << refusal;
    }
  }
}

TEST(MakeReactor, WhereUringIsRefusedWhoInsistsGetsNothingAndTheReason) {
  if (!can_have_uring()) GTEST_SKIP() << "it is refused already";
  for (const int call : kUringCalls) {
    for (const int refusal : {EPERM, ENOSYS, EACCES}) {
      const int answer = ask_where_refused(call, refusal, [refusal] {
        errno = 0;
        if (made(Backend::io_uring) != "none" || errno != refusal) return 1;
        const Environment uring("io_uring");
        errno = 0;
        return made(Backend::automatic) == "none" && errno == refusal ? 0 : 2;
      });
      if (answer == kCannot) GTEST_SKIP() << "cannot refuse system calls here";
      EXPECT_EQ(answer, 0) << call << " " << refusal;
    }
  }
}

TEST(MakeReactor, EpollWaitsWithATimeoutAlsoWhereTheKernelHasNoNanoseconds) {
  for (const int refusal : {ENOSYS, EPERM}) {
    const int answer = ask_where_refused(SYS_epoll_pwait2, refusal, [] {
      const ReactorPtr reactor = make_reactor(Backend::epoll, base::Allocator{});
      const Pipe pipe;
      RecordingWatch reader(pipe.reader, kReadable);
      if (reactor->watch(reader) != 0) return 1;
      if (reactor->wait(1) != 0 || !reader.take().empty()) return 2;
      put(pipe.writer);
      if (reactor->wait(base::kNever - 1) != 0 || reader.take() != Told{kReadable}) return 3;
      // As many milliseconds as an int takes for none: the wait must last until the alarm.
      const Fd alarm(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
      itimerspec soon{};
      soon.it_value.tv_nsec = 10'000'000;
      if (::timerfd_settime(alarm.get(), 0, &soon, nullptr) != 0) return 4;
      RecordingWatch rings(alarm, kReadable);
      if (reactor->watch(rings) != 0) return 5;
      if (reactor->wait((uint64_t{1} << 32) * base::kNanosPerMilli) != 0) return 6;
      if (rings.take() != Told{kReadable}) return 7;
      return 0;
    });
    if (answer == kCannot) GTEST_SKIP() << "cannot refuse system calls here";
    EXPECT_EQ(answer, 0) << refusal;
  }
}

class MakeReactorWithout : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() != Backend::epoll && !can_have_uring()) GTEST_SKIP() << "no io_uring here";
  }
  Environment none_{nullptr};
};
INSTANTIATE_TEST_SUITE_P(Reactor, MakeReactorWithout,
                         ::testing::Values(Backend::automatic, Backend::epoll, Backend::io_uring),
                         backend_name);

TEST_P(MakeReactorWithout, MemoryAnswersNothingAndLeaksNothing) {
  const size_t fds = open_fds();
  uint64_t failures = 0;
  for (uint64_t n = 1;; ++n) {
    CountingAllocator memory;
    memory.refuse_nth(n);
    errno = 0;
    ReactorPtr reactor = make_reactor(GetParam(), counted(memory));
    if (memory.refused() == 0) {
      ASSERT_NE(reactor, nullptr);
      reactor.reset();
      EXPECT_EQ(memory.live_blocks(), 0);
      break;
    }
    ++failures;
    EXPECT_EQ(reactor, nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(memory.live_blocks(), 0);
    EXPECT_EQ(open_fds(), fds);
  }
  EXPECT_GE(failures, 1u);
  EXPECT_EQ(open_fds(), fds);
}

TEST_P(MakeReactorWithout, FileDescriptorsAnswersNothingAndLeaksNothing) {
  const size_t fds = open_fds();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(STDERR_FILENO);
  ASSERT_GE(next, 0);
  ::close(next);

  int failures = 0;
  for (rlim_t allowed = 0; allowed < 100; ++allowed) {
    CountingAllocator memory;
    const rlimit tight{static_cast<rlim_t>(next) + allowed, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
    errno = 0;
    ReactorPtr reactor = make_reactor(GetParam(), counted(memory));
    const int error = errno;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    if (reactor != nullptr) break;
    ++failures;
    EXPECT_EQ(error, EMFILE);
    EXPECT_EQ(memory.live_blocks(), 0);
    EXPECT_EQ(open_fds(), fds);
  }
  // The epoll fd and the eventfd, and the ring where there is one.
  EXPECT_GE(failures, GetParam() == Backend::epoll ? 2 : 3);
  EXPECT_LT(failures, 100);
  EXPECT_EQ(open_fds(), fds);
}

}  // namespace
}  // namespace jzx::io

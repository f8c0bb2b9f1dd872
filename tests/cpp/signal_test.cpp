// Signals of the process reach actors as SignalEvent.
#include <jzx/jzx.hpp>

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <thread>
#include <vector>

#include "cpp/clocked_loop.hpp"
#include "support/fds.hpp"
#include "support/scale.hpp"

namespace jzx::testing {
namespace {

size_t open_fds() {
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  size_t count = 0;
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

// What the process does about a signal while the test runs: counts it.
class OwnHandler {
 public:
  explicit OwnHandler(int signal) : signal_(signal) {
    calls.store(0);
    struct sigaction action {};
    action.sa_handler = [](int) { calls.fetch_add(1); };
    EXPECT_EQ(::sigaction(signal_, &action, &before_), 0);
  }
  ~OwnHandler() { ::sigaction(signal_, &before_, nullptr); }
  OwnHandler(const OwnHandler&) = delete;
  OwnHandler& operator=(const OwnHandler&) = delete;

  static inline std::atomic<int> calls{0};

 private:
  int signal_;
  struct sigaction before_ {};
};

struct Listener {
  explicit Listener(std::vector<SignalEvent>* the_events) : events(the_events) {}
  void on(const SignalEvent& event) { events->push_back(event); }
  std::vector<SignalEvent>* events;
};

// An event may take the kernel a moment: waits for it, not for a time.
void wait_for_events(ClockedLoop& loop, const std::vector<SignalEvent>& events, size_t count) {
  for (int tick = 0; tick < 1000 && events.size() < count; ++tick) {
    ASSERT_TRUE(loop.run_once(10ms));
  }
  ASSERT_EQ(events.size(), count);
}

TEST(SignalSource, TellsTheActorOfEveryDelivery) {
  ClockedLoop loop;
  std::vector<SignalEvent> events;
  ASSERT_TRUE(spawn_on<Listener>(loop, EventSource::signal(SIGHUP), &events));
  loop.settle();
  EXPECT_TRUE(events.empty());
  for (size_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(::raise(SIGHUP), 0);
    wait_for_events(loop, events, i);
    EXPECT_EQ(events.back().signal, SIGHUP);
    EXPECT_EQ(events.back().count, 1u);
  }
}

TEST(SignalSource, DeliveriesThatCameTogetherAreOneEventThatCountsThem) {
  ClockedLoop loop;
  std::vector<SignalEvent> events;
  ASSERT_TRUE(spawn_on<Listener>(loop, EventSource::signal(SIGUSR1), &events));
  for (int i = 0; i < 5; ++i) ASSERT_EQ(::raise(SIGUSR1), 0);
  wait_for_events(loop, events, 1);
  EXPECT_EQ(events[0].count, 5u);
  loop.settle();
  EXPECT_EQ(events.size(), 1u);
}

TEST(SignalSource, EveryListenerOfEverySystemIsToldAndOnlyOfItsOwnSignal) {
  ClockedLoop loop;
  ClockedLoop other;
  std::vector<SignalEvent> events[4];
  ASSERT_TRUE(spawn_on<Listener>(loop, EventSource::signal(SIGUSR1), &events[0]));
  ASSERT_TRUE(spawn_on<Listener>(loop, EventSource::signal(SIGUSR1), &events[1]));
  ASSERT_TRUE(spawn_on<Listener>(other, EventSource::signal(SIGUSR1), &events[2]));
  ASSERT_TRUE(spawn_on<Listener>(other, EventSource::signal(SIGUSR2), &events[3]));
  ASSERT_EQ(::raise(SIGUSR1), 0);
  wait_for_events(loop, events[0], 1);
  wait_for_events(loop, events[1], 1);
  wait_for_events(other, events[2], 1);
  other.settle();
  EXPECT_TRUE(events[3].empty());
}

TEST(SignalSource, WhatWasSetUpBeforeHoldsAgainWhenTheLastListenerHasEnded) {
  OwnHandler own(SIGUSR1);
  ClockedLoop loop;
  std::vector<SignalEvent> events;
  const auto first = spawn_on<Listener>(loop, EventSource::signal(SIGUSR1), &events);
  const auto second = spawn_on<Listener>(loop, EventSource::signal(SIGUSR1), &events);
  ASSERT_TRUE(first && second);
  ASSERT_EQ(loop.stop(*second), Errc::ok);
  loop.settle();
  ASSERT_EQ(::raise(SIGUSR1), 0);
  wait_for_events(loop, events, 1);
  EXPECT_EQ(OwnHandler::calls.load(), 0);
  ASSERT_EQ(loop.stop(*first), Errc::ok);
  loop.settle();
  ASSERT_EQ(::raise(SIGUSR1), 0);
  EXPECT_EQ(OwnHandler::calls.load(), 1);
  // And once more from the beginning.
  ASSERT_TRUE(spawn_on<Listener>(loop, EventSource::signal(SIGUSR1), &events));
  ASSERT_EQ(::raise(SIGUSR1), 0);
  wait_for_events(loop, events, 2);
  EXPECT_EQ(OwnHandler::calls.load(), 1);
}

TEST(SignalSource, AHandlerThatSomebodyPutInLaterIsNotTakenAway) {
  ClockedLoop loop;
  std::vector<SignalEvent> events;
  const auto listener = spawn_on<Listener>(loop, EventSource::signal(SIGUSR1), &events);
  ASSERT_TRUE(listener);
  OwnHandler own(SIGUSR1);
  ASSERT_EQ(loop.stop(*listener), Errc::ok);
  loop.settle();
  ASSERT_EQ(::raise(SIGUSR1), 0);
  EXPECT_EQ(OwnHandler::calls.load(), 1);
}

TEST(SignalSource, RefusesWhatCannotOrMustNotBeCaught) {
  ClockedLoop loop;
  std::vector<SignalEvent> events;
  const size_t fds = open_fds();
  for (const int signal : {SIGKILL, SIGSTOP, SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGTRAP, SIGABRT,
                           SIGSYS, 0, -1, 32, 65, 1000}) {
    const auto refused = spawn_on<Listener>(loop, EventSource::signal(signal), &events);
    ASSERT_FALSE(refused) << signal;
    EXPECT_EQ(refused.error().code(), Errc::invalid_arg) << signal;
    EXPECT_STRNE(refused.error().message(), to_string(Errc::invalid_arg)) << "says more than that";
  }
  EXPECT_EQ(loop.run(), Errc::ok) << "nobody is left";
  EXPECT_EQ(open_fds(), fds);
}

TEST(SignalSource, EndsWithItsActorAndLeavesNoFdBehind) {
  OwnHandler own(SIGUSR1);
  const size_t before = open_fds();
  {
    ClockedLoop loop;
    std::vector<SignalEvent> events;
    const size_t fds = open_fds();
    for (int i = 0; i < 3; ++i) {
      const auto listener = spawn_on<Listener>(loop, EventSource::signal(SIGUSR1), &events);
      ASSERT_TRUE(listener);
      EXPECT_EQ(open_fds(), fds + 1);
      ASSERT_EQ(::raise(SIGUSR1), 0);  // one is on its way
      ASSERT_EQ(loop.kill(*listener), Errc::ok);
      loop.settle();
      EXPECT_EQ(open_fds(), fds);
    }
    EXPECT_TRUE(events.empty());
    ASSERT_TRUE(spawn_on<Listener>(loop, EventSource::signal(SIGUSR1), &events));
    // This one ends with the loop.
  }
  EXPECT_EQ(open_fds(), before);
  ASSERT_EQ(::raise(SIGUSR1), 0);
  EXPECT_EQ(OwnHandler::calls.load(), 1);
}

TEST(SignalSource, WithoutMemoryNothingIsLeftBehind) {
  OwnHandler own(SIGUSR1);
  ClockedLoop loop;
  std::vector<SignalEvent> events;
  const size_t fds = open_fds();
  bool done = false;
  for (uint64_t nth = 1; !done; ++nth) {
    ASSERT_LT(nth, 100u);
    loop.allocator().refuse_from_nth(nth);
    const auto listener = spawn_on<Listener>(loop, EventSource::signal(SIGUSR1), &events);
    loop.allocator().refuse_nth(0);
    done = listener.ok();
    if (done) break;
    EXPECT_EQ(listener.error().code(), Errc::no_memory);
    loop.settle();
    EXPECT_EQ(open_fds(), fds);
    ASSERT_EQ(::raise(SIGUSR1), 0);
    EXPECT_EQ(OwnHandler::calls.exchange(0), 1);
  }
  ASSERT_EQ(::raise(SIGUSR1), 0);
  wait_for_events(loop, events, 1);
}

TEST(SignalSource, WhatAChildProcessGetsIsNotToldInTheParent) {
  ClockedLoop loop;
  std::vector<SignalEvent> events;
  ASSERT_TRUE(spawn_on<Listener>(loop, EventSource::signal(SIGUSR1), &events));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::raise(SIGUSR1);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "it was caught there too";
  loop.settle();
  EXPECT_TRUE(events.empty());
  ASSERT_EQ(::raise(SIGUSR1), 0);
  wait_for_events(loop, events, 1);
  EXPECT_EQ(events[0].count, 1u);
}

// ---- on several threads ----

struct Counter {
  Counter(uint64_t the_wanted, std::promise<uint64_t>* the_done)
      : wanted(the_wanted), done(the_done) {}
  void on(const SignalEvent& event) {
    EXPECT_GE(event.count, 1u);
    const uint64_t before = heard;
    heard += event.count;
    if (before < wanted && heard >= wanted) done->set_value(heard);
  }
  uint64_t wanted;
  std::promise<uint64_t>* done;
  uint64_t heard = 0;
};

// The thread waits in epoll_wait(), where the thread sanitizer lets signals through at once.
TEST(SignalSourceOnWorkers, AThreadThatWasThereBeforeGetsItForTheActor) {
  Pipe pipe;
  Fd set(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN;
  ASSERT_EQ(::epoll_ctl(set.get(), EPOLL_CTL_ADD, pipe.reader.get(), &event), 0);
  std::thread old([fd = set.get()] {
    epoll_event ready{};
    while (::epoll_wait(fd, &ready, 1, -1) != 1) {
    }
  });
  {
    Runtime runtime = Runtime::builder().workers(2).build();
    std::promise<uint64_t> done;
    ASSERT_TRUE(spawn_on<Counter>(runtime, EventSource::signal(SIGUSR2), 1u, &done));
    ASSERT_EQ(::pthread_kill(old.native_handle(), SIGUSR2), 0);
    EXPECT_EQ(done.get_future().get(), 1u);
  }
  put(pipe.writer);
  old.join();
}

// Threads raise it while other listeners come and go: none is lost, and no handler meets a
// listener that has ended.
TEST(SignalSourceOnWorkers, NoDeliveryIsLostWhileListenersComeAndGo) {
  const uint64_t each = scaled(5000);
  const size_t fds = open_fds();
  {
    Runtime runtime = Runtime::builder().workers(2).build();
    std::promise<uint64_t> done;
    ASSERT_TRUE(spawn_on<Counter>(runtime, EventSource::signal(SIGUSR2), 3 * each, &done));
    std::atomic<bool> is_over{false};
    std::thread changing([&] {
      std::promise<uint64_t> never;
      while (!is_over.load()) {
        const auto passer_by =
            spawn_on<Counter>(runtime, EventSource::signal(SIGUSR2), uint64_t{1} << 60, &never);
        ASSERT_TRUE(passer_by);
        ASSERT_EQ(runtime.kill(*passer_by), Errc::ok);
        while (!runtime.type_name(*passer_by).empty()) std::this_thread::yield();
      }
    });
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (uint64_t i = 0; i < each; ++i) ASSERT_EQ(::raise(SIGUSR2), 0);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(done.get_future().get(), 3 * each);
    is_over.store(true);
    changing.join();
  }
  EXPECT_EQ(open_fds(), fds);
}

}  // namespace
}  // namespace jzx::testing

// References used by other threads while the loop runs.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "cpp/census.hpp"
#include "cpp/clocked_loop.hpp"
#include "support/scale.hpp"

namespace jzx::testing {
namespace {

constexpr size_t kThreads = 4;

struct Numbered {
  size_t thread = 0;
  size_t number = 0;
  std::unique_ptr<size_t> copy;  // so that there is something to lose
};

struct Collector {
  Collector(std::vector<size_t>& the_next, size_t the_expected)
      : next(the_next), expected(the_expected) {}
  void on(Numbered message, Context& context) {
    EXPECT_EQ(message.number, next[message.thread]) << "in the order of its sender";
    EXPECT_EQ(*message.copy, message.number);
    ++next[message.thread];
    if (++handled == expected) context.stop();
  }
  std::vector<size_t>& next;
  size_t expected;
  size_t handled = 0;
};

TEST(Threads, SendInTheirOwnOrderAndLoseNothing) {
  const size_t per_thread = scaled(50'000);
  std::vector<size_t> next(kThreads, 0);
  ClockedLoop loop;
  SpawnOptions options;
  options.mailbox_cap = 200;
  const auto collector = loop.spawn_with<Collector>(options, next, kThreads * per_thread);
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t number = 0; number < per_thread;) {
        const Errc sent =
            collector.send(Numbered{thread, number, std::make_unique<size_t>(number)});
        if (ok(sent)) {
          ++number;
        } else {
          ASSERT_EQ(sent, Errc::mailbox_full);
          std::this_thread::yield();
        }
      }
    });
  }
  EXPECT_EQ(loop.run(), Errc::ok);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(next, std::vector<size_t>(kThreads, per_thread));
}

TEST(Threads, AskAndWaitForTheirAnswers) {
  struct Doubler {
    size_t on(size_t number) { return 2 * number; }
    void on(char, Context& context) { context.stop(); }
  };
  const size_t per_thread = scaled(2'000);
  ClockedLoop loop;
  const auto doubler = loop.spawn<Doubler>();
  std::atomic<size_t> asking{kThreads};
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (size_t number = 0; number < per_thread; ++number) {
        ASSERT_EQ(doubler.ask(number).get().value(), 2 * number);
      }
      if (asking.fetch_sub(1) == 1) doubler << 'x';
    });
  }
  EXPECT_EQ(loop.run(), Errc::ok);
  for (std::thread& thread : threads) thread.join();
}

// Whichever of the two comes first: the ask is answered or broken, never forgotten.
TEST(Threads, AskAnActorThatEndsMeanwhileAndAlwaysHearBack) {
  struct Mortal {
    int on(int number) { return number; }
    void on(char, Context& context) { context.stop(); }
  };
  const size_t rounds = scaled(300);
  for (size_t round = 0; round < rounds; ++round) {
    ClockedLoop loop;
    const auto mortal = loop.spawn<Mortal>();
    std::thread asker([&] {
      for (int number = 0;; ++number) {
        const Result<int> answer = mortal.ask(number).get();
        if (!answer.ok()) break;
        ASSERT_EQ(*answer, number);
      }
    });
    std::thread killer([&] { mortal << 'x'; });
    EXPECT_EQ(loop.run(), Errc::ok);
    asker.join();
    killer.join();
  }
}

// The reference is good until the loop is gone; the sender ends while the loop still dead-letters.
TEST(Threads, SendWhileTheLoopIsDestroyedUntilTheyAreToldSo) {
  struct Sink {
    void on(Small) {}
    void on(Big) {}
  };
  const size_t rounds = scaled(100);
  Census census;
  std::atomic<size_t> sent{0};
  for (size_t round = 0; round < rounds; ++round) {
    auto loop = std::make_unique<ClockedLoop>();
    loop->skip_ledger();
    const auto sink = loop->spawn<Sink>();
    const size_t before = sent.load();
    std::thread sender([&] {
      for (Errc answer = Errc::ok; answer != Errc::loop_closed; sent.fetch_add(2)) {
        (void)sink.send(Small(census));
        answer = sink.send(Big(census));
      }
    });
    while (sent.load() < before + 6) (void)loop->run_once(0ms);
    sink << Small(census);  // so that there is one dead letter at least
    sent.fetch_add(1);
    loop->seen().on_dead_letter = [&](const Recorder::DeadLetter&, Envelope&) {
      if (sender.joinable()) sender.join();
    };
    loop.reset();
  }
  EXPECT_EQ(static_cast<size_t>(census.ended()), sent.load());
  EXPECT_EQ(census.objects(), 0u);
}

TEST(Threads, WakeALoopThatSleeps) {
  struct Echo {
    int on(int number) { return number; }
    void on(char, Context& context) { context.stop(); }
  };
  ClockedLoop loop;
  const auto echo = loop.spawn<Echo>();
  std::thread other([&] {
    // Each waits for an answer, so the loop falls asleep in between.
    for (int i = 0; i < 100; ++i) ASSERT_EQ(echo.ask(i).get().value(), i);
    echo << 'x';
  });
  EXPECT_EQ(loop.run(), Errc::ok);
  other.join();
}

}  // namespace
}  // namespace jzx::testing

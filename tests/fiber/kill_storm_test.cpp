// Hundreds of fibers that wait in every way, at every depth, on workers, while foreign threads and
// other actors end them at any moment. In the end each has released what it held, before its one
// Down was sent; every message was destroyed; the ledger balances and no stack is lost.
//
// JZX_SEED=<seed> runs one seed.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "fiber/checked_runtime.hpp"
#include "support/scale.hpp"
#include "support/seeds.hpp"
#include "support/token.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;
using base::Prng;

struct Note {
  uint32_t number;
  Token token;
};
struct Question {
  Token token;
};
struct Kill {};

// What one fiber has, as others may see it.
struct Life {
  std::atomic<int> acquired{0};
  std::atomic<int> released{0};
  std::atomic<int> downs{0};
  std::atomic<bool> has_begun{false};
};

class Resource {
 public:
  explicit Resource(Life& life) : life_(life), own_(std::make_unique<int>(7)) { ++life_.acquired; }
  ~Resource() {
    EXPECT_EQ(*own_, 7);
    ++life_.released;
  }
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;

 private:
  Life& life_;
  std::unique_ptr<int> own_;
};

// Promises that somebody will resolve, or break, or never.
class Debts {
 public:
  void owe(Promise<int> promise) {
    const std::lock_guard hold(mutex_);
    open_.push_back(std::move(promise));
  }
  void settle_one(Prng& prng) {
    Promise<int> promise = take(prng);
    if (prng.below(4) != 0) promise.resolve(1);  // or it is broken
  }
  // Nobody waits for these any more.
  void settle_all() {
    const std::lock_guard hold(mutex_);
    for (Promise<int>& promise : open_) promise.resolve(2);
    open_.clear();
  }

 private:
  Promise<int> take(Prng& prng) {
    const std::lock_guard hold(mutex_);
    if (open_.empty()) return {};
    std::swap(open_[prng.below(static_cast<uint32_t>(open_.size()))], open_.back());
    Promise<int> taken = std::move(open_.back());
    open_.pop_back();
    return taken;
  }

  std::mutex mutex_;
  std::vector<Promise<int>> open_;
};

class Storm {
 public:
  Storm(uint64_t seed, uint32_t fibers, uint32_t workers)
      : seed_(seed), lives_(fibers), runtime_(std::make_unique<CheckedRuntime>(workers)) {}

  void run() {
    runtime_->spawn_fn([this] { watch(); });
    EXPECT_TRUE(is_watched_.wait());
    echo_ = runtime_->spawn_fn([this] { echo(); });
    spawn_all();
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < 2; ++i) threads.emplace_back([this, i] { rage(Prng(seed_ + i)); });
    const Pid reaper = runtime_->spawn_fn([this] { reap(); });
    reaper << Kill{};
    EXPECT_TRUE(downs_.reaches(lives_.size()));
    is_over_ = true;
    for (std::thread& thread : threads) thread.join();
    runtime_->close();
    runtime_.reset();
    debts_.settle_all();  // after the system's end
    check();
  }

 private:
  // ---- those who live ----

  void spawn_all() {
    pids_.resize(lives_.size());
    Prng prng(seed_ * 31);
    for (size_t i = 0; i < lives_.size(); ++i) {
      SpawnOptions options;
      options.monitor = watcher_;
      options.mailbox_cap = 10;
      if (prng.below(3) == 0) options.overload = Overload::wait;
      if (prng.below(4) == 0) options.placement = Placement::pinned();
      if (prng.below(8) == 0) options.placement = Placement::blocking();
      if (i > 0 && prng.below(8) == 0) options.link = pids_[i - 1];
      Life& life = lives_[i];
      const auto body = [this, &life, i] {
        life.has_begun = true;
        Prng own(seed_ * 1'000'003 + i);
        for (int step = 0; step < 60; ++step) {
          if (!live(life, own, 0)) return;
        }
      };
      pids_[i] = runtime_->spawn_fn_with(options, body);
      if (!pids_[i]) {  // who it was to be linked to is gone
        options.link = {};
        pids_[i] = runtime_->spawn_fn_with(options, body);
      }
      ids_.add(pids_[i].id(), i);
    }
    is_spawned_.open();
  }

  [[nodiscard]] Note note(Prng& prng) { return {prng.below(8), Token(tokens_)}; }
  [[nodiscard]] Pid somebody(Prng& prng) {
    return is_spawned_.is_open() ? pids_[prng.below(static_cast<uint32_t>(pids_.size()))] : echo_;
  }
  [[nodiscard]] static bool goes_on(Wait wait) { return wait != Wait::killed; }
  [[nodiscard]] static bool goes_on(const Result<int>& result) {
    return result.error().code() != Errc::killed;
  }

  // One wait, with something in hand. False: it is to end.
  bool live(Life& life, Prng& prng, int depth) {
    Resource resource(life);
    waits_.fetch_add(1, std::memory_order_relaxed);
    if (depth < 4 && prng.below(3) == 0) return live_deeper(life, prng, depth + 1);
    const std::chrono::milliseconds time(prng.below(3));
    switch (prng.below(9)) {
      case 0:
        return goes_on(receive([](const Note&) {}, [](const Question&) { return 1; }));
      case 1:
        return goes_on(receive_for(time, [](const Note&) {}));
      case 2:  // others are kept
        return goes_on(receive_for(
            time, when([](const Note& one) { return one.number == 3; }, [](const Note&) {})));
      case 3:
        return goes_on(sleep_for(time));
      case 4:
        return goes_on(yield());
      case 5: {
        auto [future, promise] = jzx::promise<int>();
        debts_.owe(std::move(promise));
        return goes_on(prng.below(2) == 0 ? future.get() : future.get_for(time));
      }
      case 6:
        return goes_on(ask<int>(somebody(prng), Question{Token(tokens_)}).get());
      case 7:
        return goes_on(ask<int>(echo_, Question{Token(tokens_)}).get());
      default:
        for (int i = 0; i < 3; ++i) {  // these may wait too, for room
          if (somebody(prng).send(note(prng)) == Errc::killed) return false;
        }
        return goes_on(receive_for(time, [](Question) { return 2; }));
    }
  }

  bool live_deeper(Life& life, Prng& prng, int depth) {
    Resource resource(life);
    switch (prng.below(5)) {
      case 0: {  // in a handler
        bool does = true;
        const Wait wait = receive_for(
            1ms, [&](const Note&) { does = live(life, prng, depth); },
            [&](const Question&) { return does = live(life, prng, depth), 1; });
        return does && goes_on(wait);
      }
      case 1:  // while an exception is handled
        try {
          Resource thrown(life);
          throw std::runtime_error("caught");
        } catch (const std::exception&) {
          return live(life, prng, depth);
        }
      case 2: {  // in a destructor, when a scope ends or unwinds
        bool does = true;
        {
          struct Waits {
            ~Waits() noexcept(false) { *does = storm.live(life, prng, depth); }
            Storm& storm;
            Life& life;
            Prng& prng;
            int depth;
            bool* does;
          } waits{*this, life, prng, depth, &does};
          if (!live(life, prng, depth)) return false;
        }
        return does;
      }
      case 3:
        if (prng.below(20) == 0) return end_itself(prng);
        return live(life, prng, depth);
      default:
        return live(life, prng, depth) && live(life, prng, depth);
    }
  }

  static bool end_itself(Prng& prng) {
#ifndef JZX_LIBRARY_NOEXCEPT
    // Not from a destructor that runs while another one flies.
    if (prng.below(2) == 0 && std::uncaught_exceptions() == 0)
      throw std::runtime_error("by itself");
#else
    (void)prng;
#endif
    exit(ExitReason::fail, "by itself");
    return false;
  }

  // ---- those who stay ----

  void watch() {
    watcher_ = self();
    is_watched_.open();
    for (Wait wait = Wait::done; goes_on(wait);) {
      wait = receive([&](const Down& down) {
        Life* life = life_of(down.actor);
        if (life == nullptr) return;
        ++life->downs;
        EXPECT_EQ(life->acquired.load(), life->released.load()) << "released before it is told";
        downs_.add();
      });
    }
  }
  void echo() {
    for (Wait wait = Wait::done; goes_on(wait);) {
      wait = receive([](const Question&) { return 1; }, [](const Note&) {});
    }
  }
  void reap() {
    Prng prng(seed_ + 77);
    for (Wait wait = Wait::done; goes_on(wait);) {
      wait = receive([&](Kill) {
        (void)FiberSystem().kill(somebody(prng));
        for (int i = 0; i < 20; ++i) {
          if (!goes_on(yield())) return;
        }
        if (!is_over_) (void)self().send(Kill{});
      });
    }
  }

  // A foreign thread. It ends somebody each time that others have waited for a while.
  void rage(Prng prng) {
    EXPECT_TRUE(is_spawned_.wait());
    while (!is_over_) {
      const uint64_t until = waits_.load() + prng.below(200);
      for (int i = 0; i < 50 && waits_.load() < until && !is_over_; ++i) {
        debts_.settle_one(prng);
        (void)somebody(prng).send(note(prng));
        std::this_thread::yield();
      }
      if (prng.below(4) == 0) {
        (void)runtime_->stop(somebody(prng));
      } else {
        (void)runtime_->kill(somebody(prng));
      }
    }
  }

  // ---- books ----

  class Ids {
   public:
    void add(ActorId id, size_t index) {
      const std::lock_guard hold(mutex_);
      all_.emplace_back(id, index);
    }
    [[nodiscard]] std::optional<size_t> find(ActorId id) const {
      const std::lock_guard hold(mutex_);
      for (const auto& [one, index] : all_) {
        if (one == id) return index;
      }
      return std::nullopt;
    }

   private:
    mutable std::mutex mutex_;
    std::vector<std::pair<ActorId, size_t>> all_;
  };

  // nullptr: one whose start was called off.
  Life* life_of(ActorId id) {
    EXPECT_TRUE(is_spawned_.wait());
    const std::optional<size_t> index = ids_.find(id);
    return index ? &lives_[*index] : nullptr;
  }

  void check() {
    size_t begun = 0;
    for (const Life& life : lives_) {
      EXPECT_EQ(life.downs.load(), 1);
      EXPECT_EQ(life.acquired.load(), life.released.load());
      begun += life.has_begun.load();
    }
    EXPECT_GT(begun, lives_.size() / 2) << "they lived";
    EXPECT_GT(waits_.load(), lives_.size()) << "and waited";
    EXPECT_EQ(tokens_.load(), 0) << "messages that were not destroyed";
  }

  const uint64_t seed_;
  std::deque<Life> lives_;
  std::vector<Pid> pids_;
  Ids ids_;
  Pid watcher_;
  Pid echo_;
  Gate is_watched_;
  Gate is_spawned_;
  Tally downs_;
  std::atomic<uint64_t> waits_{0};
  std::atomic<int64_t> tokens_{0};
  std::atomic<bool> is_over_{false};
  Debts debts_;
  std::unique_ptr<CheckedRuntime> runtime_;
};

TEST(KillStorm, EveryFiberUnwindsOnceAndIsToldOfOnce) {
  for (const uint64_t seed : seeds({1, 2, 3})) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    for (const uint32_t workers : {1u, 2u}) {
      Storm(seed, static_cast<uint32_t>(scaled(900, 3)), workers).run();
    }
  }
}

}  // namespace
}  // namespace jzx::testing

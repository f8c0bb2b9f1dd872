// A random life on all workers through the C++ interface: typed actors of every priority and
// placement, supervised ones that fail, asks, timers, links and monitors. In the end shutdown finds
// everybody gone, every message was destroyed once, every ask was answered or refused, every
// monitor of one that stayed had one Down, and the ledger balances.
//
// JZX_SEED=<seed> runs one seed.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "runtime/runtime_system.hpp"
#include "support/scale.hpp"
#include "support/seeds.hpp"
#include "support/token.hpp"
#include "workers/stress_world.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

// One that travels inside the envelope, one in a box.
struct Small {
  Token token;
};
struct Large {
  Token token;
  std::array<char, 200> text{};
};
struct Question {
  Token token;
};
struct Act {};
struct End {
  bool well;
};

class Life;
struct Dweller {
  using Messages = jzx::Messages<Small, Large, Act, End>;
  Life& life;
  explicit Dweller(std::reference_wrapper<Life> the_life);
  ~Dweller();
  Dweller(const Dweller&) = delete;
  void on(Small) {}
  void on(Large) {}
  int on(Question) { return 1; }
  void on(Act, Context& context);
  void on(End end, Context& context) { end.well ? context.stop() : context.fail("by request"); }
  void on(const Down& down);
};

class Life {
 public:
  Life(uint64_t seed, uint32_t workers, int64_t steps)
      : seed_(seed),
        steps_left_(steps),
        runtime_(RuntimeOptions{.workers = workers,
                                .max_actors = 5000,
                                .max_msgs_per_actor = 8,
                                .local_queue = 16,
                                .steal_batch = 4,
                                .max_blocking_threads = 4}),
        workers_(workers) {
    for (uint64_t i = 0; i < 50; ++i) ids_.put(i, spawn(runtime_, i).id());
    auditor_ = spawn(runtime_, 1);
  }

  void run() {
    const auto clock = runtime_.spawn<Dweller>(std::ref(*this));
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        base::Prng random(seed_ * 1000 + t);
        for (int i = 1; takes_a_step(); ++i) {
          step(runtime_, random);
          // Now and then it waits, so that the steps are not all its own.
          if (i % 32 != 0) continue;
          EXPECT_TRUE(clock.ask(Question{Token(tokens_)}).get().ok());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    end_the_watched();
    const std::vector<StillAlive> left = runtime_.shutdown(1min);
    ASSERT_TRUE(left.empty()) << left.size() << " left; the first: " << left[0].why;
    check();
  }

  bool takes_a_step() { return steps_left_.fetch_sub(1) > 0; }

  template <class Face>
  void step(Face& face, base::Prng& random) {
    switch (random.below(20)) {
      case 16:
      case 17:
      case 0:
      case 1:
        replace(face, random, spawn(face, random.below(1000)).id());
        break;
      case 2:
        if (random.below(4) == 0) supervise(face, random);
        break;
      case 3:
        if (random.below(4) != 0) break;
        expect(random.below(2) == 0 ? face.stop(anybody(random)) : face.kill(anybody(random)));
        break;
      case 4:
        if (random.below(8) != 0) break;  // those that are linked end together
        expect(face.link(anybody(random), anybody(random)));
        break;
      case 5:
        monitor(face, random);
        break;
      case 6:
        if (const uint64_t ref = refs_.take(random.below(1u << 30)); ref != 0) {
          if (ok(face.demonitor(MonitorRef{ref}))) monitors_.withdrawn(ref);
        }
        break;
      case 7:
        ask(random);
        break;
      case 8:
      case 9: {
        TimerId timer;
        const std::chrono::milliseconds delay(random.below(5));
        const Errc armed = face.send_after(delay, anybody(random), Large{Token(tokens_)}, &timer);
        expect(armed);
        if (ok(armed)) timers_.put(random.below(1u << 30), timer.value);
        break;
      }
      case 10:
        if (const uint64_t timer = timers_.take(random.below(1u << 30)); timer != 0) {
          expect(face.cancel(TimerId{timer}));
        }
        break;
      case 11:
        if (random.below(4) != 0) break;
        expect(anybody(random).send(End{random.below(2) == 0}));
        break;
      case 12:
        expect(anybody(random).send(Large{Token(tokens_)}));
        break;
      case 13:
        expect(anybody(random).send(Small{Token(tokens_)}));
        break;
      default:
        expect(anybody(random).send(Act{}));
    }
  }

  void was_born() {
    born_.fetch_add(1);
    dwellers_.fetch_add(1);
  }
  void has_died() { dwellers_.fetch_sub(1); }
  void is_down(uint64_t ref) { monitors_.down(ref); }
  base::Prng own_random() { return base::Prng(seed_ + turns_.fetch_add(1)); }

 private:
  Pid anybody(base::Prng& random) { return Pid(port_, ids_.look(random.below(1u << 30))); }

  static void expect(Errc got) {
    const bool is_fine = got == Errc::ok || got == Errc::no_such_actor ||
                         got == Errc::mailbox_full || got == Errc::invalid_arg ||
                         got == Errc::timer_invalid;
    EXPECT_TRUE(is_fine) << to_string(got);
  }

  template <class Face>
  Pid spawn(Face& face, uint64_t how) {
    SpawnOptions options;
    options.priority = static_cast<Priority>(how % 4);
    options.mailbox_cap = how % 3 == 0 ? 8 : 0;
    if (how % 5 == 0) {
      options.placement = Placement::pin_to(static_cast<uint8_t>(how / 5 % workers_));
    } else if (how % 11 == 0) {
      options.placement = Placement::blocking();
    }
    const auto made = face.template spawn_with<Dweller>(options, std::ref(*this));
    if (made) port_ = made.pid().port();
    return made;
  }
  // A new one is known in the place of an older one, which ends: nobody could reach it any more.
  template <class Face>
  void replace(Face& face, base::Prng& random, ActorId id) {
    if (id == 0) return;
    const ActorId older = ids_.swap(random.below(1u << 30), id);
    if (older != 0) expect(face.kill(Pid(port_, older)));
  }
  template <class Face>
  void supervise(Face& face, base::Prng& random) {
    const SupervisorOptions options{.strategy = static_cast<Strategy>(random.below(3)),
                                    .intensity = 3};
    const auto family = face.supervise(
        options, {child<Dweller>("one", std::ref(*this)),
                  child<Dweller>("two", std::ref(*this)).transient().backoff({.initial = 1ms}),
                  supervisor("three", options, {child<Dweller>("four", std::ref(*this))})});
    if (!family) return;
    for (size_t i = 0; i < 3; ++i) replace(face, random, family.child(i).id());
    replace(face, random, family.pid().id());
  }
  template <class Face>
  void monitor(Face& face, base::Prng& random) {
    MonitorRef ref;
    const bool stays = random.below(2) == 0;
    const Pid watcher = stays ? auditor_ : anybody(random);
    const Pid watched = anybody(random);
    const Errc result = face.SystemFace::monitor(watcher, watched, &ref);
    expect(result);
    if (!ok(result)) return;
    monitors_.asked_for(ref.value, stays);
    refs_.put(random.below(1u << 30), ref.value);
    if (!stays) return;
    const std::lock_guard hold(watched_mutex_);
    watched_.push_back(watched);
  }
  // While the one who watches them is still there.
  void end_the_watched() {
    std::vector<Pid> all;
    {
      const std::lock_guard hold(watched_mutex_);
      all = watched_;
    }
    EXPECT_FALSE(all.empty());
    for (const Pid watched : all) expect(runtime_.kill(watched));
    EXPECT_TRUE(monitors_.wait_until_settled());
  }
  void ask(base::Prng& random) {
    asks_.fetch_add(1);
    // A supervisor's id may be among them: it has no such handler, and refuses.
    ActorRef<Dweller>(anybody(random)).ask(Question{Token(tokens_)}).then([this](Result<int>) {
      answers_.fetch_add(1);
    });
  }

  void check() {
    auto* system = static_cast<runtime::RuntimeSystem*>(port_.load());
    system->pause();                                 // nobody runs while we look
    (void)system->group().blocking->thread_count();  // orders what the blocking threads did
    const core::Ledger ledger = system->ledger();
    EXPECT_TRUE(ledger.balanced());
    EXPECT_EQ(ledger.queued, 0u);
    EXPECT_GT(ledger.handled, 1000u) << "it was a life";
    EXPECT_GT(born_.load(), 2000u) << "of thousands";
    EXPECT_EQ(asks_.load(), answers_.load()) << "every ask gets an answer, or an error";
    EXPECT_EQ(tokens_.load(), 0) << "messages that were never destroyed";
    EXPECT_EQ(dwellers_.load(), 0) << "actors that were never destroyed";
    monitors_.check();
  }

  const uint64_t seed_;
  std::atomic<int64_t> steps_left_;
  std::atomic<uint64_t> turns_{0};
  std::atomic<int64_t> tokens_{0};
  std::atomic<uint64_t> born_{0};
  std::atomic<int64_t> dwellers_{0};
  std::atomic<uint64_t> asks_{0};
  std::atomic<uint64_t> answers_{0};
  std::atomic<detail::Port*> port_{nullptr};
  Board<ActorId, 512> ids_;
  Board<uint64_t, 256> refs_;
  Board<uint64_t, 256> timers_;
  MonitorBook monitors_;
  std::mutex watched_mutex_;
  std::vector<Pid> watched_;
  Pid auditor_;  // whom nobody knows, so that it stays
  Runtime runtime_;
  const uint32_t workers_;
};

Dweller::Dweller(std::reference_wrapper<Life> the_life) : life(the_life) { life.was_born(); }
Dweller::~Dweller() { life.has_died(); }
void Dweller::on(Act, Context& context) {
  base::Prng random = life.own_random();
  for (int i = 0; i < 2; ++i) {
    if (life.takes_a_step()) life.step(context, random);
  }
}
void Dweller::on(const Down& down) { life.is_down(down.ref); }

class CppStress : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, CppStress, ::testing::Values(1u, 2u, 4u));

TEST_P(CppStress, ARandomLifeOnAllWorkersLeavesNothingBehind) {
  for (const uint64_t seed : seeds({1, 2, 3})) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Life life(seed, GetParam(), static_cast<int64_t>(scaled(100'000, 10)));
    life.run();
    if (::testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace jzx::testing

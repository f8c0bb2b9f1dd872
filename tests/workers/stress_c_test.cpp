// A random life on all workers through the C interface: foreign threads and behaviours spawn, link,
// monitor, name, send, arm, cancel, watch, stop and fail whoever they find. In the end everybody is
// asked to go, and the books must be right: the ledger, every payload, every monitor, every actor,
// every byte.
//
// What happens when is up to the threads; the choices are the seed's. JZX_SEED=<seed> runs one.
#include <jzx/jzx.h>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.hpp"
#include "capi/create_loop.hpp"
#include "support/counting_allocator.hpp"
#include "support/fds.hpp"
#include "support/scale.hpp"
#include "support/seeds.hpp"
#include "workers/stress_world.hpp"

namespace jzx::testing {
namespace {

constexpr uint32_t kLetter = 1;   // just a payload
constexpr uint32_t kAct = 2;      // and do something
constexpr uint32_t kStopTag = 3;  // and stop
constexpr uint32_t kFailTag = 4;  // and fail
constexpr uint32_t kForward = 5;  // and send another one on
constexpr size_t kAuditors = 4;   // live to the end, and watch
constexpr size_t kThreads = 4;
constexpr size_t kPipes = 4;
constexpr uint64_t kLeastTurns = 200;

struct ArmedTimer {
  jzx_timer_id id;
  Parcel* parcel;
};

class World {
 public:
  World(uint64_t seed, uint32_t workers, int64_t steps) : seed_(seed), steps_left_(steps) {
    jzx_runtime_config config;
    jzx_runtime_config_init(&config);
    config.loop.allocator = allocator_.c_allocator();
    config.loop.max_actors = 4000;
    config.loop.max_msgs_per_actor = 8;
    config.workers = workers;
    config.steal_batch = 4;
    config.local_queue = 16;
    runtime_ = jzx_runtime_create(&config);
    loop_ = jzx_runtime_loop(runtime_);
    observe();
    for (jzx_actor_id& auditor : auditors_) auditor = spawn(0, 0);
    for (uint64_t i = 0; i < 50; ++i) ids_.put(i, spawn(0, 0));
  }

  void run() {
    std::thread runner([&] { EXPECT_EQ(jzx_runtime_run(runtime_), 0); });
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        base::Prng random(seed_ * 1000 + t);
        // Also where the workers are late, and these have made all the steps by themselves.
        while (!is_over() || turns_.load() <= kLeastTurns) step(random);
      });
    }
    for (std::thread& thread : threads) thread.join();
    end_everybody();
    if (::testing::Test::HasFailure()) jzx_runtime_request_stop(runtime_);
    runner.join();
    check();
  }

 private:
  // ---- what anybody does ----

  bool is_over() { return steps_left_.fetch_sub(1) <= 0; }
  static bool chance(base::Prng& random, uint32_t one_in) { return random.below(one_in) == 0; }
  jzx_actor_id anybody(base::Prng& random) { return ids_.look(random.below(1u << 30)); }

  void step(base::Prng& random) {
    switch (random.below(24)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        replace(random);
        break;
      case 5:
        if (chance(random, 3)) expect(end(random, anybody(random)), {JZX_ERR_NO_SUCH_ACTOR});
        break;
      case 6:
        link(random);
        break;
      case 7:
      case 8:
        monitor(random);
        break;
      case 9:
        demonitor(random);
        break;
      case 10:
      case 11:
      case 12:
        arm(random);
        break;
      case 13:
        cancel(random);
        break;
      case 14:
        name(random);
        break;
      case 15:
        watch(random);
        break;
      case 16:
        expect(jzx_trap_exit(loop_, anybody(random), !chance(random, 4)), {JZX_ERR_NO_SUCH_ACTOR});
        break;
      default:
        send(random, anybody(random));
    }
  }

  static void expect(jzx_err got, std::initializer_list<jzx_err> allowed) {
    if (got == JZX_OK) return;
    for (const jzx_err one : allowed) {
      if (got == one) return;
    }
    ADD_FAILURE() << jzx_strerror(got);
  }

  jzx_actor_id spawn(uint32_t mailbox_cap, jzx_actor_id parent) {
    jzx_spawn_opts options{};
    options.behavior = &behave;
    options.state = this;
    options.mailbox_cap = mailbox_cap;
    options.supervisor = parent;
    jzx_actor_id id = 0;
    expect(jzx_spawn(loop_, &options, &id), {JZX_ERR_NO_SUCH_ACTOR, JZX_ERR_MAX_ACTORS});
    return id;
  }
  // A new one is known in the place of an older one, which ends: nobody could reach it any more.
  void replace(base::Prng& random) {
    const jzx_actor_id id =
        spawn(chance(random, 4) ? 6 : 0, chance(random, 4) ? anybody(random) : 0);
    if (id == 0) return;
    const jzx_actor_id older = ids_.swap(random.below(1u << 30), id);
    if (older != 0) expect(end(random, older), {JZX_ERR_NO_SUCH_ACTOR});
  }
  // Not many: those that are linked end together.
  void link(base::Prng& random) {
    const jzx_err result = chance(random, 2) ? jzx_link(loop_, anybody(random), anybody(random))
                                             : jzx_unlink(loop_, anybody(random), anybody(random));
    expect(result, {JZX_ERR_NO_SUCH_ACTOR, JZX_ERR_INVALID_ARG});
  }
  jzx_err end(base::Prng& random, jzx_actor_id id) {
    return chance(random, 2) ? jzx_actor_stop(loop_, id) : jzx_actor_fail(loop_, id);
  }
  void send(base::Prng& random, jzx_actor_id to) {
    const uint32_t what = random.below(40);
    const uint32_t tag = what == 0   ? kStopTag
                         : what == 1 ? kFailTag
                         : what < 10 ? kLetter
                         : what < 25 ? kAct
                                     : kForward;
    Parcel* parcel = parcels_.make();
    const jzx_err sent = jzx_send(loop_, to, parcel, sizeof *parcel, tag);
    if (sent != JZX_OK) Parcels::end(parcel);
    expect(sent, {JZX_ERR_NO_SUCH_ACTOR, JZX_ERR_MAILBOX_FULL});
  }
  void monitor(base::Prng& random) {
    const bool stays = chance(random, 2);
    const jzx_actor_id watcher = stays ? auditors_[random.below(kAuditors)] : anybody(random);
    uint64_t ref = 0;
    const jzx_err result = jzx_monitor(loop_, watcher, anybody(random), &ref);
    expect(result, {JZX_ERR_NO_SUCH_ACTOR, JZX_ERR_INVALID_ARG});
    if (result != JZX_OK) return;
    monitors_.asked_for(ref, stays);
    refs_.put(random.below(1u << 30), ref);
  }
  void demonitor(base::Prng& random) {
    const uint64_t ref = refs_.take(random.below(1u << 30));
    if (ref == 0) return;
    const jzx_err result = jzx_demonitor(loop_, ref);
    expect(result, {JZX_ERR_INVALID_ARG});
    if (result == JZX_OK) monitors_.withdrawn(ref);
  }
  void arm(base::Prng& random) {
    Parcel* parcel = parcels_.make();
    auto timer = std::make_unique<ArmedTimer>(ArmedTimer{0, parcel});
    const jzx_err result = jzx_send_after(loop_, anybody(random), random.below(5), parcel,
                                          sizeof *parcel, kLetter, &timer->id);
    expect(result, {JZX_ERR_NO_SUCH_ACTOR});
    if (result != JZX_OK) return Parcels::end(parcel);
    delete timers_.swap(random.below(1u << 30), timer.release());
  }
  void cancel(base::Prng& random) {
    const std::unique_ptr<ArmedTimer> timer(timers_.take(random.below(1u << 30)));
    if (timer == nullptr) return;
    const jzx_err result = jzx_cancel_timer(loop_, timer->id);
    expect(result, {JZX_ERR_TIMER_INVALID});
    if (result == JZX_OK) Parcels::end(timer->parcel);
  }
  void name(base::Prng& random) {
    const std::string text = "name" + std::to_string(random.below(64));
    jzx_actor_id found = 0;
    if (jzx_whereis(loop_, text.c_str(), &found) == JZX_OK) return send(random, found);
    expect(jzx_register(loop_, anybody(random), text.c_str()),
           {JZX_ERR_NO_SUCH_ACTOR, JZX_ERR_INVALID_ARG});
  }
  void watch(base::Prng& random) {
    const Pipe& pipe = pipes_[random.below(kPipes)];
    if (chance(random, 3)) {
      expect(jzx_unwatch_fd(loop_, pipe.reader.get()), {JZX_ERR_IO_NOT_WATCHED});
    } else {
      expect(jzx_watch_fd(loop_, pipe.reader.get(), anybody(random), JZX_IO_READ),
             {JZX_ERR_NO_SUCH_ACTOR});
    }
    put(pipe.writer);
    drain(pipe.reader);
  }

  // ---- as an actor ----

  static jzx_behavior_result behave(jzx_context* context, const jzx_message* message) {
    return static_cast<World*>(context->state)->handle(*context, *message);
  }
  jzx_behavior_result handle(const jzx_context& context, const jzx_message& message) {
    if (message.tag == JZX_TAG_SYS_DOWN) {
      monitors_.down(static_cast<const jzx_down*>(message.data)->ref);
    }
    if (message.tag >= JZX_TAG_SYS_BASE) return JZX_BEHAVIOR_OK;
    Parcels::end(message.data);
    // relaxed: a number of its own.
    base::Prng random(seed_ + turns_.fetch_add(1, std::memory_order_relaxed));
    switch (message.tag) {
      case kAct:
        if (!is_over()) step(random);
        return JZX_BEHAVIOR_OK;
      case kForward:
        if (!is_over()) send(random, chance(random, 3) ? context.self : anybody(random));
        return JZX_BEHAVIOR_OK;
      case kStopTag:
        return JZX_BEHAVIOR_STOP;
      case kFailTag:
        return JZX_BEHAVIOR_FAIL;
      default:
        return JZX_BEHAVIOR_OK;
    }
  }

  // ---- the end ----

  void end_everybody() {
    const std::set<jzx_actor_id> stay(auditors_.begin(), auditors_.end());
    for (bool again = true; again;) {
      again = false;
      for (const jzx_actor_id id : census_.alive()) {
        if (stay.contains(id)) continue;
        again = true;
        (void)jzx_actor_stop(loop_, id);
        ASSERT_TRUE(census_.wait_until_ended(id)) << "an actor does not end";
      }
    }
    EXPECT_TRUE(monitors_.wait_until_settled()) << "a Down is missing";
    for (const jzx_actor_id id : auditors_) EXPECT_EQ(jzx_actor_stop(loop_, id), JZX_OK);
  }

  void check() {
    for (size_t i = 0; i < timers_.size(); ++i) delete timers_.take(i);
    const core::Ledger ledger = capi::ledger(loop_);
    EXPECT_TRUE(ledger.balanced());
    EXPECT_EQ(ledger.queued, 0u);
    for (int i = 0; i < 64; ++i) {
      EXPECT_EQ(jzx_whereis(loop_, ("name" + std::to_string(i)).c_str(), nullptr),
                JZX_ERR_NO_SUCH_ACTOR);
    }
    jzx_runtime_destroy(runtime_);
    parcels_.check();
    monitors_.check();
    EXPECT_EQ(allocator_.live_blocks(), 0);
    census_.check();
    EXPECT_GT(ledger.handled, kLeastTurns) << "they talked";  // how much depends on who ends when
  }

  void observe() {
    jzx_observer observer{};
    observer.on_actor_start = [](void* self, jzx_actor_id id, const char*) {
      static_cast<World*>(self)->census_.started(id);
    };
    observer.on_actor_stop = [](void* self, jzx_actor_id id, int) {
      static_cast<World*>(self)->census_.stopped(id);
    };
    observer.on_dead_letter = [](void*, jzx_actor_id, const jzx_message* message) {
      Parcels::end(message->data);
    };
    jzx_loop_set_observer(loop_, &observer, this);
  }

  const uint64_t seed_;
  std::atomic<int64_t> steps_left_;
  std::atomic<uint64_t> turns_{0};
  CountingAllocator allocator_;
  jzx_runtime* runtime_ = nullptr;
  jzx_loop* loop_ = nullptr;
  std::array<jzx_actor_id, kAuditors> auditors_{};
  Pipe pipes_[kPipes];
  Board<jzx_actor_id, 512> ids_;
  Board<uint64_t, 256> refs_;
  Board<ArmedTimer*, 256> timers_;
  Parcels parcels_;
  MonitorBook monitors_;
  Census census_;
};

class CStress : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, CStress, ::testing::Values(1u, 2u, 4u));

TEST_P(CStress, ARandomLifeOnAllWorkersLeavesEveryBookBalanced) {
  for (const uint64_t seed : seeds({1, 2, 3})) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed, GetParam(), static_cast<int64_t>(scaled(200'000, 10)));
    world.run();
    if (::testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace jzx::testing

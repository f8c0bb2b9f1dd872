// The contracts carry a simulation: the shipped behaviours and supervisors run on a host that has
// neither threads nor a clock nor I/O, and every run can be had again by its seed.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "contracts/sim_host.hpp"
#include "core/message_timer.hpp"
#include "core/rig.hpp"
#include "kinds/behaviour/behaviour.hpp"
#include "runtime/behaviour_child.hpp"
#include "supervise/supervisor.hpp"

namespace jzx::contracts {
namespace {

using jzx::testing::allocator_of;
using jzx::testing::CountingAllocator;
using jzx::testing::send_value;

// Writes what it is told into the trace.
class TracingObserver final : public jzx::Observer {
 public:
  SimHost* host = nullptr;
  std::vector<std::string> restarts;
  int escalations = 0;

  void actor_started(ActorId id, const char* label) override {
    host->note(label == nullptr ? "start" : label);
    host->note(id);
  }
  void actor_stopped(ActorId id, ExitReason reason, const ExitText& text) override {
    host->note(id);
    host->note(static_cast<uint64_t>(reason));
    host->note(text.view());
  }
  void actor_restarted(ActorId, ActorId child, uint32_t attempt) override {
    host->note(child);
    restarts.push_back(std::to_string(host->now_ns() / base::kNanosPerMilli) + " attempt " +
                       std::to_string(attempt));
  }
  void supervisor_escalated(ActorId id) override {
    host->note(id);
    ++escalations;
  }
};

class Simulated {
 public:
  explicit Simulated(uint64_t seed) : system_(options()), host(system_, seed) {
    observer.host = &host;
    system_.set_observer(&observer);
    host.face = this;
  }
  ~Simulated() {
    EXPECT_TRUE(host.ledger().balanced());
    system_.set_observer(nullptr);
  }

  // What a behaviour is a part of, found as its loop is.
  static Simulated& of(jzx_context* ctx) { return *reinterpret_cast<Simulated*>(ctx->loop); }

  ActorId spawn(jzx_behavior_fn behavior, void* state = nullptr) {
    jzx_spawn_opts spawn{};
    spawn.behavior = behavior;
    spawn.state = state;
    ActorId id = core::kNobody;
    EXPECT_EQ(runtime::spawn_behaviour(host, spawn, id), Errc::ok);
    return id;
  }

  ActorId supervise(jzx_behavior_fn behavior, void* state, const jzx_backoff_spec& backoff,
                    uint32_t intensity) {
    supervise::Plan* plan = supervise::Plan::create(system_.allocator, 2);
    plan->supervisor = {supervise::Strategy::one_for_all, intensity, 60'000};
    for (size_t i = 0; i < 2; ++i) {
      jzx_child_spec spec{};
      spec.behavior = behavior;
      spec.state = state;
      plan->children[i].factory = runtime::make_behaviour_child(system_.allocator, spec);
      plan->children[i].has_backoff = true;
      plan->children[i].backoff = {backoff.initial_delay_ms, backoff.max_delay_ms, backoff.factor,
                                   backoff.jitter_ms};
    }
    ActorId id = core::kNobody;
    EXPECT_EQ(supervise::spawn_supervisor(host, *plan, true, core::kNobody, id), Errc::ok);
    return id;
  }

  Errc send(ActorId target, uint32_t value) { return send_value(host, target, value); }

  Errc send_after(ActorId target, uint64_t ms, uint32_t value) {
    Errc error = Errc::ok;
    core::MessageTimer* timer = core::make_timer(host, target, error);
    if (timer == nullptr) return error;
    timer->type = &raw_message_type;
    new (timer->storage) RawMessage{nullptr, 0, value};
    (void)core::arm_timer(host, *timer, ms);
    return Errc::ok;
  }

 private:
  core::SystemOptions options() {
    core::SystemOptions result;
    result.allocator = allocator_of(memory_);
    result.max_actors = 128;
    result.first_generation = 1;
    return result;
  }

  CountingAllocator memory_;
  core::System system_;

 public:
  TracingObserver observer;
  SimHost host;
};

// ---- the actors ----

// Passes a number on, one less, to a neighbour of its own choice.
struct Ring {
  std::vector<ActorId> members;
  int handled = 0;
};
jzx_behavior_result pass_on(jzx_context* ctx, const jzx_message* msg) {
  auto& ring = *static_cast<Ring*>(ctx->state);
  Simulated& sim = Simulated::of(ctx);
  ++ring.handled;
  sim.host.note(ctx->self);
  sim.host.note(msg->tag);
  if (msg->tag == 0) return JZX_BEHAVIOR_OK;
  const auto count = static_cast<uint32_t>(ring.members.size());
  const ActorId next = ring.members[sim.host.choose(count, base::ChoiceSite::user)];
  (void)sim.send(next, msg->tag - 1);
  return JZX_BEHAVIOR_OK;
}

jzx_behavior_result fail_at_once(jzx_context*, const jzx_message*) { return JZX_BEHAVIOR_FAIL; }

// Everything at once: the ring, a family that fails at times chosen by the seed, timers.
uint64_t run_world(uint64_t seed) {
  Simulated sim(seed);
  Ring ring;
  for (int n = 0; n < 5; ++n) ring.members.push_back(sim.spawn(&pass_on, &ring));
  for (const ActorId id : ring.members) EXPECT_EQ(sim.send(id, 20), Errc::ok);
  const jzx_backoff_spec backoff{100, 1000, 2.0f, 50};
  const ActorId family = sim.supervise(&fail_at_once, nullptr, backoff, 5);
  for (uint64_t n = 0; n < 5; ++n) {
    ActorId child = core::kNobody;
    if (supervise::child_id(sim.host, family, n % 2, child) == Errc::ok) {
      EXPECT_EQ(sim.send_after(child, 10 + n * sim.host.choose(500, base::ChoiceSite::user), 1),
                Errc::ok);
    }
    sim.host.run();
  }
  EXPECT_EQ(ring.handled, 5 * 21);
  return sim.host.trace_hash();
}

// ---- the promises ----

TEST(SimContract, TheSameSeedGivesTheSameTraceEveryTime) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_EQ(run_world(seed), run_world(seed));
  }
}

TEST(SimContract, OtherSeedsGiveOtherTraces) {
  std::set<uint64_t> traces;
  for (uint64_t seed = 1; seed <= 50; ++seed) traces.insert(run_world(seed));
  EXPECT_EQ(traces.size(), 50u);
}

TEST(SimContract, TheSeedDecidesWhoRunsNext) {
  static std::vector<ActorId> order;
  std::set<std::vector<ActorId>> orders;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    order.clear();
    Simulated sim(seed);
    for (int n = 0; n < 3; ++n) {
      const ActorId id = sim.spawn([](jzx_context* ctx, const jzx_message*) {
        order.push_back(ctx->self);
        return JZX_BEHAVIOR_OK;
      });
      ASSERT_EQ(sim.send(id, 0), Errc::ok);
    }
    sim.host.run();
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 6u) << "all there are";
}

TEST(SimContract, TimeJumpsToTheNextTimerAndNoFurther) {
  static std::vector<uint64_t> times;
  times.clear();
  Simulated sim(7);
  const ActorId id = sim.spawn([](jzx_context* ctx, const jzx_message*) {
    times.push_back(Simulated::of(ctx).host.now_ns() / base::kNanosPerMilli);
    return JZX_BEHAVIOR_OK;
  });
  constexpr uint64_t kDay = 24ull * 3600 * 1000;
  for (const uint64_t delay : {kDay, uint64_t{5}, 30 * kDay}) {
    ASSERT_EQ(sim.send_after(id, delay, 0), Errc::ok);
  }
  sim.host.run();
  EXPECT_EQ(times, (std::vector<uint64_t>{1005, 1000 + kDay, 1000 + 30 * kDay}));
  EXPECT_LT(sim.host.steps(), 20u);
}

TEST(SimContract, TheShippedSupervisorWaitsOutItsBackoffInVirtualTime) {
  Simulated sim(3);
  const ActorId family = sim.supervise(&fail_at_once, nullptr, {1000, 8000, 2.0f, 0}, 3);
  for (int n = 0; n < 3; ++n) {
    ActorId child = core::kNobody;
    ASSERT_EQ(supervise::child_id(sim.host, family, 0, child), Errc::ok);
    ASSERT_EQ(sim.send(child, 1), Errc::ok);
    sim.host.run();
  }
  EXPECT_EQ(sim.observer.restarts,
            (std::vector<std::string>{"2000 attempt 1", "2000 attempt 1", "4000 attempt 2",
                                      "4000 attempt 2", "8000 attempt 3", "8000 attempt 3"}));
  ActorId child = core::kNobody;
  ASSERT_EQ(supervise::child_id(sim.host, family, 0, child), Errc::ok);
  ASSERT_EQ(sim.send(child, 1), Errc::ok);
  sim.host.run();
  EXPECT_EQ(sim.observer.escalations, 1);
}

TEST(SimContract, BlockingWorkIsAStepLikeAnyOther) {
  Simulated sim(1);
  struct Work : base::Runnable {
    Work()
        : Runnable([](base::Runnable& self, base::Executor&) { ++static_cast<Work&>(self).runs; }) {
    }
    int runs = 0;
  } work;
  EXPECT_TRUE(sim.host.post_blocking(work));
  EXPECT_EQ(work.runs, 0);
  sim.host.run();
  EXPECT_EQ(work.runs, 1);
}

// ---- I/O in memory ----

struct Reading : io::Operation {
  explicit Reading(int pipe)
      : Operation(io::Opcode::read,
                  [](io::Operation& self) { ++static_cast<Reading&>(self).completions; }) {
    handle.value = pipe;
    buffer = bytes;
    size = sizeof bytes;
  }
  [[nodiscard]] std::string text() const {
    return {bytes, result > 0 ? static_cast<size_t>(result) : 0};
  }
  char bytes[16] = {};
  int completions = 0;
};

TEST(SimContract, AnOperationCompletesExactlyOnceAndOnlyFromALaterStep) {
  Simulated sim(1);
  const int pipe = sim.host.memory().make_pipe();
  Reading reading(pipe);
  EXPECT_EQ(sim.host.io().submit(reading), io::Submitted::pending);
  sim.host.run();
  EXPECT_EQ(reading.completions, 0) << "nothing to read";
  sim.host.memory().put(pipe, "hello");
  EXPECT_EQ(reading.completions, 0);
  sim.host.run();
  EXPECT_EQ(reading.completions, 1);
  EXPECT_EQ(reading.text(), "hello");
}

TEST(SimContract, ACancelledOperationStillCompletesAndKeepsDataThatWon) {
  Simulated sim(1);
  const int pipe = sim.host.memory().make_pipe();
  Reading without_data(pipe);
  EXPECT_EQ(sim.host.io().submit(without_data), io::Submitted::pending);
  sim.host.io().cancel(without_data);
  EXPECT_EQ(without_data.completions, 0) << "cancel only asks";
  sim.host.run();
  EXPECT_EQ(without_data.completions, 1);
  EXPECT_EQ(without_data.result, -ECANCELED);
  Reading with_data(pipe);
  EXPECT_EQ(sim.host.io().submit(with_data), io::Submitted::pending);
  sim.host.memory().put(pipe, "won");
  sim.host.io().cancel(with_data);
  sim.host.run();
  EXPECT_EQ(with_data.completions, 1);
  EXPECT_EQ(with_data.text(), "won");
}

TEST(SimContract, WhatItCannotDoIsDoneAtOnce) {
  Simulated sim(1);
  Reading strange(sim.host.memory().make_pipe());
  strange.opcode = io::Opcode::resolve;
  EXPECT_EQ(sim.host.io().submit(strange), io::Submitted::done);
  sim.host.run();
  EXPECT_EQ(strange.completions, 0) << "the answer was there";
  EXPECT_EQ(strange.result, -ENOSYS);
}

TEST(SimContract, ACloseEndsWhatIsPendingOnItsHandle) {
  Simulated sim(1);
  Reading reading(sim.host.memory().make_pipe());
  EXPECT_EQ(sim.host.io().submit(reading), io::Submitted::pending);
  Reading closing(static_cast<int>(reading.handle.value));
  closing.opcode = io::Opcode::close;
  EXPECT_EQ(sim.host.io().submit(closing), io::Submitted::done);
  EXPECT_EQ(closing.result, 0);
  EXPECT_EQ(reading.completions, 0) << "not from inside submit()";
  sim.host.run();
  EXPECT_EQ(reading.completions, 1);
  EXPECT_EQ(reading.result, -ECANCELED);
}

TEST(SimContract, AWatchedPipeReachesItsActorOncePerReadiness) {
  static int events;
  events = 0;
  Simulated sim(1);
  const int pipe = sim.host.memory().make_pipe();
  const ActorId id = sim.spawn([](jzx_context*, const jzx_message* msg) {
    if (msg->tag == JZX_TAG_SYS_IO) ++events;
    return JZX_BEHAVIOR_OK;
  });
  ASSERT_EQ(sim.host.watches().watch(pipe, id, io::kReadable), Errc::ok);
  sim.host.run();
  EXPECT_EQ(events, 0);
  sim.host.memory().put(pipe, "a");
  sim.host.memory().put(pipe, "b");
  sim.host.run();
  EXPECT_EQ(events, 1) << "two arrivals before it ran are one";
  sim.host.memory().put(pipe, "c");
  sim.host.run();
  EXPECT_EQ(events, 2);
  ASSERT_EQ(core::request_exit(sim.host, id, ExitReason::normal), Errc::ok);
  sim.host.run();
  sim.host.memory().put(pipe, "d");
  sim.host.run();
  EXPECT_EQ(events, 2);
}

}  // namespace
}  // namespace jzx::contracts

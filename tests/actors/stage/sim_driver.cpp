// The simulator as a driver of the suite.
#include <gtest/gtest.h>

#include <cstdlib>

#include "actors/stage/driver.hpp"
#include "capi/loop_handle.hpp"
#include "drivers/sim/empty_world.hpp"
#include "drivers/sim/policies.hpp"
#include "runtime/sim/sim_system.hpp"

namespace jzx::actors {

namespace {

namespace sim = drivers::sim;

constexpr int kManySteps = 10'000'000;  // more than any test needs

std::unique_ptr<sim::Policy> policy_of(const std::string& name) {
  constexpr uint64_t kSeed = 20261116;
  if (name == "sim_random") return std::make_unique<sim::Random>(kSeed);
  if (name == "sim_pct") return std::make_unique<sim::Pct>(kSeed, 3, 200);
  return std::make_unique<sim::Fifo>();
}

class SimDriver final : public Driver {
 public:
  SimDriver(const std::string& policy, const SystemOptions& options, const jzx_allocator& allocator,
            Observer& observer)
      : policy_(policy_of(policy)) {
    runtime::SimOptions wanted;
    wanted.allocator = {allocator.alloc, allocator.free, allocator.ctx};
    wanted.max_actors = options.max_actors;
    system_ =
        runtime::SimSystem::create(wanted, simulator_, sim::EmptyWorld::make(wanted.allocator));
    if (system_ == nullptr) std::abort();
    loop_.port = system_;
    system_->host.face = &loop_;
    system_->system.set_observer(&observer);
  }

  jzx_loop* loop() override { return &loop_; }
  uint64_t now_ns() override { return simulator_.time().now_ns(); }
  bool has_threads() const override { return false; }

  bool await(Journal& journal, const Query& query, size_t count) override {
    for (int step = 0; journal.count(query) < count; ++step) {
      if (step == kManySteps || !simulator_.step()) return false;
    }
    return true;
  }

  void settle() override {
    for (int step = 0; step < kManySteps; ++step) {
      if (!simulator_.step(simulator_.time().now_ns())) return;
    }
    ADD_FAILURE() << "the simulation never came to rest";
  }

  void end_everybody(Journal& journal) override {
    settle();
    for (const ActorId id : journal.alive()) (void)jzx_actor_stop(&loop_, id);
    for (int step = 0; step < kManySteps && system_->system.alive_count() > 0; ++step) {
      ASSERT_TRUE(simulator_.step()) << "somebody is left";
    }
  }

  void halt() override {}
  void close() override { system_->destroy(); }

 private:
  std::unique_ptr<sim::Policy> policy_;
  sim::Simulator simulator_{*policy_};
  jzx_loop loop_;
  runtime::SimSystem* system_ = nullptr;
};

}  // namespace

std::unique_ptr<Driver> make_sim_driver(const std::string& name, const SystemOptions& options,
                                        const jzx_allocator& allocator, Observer& observer) {
  return std::make_unique<SimDriver>(name, options, allocator, observer);
}

}  // namespace jzx::actors

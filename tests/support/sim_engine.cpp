#include "support/sim_engine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "drivers/sim/empty_world.hpp"
#include "drivers/sim/policies.hpp"
#include "runtime/sim/sim_system.hpp"

namespace jzx::testing {

namespace {

namespace sim = drivers::sim;

constexpr int kStepsOfATick = 1024;

std::unique_ptr<sim::Policy> policy_of(const std::string& driver) {
  constexpr uint64_t kUsualSeed = 20261116;
  const size_t number = driver.find_first_of("0123456789");
  const uint64_t seed =
      number == std::string::npos ? kUsualSeed : std::stoull(driver.substr(number));
  if (driver.starts_with("sim_random")) return std::make_unique<sim::Random>(seed);
  if (driver.starts_with("sim_pct")) return std::make_unique<sim::Pct>(seed, 3, 200);
  if (driver != "sim_fifo") std::abort();
  return std::make_unique<sim::Fifo>();
}

}  // namespace

struct SimEngine::Parts {
  explicit Parts(const std::string& driver) : policy(policy_of(driver)) {}

  std::unique_ptr<sim::Policy> policy;
  sim::Simulator simulator{*policy};
  runtime::SimSystem* system = nullptr;
};

SimEngine::SimEngine(const std::string& driver, const SimEngineOptions& options,
                     const jzx_allocator& allocator, Observer* observer)
    : parts_(std::make_unique<Parts>(driver)) {
  runtime::SimOptions wanted;
  wanted.allocator = {allocator.alloc, allocator.free, allocator.ctx};
  wanted.max_actors = options.max_actors;
  wanted.default_mailbox_cap = options.default_mailbox_cap;
  wanted.detect_deadlocks = options.detect_deadlocks;
  parts_->system = runtime::SimSystem::create(wanted, parts_->simulator,
                                              sim::EmptyWorld::make(wanted.allocator));
  if (parts_->system == nullptr) std::abort();
  if (observer != nullptr) parts_->system->system.set_observer(observer);
}

SimEngine::~SimEngine() { close(); }

void SimEngine::close() {
  if (runtime::SimSystem* ending = std::exchange(parts_->system, nullptr)) ending->destroy();
}

runtime::SimSystem& SimEngine::system() noexcept { return *parts_->system; }

detail::Port* SimEngine::port() noexcept { return parts_->system; }

uint64_t SimEngine::now_ns() noexcept { return parts_->simulator.time().now_ns(); }

bool SimEngine::take_stop_request() noexcept { return system().take_stop_request(); }

bool SimEngine::step(Time time) {
  return parts_->simulator.step(time == Time::may_jump ? base::kNever : now_ns());
}

void SimEngine::settle() {
  for (int steps = 0; steps < kManySteps; ++steps) {
    if (!step(Time::stands_still)) return;
  }
  ADD_FAILURE() << "the simulation never came to rest";
}

void SimEngine::move_time(uint64_t ns) { parts_->simulator.move_to(now_ns() + ns); }

bool SimEngine::run(Time time) {
  for (int steps = 0; steps < kManySteps; ++steps) {
    if (take_stop_request() || system().system.alive_count() == 0) return true;
    if (!step(time)) return false;
  }
  ADD_FAILURE() << "the simulation never came to its end";
  return false;
}

bool SimEngine::tick(uint64_t longest_wait_ns) {
  if (take_stop_request() || system().system.alive_count() == 0) return false;
  const uint64_t latest_ns = now_ns() + longest_wait_ns;
  if (parts_->simulator.step(latest_ns)) {
    for (int steps = 1; steps < kStepsOfATick && step(Time::stands_still); ++steps) {
    }
  } else {
    parts_->simulator.move_to(latest_ns);
  }
  return !take_stop_request() && system().system.alive_count() > 0;
}

}  // namespace jzx::testing

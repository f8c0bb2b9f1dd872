#include "actors/stage/driver.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "base/time/clock.hpp"
#include "capi/create_loop.hpp"
#include "capi/create_runtime.hpp"
#include "capi/loop_handle.hpp"
#include "runtime/runtime_system.hpp"

namespace jzx::actors {

namespace {

jzx_config config_from(const SystemOptions& options, const jzx_allocator& allocator) {
  jzx_config config;
  jzx_config_init(&config);
  config.allocator = allocator;
  config.max_actors = options.max_actors;
  config.max_msgs_per_actor = options.max_msgs_per_actor;
  return config;
}

constexpr int kManyTicks = 1'000'000;  // more than any test needs

class LoopDriver final : public Driver {
 public:
  LoopDriver(const SystemOptions& options, const jzx_allocator& allocator, Observer& observer) {
    const jzx_config config = config_from(options, allocator);
    loop_ = capi::create_loop(&config, {&clock_});
    if (loop_ == nullptr) std::abort();
    loop_->port->system.set_observer(&observer);
  }

  jzx_loop* loop() override { return loop_; }
  uint64_t now_ns() override { return clock_.now_ns(); }
  bool has_threads() const override { return false; }

  bool await(Journal& journal, const Query& query, size_t count) override {
    for (int tick = 0; journal.count(query) < count; ++tick) {
      if (tick == kManyTicks) return false;  // busy actors never come to rest
      EXPECT_GE(jzx_loop_run_once(loop_, 0), 0);
      if (worker().has_work() || journal.count(query) >= count) continue;
      const uint64_t next = worker().next_deadline_ns();
      if (next == base::kNever) return false;
      if (next > clock_.now_ns()) clock_.advance_ns(next - clock_.now_ns());
    }
    return true;
  }

  void settle() override {
    for (int tick = 0; tick < kManyTicks; ++tick) {
      EXPECT_GE(jzx_loop_run_once(loop_, 0), 0);
      if (!worker().has_work() && worker().next_deadline_ns() > clock_.now_ns()) return;
    }
    ADD_FAILURE() << "the loop never came to rest";
  }

  // A loop has no call for it: the eldest first, and each takes its children along.
  void end_everybody(Journal& journal) override {
    settle();
    for (const ActorId id : journal.alive()) (void)jzx_actor_stop(loop_, id);
    EXPECT_EQ(jzx_loop_run(loop_), 0);
  }

  void halt() override {}
  void close() override { jzx_loop_destroy(loop_); }

 private:
  drivers::Worker& worker() { return loop_->alone->worker; }

  base::ManualClock clock_{false};
  jzx_loop* loop_ = nullptr;
};

class WorkersDriver final : public Driver {
 public:
  WorkersDriver(uint32_t workers, const SystemOptions& options, const jzx_allocator& allocator,
                Observer& observer) {
    jzx_runtime_config config;
    jzx_runtime_config_init(&config);
    config.loop = config_from(options, allocator);
    config.workers = workers;
    runtime_ = capi::create_runtime(&config, {&clock_});
    if (runtime_ == nullptr) std::abort();
    system().system.set_observer(&observer);
    if (!system().start()) std::abort();
  }

  jzx_loop* loop() override { return jzx_runtime_loop(runtime_); }
  uint64_t now_ns() override { return clock_.now_ns(); }
  bool has_threads() const override { return true; }

  bool await(Journal& journal, const Query& query, size_t count) override {
    return journal.wait_for(query, count);
  }

  // Only this thread brings work from outside, and it stands here: who sleeps has looked at every
  // queue before, and only other workers can wake it.
  void settle() override {
    while (!system().group().idle.everybody_sleeps()) std::this_thread::yield();
  }

  void end_everybody(Journal&) override {
    constexpr uint64_t kMinuteNs = 60'000'000'000;
    EXPECT_TRUE(system().shut_down(kMinuteNs).empty());
  }

  void halt() override { system().pause(); }
  void close() override { jzx_runtime_destroy(runtime_); }

 private:
  runtime::RuntimeSystem& system() {
    return static_cast<runtime::RuntimeSystem&>(*jzx_runtime_loop(runtime_)->port);
  }

  base::SteadyClock clock_;
  jzx_runtime* runtime_ = nullptr;
};

}  // namespace

core::Ledger Driver::ledger() { return capi::ledger(loop()); }

std::unique_ptr<Driver> make_driver(const std::string& name, const SystemOptions& options,
                                    const jzx_allocator& allocator, Observer& observer) {
  if (name == "loop") return std::make_unique<LoopDriver>(options, allocator, observer);
  if (name.starts_with("sim_")) return make_sim_driver(name, options, allocator, observer);
  const std::string prefix = "workers_";
  const auto workers = static_cast<uint32_t>(std::stoul(name.substr(prefix.size())));
  return std::make_unique<WorkersDriver>(workers, options, allocator, observer);
}

std::vector<std::string> all_drivers() {
  std::vector<std::string> all = real_drivers();
  all.insert(all.end(), {"sim_fifo", "sim_random", "sim_pct"});
  return all;
}

std::vector<std::string> real_drivers() { return {"loop", "workers_1", "workers_2"}; }

}  // namespace jzx::actors

// The simulator as a driver of the suite.
#include <gtest/gtest.h>

#include "actors/stage/driver.hpp"
#include "capi/loop_handle.hpp"
#include "runtime/sim/sim_system.hpp"
#include "support/sim_engine.hpp"

namespace jzx::actors {

namespace {

class SimDriver final : public Driver {
 public:
  SimDriver(const std::string& name, const SystemOptions& options, const jzx_allocator& allocator,
            Observer& observer)
      : engine_(name, {.max_actors = options.max_actors}, allocator, &observer) {
    loop_.port = &engine_.system();
    engine_.system().host.face = &loop_;
  }

  jzx_loop* loop() override { return &loop_; }
  uint64_t now_ns() override { return engine_.now_ns(); }
  bool has_threads() const override { return false; }

  bool await(Journal& journal, const Query& query, size_t count) override {
    return engine_.run_until([&] { return journal.count(query) >= count; },
                             testing::SimEngine::Time::may_jump);
  }
  void settle() override { engine_.settle(); }

  void end_everybody(Journal& journal) override {
    settle();
    for (const ActorId id : journal.alive()) (void)jzx_actor_stop(&loop_, id);
    EXPECT_TRUE(engine_.run(testing::SimEngine::Time::may_jump)) << "somebody is left";
  }

  void halt() override {}
  void close() override { engine_.close(); }

 private:
  testing::SimEngine engine_;
  jzx_loop loop_;
};

}  // namespace

std::unique_ptr<Driver> make_sim_driver(const std::string& name, const SystemOptions& options,
                                        const jzx_allocator& allocator, Observer& observer) {
  return std::make_unique<SimDriver>(name, options, allocator, observer);
}

}  // namespace jzx::actors

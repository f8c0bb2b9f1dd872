// The simulator as a driver of tests that know nothing of it: one simulated system, its policy, and
// the ways in which a test runs it. A driver has a name: "sim_fifo", "sim_random", "sim_pct_7"; the
// number is the seed.
//
// Threads: the test's.
#pragma once

#include <jzx/jzx.h>

#include <cstdint>
#include <memory>
#include <string>

#include <jzx/observer.hpp>

namespace jzx::runtime {
class SimSystem;
}
namespace jzx::detail {
class Port;
}

namespace jzx::testing {

[[nodiscard]] inline bool is_simulated(const std::string& driver) {
  return driver.starts_with("sim_");
}

struct SimEngineOptions {
  uint32_t max_actors = 4096;
  uint32_t default_mailbox_cap = 1024;
  bool detect_deadlocks = true;
};

class SimEngine {
 public:
  SimEngine(const std::string& driver, const SimEngineOptions& options,
            const jzx_allocator& allocator, Observer* observer = nullptr);
  ~SimEngine();
  SimEngine(const SimEngine&) = delete;
  SimEngine& operator=(const SimEngine&) = delete;

  [[nodiscard]] runtime::SimSystem& system() noexcept;
  [[nodiscard]] detail::Port* port() noexcept;  // the same, for who needs no more
  [[nodiscard]] uint64_t now_ns() noexcept;

  enum class Time { may_jump, stands_still };
  // Does one thing. False: there is nothing to do, or only later and time stands still.
  bool step(Time time = Time::may_jump);
  // Until there is nothing left to do but to wait for time.
  void settle();
  // What becomes due is ready then, and not yet run.
  void move_time(uint64_t ns);
  // As the runs of a loop: until it is stopped, or nobody is alive. False: some are, and wait for
  // what will never come.
  [[nodiscard]] bool run(Time time);
  // As a tick of a loop: what is ready now, and what comes of it; if nothing is, what the next time
  // brings within this, or time goes by. False: stopped, or nobody is alive.
  bool tick(uint64_t longest_wait_ns);
  // Until something is so. False: it is stopped, or nothing is left to do.
  template <class IsSo>
  [[nodiscard]] bool run_until(const IsSo& is_so, Time time) {
    for (int steps = 0; !is_so(); ++steps) {
      if (steps == kManySteps || take_stop_request() || !step(time)) return false;
    }
    return true;
  }
  // The system ends; the time can still be asked for.
  void close();

 private:
  static constexpr int kManySteps = 10'000'000;  // more than any test needs

  [[nodiscard]] bool take_stop_request() noexcept;

  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace jzx::testing

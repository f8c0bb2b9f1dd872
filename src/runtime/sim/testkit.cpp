#include <jzx/sim/testkit.hpp>

#include <cstdio>
#include <cstdlib>

#include "drivers/sim/policies.hpp"
#include "runtime/sim/sim_run.hpp"
#include "runtime/sim/sim_times.hpp"

namespace jzx {

struct TestKit::Parts {
  explicit Parts(const SimOptions& the_options) : options(the_options) {
    run.fail_if(runtime::wrong_times(options));
    run.set_faults(options.faults);
  }

  SimOptions options;
  drivers::sim::Fifo policy;
  detail::SimRun run{options, policy, 0, true};
  bool is_finished = false;
};

TestKit::TestKit(const SimOptions& options) : parts_(std::make_unique<Parts>(options)) {}

TestKit::~TestKit() {
  if (parts_->is_finished) return;
  parts_->run.end();
  if (!parts_->run.has_failed()) return;
  std::fprintf(stderr, "jzx: %s\n%s", parts_->run.failure().c_str(), trace().c_str());
  std::abort();
}

Sim& TestKit::sim() noexcept { return parts_->run.sim(); }

void TestKit::tell(std::string_view how, std::string_view what) {
  parts_->run.note(std::string(how) + std::string(what));
}

std::string TestKit::trace() const { return parts_->run.trace().text(SIZE_MAX); }

void TestKit::advance(std::chrono::milliseconds time) {
  detail::SimRun& run = parts_->run;
  run.fail_if(runtime::wrong_time("what TestKit::advance() is given", time));
  run.move_to(runtime::time_after(run.simulator.time().now_ns(), time));
}

std::string TestKit::finish() {
  parts_->is_finished = true;
  parts_->run.finish();
  return parts_->run.failure();
}

}  // namespace jzx

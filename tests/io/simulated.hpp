// The simulator's reactor as one more backend for the tests of this folder: a world with one node,
// without faults, whose time moves whenever a wait() may take some.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <new>

#include "base/time/clock.hpp"
#include "drivers/sim/world/sim_reactor.hpp"
#include "io/contract.hpp"

namespace jzx::io {

class SimulatedReactor final : public Reactor {
 public:
  static ReactorPtr make() {
    return ReactorPtr(
        new SimulatedReactor,
        ReactorDeleter{[](void*, void* memory) { ::operator delete(memory); }, nullptr});
  }

  int watch(Watch& watch) override { return reactor_.watch(watch); }
  int unwatch(Watch& watch) override { return reactor_.unwatch(watch); }
  void share(std::mutex& mutex) noexcept override { reactor_.share(mutex); }
  Submitted submit(Operation& operation) override { return reactor_.submit(operation); }
  void cancel(Operation& operation) override { reactor_.cancel(operation); }
  void perform(Operation& operation) noexcept override { reactor_.perform(operation); }
  size_t pending_count() const noexcept override { return reactor_.pending_count(); }
  void wake() noexcept override { reactor_.wake(); }
  int pollable_fd() const noexcept override { return reactor_.pollable_fd(); }
  const char* name() const noexcept override { return reactor_.name(); }

  int wait(uint64_t timeout_ns) override {
    drivers::sim::Events& events = network_.events();
    const uint64_t start_ns = clock_.now_ns();
    const uint64_t end_ns =
        timeout_ns < base::kNever - start_ns ? start_ns + timeout_ns : base::kNever;
    for (;;) {
      events.run_due(clock_.now_ns());
      const bool has_news = reactor_.has_news();
      if (const int error = reactor_.wait(0); error != 0 || has_news) return error;
      const uint64_t next_ns = std::min(events.next_ns(), end_ns);
      if (next_ns == base::kNever) {
        ADD_FAILURE() << "waits for what never happens";
        return -EDEADLK;
      }
      clock_.advance_ns(next_ns - clock_.now_ns());
      if (next_ns == end_ns && events.next_ns() > end_ns) return 0;
    }
  }

  drivers::sim::SimReactor& simulated() noexcept { return reactor_; }
  drivers::sim::Network& network() noexcept { return network_; }

 private:
  struct Plainly final : drivers::sim::Policy {
    uint32_t choose(uint32_t, base::ChoiceSite) override { return 0; }
  };

  SimulatedReactor() = default;

  base::ManualClock clock_{false};
  Plainly policy_;
  drivers::sim::Choices choices_{policy_};
  drivers::sim::Network network_{clock_, choices_};
  drivers::sim::Disk disk_{choices_};
  drivers::sim::SimReactor reactor_{network_, network_.add_node("here"), disk_};
};

}  // namespace jzx::io

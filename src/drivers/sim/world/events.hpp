// What is still to happen in the outside world of a simulation, in the order in which it will:
// packets that arrive, disks that are done, peers that give up. Of what happens at one time, that
// which was planned first comes first.
//
//   at(…), after(…) ──▶ [ (time, order) → what ] ──▶ run_due(now), once each ──▶ news for reactors
//
// The simulator moves its clock to next_ns() when nobody can run, and calls run_due().
//
// Threads: one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "base/time/clock.hpp"

namespace jzx::drivers::sim {

class Events {
 public:
  using Happen = std::function<void()>;

  // Names one that is planned; {} names none.
  struct Ticket {
    uint64_t at_ns = 0;
    uint64_t order = 0;

    friend auto operator<=>(const Ticket&, const Ticket&) noexcept = default;
  };

  explicit Events(base::Clock& clock) noexcept : clock_(clock) {}
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  [[nodiscard]] uint64_t now_ns() const noexcept { return clock_.now_ns(); }

  // What should have happened before now happens now.
  Ticket at(uint64_t time_ns, Happen what) {
    const Ticket ticket{std::max(time_ns, now_ns()), ++last_order_};
    planned_.emplace_hint(planned_.end(), ticket, std::move(what));
    return ticket;
  }
  Ticket after(uint64_t delay_ns, Happen what) {
    const uint64_t now = now_ns();
    const bool is_in_reach = delay_ns < base::kNever - 1 - now;
    return at(is_in_reach ? now + delay_ns : base::kNever - 1, std::move(what));
  }
  // False: it has happened, or there is no such one.
  bool cancel(Ticket ticket) noexcept { return planned_.erase(ticket) != 0; }

  // When the next one happens; base::kNever: none is planned.
  [[nodiscard]] uint64_t next_ns() const noexcept {
    return planned_.empty() ? base::kNever : planned_.begin()->first.at_ns;
  }
  // All that is due, also what these plan for no later than `now`. How many they were.
  size_t run_due(uint64_t now) {
    size_t count = 0;
    for (; next_ns() <= now && !planned_.empty(); ++count) {
      // Taken out before it runs, which may cancel and plan others.
      const auto node = planned_.extract(planned_.begin());
      node.mapped()();
    }
    return count;
  }

  [[nodiscard]] size_t size() const noexcept { return planned_.size(); }
  void clear() noexcept { planned_.clear(); }

 private:
  base::Clock& clock_;
  std::map<Ticket, Happen> planned_;
  uint64_t last_order_ = 0;
};

}  // namespace jzx::drivers::sim

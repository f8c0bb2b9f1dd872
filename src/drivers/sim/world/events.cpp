#include "drivers/sim/world/events.hpp"

#include <algorithm>
#include <utility>

namespace jzx::drivers::sim {

Events::Ticket Events::at(uint64_t time_ns, Happen what) {
  const Ticket ticket{std::max(time_ns, now_ns()), ++last_order_};
  planned_.emplace_hint(planned_.end(), ticket, std::move(what));
  return ticket;
}

Events::Ticket Events::after(uint64_t delay_ns, Happen what) {
  const uint64_t now = now_ns();
  return at(delay_ns < base::kNever - 1 - now ? now + delay_ns : base::kNever - 1, std::move(what));
}

size_t Events::run_due(uint64_t now_ns) {
  size_t count = 0;
  while (!planned_.empty() && planned_.begin()->first.at_ns <= now_ns) {
    // Taken out before it runs, which may cancel and plan others.
    const auto node = planned_.extract(planned_.begin());
    node.mapped()();
    ++count;
  }
  return count;
}

}  // namespace jzx::drivers::sim

#include "drivers/sim/late_mail.hpp"

#include <algorithm>
#include <iterator>

#include "core/send.hpp"
#include "drivers/sim/sim_host.hpp"

namespace jzx::drivers::sim {

using core::Admission;

void LateMail::hold(SimHost& host, ActorId target, Envelope& envelope, uint64_t until_ns,
                    uint64_t cause) {
  if (const Late* before = last_of(host, envelope.sender, target)) {
    until_ns = std::max(until_ns, before->until_ns);
  }
  all_.push_back({&host, target, &envelope, until_ns, cause});
}

const LateMail::Late* LateMail::last_of(const SimHost& host, ActorId sender,
                                        ActorId target) const noexcept {
  const auto found = std::find_if(all_.rbegin(), all_.rend(), [&](const Late& one) {
    return one.host == &host && one.target == target && one.envelope->sender == sender;
  });
  return found == all_.rend() ? nullptr : &*found;
}

bool LateMail::is_first_of_pair(size_t place) const noexcept {
  const Late& late = all_[place];
  return std::none_of(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(place),
                      [&](const Late& one) {
                        return one.host == late.host && one.target == late.target &&
                               one.envelope->sender == late.envelope->sender;
                      });
}

uint64_t LateMail::next_ns(uint64_t now_ns) const noexcept {
  uint64_t next = base::kNever;
  for (const Late& one : all_) {
    if (one.until_ns > now_ns) next = std::min(next, one.until_ns);  // others wait for room
  }
  return next;
}

void LateMail::arrive(uint64_t now_ns) {
  for (size_t i = 0; i < all_.size();) {
    const bool is_due = all_[i].until_ns <= now_ns && is_first_of_pair(i);
    // Whoever hears of one that cannot be delivered may send others: the list is another then.
    i = is_due && deliver(i, IfFull::waits) ? 0 : i + 1;
  }
}

void LateMail::let_go(SimHost& host, ActorId sender) {
  for (size_t i = 0; i < all_.size();) {
    const bool is_its = all_[i].host == &host && all_[i].envelope->sender == sender;
    i = is_its && deliver(i, IfFull::is_dropped) ? 0 : i + 1;
  }
}

bool LateMail::deliver(size_t place, IfFull if_full) {
  const Late late = all_[place];
  SimHost& host = *late.host;
  core::Actor* actor = host.system.actors.find(late.target);
  const Admission admission = actor == nullptr
                                  ? Admission::gone
                                  : core::admit_user(*actor, core::generation_of(late.target));
  if (admission == Admission::full && if_full == IfFull::waits &&
      // relaxed: one thread.
      actor->overload.load(std::memory_order_relaxed) != core::Overload::drop_newest) {
    return false;
  }
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(place));
  const InName here(host);
  ++host.counters.accepted;
  if (admission >= Admission::full) {
    host.dead_letter(
        late.target, *late.envelope,
        admission == Admission::full ? DeadLetterReason::overload : DeadLetterReason::target_gone);
    return true;
  }
  cause_ = &late.cause;
  core::put(host, *actor, *late.envelope, admission);
  cause_ = nullptr;
  return true;
}

void LateMail::drop(SimHost& host) {
  std::vector<Late> dropped;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(dropped),
               [&](const Late& one) { return one.host == &host; });
  std::erase_if(all_, [&](const Late& one) { return one.host == &host; });
  for (const Late& one : dropped) {
    ++host.counters.accepted;
    host.dead_letter(one.target, *one.envelope, DeadLetterReason::closing);
  }
}

}  // namespace jzx::drivers::sim

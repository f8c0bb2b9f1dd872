#include "drivers/sim/policies.hpp"

#include <algorithm>

namespace jzx::drivers::sim {

// ---- pct ----

namespace {

constexpr uint32_t kTurnsInARow = 100;

}  // namespace

Pct::Pct(uint64_t seed, uint32_t depth, uint64_t steps) : prng_(seed) {
  const auto range = static_cast<uint32_t>(std::clamp<uint64_t>(steps, 1, UINT32_MAX));
  for (uint32_t i = 1; i < depth; ++i) changes_.push_back(prng_.below(range) + 1);
  std::sort(changes_.begin(), changes_.end());
}

uint64_t Pct::priority_of(uint64_t who) {
  const auto [place, is_new] = priorities_.try_emplace(who, 0);
  if (is_new) place->second = (uint64_t{1} << 32) + (prng_.next() >> 32);
  return place->second;
}

uint32_t Pct::choose_next(std::span<const Candidate> ready) {
  ++step_;
  uint32_t best = 0;
  uint64_t highest = 0;
  for (uint32_t i = 0; i < ready.size(); ++i) {
    const uint64_t priority = priority_of(ready[i].who);
    if (i != 0 && priority <= highest) continue;
    best = i;
    highest = priority;
  }
  bool changes = false;
  for (; next_change_ < changes_.size() && changes_[next_change_] <= step_; ++next_change_) {
    changes = true;
  }
  // Who would go on for ever keeps the others from ever running.
  turns_in_a_row_ = ready[best].who == last_ ? turns_in_a_row_ + 1 : 0;
  last_ = ready[best].who;
  if (changes || turns_in_a_row_ == kTurnsInARow) priorities_[last_] = --lowest_;
  return best;
}

// ---- dfs ----

uint32_t Dfs::choose(uint32_t count, ChoiceSite site) {
  // Amounts have too many alternatives to try them all.
  switch (site) {
    case ChoiceSite::backoff_jitter:
    case ChoiceSite::fault_amount:
    case ChoiceSite::network_amount:
    case ChoiceSite::disk_amount:
    case ChoiceSite::clock:
      return 0;
    default:
      return branch(count);
  }
}

uint32_t Dfs::branch(uint32_t count) {
  if (depth_ >= bound_) return 0;
  if (depth_ == path_.size()) path_.push_back({count, 0});
  Branch& now = path_[depth_++];
  if (now.count == count) return now.taken;
  has_diverged_ = true;
  return std::min(now.taken, count - 1);
}

bool Dfs::next() {
  depth_ = 0;
  while (!path_.empty()) {
    if (++path_.back().taken < path_.back().count) return true;
    path_.pop_back();
  }
  return false;
}

// ---- replay ----

Replay::Replay(const std::vector<Choice>& choices) {
  for (const Choice& choice : choices) {
    lists_[static_cast<size_t>(choice.site)].taken.push_back(choice.taken);
  }
}

uint32_t Replay::choose(uint32_t count, ChoiceSite site) {
  List& list = lists_[static_cast<size_t>(site)];
  const size_t place = list.next++;
  const uint32_t wanted = place < list.taken.size() ? list.taken[place] : 0;
  if (wanted < count) return wanted;
  if (!misfit_) misfit_ = {site, place, wanted, count};
  return 0;
}

std::optional<Replay::Misfit> Replay::misfit() const {
  if (misfit_) return misfit_;
  for (size_t site = 0; site < lists_.size(); ++site) {
    const List& list = lists_[site];
    for (size_t place = list.next; place < list.taken.size(); ++place) {
      if (list.taken[place] == 0) continue;
      return Misfit{static_cast<ChoiceSite>(site), place, list.taken[place], 0};
    }
  }
  return std::nullopt;
}

}  // namespace jzx::drivers::sim

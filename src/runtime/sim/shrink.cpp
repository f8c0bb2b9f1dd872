#include "runtime/sim/shrink.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace jzx::runtime {

namespace {

using drivers::sim::Choice;

// A letter for each site: backoff, steal, next, user, fault and amount, network, disk, clock.
constexpr std::string_view kLetters = "bsnufawxdec";
static_assert(kLetters.size() == base::kChoiceSites);
constexpr size_t kLongestPart = 64;  // of a scenario, in choices

class Shrinker {
 public:
  Shrinker(Taken failing, const std::function<bool(const Taken&)>& fails,
           const ShrinkBudget& budget)
      : best_(std::move(failing)), fails_(fails), budget_(budget) {}

  Taken run() {
    cut_end();
    for (bool is_better = true; is_better && !budget_.is_spent();) {
      is_better = leave_out_chunks();
      is_better |= zero_chunks();
      is_better |= lower_values();
    }
    while (!best_.empty() && best_.back().taken == 0) best_.pop_back();
    return std::move(best_);
  }

 private:
  bool attempt(Taken candidate) {
    if (budget_.is_spent() || !fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  // What came after the failure is not needed, and often much before it is not either.
  void cut_end() {
    for (size_t keep = best_.size() / 2; keep > 0; keep /= 2) {
      if (!attempt(Taken(best_.begin(), best_.begin() + static_cast<std::ptrdiff_t>(keep)))) break;
    }
  }

  // A choice less, and those after it are made one earlier: so a whole part of a scenario can go,
  // with all that was chosen in it, and what follows stays as it was.
  bool leave_out_chunks() {
    bool is_better = false;
    for (size_t chunk = std::min<size_t>(kLongestPart, best_.size() / 2); chunk > 0; chunk /= 2) {
      for (size_t end = best_.size(); end >= chunk && !budget_.is_spent();) {
        const auto begin = best_.begin() + static_cast<std::ptrdiff_t>(end - chunk);
        Taken candidate(best_.begin(), begin);
        candidate.insert(candidate.end(), begin + static_cast<std::ptrdiff_t>(chunk), best_.end());
        if (attempt(std::move(candidate))) {
          is_better = true;
          end = std::min(end, best_.size());
        } else {
          end -= std::min(end, chunk);
        }
      }
    }
    return is_better;
  }

  [[nodiscard]] std::vector<size_t> places() const {
    std::vector<size_t> places;
    for (size_t i = 0; i < best_.size(); ++i) {
      if (best_[i].taken != 0) places.push_back(i);
    }
    return places;
  }

  bool zero_chunks() {
    bool is_better = false;
    for (size_t chunk = std::max<size_t>(1, places().size() / 2); chunk > 0; chunk /= 2) {
      // From the end: what is late depends on what is early, not the other way round.
      std::vector<size_t> all = places();
      for (size_t end = all.size(); end > 0 && !budget_.is_spent();) {
        const size_t begin = end > chunk ? end - chunk : 0;
        Taken candidate = best_;
        for (size_t i = begin; i < end; ++i) candidate[all[i]].taken = 0;
        is_better |= attempt(std::move(candidate));
        end = begin;
      }
    }
    return is_better;
  }

  bool lower_values() {
    bool is_better = false;
    for (const size_t place : places()) {
      while (best_[place].taken > 1 && !budget_.is_spent()) {
        Taken candidate = best_;
        candidate[place].taken /= 2;
        if (!attempt(std::move(candidate))) break;
        is_better = true;
      }
    }
    return is_better;
  }

  Taken best_;
  const std::function<bool(const Taken&)>& fails_;
  const ShrinkBudget& budget_;
};

}  // namespace

Taken shrink(Taken failing, const std::function<bool(const Taken&)>& fails,
             const ShrinkBudget& budget) {
  return Shrinker(std::move(failing), fails, budget).run();
}

size_t count_of_choices(const Taken& taken) noexcept {
  return static_cast<size_t>(
      std::count_if(taken.begin(), taken.end(), [](const Choice& one) { return one.taken != 0; }));
}

std::string to_text(drivers::sim::ChoiceSite site, size_t place, uint32_t taken) {
  return kLetters[static_cast<size_t>(site)] + std::to_string(place) + ':' + std::to_string(taken);
}

std::string to_text(const Taken& taken) {
  std::string text;
  std::array<size_t, base::kChoiceSites> places{};
  for (const Choice& choice : taken) {
    const auto site = static_cast<size_t>(choice.site);
    const size_t place = places[site]++;
    if (choice.taken == 0) continue;
    if (!text.empty()) text += ',';
    text += to_text(choice.site, place, choice.taken);
  }
  return text.empty() ? "none" : text;
}

namespace {

// One "n3:1" at the beginning of the text, which it is taken from.
bool take_one(std::string_view& text, size_t& site, size_t& place, uint32_t& value) {
  constexpr size_t kMost = 10'000'000;  // a list that long was not printed by us
  site = text.empty() ? std::string_view::npos : kLetters.find(text.front());
  if (site == std::string_view::npos) return false;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data() + 1, end, place);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':' || place >= kMost) {
    return false;
  }
  const auto second = std::from_chars(first.ptr + 1, end, value);
  if (second.ec != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(second.ptr - text.data()));
  return true;
}

}  // namespace

bool from_text(std::string_view text, Taken& taken) {
  taken.clear();
  if (text == "none") return true;
  std::array<size_t, base::kChoiceSites> counts{};
  for (;;) {
    size_t site = 0;
    size_t place = 0;
    uint32_t value = 0;
    if (!take_one(text, site, place, value) || place < counts[site]) return false;
    for (; counts[site] < place; ++counts[site]) {
      taken.push_back({static_cast<drivers::sim::ChoiceSite>(site), 0, 0});
    }
    ++counts[site];
    taken.push_back({static_cast<drivers::sim::ChoiceSite>(site), 0, value});
    if (text.empty()) return true;
    if (text.front() != ',') return false;
    text.remove_prefix(1);
  }
}

}  // namespace jzx::runtime

// Everything that could have happened otherwise in a simulation is a choice, and every choice is
// made here: who runs next, how long a packet takes, whether a write fails. A Policy makes them;
// Choices keeps the list, from which the run can be repeated and shrunk.
//
// 0 is the plain alternative everywhere: the oldest work first, no fault, the shortest delay. So a
// list of choices gets simpler by having zeros put into it, and one that ends too early goes on
// plainly.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/executor.hpp"

namespace jzx::drivers::sim {

using base::ChoiceSite;

struct Choice {
  ChoiceSite site = ChoiceSite::user;
  uint32_t count = 1;  // of alternatives
  uint32_t taken = 0;

  friend bool operator==(const Choice&, const Choice&) noexcept = default;
};

// Somebody who could run now.
struct Candidate {
  uint64_t order = 0;  // when what it will do was caused: the smallest comes first in the list
  uint64_t who = 0;    // names it, from step to step and from run to run
};

inline constexpr uint32_t kMillion = 1'000'000;

class Policy {
 public:
  virtual ~Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;

  // A number below `count`, which is at least 2.
  [[nodiscard]] virtual uint32_t choose(uint32_t count, ChoiceSite site) = 0;
  // One of two, the second in so many of a million cases.
  [[nodiscard]] virtual bool chance(uint32_t per_million, ChoiceSite site) {
    // 0 is the plain one, as everywhere.
    return choose(kMillion, site) >= kMillion - per_million;
  }
  // Which of at least two; for those who care who it is.
  [[nodiscard]] virtual uint32_t choose_next(std::span<const Candidate> ready) {
    return choose(static_cast<uint32_t>(ready.size()), ChoiceSite::next_runnable);
  }

 protected:
  Policy() = default;
};

class Choices {
 public:
  explicit Choices(Policy& policy) noexcept : policy_(policy) {}

  // A number below `count` (not 0).
  [[nodiscard]] uint32_t choose(uint32_t count, ChoiceSite site) {
    return count < 2 ? 0 : note(site, count, policy_.choose(count, site));
  }
  [[nodiscard]] uint32_t choose_next(std::span<const Candidate> ready) {
    const auto count = static_cast<uint32_t>(ready.size());
    return count < 2 ? 0 : note(ChoiceSite::next_runnable, count, policy_.choose_next(ready));
  }

  // True in so many of a million cases; never if that is 0, and always if it is a million: neither
  // is a choice. Plainly: false.
  [[nodiscard]] bool chance(uint32_t per_million, ChoiceSite site) {
    if (per_million == 0 || per_million >= kMillion) return per_million != 0;
    return note(site, 2, policy_.chance(per_million, site) ? 1 : 0) == 1;
  }
  // Both ends included; `least` is the plain one. `site` is one that has a site for amounts too, so
  // that taking back whether something happens does not give others its amount.
  [[nodiscard]] uint64_t between(uint64_t least, uint64_t most, ChoiceSite site);

  // All that were made so far, of more than one alternative.
  [[nodiscard]] const std::vector<Choice>& made() const noexcept { return made_; }

 private:
  uint32_t note(ChoiceSite site, uint32_t count, uint32_t taken);

  Policy& policy_;
  std::vector<Choice> made_;
};

}  // namespace jzx::drivers::sim

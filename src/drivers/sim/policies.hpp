// The policies: five ways to make the same choices.
//
//   fifo     always the plain alternative: one global order, the oldest cause first, no faults
//   random   a seed decides everything
//   pct      priorities for actors, which change at a few random steps: finds bugs that need a few
//            particular orders, with a known probability (Burckhardt et al., ASPLOS 2010)
//   dfs      every order, one run after the other, for as many choices as the bound says; no faults
//   replay   a list of choices that was made before
//
// Threads: one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "base/prng.hpp"
#include "drivers/sim/choices.hpp"

namespace jzx::drivers::sim {

class Fifo final : public Policy {
 public:
  uint32_t choose(uint32_t, ChoiceSite) override { return 0; }
  bool chance(uint32_t, ChoiceSite) override { return false; }
};

class Random final : public Policy {
 public:
  explicit Random(uint64_t seed) noexcept : prng_(seed) {}
  uint32_t choose(uint32_t count, ChoiceSite) override { return prng_.below(count); }

 private:
  base::Prng prng_;
};

class Pct final : public Policy {
 public:
  // `depth`: how many orders must be just so for the bug to show. `steps`: about how many there
  // are; the changes are spread over them.
  Pct(uint64_t seed, uint32_t depth, uint64_t steps);

  uint32_t choose(uint32_t count, ChoiceSite) override { return prng_.below(count); }
  uint32_t choose_next(std::span<const Candidate> ready) override;

 private:
  [[nodiscard]] uint64_t priority_of(uint64_t who);

  base::Prng prng_;
  std::map<uint64_t, uint64_t> priorities_;  // the highest runs
  std::vector<uint64_t> changes_;            // at which steps, ascending
  uint64_t step_ = 0;
  uint64_t last_ = 0;
  uint32_t turns_in_a_row_ = 0;
  uint64_t lowest_ = uint64_t{1} << 32;  // who is put back gets less than all before
};

// For a run after the other: next() until it answers false.
class Dfs final : public Policy {
 public:
  // Choices after the first `bound` are plain.
  explicit Dfs(uint32_t bound) noexcept : bound_(bound) {}

  uint32_t choose(uint32_t count, ChoiceSite) override;
  bool chance(uint32_t, ChoiceSite) override { return false; }

  // The run has ended: prepares the next one. False: all were tried.
  [[nodiscard]] bool next();

 private:
  struct Branch {
    uint32_t count;
    uint32_t taken;
  };
  std::vector<Branch> path_;
  size_t depth_ = 0;
  uint32_t bound_;
};

class Replay final : public Policy {
 public:
  // Each site has its own list, so that a choice more or less at one does not shift the others.
  explicit Replay(const std::vector<Choice>& choices);

  // After the end of the list, and where there are fewer alternatives now, the plain one.
  uint32_t choose(uint32_t count, ChoiceSite site) override;
  bool chance(uint32_t, ChoiceSite site) override { return choose(2, site) == 1; }

 private:
  struct List {
    std::vector<uint32_t> taken;
    size_t next = 0;
  };
  std::array<List, base::kChoiceSites> lists_;
};

}  // namespace jzx::drivers::sim

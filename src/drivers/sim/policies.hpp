// The policies: five ways to make the same choices.
//
//   fifo     always the plain alternative: one global order, the oldest cause first, no faults
//   random   a seed decides everything
//   pct      priorities for actors, which change at a few random steps: finds bugs that need a few
//            particular orders, with a known probability (Burckhardt et al., ASPLOS 2010)
//   dfs      every order, one run after the other, for as many choices as the bound says; what may
//   go
//            wrong does and does not, by the least amount
//   replay   a list of choices that was made before
//
// Threads: one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
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
  size_t next_change_ = 0;
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

  uint32_t choose(uint32_t count, ChoiceSite site) override;
  bool chance(uint32_t, ChoiceSite) override { return branch(2) == 1; }

  // The run made other choices than the one before it, although all was the same until then.
  [[nodiscard]] bool has_diverged() const noexcept { return has_diverged_; }
  // The run has ended: prepares the next one. False: all were tried.
  [[nodiscard]] bool next();

 private:
  struct Branch {
    uint32_t count;
    uint32_t taken;
  };
  [[nodiscard]] uint32_t branch(uint32_t count);

  std::vector<Branch> path_;
  size_t depth_ = 0;
  uint32_t bound_;
  bool has_diverged_ = false;
};

class Replay final : public Policy {
 public:
  // Each site has its own list, so that a choice more or less at one does not shift the others.
  explicit Replay(const std::vector<Choice>& choices);

  // After the end of the list, and where there are fewer alternatives now, the plain one.
  uint32_t choose(uint32_t count, ChoiceSite site) override;
  bool chance(uint32_t, ChoiceSite site) override { return choose(2, site) == 1; }

  // A choice of the list that could not be made as it says.
  struct Misfit {
    ChoiceSite site = ChoiceSite::user;
    size_t place = 0;  // among those of its site
    uint32_t wanted = 0;
    uint32_t count = 0;  // of alternatives, which are too few; 0: nobody has asked for it so far
  };
  // The first there was, or else one that is still to be asked for. After a run: the list is
  // another program's, or the program has changed.
  [[nodiscard]] std::optional<Misfit> misfit() const;

 private:
  struct List {
    std::vector<uint32_t> taken;
    size_t next = 0;
  };
  std::array<List, base::kChoiceSites> lists_;
  std::optional<Misfit> misfit_;
};

}  // namespace jzx::drivers::sim

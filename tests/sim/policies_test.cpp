// The policies by themselves: given choices in, choices out.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "drivers/sim/policies.hpp"

namespace jzx::drivers::sim {
namespace {

using Numbers = std::vector<uint32_t>;

std::vector<Candidate> three_ready() { return {{10, 1}, {20, 2}, {30, 3}}; }

// ---- choices ----

// Answers what it is told.
class Scripted final : public Policy {
 public:
  explicit Scripted(Numbers answers) : answers_(std::move(answers)) {}
  uint32_t choose(uint32_t count, ChoiceSite) override {
    EXPECT_GE(count, 2u) << "one alternative is no choice";
    return answers_.at(next_++) % count;
  }
  size_t next_ = 0;

 private:
  Numbers answers_;
};

TEST(Choices, AreNoneWhereThereIsOneAlternative) {
  Scripted policy({});
  Choices choices(policy);
  EXPECT_EQ(choices.choose(1, ChoiceSite::user), 0u);
  EXPECT_EQ(choices.choose_next(std::vector<Candidate>{{1, 1}}), 0u);
  EXPECT_FALSE(choices.chance(0, ChoiceSite::fault));
  EXPECT_TRUE(choices.chance(kMillion, ChoiceSite::fault));
  EXPECT_EQ(choices.between(7, 7, ChoiceSite::fault), 7u);
  EXPECT_TRUE(choices.made().empty());
  EXPECT_EQ(policy.next_, 0u);
}

TEST(Choices, AreNotedWithTheirSitesAndCounts) {
  Scripted policy({4, kMillion - 1, 0, 9});
  Choices choices(policy);
  EXPECT_EQ(choices.choose(5, ChoiceSite::user), 4u);
  EXPECT_TRUE(choices.chance(1, ChoiceSite::fault)) << "the last case of a million";
  EXPECT_FALSE(choices.chance(kMillion - 1, ChoiceSite::fault)) << "the first is the plain one";
  EXPECT_EQ(choices.between(100, 109, ChoiceSite::network), 109u);
  EXPECT_EQ(choices.made(), (std::vector<Choice>{{ChoiceSite::user, 5, 4},
                                                 {ChoiceSite::fault, 2, 1},
                                                 {ChoiceSite::fault, 2, 0},
                                                 {ChoiceSite::network_amount, 10, 9}}));
}

TEST(Choices, BetweenNumbersThatAreFarApartStayInBounds) {
  Scripted policy({UINT32_MAX - 1, 0});
  Choices choices(policy);
  const uint64_t most = uint64_t{1} << 50;
  const uint64_t high = choices.between(3, most, ChoiceSite::fault);
  EXPECT_LE(high, most);
  EXPECT_EQ(choices.between(3, most, ChoiceSite::fault), 3u);
}

// ---- fifo and random ----

TEST(FifoPolicy, AlwaysTakesThePlainAlternative) {
  Fifo policy;
  EXPECT_EQ(policy.choose(9, ChoiceSite::user), 0u);
  EXPECT_EQ(policy.choose_next(three_ready()), 0u);
  EXPECT_FALSE(policy.chance(kMillion - 1, ChoiceSite::fault));
}

TEST(RandomPolicy, StaysInBoundsAndIsTheSameForTheSameSeed) {
  Random a(5);
  Random b(5);
  Random other(6);
  bool differs = false;
  for (uint32_t count = 2; count < 200; ++count) {
    const uint32_t taken = a.choose(count, ChoiceSite::user);
    EXPECT_LT(taken, count);
    EXPECT_EQ(taken, b.choose(count, ChoiceSite::user));
    differs |= taken != other.choose(count, ChoiceSite::user);
  }
  EXPECT_TRUE(differs);
}

// ---- pct ----

// Who runs in each of so many steps, while the same three are ready.
Numbers runs_of(Pct& policy, size_t steps) {
  const std::vector<Candidate> ready = three_ready();
  Numbers who;
  for (size_t i = 0; i < steps; ++i) {
    who.push_back(static_cast<uint32_t>(ready[policy.choose_next(ready)].who));
  }
  return who;
}

size_t changes_in(const Numbers& who) {
  size_t changes = 0;
  for (size_t i = 1; i < who.size(); ++i) changes += who[i] != who[i - 1];
  return changes;
}

TEST(PctPolicy, OfDepthOneRunsWhoHasTheHighestPriority) {
  std::set<uint32_t> first;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Pct policy(seed, 1, 50);
    const Numbers who = runs_of(policy, 50);
    EXPECT_EQ(changes_in(who), 0u) << "no priority changes";
    first.insert(who[0]);
  }
  EXPECT_EQ(first, (std::set<uint32_t>{1, 2, 3})) << "each seed has priorities of its own";
}

TEST(PctPolicy, ChangesPrioritiesOnceLessThanItsDepthSays) {
  size_t most = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Pct policy(seed, 3, 50);
    const size_t changes = changes_in(runs_of(policy, 60));
    EXPECT_LE(changes, 2u);
    most = std::max(most, changes);
  }
  EXPECT_EQ(most, 2u);
}

TEST(PctPolicy, PutsWhoLosesItsPriorityBehindAllOthers) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Pct policy(seed, 3, 20);  // two changes, for two of the three
    const Numbers who = runs_of(policy, 30);
    const std::set<uint32_t> before(who.begin(), who.end() - 1);
    if (changes_in(who) != 2) continue;  // both at one step
    EXPECT_EQ(before.size(), 3u) << "the first does not come back before the third has run";
  }
}

TEST(PctPolicy, KeepsAPriorityWhileItsOwnerIsNotReady) {
  Pct policy(1, 1, 50);
  const std::vector<Candidate> all = three_ready();
  const size_t highest = policy.choose_next(all);
  std::vector<Candidate> others = all;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(highest));
  EXPECT_LT(policy.choose_next(others), others.size());
  EXPECT_EQ(policy.choose_next(all), highest);
}

TEST(PctPolicy, DoesNotLetOneRunForEver) {
  Pct policy(1, 1, 50);
  const Numbers who = runs_of(policy, 1'000);
  EXPECT_EQ(std::set<uint32_t>(who.begin(), who.end()).size(), 3u);
}

TEST(PctPolicy, TakesOddNumbersOfStepsAndDepths) {
  Pct none(1, 0, 0);
  EXPECT_LT(none.choose_next(three_ready()), 3u);
  Pct deep(1, 100, 1);  // all changes at the first step
  EXPECT_EQ(runs_of(deep, 10).size(), 10u);
}

// ---- dfs ----

constexpr ChoiceSite kOrder = ChoiceSite::next_runnable;

// All runs of a program that makes choices of these counts.
std::set<Numbers> explored(uint32_t bound, const Numbers& counts, size_t& runs) {
  std::set<Numbers> seen;
  Dfs policy(bound);
  runs = 0;
  do {
    Numbers taken;
    for (const uint32_t count : counts) taken.push_back(policy.choose(count, kOrder));
    seen.insert(taken);
    ++runs;
  } while (runs < 10'000 && policy.next());
  return seen;
}

TEST(DfsPolicy, TriesEveryCombinationOnceAndThenEnds) {
  size_t runs = 0;
  EXPECT_EQ(explored(10, {2, 3, 4}, runs).size(), 24u);
  EXPECT_EQ(runs, 24u);
}

TEST(DfsPolicy, ChangesTheLastChoiceFirst) {
  Dfs policy(10);
  std::vector<Numbers> order;
  do {
    const uint32_t first = policy.choose(2, kOrder);
    order.push_back({first, policy.choose(2, kOrder)});
  } while (policy.next());
  EXPECT_EQ(order, (std::vector<Numbers>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(DfsPolicy, ChoosesPlainlyBehindItsBound) {
  size_t runs = 0;
  EXPECT_EQ(explored(2, {2, 3, 4}, runs),
            (std::set<Numbers>{{0, 0, 0}, {0, 1, 0}, {0, 2, 0}, {1, 0, 0}, {1, 1, 0}, {1, 2, 0}}));
  EXPECT_EQ(runs, 6u);
}

TEST(DfsPolicy, OfNoDepthHasOneRun) {
  size_t runs = 0;
  EXPECT_EQ(explored(0, {2, 2}, runs).size(), 1u);
  EXPECT_EQ(runs, 1u);
}

TEST(DfsPolicy, FollowsAProgramThatGoesOnDifferentlyAfterAChoice) {
  Dfs policy(10);
  std::vector<Numbers> runs;
  do {
    Numbers taken{policy.choose(2, kOrder)};
    if (taken[0] == 1) taken.push_back(policy.choose(3, ChoiceSite::user));
    runs.push_back(taken);
  } while (policy.next());
  EXPECT_EQ(runs, (std::vector<Numbers>{{0}, {1, 0}, {1, 1}, {1, 2}}));
}

TEST(DfsPolicy, TriesFaultsAndTakesTheLeastAmounts) {
  Dfs policy(10);
  std::vector<Numbers> runs;
  do {
    Numbers taken{policy.chance(1, ChoiceSite::fault) ? 1u : 0u};
    for (const ChoiceSite amount : {ChoiceSite::fault_amount, ChoiceSite::network_amount,
                                    ChoiceSite::disk_amount, ChoiceSite::clock}) {
      taken.push_back(policy.choose(1'000'000, amount));
    }
    taken.push_back(policy.chance(kMillion - 1, ChoiceSite::user) ? 1u : 0u);
    runs.push_back(taken);
  } while (policy.next());
  EXPECT_EQ(runs,
            (std::vector<Numbers>{
                {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 1}}));
  EXPECT_FALSE(policy.has_diverged());
}

TEST(DfsPolicy, NoticesAProgramThatIsNotTheSameTwice) {
  Dfs policy(10);
  EXPECT_EQ(policy.choose(2, kOrder), 0u);
  EXPECT_EQ(policy.choose(5, kOrder), 0u);
  ASSERT_TRUE(policy.next());
  EXPECT_EQ(policy.choose(2, kOrder), 0u);
  EXPECT_FALSE(policy.has_diverged());
  EXPECT_LT(policy.choose(4, kOrder), 4u) << "there were five";
  EXPECT_TRUE(policy.has_diverged());
}

// ---- replay ----

std::vector<Choice> a_list() {
  return {{ChoiceSite::user, 0, 3},
          {ChoiceSite::fault, 0, 1},
          {ChoiceSite::user, 0, 0},
          {ChoiceSite::user, 0, 2}};
}

TEST(ReplayPolicy, GivesEachSiteItsOwnChoicesInOrder) {
  Replay policy(a_list());
  EXPECT_EQ(policy.choose(4, ChoiceSite::user), 3u);
  EXPECT_EQ(policy.choose(4, ChoiceSite::user), 0u);
  EXPECT_TRUE(policy.chance(1, ChoiceSite::fault));
  EXPECT_EQ(policy.choose(9, ChoiceSite::network), 0u) << "there are none of that site";
  EXPECT_EQ(policy.choose(4, ChoiceSite::user), 2u);
  EXPECT_FALSE(policy.misfit().has_value());
}

TEST(ReplayPolicy, GoesOnPlainlyAfterTheEndOfTheList) {
  Replay policy({{ChoiceSite::user, 0, 1}});
  EXPECT_EQ(policy.choose(2, ChoiceSite::user), 1u);
  EXPECT_EQ(policy.choose(2, ChoiceSite::user), 0u);
  EXPECT_FALSE(policy.chance(kMillion - 1, ChoiceSite::user));
  EXPECT_EQ(policy.choose_next(three_ready()), 0u);
  EXPECT_FALSE(policy.misfit().has_value());
}

TEST(ReplayPolicy, RepeatsWhatAnotherPolicyChose) {
  Random random(7);
  Choices first(random);
  const auto choose_all = [](Choices& choices) {
    for (uint32_t i = 2; i < 50; ++i) {
      (void)choices.choose(i, ChoiceSite::user);
      (void)choices.chance(300'000, ChoiceSite::fault);
      (void)choices.choose_next(three_ready());
      (void)choices.between(i, 2 * i, ChoiceSite::disk);
    }
  };
  choose_all(first);
  Replay replay(first.made());
  Choices second(replay);
  choose_all(second);
  EXPECT_EQ(first.made(), second.made());
  EXPECT_FALSE(replay.misfit().has_value());
}

TEST(ReplayPolicy, TellsOfTheFirstChoiceThatThereAreTooFewAlternativesFor) {
  Replay policy(a_list());
  EXPECT_EQ(policy.choose(3, ChoiceSite::user), 0u) << "the plain one instead";
  const auto misfit = policy.misfit();
  ASSERT_TRUE(misfit.has_value());
  EXPECT_EQ(misfit->site, ChoiceSite::user);
  EXPECT_EQ(misfit->place, 0u);
  EXPECT_EQ(misfit->wanted, 3u);
  EXPECT_EQ(misfit->count, 3u);
}

TEST(ReplayPolicy, TellsOfAChoiceThatNobodyAskedFor) {
  Replay policy(a_list());
  (void)policy.choose(4, ChoiceSite::user);
  (void)policy.choose(4, ChoiceSite::user);
  (void)policy.chance(1, ChoiceSite::fault);
  const auto misfit = policy.misfit();
  ASSERT_TRUE(misfit.has_value());
  EXPECT_EQ(misfit->site, ChoiceSite::user);
  EXPECT_EQ(misfit->place, 2u);
  EXPECT_EQ(misfit->count, 0u);
}

}  // namespace
}  // namespace jzx::drivers::sim

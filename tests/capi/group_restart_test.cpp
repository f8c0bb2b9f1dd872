// one_for_one, one_for_all and rest_for_one: who is stopped, in which order, who comes
// back, and what it costs in restarts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "jzx/jzx.h"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;
using Time = TestLoop::Time;

// A supervisor of children named "0", "1", "2"…, with what happens to them written
// down as "-1" (child 1 ended) and "+1" (child 1 started).
class GroupRestart : public ::testing::Test {
 protected:
  void start(const std::vector<jzx_child_spec>& specs, jzx_supervisor_strategy strategy,
             uint32_t intensity = 100, uint32_t period_ms = 1000) {
    std::vector<jzx_child_spec> named = specs;
    for (size_t n = 0; n < named.size(); ++n) named[n].name = kNames[n];
    supervisor_ = loop_.spawn_supervisor(family(named, strategy, intensity, period_ms));
    loop_.settle();
    remember_names();
    loop_.events().clear();
  }

  void start(size_t count, jzx_supervisor_strategy strategy, uint32_t intensity = 100) {
    start(std::vector<jzx_child_spec>(count, child_spec(probe_)), strategy, intensity);
  }

  void fail(size_t index) {
    const jzx_actor_id id = loop_.child(supervisor_, index);
    ASSERT_NE(id, 0u);
    ASSERT_EQ(jzx_actor_fail(loop_, id), JZX_OK);
    loop_.settle();
  }

  [[nodiscard]] std::string story() {
    remember_names();
    std::string told;
    for (const Event& event : loop_.events().all()) {
      if (event.kind == Kind::start) told += " +" + event.name;
      if (event.kind == Kind::stop) told += " -" + name_of(event.id);
    }
    return told.empty() ? told : told.substr(1);
  }

  [[nodiscard]] jzx_actor_id child(size_t index) const { return loop_.child(supervisor_, index); }

  TestLoop loop_;
  Probe& probe_ = loop_.probe();
  jzx_actor_id supervisor_ = 0;

 private:
  static constexpr const char* kNames[] = {"0", "1", "2", "3", "4", "5"};

  void remember_names() {
    for (const Event& event : loop_.events().all()) {
      if (event.kind == Kind::start) names_.emplace_back(event.id, event.name);
    }
  }
  [[nodiscard]] std::string name_of(jzx_actor_id id) const {
    for (const auto& [known, name] : names_) {
      if (known == id) return name;
    }
    return "?";
  }

  std::vector<std::pair<jzx_actor_id, std::string>> names_;
};

using OneForOne = GroupRestart;
using OneForAll = GroupRestart;
using RestForOne = GroupRestart;

TEST_F(OneForOne, RestartsOnlyTheFailedChild) {
  start(3, JZX_SUP_ONE_FOR_ONE);
  const jzx_actor_id first = child(0);
  const jzx_actor_id last = child(2);
  fail(1);
  EXPECT_EQ(story(), "-1 +1");
  EXPECT_EQ(child(0), first);
  EXPECT_EQ(child(2), last);
}

TEST_F(OneForAll, StopsInReverseOrderAndStartsAgainInStartOrder) {
  start(4, JZX_SUP_ONE_FOR_ALL);
  fail(1);
  EXPECT_EQ(story(), "-1 -3 -2 -0 +0 +1 +2 +3");
}

TEST_F(OneForAll, SiblingsEndNormallyAndTheFailedOneWithFail) {
  start(3, JZX_SUP_ONE_FOR_ALL);
  const jzx_actor_id ids[] = {child(0), child(1), child(2)};
  fail(1);
  EXPECT_EQ(loop_.events().stop_reason(ids[0]), JZX_EXIT_NORMAL);
  EXPECT_EQ(loop_.events().stop_reason(ids[1]), JZX_EXIT_FAIL);
  EXPECT_EQ(loop_.events().stop_reason(ids[2]), JZX_EXIT_NORMAL);
}

TEST_F(OneForAll, GivesEveryChildANewIdAndTellsOfEachRestartOnce) {
  start(3, JZX_SUP_ONE_FOR_ALL);
  const jzx_actor_id before[] = {child(0), child(1), child(2)};
  fail(2);
  for (size_t n = 0; n < 3; ++n) {
    EXPECT_NE(child(n), 0u);
    EXPECT_NE(child(n), before[n]);
    EXPECT_EQ(loop_.events().count(Kind::restart, child(n)), 1u);
    EXPECT_LT(loop_.events().position(Kind::start, child(n)),
              loop_.events().position(Kind::restart, child(n)));
  }
}

TEST_F(OneForAll, WaitsUntilTheStoppedAreGoneAlsoWhenTheyHaveFamiliesOfTheirOwn) {
  // Child 0 is a nested supervisor: its children go before it, and it goes before the
  // first of the group comes back.
  const std::vector<jzx_child_spec> inner_children = {child_spec(probe_), child_spec(probe_)};
  const jzx_supervisor_init inner = family(inner_children);
  start({nested_spec(inner), child_spec(probe_)}, JZX_SUP_ONE_FOR_ALL);
  const size_t alive = loop_.alive_count();
  fail(1);
  EXPECT_EQ(loop_.alive_count(), alive);
  size_t first_start = loop_.events().all().size();
  size_t last_stop = 0;
  for (size_t n = 0; n < loop_.events().all().size(); ++n) {
    const Event& event = loop_.events().all()[n];
    if (event.kind == Kind::start && n < first_start) first_start = n;
    if (event.kind == Kind::stop) last_stop = n;
  }
  EXPECT_LT(last_stop, first_start);
  EXPECT_EQ(loop_.events().count(Kind::stop), 4u);
}

TEST_F(OneForAll, CountsAsOneRestart) {
  start(3, JZX_SUP_ONE_FOR_ALL, 2);
  fail(0);
  fail(1);
  EXPECT_EQ(loop_.events().count(Kind::escalate), 0u);
  EXPECT_EQ(loop_.events().count(Kind::restart), 6u);
  fail(2);
  EXPECT_EQ(loop_.events().count(Kind::escalate, supervisor_), 1u);
}

TEST_F(OneForAll, WhenSeveralFailTogetherTheGroupIsRestartedOnce) {
  start(4, JZX_SUP_ONE_FOR_ALL, 1);
  for (size_t n = 0; n < 4; ++n) ASSERT_EQ(jzx_actor_fail(loop_, child(n)), JZX_OK);
  loop_.settle();
  EXPECT_EQ(loop_.events().count(Kind::escalate), 0u);
  EXPECT_EQ(loop_.events().count(Kind::restart), 4u);
  for (size_t n = 0; n < 4; ++n) EXPECT_NE(child(n), 0u);
}

TEST_F(OneForAll, UsesOneBackoffForTheGroup) {
  const jzx_backoff_spec backoff{100, 1000, 2.0f, 0};
  start(std::vector<jzx_child_spec>(3, child_spec(probe_, JZX_CHILD_PERMANENT, &backoff)),
        JZX_SUP_ONE_FOR_ALL);
  fail(1);
  EXPECT_EQ(story(), "-1 -2 -0");
  loop_.advance(99);
  EXPECT_EQ(story(), "-1 -2 -0") << "nobody starts before the delay is over";
  loop_.advance(2);
  EXPECT_EQ(story(), "-1 -2 -0 +0 +1 +2") << "then all do, once";
}

TEST_F(OneForAll, DoesNotBringBackTemporaryChildren) {
  start({child_spec(probe_), child_spec(probe_, JZX_CHILD_TEMPORARY), child_spec(probe_)},
        JZX_SUP_ONE_FOR_ALL);
  fail(0);
  EXPECT_EQ(story(), "-0 -2 -1 +0 +2");
  EXPECT_EQ(child(1), 0u);
}

TEST_F(OneForAll, DoesNotBringBackTransientChildrenThatHadEndedNormally) {
  start({child_spec(probe_), child_spec(probe_, JZX_CHILD_TRANSIENT), child_spec(probe_)},
        JZX_SUP_ONE_FOR_ALL);
  ASSERT_EQ(loop_.send(child(1), kTagStop), JZX_OK);
  loop_.settle();
  EXPECT_EQ(story(), "-1") << "its normal end restarts nobody";
  fail(0);
  EXPECT_EQ(story(), "-1 -0 -2 +0 +2");
}

TEST_F(OneForAll, BringsBackTransientChildrenItStoppedItself) {
  start({child_spec(probe_), child_spec(probe_, JZX_CHILD_TRANSIENT)}, JZX_SUP_ONE_FOR_ALL);
  fail(0);
  EXPECT_EQ(story(), "-0 -1 +0 +1");
}

TEST_F(OneForAll, IsNotSetOffByATemporaryChild) {
  start({child_spec(probe_), child_spec(probe_, JZX_CHILD_TEMPORARY)}, JZX_SUP_ONE_FOR_ALL);
  fail(1);
  EXPECT_EQ(story(), "-1");
}

TEST_F(OneForAll, IsSetOffByANormalEndOfAPermanentChild) {
  start(2, JZX_SUP_ONE_FOR_ALL);
  ASSERT_EQ(loop_.send(child(0), kTagStop), JZX_OK);
  loop_.settle();
  EXPECT_EQ(story(), "-0 -1 +0 +1");
}

TEST_F(RestForOne, RestartsOnlyChildrenStartedAfterTheFailedOne) {
  start(4, JZX_SUP_REST_FOR_ONE);
  const jzx_actor_id first = child(0);
  fail(1);
  EXPECT_EQ(story(), "-1 -3 -2 +1 +2 +3");
  EXPECT_EQ(child(0), first);
}

TEST_F(RestForOne, WithTheLastChildFailedRestartsItAlone) {
  start(3, JZX_SUP_REST_FOR_ONE);
  fail(2);
  EXPECT_EQ(story(), "-2 +2");
}

TEST_F(RestForOne, CountsAsOneRestart) {
  start(3, JZX_SUP_REST_FOR_ONE, 1);
  fail(0);
  EXPECT_EQ(loop_.events().count(Kind::restart), 3u);
  EXPECT_EQ(loop_.events().count(Kind::escalate), 0u);
  fail(2);
  EXPECT_EQ(loop_.events().count(Kind::escalate, supervisor_), 1u);
}

TEST_F(RestForOne, KeepsStartOrderAcrossRestarts) {
  start(3, JZX_SUP_REST_FOR_ONE);
  fail(0);
  fail(1);
  EXPECT_EQ(story(), "-0 -2 -1 +0 +1 +2 -1 -2 +1 +2") << "a restarted child keeps its place";
}

TEST_F(RestForOne, AnEarlierChildThatFailsDuringTheBackoffWidensTheGroup) {
  const jzx_backoff_spec backoff{100, 1000, 1.0f, 0};
  start(std::vector<jzx_child_spec>(3, child_spec(probe_, JZX_CHILD_PERMANENT, &backoff)),
        JZX_SUP_REST_FOR_ONE);
  fail(2);
  fail(0);
  loop_.advance(500);
  for (size_t n = 0; n < 3; ++n) {
    EXPECT_NE(child(n), 0u) << "child " << n;
    EXPECT_EQ(loop_.events().count(Kind::restart, child(n)), 1u);
  }
  EXPECT_EQ(loop_.alive_count(), 4u) << "nobody was started twice";
}

}  // namespace
}  // namespace jzx::testing

// Links (end together, or be told) and monitors (exactly one DOWN).
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "jzx/jzx.h"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;

class Links : public ::testing::Test {
 protected:
  void SetUp() override {
    one_ = loop_.spawn(probe_one_);
    two_ = loop_.spawn(probe_two_);
  }

  TestLoop loop_;
  Probe& probe_one_ = loop_.probe();
  Probe& probe_two_ = loop_.probe();
  jzx_actor_id one_ = 0;
  jzx_actor_id two_ = 0;
};

TEST_F(Links, AnAbnormalEndEndsTheOtherSideWithTheSameReason) {
  ASSERT_EQ(jzx_link(loop_, one_, two_), JZX_OK);
  ASSERT_EQ(loop_.send(one_, kTagFail), JZX_OK);
  loop_.settle();
  EXPECT_EQ(loop_.events().stop_reason(one_), JZX_EXIT_FAIL);
  EXPECT_EQ(loop_.events().stop_reason(two_), JZX_EXIT_FAIL);
  EXPECT_TRUE(probe_two_.log.empty()) << "it is ended, not told";
}

TEST_F(Links, WorkInBothDirections) {
  ASSERT_EQ(jzx_link(loop_, one_, two_), JZX_OK);
  ASSERT_EQ(jzx_actor_fail(loop_, two_), JZX_OK);
  loop_.settle();
  EXPECT_EQ(loop_.events().stop_reason(one_), JZX_EXIT_FAIL);
}

TEST_F(Links, ANormalEndEndsNobody) {
  ASSERT_EQ(jzx_link(loop_, one_, two_), JZX_OK);
  ASSERT_EQ(loop_.send(one_, kTagStop), JZX_OK);
  loop_.settle();
  EXPECT_FALSE(loop_.is_alive(one_));
  EXPECT_TRUE(loop_.is_alive(two_));
  EXPECT_TRUE(probe_two_.log.empty());
}

TEST_F(Links, ThatWereCutEndNobody) {
  ASSERT_EQ(jzx_link(loop_, one_, two_), JZX_OK);
  EXPECT_EQ(jzx_unlink(loop_, two_, one_), JZX_OK) << "either side may cut";
  ASSERT_EQ(jzx_actor_fail(loop_, one_), JZX_OK);
  loop_.settle();
  EXPECT_TRUE(loop_.is_alive(two_));
}

TEST_F(Links, MadeTwiceAreOneLink) {
  ASSERT_EQ(jzx_link(loop_, one_, two_), JZX_OK);
  EXPECT_EQ(jzx_link(loop_, one_, two_), JZX_OK);
  EXPECT_EQ(jzx_link(loop_, two_, one_), JZX_OK);
  EXPECT_EQ(jzx_unlink(loop_, one_, two_), JZX_OK);
  ASSERT_EQ(jzx_actor_fail(loop_, one_), JZX_OK);
  loop_.settle();
  EXPECT_TRUE(loop_.is_alive(two_)) << "one unlink cut it";
}

TEST_F(Links, UnlinkingWhatIsNotLinkedIsOk) { EXPECT_EQ(jzx_unlink(loop_, one_, two_), JZX_OK); }

TEST_F(Links, ToItselfAreInvalid) { EXPECT_EQ(jzx_link(loop_, one_, one_), JZX_ERR_INVALID_ARG); }

TEST_F(Links, ToAGoneActorAreNoSuchActor) {
  ASSERT_EQ(jzx_actor_stop(loop_, two_), JZX_OK);
  EXPECT_EQ(jzx_link(loop_, one_, two_), JZX_ERR_NO_SUCH_ACTOR) << "it is ending";
  loop_.settle();
  EXPECT_EQ(jzx_link(loop_, one_, two_), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(jzx_link(loop_, two_, one_), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(jzx_link(loop_, one_, 0), JZX_ERR_NO_SUCH_ACTOR);
}

TEST_F(Links, AnActorThatTrapsExitsIsToldInsteadOfEnded) {
  ASSERT_EQ(jzx_trap_exit(loop_, two_, 1), JZX_OK);
  ASSERT_EQ(jzx_link(loop_, one_, two_), JZX_OK);
  ASSERT_EQ(loop_.send(one_, kTagFail), JZX_OK);
  loop_.settle();
  EXPECT_TRUE(loop_.is_alive(two_));
  const std::vector<Received> exits = probe_two_.received(JZX_TAG_SYS_EXIT);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].exit.from, one_);
  EXPECT_EQ(exits[0].exit.reason, JZX_EXIT_FAIL);
  EXPECT_EQ(exits[0].len, sizeof(jzx_exit_signal));
}

TEST_F(Links, AnActorThatTrapsExitsIsToldOfNormalEndsToo) {
  ASSERT_EQ(jzx_trap_exit(loop_, two_, 1), JZX_OK);
  ASSERT_EQ(jzx_link(loop_, one_, two_), JZX_OK);
  ASSERT_EQ(jzx_actor_stop(loop_, one_), JZX_OK);
  loop_.settle();
  const std::vector<Received> exits = probe_two_.received(JZX_TAG_SYS_EXIT);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].exit.reason, JZX_EXIT_NORMAL);
}

TEST_F(Links, TrappingCanBeSwitchedOffAgain) {
  ASSERT_EQ(jzx_link(loop_, one_, two_), JZX_OK);
  ASSERT_EQ(jzx_trap_exit(loop_, two_, 1), JZX_OK);
  ASSERT_EQ(jzx_trap_exit(loop_, two_, 0), JZX_OK);
  ASSERT_EQ(jzx_actor_fail(loop_, one_), JZX_OK);
  loop_.settle();
  EXPECT_FALSE(loop_.is_alive(two_));
}

TEST_F(Links, AFailureRunsThroughAChainAndRoundARing) {
  std::vector<jzx_actor_id> ring;
  for (int n = 0; n < 100; ++n) ring.push_back(loop_.spawn_quiet());
  for (size_t n = 0; n < ring.size(); ++n) {
    ASSERT_EQ(jzx_link(loop_, ring[n], ring[(n + 1) % ring.size()]), JZX_OK);
  }
  ASSERT_EQ(jzx_actor_fail(loop_, ring[42]), JZX_OK);
  loop_.settle();
  for (const jzx_actor_id id : ring) {
    EXPECT_EQ(loop_.events().count(Kind::stop, id), 1u);
    EXPECT_EQ(loop_.events().stop_reason(id), JZX_EXIT_FAIL);
  }
  EXPECT_EQ(loop_.alive_count(), 2u);
}

TEST_F(Links, AChildEndedByALinkIsRestartedByItsSupervisor) {
  const std::vector<jzx_child_spec> children = {child_spec(probe_two_, JZX_CHILD_TRANSIENT)};
  const jzx_actor_id supervisor = loop_.spawn_supervisor(family(children));
  ASSERT_EQ(jzx_link(loop_, one_, loop_.child(supervisor, 0)), JZX_OK);
  ASSERT_EQ(jzx_actor_fail(loop_, one_), JZX_OK);
  loop_.settle();
  EXPECT_NE(loop_.child(supervisor, 0), 0u) << "an end by a link is abnormal";
  EXPECT_EQ(loop_.events().count(Kind::restart), 1u);
}

TEST_F(Links, MessagesOfAnActorEndedByALinkAreDeadLettered) {
  jzx_config config = default_config();
  ASSERT_EQ(jzx_link(loop_, one_, two_), JZX_OK);
  for (uint64_t value = 0; value < config.max_msgs_per_actor + 100; ++value) {
    ASSERT_EQ(loop_.send(two_, kTag, value), JZX_OK);
  }
  ASSERT_EQ(jzx_actor_fail(loop_, one_), JZX_OK);
  loop_.settle();
  EXPECT_GT(loop_.events().count(Kind::dead_letter, two_), 0u);
  EXPECT_FALSE(loop_.is_alive(two_));
}

// ---- monitors ---------------------------------------------------------------------------

using Monitors = Links;

TEST_F(Monitors, GiveExactlyOneDownWithTheReason) {
  uint64_t ref = 0;
  ASSERT_EQ(jzx_monitor(loop_, one_, two_, &ref), JZX_OK);
  EXPECT_NE(ref, 0u);
  ASSERT_EQ(loop_.send(two_, kTagFail), JZX_OK);
  loop_.settle();
  const std::vector<Received> downs = probe_one_.received(JZX_TAG_SYS_DOWN);
  ASSERT_EQ(downs.size(), 1u);
  EXPECT_EQ(downs[0].down.ref, ref);
  EXPECT_EQ(downs[0].down.actor, two_);
  EXPECT_EQ(downs[0].down.reason, JZX_EXIT_FAIL);
  EXPECT_EQ(downs[0].len, sizeof(jzx_down));
  EXPECT_TRUE(loop_.is_alive(one_)) << "a monitor is not a link";
}

TEST_F(Monitors, TellOfNormalEndsToo) {
  ASSERT_EQ(jzx_monitor(loop_, one_, two_, nullptr), JZX_OK);
  ASSERT_EQ(jzx_actor_stop(loop_, two_), JZX_OK);
  loop_.settle();
  const std::vector<Received> downs = probe_one_.received(JZX_TAG_SYS_DOWN);
  ASSERT_EQ(downs.size(), 1u);
  EXPECT_EQ(downs[0].down.reason, JZX_EXIT_NORMAL);
}

TEST_F(Monitors, OfAnActorThatIsGoneGiveOneDownAtOnceWithNoproc) {
  ASSERT_EQ(jzx_actor_stop(loop_, two_), JZX_OK);
  loop_.settle();
  uint64_t ref = 0;
  ASSERT_EQ(jzx_monitor(loop_, one_, two_, &ref), JZX_OK);
  loop_.settle();
  loop_.settle();
  const std::vector<Received> downs = probe_one_.received(JZX_TAG_SYS_DOWN);
  ASSERT_EQ(downs.size(), 1u);
  EXPECT_EQ(downs[0].down.ref, ref);
  EXPECT_EQ(downs[0].down.actor, two_);
  EXPECT_EQ(downs[0].down.reason, JZX_EXIT_NOPROC);
}

TEST_F(Monitors, OfAnActorThatIsEndingGiveExactlyOneDown) {
  ASSERT_EQ(jzx_actor_fail(loop_, two_), JZX_OK);
  ASSERT_EQ(jzx_monitor(loop_, one_, two_, nullptr), JZX_OK);
  loop_.settle();
  EXPECT_EQ(probe_one_.count(JZX_TAG_SYS_DOWN), 1u);
}

TEST_F(Monitors, MadeSeveralTimesGiveOneDownEach) {
  std::set<uint64_t> refs;
  for (int n = 0; n < 10; ++n) {
    uint64_t ref = 0;
    ASSERT_EQ(jzx_monitor(loop_, one_, two_, &ref), JZX_OK);
    EXPECT_TRUE(refs.insert(ref).second);
  }
  ASSERT_EQ(jzx_actor_stop(loop_, two_), JZX_OK);
  loop_.settle();
  std::set<uint64_t> told;
  for (const Received& one : probe_one_.received(JZX_TAG_SYS_DOWN)) told.insert(one.down.ref);
  EXPECT_EQ(told, refs);
  EXPECT_EQ(probe_one_.count(JZX_TAG_SYS_DOWN), refs.size());
}

TEST_F(Monitors, ThatWereTakenBackGiveNoDown) {
  uint64_t ref = 0;
  ASSERT_EQ(jzx_monitor(loop_, one_, two_, &ref), JZX_OK);
  EXPECT_EQ(jzx_demonitor(loop_, ref), JZX_OK);
  EXPECT_EQ(jzx_demonitor(loop_, ref), JZX_ERR_INVALID_ARG);
  ASSERT_EQ(jzx_actor_stop(loop_, two_), JZX_OK);
  loop_.settle();
  EXPECT_EQ(probe_one_.count(JZX_TAG_SYS_DOWN), 0u);
}

TEST_F(Monitors, WhoseDownWasDeliveredCannotBeTakenBack) {
  uint64_t ref = 0;
  ASSERT_EQ(jzx_monitor(loop_, one_, two_, &ref), JZX_OK);
  ASSERT_EQ(jzx_actor_stop(loop_, two_), JZX_OK);
  loop_.settle();
  EXPECT_EQ(jzx_demonitor(loop_, ref), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_demonitor(loop_, 0), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_demonitor(loop_, ~uint64_t{0}), JZX_ERR_INVALID_ARG);
}

TEST_F(Monitors, OfAWatcherThatEndsAreForgotten) {
  uint64_t ref = 0;
  ASSERT_EQ(jzx_monitor(loop_, one_, two_, &ref), JZX_OK);
  ASSERT_EQ(jzx_actor_stop(loop_, one_), JZX_OK);
  loop_.settle();
  EXPECT_EQ(jzx_demonitor(loop_, ref), JZX_ERR_INVALID_ARG);
  ASSERT_EQ(jzx_actor_stop(loop_, two_), JZX_OK);
  loop_.settle();
  EXPECT_TRUE(probe_one_.log.empty());
}

TEST_F(Monitors, NeedALivingWatcher) {
  ASSERT_EQ(jzx_actor_stop(loop_, one_), JZX_OK);
  EXPECT_EQ(jzx_monitor(loop_, one_, two_, nullptr), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(jzx_monitor(loop_, 0, two_, nullptr), JZX_ERR_NO_SUCH_ACTOR);
}

TEST_F(Monitors, TellEveryWatcher) {
  std::vector<Probe*> watchers;
  for (int n = 0; n < 100; ++n) {
    watchers.push_back(&loop_.probe());
    ASSERT_EQ(jzx_monitor(loop_, loop_.spawn(*watchers.back()), two_, nullptr), JZX_OK);
  }
  ASSERT_EQ(jzx_actor_fail(loop_, two_), JZX_OK);
  loop_.settle();
  for (const Probe* watcher : watchers) EXPECT_EQ(watcher->count(JZX_TAG_SYS_DOWN), 1u);
}

TEST_F(Monitors, ComeAfterTheMessagesTheirTargetSentBefore) {
  probe_two_.on = [&](jzx_context*, const Received&) {
    EXPECT_EQ(loop_.send(one_, kTag, 1), JZX_OK);
    return JZX_BEHAVIOR_STOP;
  };
  ASSERT_EQ(jzx_monitor(loop_, one_, two_, nullptr), JZX_OK);
  ASSERT_EQ(loop_.send(two_), JZX_OK);
  loop_.settle();
  ASSERT_EQ(probe_one_.log.size(), 2u);
  EXPECT_EQ(probe_one_.log[0].tag, kTag);
  EXPECT_EQ(probe_one_.log[1].tag, JZX_TAG_SYS_DOWN);
}

}  // namespace
}  // namespace jzx::testing

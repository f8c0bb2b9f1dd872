// How supervisors start and stop with their children: start order, half-started
// families, ordered shutdown, attached actors, child ids.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "capi/loop_handle.hpp"
#include "jzx/jzx.h"
#include "supervise/supervisor.hpp"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;
using Time = TestLoop::Time;

std::vector<jzx_actor_id> children_of(const TestLoop& loop, jzx_actor_id supervisor, size_t count) {
  std::vector<jzx_actor_id> ids;
  for (size_t n = 0; n < count; ++n) ids.push_back(loop.child(supervisor, n));
  return ids;
}

std::vector<jzx_actor_id> reversed(std::vector<jzx_actor_id> ids) {
  std::reverse(ids.begin(), ids.end());
  return ids;
}

// jzx_init_fn has no context, so its script is global; each test resets it.
struct InitScript {
  int calls = 0;
  int refuse_at = 0;  // the number of the call that refuses; 0: none
  jzx_behavior_result refusal = JZX_BEHAVIOR_FAIL;
  Probe* state = nullptr;
} script;

jzx_behavior_result scripted_init(void** out_state) {
  *out_state = script.state;
  return ++script.calls == script.refuse_at ? script.refusal : JZX_BEHAVIOR_OK;
}

jzx_child_spec init_spec(jzx_child_mode mode = JZX_CHILD_PERMANENT) {
  jzx_child_spec spec{};
  spec.behavior = &Probe::behave;
  spec.init = &scripted_init;
  spec.mode = mode;
  return spec;
}

// ---- starting ------------------------------------------------------------------------

TEST(SupervisorStart, StartsItsChildrenInOrderInsideTheCall) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children(3, child_spec(probe));
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  std::vector<jzx_actor_id> started = loop.events().ids(Kind::start);
  std::erase(started, supervisor);
  EXPECT_EQ(started, children_of(loop, supervisor, 3));
}

TEST(SupervisorStart, WithoutChildrenIsAllowed) {
  TestLoop loop;
  jzx_supervisor_init init{};
  init.supervisor.period_ms = 1000;
  const jzx_actor_id supervisor = loop.spawn_supervisor(init);
  loop.settle();
  EXPECT_TRUE(loop.is_alive(supervisor));
}

TEST(SupervisorStart, CopiesItsSpecsDeeply) {
  TestLoop loop;
  Probe& probe = loop.probe();
  jzx_actor_id supervisor = 0;
  {
    std::string name = "worker";
    jzx_backoff_spec backoff{10, 10, 1.0f, 0};
    std::vector<jzx_child_spec> inner_children = {child_spec(probe)};
    jzx_supervisor_init inner = family(inner_children);
    std::vector<jzx_child_spec> children = {child_spec(probe, JZX_CHILD_PERMANENT, &backoff),
                                            nested_spec(inner)};
    children[0].name = name.c_str();
    supervisor = loop.spawn_supervisor(family(children));
    // What the caller had is overwritten before it goes away.
    name.assign(6, '?');
    backoff = jzx_backoff_spec{};
    inner_children[0] = jzx_child_spec{};
    inner = jzx_supervisor_init{};
    children.assign(2, jzx_child_spec{});
  }
  loop.events().clear();
  ASSERT_EQ(jzx_actor_fail(loop, loop.child(supervisor, 0)), JZX_OK);
  ASSERT_EQ(jzx_actor_fail(loop, loop.child(supervisor, 1)), JZX_OK);
  loop.advance(9);
  EXPECT_EQ(loop.child(supervisor, 0), 0u) << "the backoff is the copied one";
  loop.advance(2);
  ASSERT_NE(loop.child(supervisor, 0), 0u);
  ASSERT_NE(loop.child(supervisor, 1), 0u);
  EXPECT_NE(loop.child(loop.child(supervisor, 1), 0), 0u);
  bool named = false;
  for (const Event& event : loop.events().of(Kind::start)) {
    if (event.id == loop.child(supervisor, 0)) named = event.name == "worker";
  }
  EXPECT_TRUE(named);
}

TEST(SupervisorStart, RunsInitInsideTheCallAndGivesTheChildItsState) {
  TestLoop loop;
  Probe& made = loop.probe();
  Probe& unused = loop.probe();
  script = InitScript{};
  script.state = &made;
  std::vector<jzx_child_spec> children = {init_spec()};
  children[0].state = &unused;
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  EXPECT_EQ(script.calls, 1);
  ASSERT_EQ(loop.send(loop.child(supervisor, 0), kTag, 5), JZX_OK);
  loop.settle();
  EXPECT_EQ(made.values(), std::vector<uint64_t>{5});
  EXPECT_TRUE(unused.log.empty());
}

TEST(SupervisorStart, RunsInitBeforeTheFirstMessageOfEveryRestart) {
  TestLoop loop;
  Probe& first = loop.probe();
  Probe& second = loop.probe();
  script = InitScript{};
  script.state = &first;
  const std::vector<jzx_child_spec> children = {init_spec()};
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  script.state = &second;
  ASSERT_EQ(jzx_actor_fail(loop, loop.child(supervisor, 0)), JZX_OK);
  loop.settle();
  EXPECT_EQ(script.calls, 2);
  ASSERT_EQ(loop.send(loop.child(supervisor, 0)), JZX_OK);
  loop.settle();
  EXPECT_EQ(second.log.size(), 1u);
  EXPECT_TRUE(first.log.empty());
}

// The spec of a child, as the supervisor has it.
uint32_t stop_limit_of(jzx_loop* loop, jzx_actor_id supervisor, size_t index) {
  uint32_t limit_ms = 0;
  EXPECT_EQ(supervise::visit(loop->port->any_host(), supervisor,
                             [&](supervise::Supervisor& found) {
                               limit_ms = found.slot_at(index)->spec.stop_within_ms;
                               return Errc::ok;
                             }),
            Errc::ok);
  return limit_ms;
}

TEST(SupervisorStart, TakesHowLongAChildMayStopOrTheUsualTime) {
  TestLoop loop;
  script = InitScript{};
  const std::vector<jzx_child_spec> inner_children = {init_spec()};
  const jzx_supervisor_init inner = family(inner_children);
  std::vector<jzx_child_spec> children = {init_spec(), init_spec(), init_spec(), nested_spec(inner),
                                          nested_spec(inner)};
  children[1].stop_within_ms = 7;
  children[2].stop_within_ms = JZX_NO_STOP_LIMIT;
  children[4].stop_within_ms = 8;
  const jzx_actor_id top = loop.spawn_supervisor(family(children));
  EXPECT_EQ(stop_limit_of(loop, top, 0), 5000u);
  EXPECT_EQ(stop_limit_of(loop, top, 1), 7u);
  EXPECT_EQ(stop_limit_of(loop, top, 2), JZX_NO_STOP_LIMIT);
  EXPECT_EQ(stop_limit_of(loop, top, 3), JZX_NO_STOP_LIMIT) << "its children have limits";
  EXPECT_EQ(stop_limit_of(loop, top, 4), 8u);
}

class RefusedStart : public ::testing::TestWithParam<jzx_behavior_result> {};

TEST_P(RefusedStart, MakesTheCallFailAndLeavesNothingBehind) {
  TestLoop loop;
  script = InitScript{};
  script.state = &loop.probe();
  script.refuse_at = 3;
  script.refusal = GetParam();
  const std::vector<jzx_child_spec> children(4, init_spec());
  const jzx_supervisor_init init = family(children);
  jzx_actor_id id = 0;
  EXPECT_EQ(jzx_spawn_supervisor(loop, &init, 0, &id), JZX_ERR_START_FAILED);
  EXPECT_EQ(id, 0u);
  EXPECT_EQ(script.calls, 3) << "the fourth was not tried";
  EXPECT_EQ(loop.run(), 0) << "nobody is alive";
  EXPECT_EQ(loop.alive_count(), 0u);
  EXPECT_EQ(loop.events().count(Kind::start), loop.events().count(Kind::stop));
  EXPECT_EQ(loop.events().count(Kind::escalate), 0u);
  EXPECT_EQ(loop.events().count(Kind::restart), 0u);
}

INSTANTIATE_TEST_SUITE_P(With, RefusedStart,
                         ::testing::Values(JZX_BEHAVIOR_STOP, JZX_BEHAVIOR_FAIL));

TEST(SupervisorStart, ARefusalInANestedSupervisorLeavesNothingBehindEither) {
  TestLoop loop;
  script = InitScript{};
  script.state = &loop.probe();
  script.refuse_at = 3;
  const std::vector<jzx_child_spec> inner_children(2, init_spec());
  const jzx_supervisor_init inner = family(inner_children);
  const std::vector<jzx_child_spec> children = {init_spec(), nested_spec(inner)};
  const jzx_supervisor_init init = family(children);
  EXPECT_EQ(jzx_spawn_supervisor(loop, &init, 0, nullptr), JZX_ERR_START_FAILED);
  EXPECT_EQ(loop.run(), 0);
  EXPECT_EQ(loop.alive_count(), 0u);
}

TEST(SupervisorStart, AtMaxActorsLeavesNothingBehind) {
  jzx_config config = default_config();
  config.max_actors = 4;
  TestLoop loop(Time::manual, config);
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children(4, child_spec(probe));
  const jzx_supervisor_init init = family(children);
  EXPECT_EQ(jzx_spawn_supervisor(loop, &init, 0, nullptr), JZX_ERR_MAX_ACTORS);
  EXPECT_EQ(loop.run(), 0);
  EXPECT_EQ(loop.alive_count(), 0u);
  for (int n = 0; n < 4; ++n) loop.spawn_quiet();
  EXPECT_EQ(loop.alive_count(), 4u) << "every slot is free again";
}

TEST(SupervisorStart, ARefusalLeavesTheParentAndItsOtherChildrenAlone) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> outer_children = {child_spec(probe)};
  const jzx_actor_id outer = loop.spawn_supervisor(family(outer_children));
  const jzx_actor_id sibling = loop.child(outer, 0);
  script = InitScript{};
  script.state = &probe;
  script.refuse_at = 2;
  const std::vector<jzx_child_spec> children(2, init_spec());
  const jzx_supervisor_init init = family(children);
  EXPECT_EQ(jzx_spawn_supervisor(loop, &init, outer, nullptr), JZX_ERR_START_FAILED);
  loop.settle();
  EXPECT_TRUE(loop.is_alive(outer));
  EXPECT_EQ(loop.child(outer, 0), sibling);
  EXPECT_EQ(loop.alive_count(), 2u);
}

// ---- stopping -----------------------------------------------------------------------------

TEST(SupervisorStop, StopsItsChildrenFirstInReverseOrder) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children(3, child_spec(probe));
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  std::vector<jzx_actor_id> expected = reversed(children_of(loop, supervisor, 3));
  expected.push_back(supervisor);
  ASSERT_EQ(jzx_actor_stop(loop, supervisor), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.events().ids(Kind::stop), expected);
  for (const jzx_actor_id id : expected) {
    EXPECT_EQ(loop.events().stop_reason(id), JZX_EXIT_NORMAL);
  }
  EXPECT_EQ(loop.events().count(Kind::restart), 0u);
}

TEST(SupervisorStop, FailingItStopsItsChildrenFirstInReverseOrderToo) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children(3, child_spec(probe));
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  std::vector<jzx_actor_id> expected = reversed(children_of(loop, supervisor, 3));
  ASSERT_EQ(jzx_actor_fail(loop, supervisor), JZX_OK);
  loop.settle();
  for (const jzx_actor_id id : expected) {
    EXPECT_EQ(loop.events().stop_reason(id), JZX_EXIT_NORMAL);
  }
  expected.push_back(supervisor);
  EXPECT_EQ(loop.events().ids(Kind::stop), expected);
  EXPECT_EQ(loop.events().stop_reason(supervisor), JZX_EXIT_FAIL);
}

TEST(SupervisorStop, GoesDownATreeDepthFirst) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> inner_children(2, child_spec(probe));
  const jzx_supervisor_init inner = family(inner_children);
  const std::vector<jzx_child_spec> children = {child_spec(probe), nested_spec(inner),
                                                child_spec(probe)};
  const jzx_actor_id root = loop.spawn_supervisor(family(children));
  const jzx_actor_id nested = loop.child(root, 1);
  const std::vector<jzx_actor_id> expected = {loop.child(root, 2),   loop.child(nested, 1),
                                              loop.child(nested, 0), nested,
                                              loop.child(root, 0),   root};
  ASSERT_EQ(jzx_actor_stop(loop, root), JZX_OK);
  loop.settle();
  EXPECT_EQ(loop.events().ids(Kind::stop), expected);
}

TEST(SupervisorStop, DuringABackoffCancelsTheRestart) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_backoff_spec backoff{100, 100, 1.0f, 0};
  const std::vector<jzx_child_spec> children = {child_spec(probe, JZX_CHILD_PERMANENT, &backoff)};
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  loop.spawn_quiet();
  ASSERT_EQ(jzx_actor_fail(loop, loop.child(supervisor, 0)), JZX_OK);
  loop.advance(50);
  ASSERT_EQ(jzx_actor_stop(loop, supervisor), JZX_OK);
  loop.advance(500);
  EXPECT_EQ(loop.events().count(Kind::restart), 0u);
  EXPECT_EQ(loop.alive_count(), 1u);
}

TEST(SupervisorStop, AChildsQueuedMessagesAreDeadLettered) {
  jzx_config config = default_config();
  config.max_msgs_per_actor = 10;  // the child cannot empty its queue first
  TestLoop loop(Time::manual, config);
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children = {child_spec(probe)};
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  const jzx_actor_id child = loop.child(supervisor, 0);
  for (uint64_t value = 0; value < 200; ++value) ASSERT_EQ(loop.send(child, kTag, value), JZX_OK);
  ASSERT_EQ(jzx_actor_stop(loop, supervisor), JZX_OK);
  loop.settle();
  EXPECT_GT(loop.events().count(Kind::dead_letter, child), 0u);
  EXPECT_EQ(probe.log.size() + loop.events().count(Kind::dead_letter, child), 200u);
  EXPECT_EQ(loop.alive_count(), 0u);
}

TEST(SupervisorStop, AUserMessageToALibrarySupervisorIsDeadLettered) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children = {child_spec(probe)};
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  ASSERT_EQ(loop.send(supervisor, kTag, 8), JZX_OK);
  ASSERT_EQ(loop.send_after(supervisor, 5, kTag, 9), JZX_OK);
  loop.advance(10);
  EXPECT_EQ(loop.events().dead_values(), (std::vector<uint64_t>{8, 9}));
  EXPECT_EQ(loop.events().count(Kind::dead_letter, supervisor), 2u);
  EXPECT_TRUE(loop.is_alive(supervisor));
}

// ---- child ids ---------------------------------------------------------------------------------

TEST(SupervisorChildId, IsNewAfterARestart) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children = {child_spec(probe)};
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  const jzx_actor_id before = loop.child(supervisor, 0);
  ASSERT_EQ(jzx_actor_fail(loop, before), JZX_OK);
  loop.settle();
  const jzx_actor_id after = loop.child(supervisor, 0);
  EXPECT_NE(after, 0u);
  EXPECT_NE(after, before);
  EXPECT_EQ(loop.send(before), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(loop.send(after), JZX_OK);
}

TEST(SupervisorChildId, IsNoSuchActorWhileTheChildIsDownOrEnded) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const jzx_backoff_spec backoff{100, 100, 1.0f, 0};
  const std::vector<jzx_child_spec> children = {child_spec(probe, JZX_CHILD_PERMANENT, &backoff),
                                                child_spec(probe, JZX_CHILD_TEMPORARY)};
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  ASSERT_EQ(jzx_actor_fail(loop, loop.child(supervisor, 0)), JZX_OK);
  ASSERT_EQ(jzx_actor_stop(loop, loop.child(supervisor, 1)), JZX_OK);
  loop.settle();
  jzx_actor_id id = 77;
  EXPECT_EQ(jzx_supervisor_child_id(loop, supervisor, 0, &id), JZX_ERR_NO_SUCH_ACTOR) << "down";
  EXPECT_EQ(jzx_supervisor_child_id(loop, supervisor, 1, &id), JZX_ERR_NO_SUCH_ACTOR) << "ended";
  loop.advance(101);
  EXPECT_EQ(jzx_supervisor_child_id(loop, supervisor, 0, &id), JZX_OK);
  EXPECT_EQ(jzx_supervisor_child_id(loop, supervisor, 1, &id), JZX_ERR_NO_SUCH_ACTOR);
}

TEST(SupervisorChildId, OfABadIndexOrAnActorThatIsNoSupervisorIsInvalid) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children = {child_spec(probe)};
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  const jzx_actor_id plain = loop.spawn_quiet();
  jzx_actor_id id = 0;
  EXPECT_EQ(jzx_supervisor_child_id(loop, supervisor, 1, &id), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_supervisor_child_id(loop, supervisor, SIZE_MAX, &id), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_supervisor_child_id(loop, plain, 0, &id), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(id, 0u);
  EXPECT_EQ(jzx_supervisor_child_id(loop, supervisor, 0, nullptr), JZX_OK)
      << "out parameters may be NULL";
}

TEST(SupervisorChildId, OfASupervisorThatIsGoneIsNoSuchActor) {
  TestLoop loop;
  Probe& probe = loop.probe();
  const std::vector<jzx_child_spec> children = {child_spec(probe)};
  const jzx_actor_id supervisor = loop.spawn_supervisor(family(children));
  ASSERT_EQ(jzx_actor_stop(loop, supervisor), JZX_OK);
  loop.settle();
  EXPECT_EQ(jzx_supervisor_child_id(loop, supervisor, 0, nullptr), JZX_ERR_NO_SUCH_ACTOR);
}

}  // namespace
}  // namespace jzx::testing

// Registered names: unique, found by whereis, free again when their actor ends.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "jzx/jzx.h"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

class Names : public ::testing::Test {
 protected:
  // 0 when nobody has it.
  [[nodiscard]] jzx_actor_id whereis(const char* name) const {
    jzx_actor_id id = 0;
    const jzx_err err = jzx_whereis(loop_, name, &id);
    if (err == JZX_OK) return id;
    EXPECT_EQ(err, JZX_ERR_NO_SUCH_ACTOR);
    return 0;
  }

  TestLoop loop_;
};

TEST_F(Names, AreFoundByWhereis) {
  const jzx_actor_id one = loop_.spawn_quiet();
  const jzx_actor_id two = loop_.spawn_quiet();
  EXPECT_EQ(jzx_register(loop_, one, "one"), JZX_OK);
  EXPECT_EQ(jzx_register(loop_, two, "two"), JZX_OK);
  EXPECT_EQ(whereis("one"), one);
  EXPECT_EQ(whereis("two"), two);
  EXPECT_EQ(whereis("three"), 0u);
  EXPECT_EQ(jzx_whereis(loop_, "one", nullptr), JZX_OK) << "out parameters may be NULL";
}

TEST_F(Names, ThatAreTakenAreInvalidAlsoForTheSameActor) {
  const jzx_actor_id one = loop_.spawn_quiet();
  const jzx_actor_id two = loop_.spawn_quiet();
  ASSERT_EQ(jzx_register(loop_, one, "name"), JZX_OK);
  EXPECT_EQ(jzx_register(loop_, two, "name"), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_register(loop_, one, "name"), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(whereis("name"), one);
  EXPECT_EQ(jzx_register(loop_, two, "other"), JZX_OK) << "the refusal cost it nothing";
}

TEST_F(Names, AreOnePerActor) {
  const jzx_actor_id id = loop_.spawn_quiet();
  ASSERT_EQ(jzx_register(loop_, id, "first"), JZX_OK);
  EXPECT_EQ(jzx_register(loop_, id, "second"), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(whereis("second"), 0u);
  EXPECT_EQ(whereis("first"), id);
}

TEST_F(Names, AreCopied) {
  const jzx_actor_id id = loop_.spawn_quiet();
  std::string name = "name";
  ASSERT_EQ(jzx_register(loop_, id, name.c_str()), JZX_OK);
  name = "gone";
  EXPECT_EQ(whereis("name"), id);
  EXPECT_EQ(whereis("gone"), 0u);
}

TEST_F(Names, OfUpTo255BytesAreAllowedAndLongerOnesInvalid) {
  const jzx_actor_id id = loop_.spawn_quiet();
  const std::string longest(JZX_NAME_MAX, 'x');
  const std::string too_long(JZX_NAME_MAX + 1, 'x');
  EXPECT_EQ(jzx_register(loop_, id, too_long.c_str()), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_register(loop_, id, longest.c_str()), JZX_OK);
  EXPECT_EQ(whereis(longest.c_str()), id);
  EXPECT_EQ(whereis(std::string(JZX_NAME_MAX - 1, 'x').c_str()), 0u) << "a prefix is not it";
}

TEST_F(Names, ThatAreEmptyOrNullAreInvalid) {
  const jzx_actor_id id = loop_.spawn_quiet();
  EXPECT_EQ(jzx_register(loop_, id, ""), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_register(loop_, id, nullptr), JZX_ERR_INVALID_ARG);
  jzx_actor_id out = 0;
  EXPECT_EQ(jzx_whereis(loop_, nullptr, &out), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_register(loop_, id, "fine"), JZX_OK);
}

TEST_F(Names, AreFreeAgainWhenTheirActorEnds) {
  const jzx_actor_id one = loop_.spawn_quiet();
  const jzx_actor_id two = loop_.spawn_quiet();
  ASSERT_EQ(jzx_register(loop_, one, "name"), JZX_OK);
  ASSERT_EQ(jzx_actor_stop(loop_, one), JZX_OK);
  loop_.settle();
  EXPECT_EQ(whereis("name"), 0u);
  EXPECT_EQ(jzx_register(loop_, two, "name"), JZX_OK);
  EXPECT_EQ(whereis("name"), two);
}

TEST_F(Names, OfAnEndedActorAreFreeForItsSuccessorByTheTimeItsSupervisorKnows) {
  Probe& boss = loop_.probe([&](jzx_context* ctx, const Received& received) {
    if (received.tag != JZX_TAG_SYS_CHILD_EXIT) return JZX_BEHAVIOR_OK;
    const jzx_actor_id heir = loop_.spawn_quiet(ctx->self);
    EXPECT_EQ(jzx_register(ctx->loop, heir, "service"), JZX_OK);
    return JZX_BEHAVIOR_OK;
  });
  const jzx_actor_id first = loop_.spawn_quiet(loop_.spawn(boss));
  ASSERT_EQ(jzx_register(loop_, first, "service"), JZX_OK);
  ASSERT_EQ(jzx_actor_fail(loop_, first), JZX_OK);
  loop_.settle();
  EXPECT_NE(whereis("service"), 0u);
  EXPECT_NE(whereis("service"), first);
}

TEST_F(Names, LabelsInSpawnOptionsAreNotRegistered) {
  jzx_spawn_opts opts{};
  opts.behavior = &Probe::behave;
  opts.state = &loop_.probe();
  opts.name = "label";
  jzx_actor_id one = 0;
  jzx_actor_id two = 0;
  ASSERT_EQ(jzx_spawn(loop_, &opts, &one), JZX_OK);
  ASSERT_EQ(jzx_spawn(loop_, &opts, &two), JZX_OK) << "labels need not be unique";
  EXPECT_EQ(whereis("label"), 0u);
  EXPECT_EQ(jzx_register(loop_, one, "label"), JZX_OK);
}

TEST_F(Names, ManyComeAndGo) {
  constexpr int kActors = 2000;
  std::vector<jzx_actor_id> ids;
  for (int n = 0; n < kActors; ++n) {
    ids.push_back(loop_.spawn_quiet());
    ASSERT_EQ(jzx_register(loop_, ids.back(), ("actor " + std::to_string(n)).c_str()), JZX_OK);
  }
  for (int n = 0; n < kActors; n += 2) {
    ASSERT_EQ(jzx_actor_stop(loop_, ids[static_cast<size_t>(n)]), JZX_OK);
  }
  loop_.settle();
  for (int n = 0; n < kActors; ++n) {
    const jzx_actor_id expected = n % 2 == 0 ? 0 : ids[static_cast<size_t>(n)];
    ASSERT_EQ(whereis(("actor " + std::to_string(n)).c_str()), expected);
  }
}

}  // namespace
}  // namespace jzx::testing

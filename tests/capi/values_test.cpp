// Values, names and sizes that compiled programs rely on, and the small functions.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "jzx/jzx.h"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

static_assert(JZX_OK == 0 && JZX_ERR_UNKNOWN == -1 && JZX_ERR_NO_MEMORY == -2);
static_assert(JZX_ERR_INVALID_ARG == -3 && JZX_ERR_LOOP_CLOSED == -4);
static_assert(JZX_ERR_NO_SUCH_ACTOR == -5 && JZX_ERR_ACTOR_NOT_LOCAL == -6);
static_assert(JZX_ERR_MAILBOX_FULL == -7 && JZX_ERR_TIMER_INVALID == -8);
static_assert(JZX_ERR_IO_REG_FAILED == -9 && JZX_ERR_IO_NOT_WATCHED == -10);
static_assert(JZX_ERR_MAX_ACTORS == -11 && JZX_ERR_START_FAILED == -12);
static_assert(JZX_BEHAVIOR_OK == 0 && JZX_BEHAVIOR_STOP == 1 && JZX_BEHAVIOR_FAIL == 2);
static_assert(JZX_ACTOR_INIT == 0 && JZX_ACTOR_RUNNING == 1 && JZX_ACTOR_STOPPING == 2);
static_assert(JZX_ACTOR_STOPPED == 3 && JZX_ACTOR_FAILED == 4);
static_assert(JZX_EXIT_NORMAL == 0 && JZX_EXIT_FAIL == 1 && JZX_EXIT_PANIC == 2);
static_assert(JZX_EXIT_NOPROC == 3 && JZX_EXIT_KILLED == 4);
static_assert(JZX_CHILD_PERMANENT == 0 && JZX_CHILD_TRANSIENT == 1 && JZX_CHILD_TEMPORARY == 2);
static_assert(JZX_SUP_ONE_FOR_ONE == 0 && JZX_SUP_ONE_FOR_ALL == 1 && JZX_SUP_REST_FOR_ONE == 2);
static_assert(JZX_TAG_SYS_IO == 0xffff0001u && JZX_TAG_SYS_CHILD_EXIT == 0xffff0002u);
static_assert(JZX_TAG_SYS_CHILD_RESTART == 0xffff0003u && JZX_TAG_SYS_DOWN == 0xffff0004u);
static_assert(JZX_TAG_SYS_EXIT == 0xffff0005u);
static_assert(JZX_IO_READ == 1u && JZX_IO_WRITE == 2u && JZX_IO_ERROR == 4u && JZX_IO_HANGUP == 8u);
static_assert(sizeof(jzx_actor_id) == 8 && sizeof(jzx_timer_id) == 8);

TEST(Values, ConfigInitSetsTheDocumentedDefaults) {
  jzx_config config;
  std::memset(&config, 0xff, sizeof(config));
  jzx_config_init(&config);
  EXPECT_EQ(config.max_actors, 65536u);
  EXPECT_EQ(config.default_mailbox_cap, 1024u);
  EXPECT_EQ(config.max_msgs_per_actor, 64u);
  EXPECT_EQ(config.max_actors_per_tick, 1024u);
  EXPECT_EQ(config.max_io_watchers, 1024u);
  EXPECT_EQ(config.io_poll_timeout_ms, 0u);
  ASSERT_NE(config.allocator.alloc, nullptr);
  ASSERT_NE(config.allocator.free, nullptr);
  void* memory = config.allocator.alloc(config.allocator.ctx, 100);
  ASSERT_NE(memory, nullptr);
  config.allocator.free(config.allocator.ctx, memory);
}

TEST(Values, EveryErrorHasATextOfItsOwn) {
  std::set<std::string> texts;
  for (int err = JZX_OK; err >= JZX_ERR_START_FAILED; --err) {
    const char* text = jzx_strerror(static_cast<jzx_err>(err));
    ASSERT_NE(text, nullptr);
    EXPECT_NE(*text, '\0');
    EXPECT_TRUE(texts.insert(text).second) << text;
  }
  EXPECT_NE(jzx_strerror(static_cast<jzx_err>(-13)), nullptr) << "unknown ones too";
}

TEST(Values, VersionsAreThere) {
  EXPECT_GE(jzx_abi_version(), 1u);
  ASSERT_NE(jzx_version(), nullptr);
  EXPECT_NE(std::string(jzx_version()).find('.'), std::string::npos);
}

TEST(Values, ANullConfigMeansTheDefaults) {
  jzx_loop* loop = jzx_loop_create(nullptr);
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(jzx_loop_run(loop), 0);
  jzx_loop_destroy(loop);
}

TEST(Values, MaxActorsIsEnforcedAndGivenBack) {
  jzx_config config = default_config();
  config.max_actors = 3;
  TestLoop loop(TestLoop::Time::manual, config);
  std::vector<jzx_actor_id> ids;
  for (int n = 0; n < 3; ++n) ids.push_back(loop.spawn_quiet());
  jzx_spawn_opts opts{};
  opts.behavior = &Probe::behave;
  opts.state = &loop.probe();
  jzx_actor_id out = 0;
  EXPECT_EQ(jzx_spawn(loop, &opts, &out), JZX_ERR_MAX_ACTORS);
  EXPECT_EQ(out, 0u);
  ASSERT_EQ(jzx_actor_stop(loop, ids[1]), JZX_OK);
  loop.settle();
  EXPECT_EQ(jzx_spawn(loop, &opts, &out), JZX_OK);
  EXPECT_EQ(jzx_spawn(loop, &opts, nullptr), JZX_ERR_MAX_ACTORS);
}

TEST(Values, TheSenderIsTheActorWhoseBehaviourIsRunning) {
  TestLoop loop;
  Probe& target = loop.probe();
  const jzx_actor_id target_id = loop.spawn(target);
  const jzx_actor_id sender = loop.spawn(loop.probe([&](jzx_context*, const Received&) {
    EXPECT_EQ(loop.send(target_id), JZX_OK);
    EXPECT_EQ(loop.send_async(target_id), JZX_OK);
    return JZX_BEHAVIOR_OK;
  }));
  ASSERT_EQ(loop.send(sender), JZX_OK);
  loop.settle();
  ASSERT_EQ(loop.send(target_id), JZX_OK);
  loop.settle();
  ASSERT_EQ(target.log.size(), 3u);
  EXPECT_EQ(target.log[0].sender, sender);
  EXPECT_EQ(target.log[1].sender, sender) << "also through jzx_send_async on the loop's thread";
  EXPECT_EQ(target.log[2].sender, 0u);
}

TEST(Values, AMessageArrivesAsItWasSent) {
  TestLoop loop;
  loop.skip_message_accounting();
  int payload[4] = {1, 2, 3, 4};
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(jzx_send(loop, id, payload, sizeof(payload), 0), JZX_OK);
  ASSERT_EQ(jzx_send(loop, id, nullptr, 0, JZX_TAG_SYS_BASE - 1), JZX_OK);
  ASSERT_EQ(jzx_send(loop, id, payload, SIZE_MAX, 1), JZX_OK) << "the length is only carried";
  loop.settle();
  ASSERT_EQ(probe.log.size(), 3u);
  EXPECT_EQ(probe.log[0].value, as_value(payload));
  EXPECT_EQ(probe.log[0].len, sizeof(payload));
  EXPECT_EQ(probe.log[0].tag, 0u);
  EXPECT_EQ(probe.log[1].value, 0u);
  EXPECT_EQ(probe.log[1].tag, JZX_TAG_SYS_BASE - 1);
  EXPECT_EQ(probe.log[2].len, SIZE_MAX);
  EXPECT_EQ(payload[0], 1);
}

TEST(Values, TheContextNamesTheActorItsStateAndItsLoop) {
  TestLoop loop;
  jzx_loop* seen_loop = nullptr;
  jzx_actor_id seen_self = 0;
  Probe& probe = loop.probe();
  probe.on = [&](jzx_context* ctx, const Received&) {
    seen_loop = ctx->loop;
    seen_self = ctx->self;
    EXPECT_EQ(ctx->state, &probe);
    return JZX_BEHAVIOR_OK;
  };
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send(id), JZX_OK);
  loop.settle();
  EXPECT_EQ(seen_loop, loop.get());
  EXPECT_EQ(seen_self, id);
}

TEST(Values, SeveralLoopsLiveSideBySide) {
  TestLoop one;
  TestLoop two;
  Probe& probe_one = one.probe();
  Probe& probe_two = two.probe();
  const jzx_actor_id in_one = one.spawn(probe_one);
  const jzx_actor_id in_two = two.spawn(probe_two);
  ASSERT_EQ(jzx_register(one, in_one, "name"), JZX_OK);
  EXPECT_EQ(jzx_register(two, in_two, "name"), JZX_OK) << "names belong to a loop";
  ASSERT_EQ(one.send(in_one, kTag, 1), JZX_OK);
  ASSERT_EQ(two.send(in_two, kTag, 2), JZX_OK);
  one.settle();
  EXPECT_TRUE(probe_two.log.empty());
  two.settle();
  EXPECT_EQ(probe_one.values(), std::vector<uint64_t>{1});
  EXPECT_EQ(probe_two.values(), std::vector<uint64_t>{2});
}

}  // namespace
}  // namespace jzx::testing

// Bad input gets the right error and changes nothing. What a loop answers while it is
// being destroyed is in destroy_test.
#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "jzx/jzx.h"
#include "support/fds.hpp"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;
using Time = TestLoop::Time;

constexpr jzx_actor_id kUntouched = 77;

// No enumeration of the interface has these.
constexpr int kNoEnumerator[] = {INT_MIN, -1000, 5, 99, INT_MAX};

// As C stores it: any int fits.
template <class Enum>
Enum from_c(int value) {
  Enum result{};
  static_assert(sizeof(result) == sizeof(value));
  std::memcpy(&result, &value, sizeof(value));
  return result;
}

// C gives an enumeration any value of its type, so C++ must accept all of them, too: in one without
// a fixed type, to read such a value is undefined.
template <class... Enum>
constexpr bool hold_every_int = (std::is_same_v<std::underlying_type_t<Enum>, int> && ...);
static_assert(hold_every_int<jzx_err, jzx_behavior_result, jzx_actor_status, jzx_exit_reason,
                             jzx_child_mode, jzx_supervisor_strategy>);

TEST(BadInput, ANullLoopIsInvalidForEveryCall) {
  const jzx_spawn_opts opts{};
  const jzx_supervisor_init init{};
  jzx_actor_id out = kUntouched;
  EXPECT_EQ(jzx_spawn(nullptr, &opts, &out), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_spawn_supervisor(nullptr, &init, 0, &out), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_supervisor_child_id(nullptr, 1, 0, &out), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_send(nullptr, 1, nullptr, 0, 0), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_send_async(nullptr, 1, nullptr, 0, 0), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_actor_stop(nullptr, 1), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_actor_fail(nullptr, 1), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_send_after(nullptr, 1, 0, nullptr, 0, 0, &out), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_cancel_timer(nullptr, 1), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_watch_fd(nullptr, 0, 1, JZX_IO_READ), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_unwatch_fd(nullptr, 0), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_register(nullptr, 1, "name"), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_whereis(nullptr, "name", &out), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_link(nullptr, 1, 2), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_unlink(nullptr, 1, 2), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_monitor(nullptr, 1, 2, &out), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_demonitor(nullptr, 1), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_trap_exit(nullptr, 1, 1), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_loop_run(nullptr), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_loop_run_once(nullptr, 0), JZX_ERR_INVALID_ARG);
  EXPECT_LT(jzx_loop_fd(nullptr), 0);
  jzx_loop_request_stop(nullptr);
  jzx_loop_set_observer(nullptr, nullptr, nullptr);
  jzx_loop_destroy(nullptr);
  jzx_config_init(nullptr);
  EXPECT_EQ(out, kUntouched);
}

TEST(BadInput, AnErrorThatDoesNotExistHasATextAllTheSame) {
  for (const int value : kNoEnumerator) {
    EXPECT_STREQ(jzx_strerror(from_c<jzx_err>(value)), "unknown error code");
  }
}

TEST(BadInput, AConfigWithoutActorsIsInvalid) {
  jzx_config config = default_config();
  config.max_actors = 0;
  EXPECT_EQ(jzx_loop_create(&config), nullptr);
}

TEST(BadInput, AConfigWithMoreThan2To28ActorsIsInvalidAndSaysSo) {
  for (const uint32_t count : {(1u << 28) + 1, 0xffffffffu}) {
    jzx_runtime_config config;
    jzx_runtime_config_init(&config);
    config.loop.max_actors = count;
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(jzx_loop_create(&config.loop), nullptr);
    EXPECT_EQ(jzx_runtime_create(&config), nullptr);
    const std::string line = "jzx: max_actors is " + std::to_string(count) +
                             ", and at most 268435456 (2^28) is possible\n";
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), line + line);
  }
}

TEST(BadInput, AConfigWithTheLargestNumbersWorksAndTakesNoMemoryForThem) {
  jzx_config config = default_config();
  config.max_actors = 1u << 28;
  config.default_mailbox_cap = 0xffffffffu;
  config.max_msgs_per_actor = 0xffffffffu;
  config.max_actors_per_tick = 0xffffffffu;
  config.max_io_watchers = 0xffffffffu;
  config.io_poll_timeout_ms = 0xffffffffu;
  TestLoop loop(Time::manual, config);
  EXPECT_LT(loop.allocator().live_bytes(), 16 << 20);
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  ASSERT_EQ(loop.send(id), JZX_OK);
  loop.settle();
  EXPECT_EQ(probe.log.size(), 1u);
}

TEST(BadInput, AConfigOfOnesWorks) {
  jzx_config config = default_config();
  config.max_actors = 1;
  config.default_mailbox_cap = 1;
  config.max_msgs_per_actor = 1;
  config.max_actors_per_tick = 1;
  config.max_io_watchers = 1;
  config.io_poll_timeout_ms = 1;
  TestLoop loop(Time::manual, config);
  Probe& probe = loop.probe();
  const jzx_actor_id id = loop.spawn(probe);
  for (uint64_t value = 0; value < 10; ++value) {
    ASSERT_EQ(loop.send(id, kTag, value), JZX_OK);
    EXPECT_EQ(loop.send(id, kTag, 99), JZX_ERR_MAILBOX_FULL);
    loop.settle();
  }
  EXPECT_EQ(probe.log.size(), 10u);
}

TEST(BadInput, AConfigWithZeroBudgetsIsEitherRefusedOrMakesProgress) {
  // 0 messages a turn would hang; refusing it or taking the default are both fine.
  jzx_config config = default_config();
  config.max_msgs_per_actor = 0;
  config.max_actors_per_tick = 0;
  config.default_mailbox_cap = 0;
  jzx_loop* loop = jzx_loop_create(&config);
  if (loop == nullptr) return;
  jzx_spawn_opts opts{};
  opts.behavior = [](jzx_context*, const jzx_message*) { return JZX_BEHAVIOR_STOP; };
  jzx_actor_id id = 0;
  EXPECT_EQ(jzx_spawn(loop, &opts, &id), JZX_OK);
  EXPECT_EQ(jzx_send(loop, id, nullptr, 0, kTag), JZX_OK);
  EXPECT_EQ(jzx_loop_run(loop), 0);
  jzx_loop_destroy(loop);
}

class BadInputOnALoop : public ::testing::Test {
 protected:
  // Ids of which nobody in the loop ever answers.
  [[nodiscard]] std::vector<jzx_actor_id> bad_ids() {
    const jzx_actor_id stale = loop_.spawn_quiet();
    EXPECT_EQ(jzx_actor_stop(loop_, stale), JZX_OK);
    loop_.settle();
    return {0,
            1,                              // a slot without a generation
            stale,                          //
            id_ + (1ull << 32),             // a generation from the future
            id_ & 0xffffffffu,              // generation 0
            (id_ & ~0xffffffffull) | 5000,  // a slot that was never used
            0xffffffffu | (1ull << 32),     // the last slot there could be
            ~uint64_t{0}};
  }

  void TearDown() override {
    // Whatever was tried, the loop works and the innocent got nothing.
    loop_.settle();
    EXPECT_TRUE(loop_.is_alive(id_));
    EXPECT_TRUE(probe_.log.empty());
    ASSERT_EQ(loop_.send(id_, kTag, 5), JZX_OK);
    loop_.settle();
    EXPECT_EQ(probe_.values(), std::vector<uint64_t>{5});
    EXPECT_EQ(loop_.events().count(Kind::dead_letter), 0u);
  }

  TestLoop loop_;
  Probe& probe_ = loop_.probe();
  jzx_actor_id id_ = loop_.spawn(probe_);
};

TEST_F(BadInputOnALoop, UnknownAndStaleIdsAreNoSuchActor) {
  const Pipe pipe;
  const std::vector<jzx_child_spec> children = {child_spec(probe_)};
  const jzx_supervisor_init init = family(children);
  for (const jzx_actor_id bad : bad_ids()) {
    SCOPED_TRACE(bad);
    jzx_actor_id out = kUntouched;
    EXPECT_EQ(loop_.send(bad), JZX_ERR_NO_SUCH_ACTOR);
    EXPECT_EQ(loop_.send_async(bad), JZX_ERR_NO_SUCH_ACTOR);
    EXPECT_EQ(loop_.send_after(bad, 1, kTag, 0, &out), JZX_ERR_NO_SUCH_ACTOR);
    EXPECT_EQ(jzx_actor_stop(loop_, bad), JZX_ERR_NO_SUCH_ACTOR);
    EXPECT_EQ(jzx_actor_fail(loop_, bad), JZX_ERR_NO_SUCH_ACTOR);
    EXPECT_EQ(jzx_watch_fd(loop_, pipe.reader.get(), bad, JZX_IO_READ), JZX_ERR_NO_SUCH_ACTOR);
    EXPECT_EQ(jzx_register(loop_, bad, "name"), JZX_ERR_NO_SUCH_ACTOR);
    EXPECT_EQ(jzx_link(loop_, id_, bad), JZX_ERR_NO_SUCH_ACTOR);
    EXPECT_EQ(jzx_link(loop_, bad, id_), JZX_ERR_NO_SUCH_ACTOR);
    EXPECT_EQ(jzx_monitor(loop_, bad, id_, &out), JZX_ERR_NO_SUCH_ACTOR);
    EXPECT_EQ(jzx_trap_exit(loop_, bad, 1), JZX_ERR_NO_SUCH_ACTOR);
    EXPECT_EQ(jzx_supervisor_child_id(loop_, bad, 0, &out), JZX_ERR_NO_SUCH_ACTOR);
    if (bad != 0) {  // 0 means: no parent
      EXPECT_EQ(jzx_spawn_supervisor(loop_, &init, bad, &out), JZX_ERR_NO_SUCH_ACTOR);
    }
    EXPECT_EQ(out, kUntouched);
  }
  EXPECT_EQ(jzx_whereis(loop_, "name", nullptr), JZX_ERR_NO_SUCH_ACTOR);
}

TEST_F(BadInputOnALoop, AnIdOfAnotherLoopDoesNotReachThisOnesActorsUnlessItsNumberIsTheSame) {
  TestLoop other;
  std::vector<jzx_actor_id> foreign;
  for (int n = 0; n < 50; ++n) foreign.push_back(other.spawn_quiet());
  for (const jzx_actor_id id : foreign) {
    if (id == id_) continue;  // ids are numbers; nothing tells these two apart
    EXPECT_EQ(loop_.send(id), JZX_ERR_NO_SUCH_ACTOR);
    EXPECT_EQ(jzx_actor_stop(loop_, id), JZX_ERR_NO_SUCH_ACTOR);
  }
  other.settle();
  EXPECT_EQ(other.alive_count(), foreign.size());
}

TEST_F(BadInputOnALoop, ATimerIdOfAnotherLoopIsInvalidOrAtWorstItsOwnNumber) {
  TestLoop other;
  const jzx_actor_id id = other.spawn_quiet();
  jzx_timer_id timer = 0;
  ASSERT_EQ(other.send_after(id, 1000, kTag, 0, &timer), JZX_OK);
  EXPECT_EQ(loop_.cancel(timer), JZX_ERR_TIMER_INVALID) << "this loop has no timers";
  EXPECT_EQ(other.cancel(timer), JZX_OK);
}

TEST_F(BadInputOnALoop, SystemTagsAreInvalidInEverySend) {
  for (const uint32_t tag :
       {JZX_TAG_SYS_BASE, JZX_TAG_SYS_IO, JZX_TAG_SYS_CHILD_EXIT, JZX_TAG_SYS_CHILD_RESTART,
        JZX_TAG_SYS_DOWN, JZX_TAG_SYS_EXIT, 0xffff1234u, 0xffffffffu}) {
    EXPECT_EQ(loop_.send(id_, tag), JZX_ERR_INVALID_ARG);
    EXPECT_EQ(loop_.send_async(id_, tag), JZX_ERR_INVALID_ARG);
    EXPECT_EQ(loop_.send_after(id_, 0, tag), JZX_ERR_INVALID_ARG);
  }
  loop_.advance(10);
}

TEST_F(BadInputOnALoop, SpawnOptionsWithoutABehaviourAreInvalid) {
  jzx_actor_id out = kUntouched;
  jzx_spawn_opts opts{};
  EXPECT_EQ(jzx_spawn(loop_, &opts, &out), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_spawn(loop_, nullptr, &out), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(out, kUntouched);
  EXPECT_EQ(loop_.alive_count(), 1u);
}

TEST_F(BadInputOnALoop, ASpawnIdNeedNotBeAskedFor) {
  jzx_spawn_opts opts{};
  opts.behavior = &Probe::behave;
  opts.state = &loop_.probe();
  EXPECT_EQ(jzx_spawn(loop_, &opts, nullptr), JZX_OK);
  EXPECT_EQ(loop_.alive_count(), 2u);
}

TEST_F(BadInputOnALoop, SupervisorSpecsThatMakeNoSenseAreInvalidAndStartNobody) {
  jzx_actor_id out = kUntouched;
  const auto expect_invalid = [&](const jzx_supervisor_init& init) {
    EXPECT_EQ(jzx_spawn_supervisor(loop_, &init, 0, &out), JZX_ERR_INVALID_ARG);
    EXPECT_EQ(out, kUntouched);
  };
  EXPECT_EQ(jzx_spawn_supervisor(loop_, nullptr, 0, &out), JZX_ERR_INVALID_ARG);

  const std::vector<jzx_child_spec> good = {child_spec(probe_)};
  jzx_supervisor_init init = family(good);
  init.children = nullptr;
  expect_invalid(init);  // a count without children

  std::vector<jzx_child_spec> children = {child_spec(probe_), jzx_child_spec{}};
  expect_invalid(family(children));  // neither behaviour nor supervisor

  const jzx_supervisor_init inner = family(good);
  children[1] = nested_spec(inner);
  children[1].behavior = &Probe::behave;
  expect_invalid(family(children));  // both

  const jzx_supervisor_init broken_inner = family({}, JZX_SUP_ONE_FOR_ONE, 1, 0);
  children[1] = nested_spec(broken_inner);
  expect_invalid(family(children));  // deep inside

  jzx_supervisor_init endless = family(children);
  children[1] = nested_spec(endless);
  expect_invalid(endless);  // contains itself

  for (const int value : kNoEnumerator) {
    children[1] = child_spec(probe_, from_c<jzx_child_mode>(value));
    expect_invalid(family(children));
    expect_invalid(family(good, from_c<jzx_supervisor_strategy>(value)));
  }

  loop_.settle();
  EXPECT_EQ(loop_.alive_count(), 1u);
  EXPECT_EQ(loop_.events().count(Kind::start), 1u) << "nobody was started on the way";
}

TEST_F(BadInputOnALoop, SupervisorsNestAtMost64Deep) {
  std::vector<jzx_child_spec> children(65);
  std::vector<jzx_supervisor_init> families(65);
  children[0] = child_spec(probe_);
  for (size_t i = 0;; ++i) {
    families[i] = jzx_supervisor_init{&children[i], 1, {JZX_SUP_ONE_FOR_ONE, 1, 1000}};
    if (i == 64) break;
    children[i + 1] = nested_spec(families[i]);
  }
  jzx_actor_id out = kUntouched;
  EXPECT_EQ(jzx_spawn_supervisor(loop_, &families[64], 0, &out), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(out, kUntouched);
  EXPECT_EQ(jzx_spawn_supervisor(loop_, &families[63], 0, &out), JZX_OK);
  loop_.settle();
  EXPECT_EQ(loop_.alive_count(), 1u + 64u + 1u);
}

TEST_F(BadInputOnALoop, ABehaviourResultThatDoesNotExistFailsTheActor) {
  for (const int value : kNoEnumerator) {
    const jzx_actor_id id = loop_.spawn(loop_.probe(
        [value](jzx_context*, const Received&) { return from_c<jzx_behavior_result>(value); }));
    ASSERT_EQ(loop_.send(id), JZX_OK);
    loop_.settle();
    EXPECT_EQ(loop_.events().stop_reason(id), JZX_EXIT_FAIL) << value;
  }
}

TEST_F(BadInputOnALoop, AnInitResultThatDoesNotExistIsARefusal) {
  static int result;
  for (const int value : kNoEnumerator) {
    result = value;
    std::vector<jzx_child_spec> children = {child_spec(probe_)};
    children[0].init = [](void**) { return from_c<jzx_behavior_result>(result); };
    jzx_actor_id out = kUntouched;
    const jzx_supervisor_init init = family(children);
    EXPECT_EQ(jzx_spawn_supervisor(loop_, &init, 0, &out), JZX_ERR_START_FAILED) << value;
    EXPECT_EQ(out, kUntouched);
  }
}

TEST_F(BadInputOnALoop, AnInterestThatDoesNotExistIsInvalid) {
  const Pipe pipe;
  for (const uint32_t interest : {0u, JZX_IO_ERROR, JZX_IO_HANGUP, 16u, UINT32_MAX}) {
    EXPECT_EQ(jzx_watch_fd(loop_, pipe.reader.get(), id_, interest), JZX_ERR_INVALID_ARG)
        << interest;
  }
}

TEST_F(BadInputOnALoop, RefusedNamesChangeNothing) {
  EXPECT_EQ(jzx_register(loop_, id_, std::string(1000, 'x').c_str()), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_register(loop_, id_, ""), JZX_ERR_INVALID_ARG);
  EXPECT_EQ(jzx_register(loop_, id_, nullptr), JZX_ERR_INVALID_ARG);
  jzx_actor_id out = kUntouched;
  EXPECT_EQ(jzx_whereis(loop_, "", &out), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(jzx_whereis(loop_, std::string(1000, 'x').c_str(), &out), JZX_ERR_NO_SUCH_ACTOR);
  EXPECT_EQ(out, kUntouched);
  EXPECT_EQ(jzx_register(loop_, id_, "x"), JZX_OK);
}

TEST_F(BadInputOnALoop, LongLabelsAreHarmless) {
  jzx_spawn_opts opts{};
  opts.behavior = &Probe::behave;
  opts.state = &loop_.probe();
  const std::string label(10'000, 'x');
  opts.name = label.c_str();
  const jzx_err err = jzx_spawn(loop_, &opts, nullptr);
  EXPECT_TRUE(err == JZX_OK || err == JZX_ERR_INVALID_ARG);
}

}  // namespace
}  // namespace jzx::testing

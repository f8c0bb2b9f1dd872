// Restarts where two things happen at once.
#include <gtest/gtest.h>
#include <jzx/jzx.h>

#include <vector>

#include "base/time/clock.hpp"
#include "capi/create_loop.hpp"

namespace {

enum Tag : uint32_t { kStop = 1, kFail };

jzx_behavior_result obey(jzx_context*, const jzx_message* msg) {
  return msg->tag == kStop ? JZX_BEHAVIOR_STOP : JZX_BEHAVIOR_FAIL;
}

class RestartEdges : public ::testing::Test {
 protected:
  RestartEdges() {
    jzx_observer observer{};
    observer.on_actor_restart = [](void* ctx, jzx_actor_id, jzx_actor_id, int) {
      auto* it = static_cast<RestartEdges*>(ctx);
      it->restarts_.push_back(it->clock_.now_ns() / 1'000'000 - 1000);
    };
    observer.on_supervisor_escalate = [](void* ctx, jzx_actor_id) {
      ++static_cast<RestartEdges*>(ctx)->escalations_;
    };
    jzx_loop_set_observer(loop_, &observer, this);
  }
  ~RestartEdges() override { jzx_loop_destroy(loop_); }

  void supervise(const std::vector<jzx_child_spec>& children, jzx_supervisor_spec spec) {
    const jzx_supervisor_init init{children.data(), children.size(), spec};
    ASSERT_EQ(jzx_spawn_supervisor(loop_, &init, 0, &supervisor_), JZX_OK);
  }
  jzx_actor_id child(size_t index) {
    jzx_actor_id id = 0;
    return jzx_supervisor_child_id(loop_, supervisor_, index, &id) == JZX_OK ? id : 0;
  }
  void tell(size_t index, Tag tag) {
    ASSERT_EQ(jzx_send(loop_, child(index), nullptr, 0, tag), JZX_OK);
  }
  void settle() {
    for (int n = 0; n < 20; ++n) (void)jzx_loop_run_once(loop_, 0);
  }
  void advance_to(uint64_t ms) {
    while (clock_.now_ns() / 1'000'000 - 1000 < ms) {
      clock_.advance_ms(1);
      settle();
    }
  }

  jzx::base::ManualClock clock_{false};
  jzx_loop* loop_ = jzx::capi::create_loop(nullptr, {&clock_});
  jzx_actor_id supervisor_ = 0;
  std::vector<uint64_t> restarts_;  // when, in ms
  int escalations_ = 0;
};

jzx_child_spec spec(jzx_child_mode mode, const jzx_backoff_spec* backoff = nullptr) {
  jzx_child_spec result{};
  result.behavior = obey;
  result.mode = mode;
  result.backoff = backoff;
  return result;
}

TEST_F(RestartEdges, ATransientChildThatEndsNormallyWhileItsGroupIsStoppedStaysAway) {
  for (const bool permanent_first : {true, false}) {
    supervise({spec(JZX_CHILD_PERMANENT), spec(JZX_CHILD_TRANSIENT)},
              {JZX_SUP_ONE_FOR_ALL, 10, 1000});
    tell(permanent_first ? 0 : 1, permanent_first ? kFail : kStop);
    tell(permanent_first ? 1 : 0, permanent_first ? kStop : kFail);
    settle();
    EXPECT_NE(child(0), 0u);
    EXPECT_EQ(child(1), 0u) << "it ended by itself, and well";
    ASSERT_EQ(jzx_actor_stop(loop_, supervisor_), JZX_OK);
    settle();
  }
}

TEST_F(RestartEdges, NeverMoreRestartsInAPeriodAlsoWhenABackoffPutsOneOff) {
  const jzx_backoff_spec slow{190, 190, 1.0f, 0};
  supervise({spec(JZX_CHILD_PERMANENT, &slow), spec(JZX_CHILD_PERMANENT)},
            {JZX_SUP_ONE_FOR_ONE, 1, 200});
  tell(0, kFail);  // to be restarted at 190
  settle();
  advance_to(50);
  tell(1, kFail);  // restarted at once
  settle();
  ASSERT_EQ(restarts_.size(), 1u);
  advance_to(300);
  EXPECT_EQ(escalations_, 1) << "the one at 190 would have been the second within 200 ms";
  EXPECT_EQ(restarts_.size(), 1u);
}

TEST_F(RestartEdges, ASmallBackoffGrowsToo) {
  const jzx_backoff_spec backoff{1, 1000, 1.5f, 0};
  supervise({spec(JZX_CHILD_PERMANENT, &backoff)}, {JZX_SUP_ONE_FOR_ONE, 100, 100'000});
  std::vector<uint64_t> delays;
  for (int n = 0; n < 8; ++n) {
    const uint64_t failed = clock_.now_ns() / 1'000'000 - 1000;
    tell(0, kFail);
    settle();
    while (child(0) == 0) {
      clock_.advance_ms(1);
      settle();
    }
    delays.push_back(restarts_.back() - failed);
  }
  EXPECT_EQ(delays, (std::vector<uint64_t>{1, 2, 2, 3, 5, 8, 11, 17}));
}

}  // namespace

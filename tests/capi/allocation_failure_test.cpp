// Every single allocation may fail. A scenario that touches every feature is run again
// and again, each time with another of its allocations refused: no crash, no leak, no
// message lost, and the loop still works afterwards. TestLoop::close checks the ledger,
// the fate of every message and the memory.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "jzx/jzx.h"
#include "support/fds.hpp"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

// A call may be refused for want of memory, and for no other reason.
[[nodiscard]] bool done(jzx_err err) {
  EXPECT_TRUE(err == JZX_OK || err == JZX_ERR_NO_MEMORY) << jzx_strerror(err);
  return err == JZX_OK;
}

class Scenario {
 public:
  explicit Scenario(TestLoop& loop) : loop_(loop) {}

  void run() {
    spawn_actors();
    spawn_family();
    bind_actors();
    exchange_messages();
    end_some();
  }

  // With memory back, what was accepted has happened and new work is done as ever.
  void check_that_the_loop_works() {
    for (int n = 0; n < 20; ++n) loop_.advance(50);
    if (loop_.is_alive(root_)) {
      EXPECT_NE(loop_.child(root_, 0), 0u) << "a restart is never silently given up";
      EXPECT_NE(loop_.child(root_, 1), 0u);
      const jzx_actor_id nested = loop_.child(root_, 2);
      EXPECT_NE(nested, 0u);
      EXPECT_NE(loop_.child(nested, 0), 0u);
    }
    if (watched_ && loop_.is_alive(hub_)) {
      EXPECT_EQ(hub_probe_.count(JZX_TAG_SYS_IO), 1u);
    }
    EXPECT_EQ(hub_probe_.count(JZX_TAG_SYS_DOWN), loop_.is_alive(hub_) ? monitors_ : 0u);

    Probe& fresh = loop_.probe();
    const std::vector<jzx_child_spec> children = {child_spec(fresh)};
    const jzx_actor_id supervisor = loop_.spawn_supervisor(family(children));
    EXPECT_EQ(jzx_register(loop_, supervisor, "fresh"), JZX_OK);
    EXPECT_EQ(jzx_actor_fail(loop_, loop_.child(supervisor, 0)), JZX_OK);
    loop_.settle();
    const jzx_actor_id child = loop_.child(supervisor, 0);
    EXPECT_EQ(loop_.send(child, kTag, 1), JZX_OK);
    EXPECT_EQ(loop_.send_async(child, kTag, 2), JZX_OK);
    EXPECT_EQ(loop_.send_after(child, 5, kTag, 3), JZX_OK);
    loop_.advance(10);
    EXPECT_EQ(fresh.values(), (std::vector<uint64_t>{1, 2, 3}));
  }

 private:
  jzx_actor_id spawn(Probe& probe, const char* name, jzx_actor_id supervisor = 0) {
    jzx_spawn_opts opts{};
    opts.behavior = &Probe::behave;
    opts.state = &probe;
    opts.name = name;
    opts.supervisor = supervisor;
    jzx_actor_id id = 0;
    const bool spawned = done(jzx_spawn(loop_, &opts, &id));
    EXPECT_EQ(spawned, id != 0);
    return id;
  }

  void spawn_actors() {
    hub_ = spawn(hub_probe_, "hub");
    peer_ = spawn(peer_probe_, "peer");
    target_ = spawn(peer_probe_, nullptr);
    if (hub_ != 0) (void)spawn(peer_probe_, "attached", hub_);
  }

  void spawn_family() {
    static constexpr jzx_backoff_spec kBackoff{10, 100, 2.0f, 3};
    const std::vector<jzx_child_spec> inner_children = {child_spec(peer_probe_),
                                                        child_spec(peer_probe_)};
    const jzx_supervisor_init inner = family(inner_children, JZX_SUP_ONE_FOR_ALL, 3, 1000);
    std::vector<jzx_child_spec> children = {child_spec(peer_probe_, JZX_CHILD_PERMANENT, &kBackoff),
                                            child_spec(peer_probe_), nested_spec(inner),
                                            child_spec(peer_probe_, JZX_CHILD_TEMPORARY)};
    children[1].name = "second";
    children[1].mailbox_cap = 50;
    const jzx_supervisor_init init = family(children, JZX_SUP_REST_FOR_ONE, 50, 1000);
    jzx_actor_id id = 0;
    if (done(jzx_spawn_supervisor(loop_, &init, 0, &id))) root_ = id;
    EXPECT_EQ(id, root_);
  }

  void bind_actors() {
    if (hub_ == 0) return;
    EXPECT_EQ(jzx_trap_exit(loop_, hub_, 1), JZX_OK);
    if (done(jzx_register(loop_, hub_, "hub"))) {
      EXPECT_EQ(jzx_whereis(loop_, "hub", nullptr), JZX_OK);
    }
    watched_ = done(jzx_watch_fd(loop_, pipe_.reader.get(), hub_, JZX_IO_READ));
    if (peer_ != 0) {
      (void)done(jzx_link(loop_, hub_, peer_));
      uint64_t ref = 0;
      if (done(jzx_monitor(loop_, hub_, peer_, &ref))) ++monitors_;
      if (done(jzx_monitor(loop_, hub_, peer_, &ref))) {
        EXPECT_EQ(jzx_demonitor(loop_, ref), JZX_OK);
      }
    }
    if (done(jzx_monitor(loop_, hub_, uint64_t{99} << 32, nullptr))) ++monitors_;
  }

  void exchange_messages() {
    for (uint64_t n = 0; n < 100; ++n) {
      if (hub_ != 0) (void)done(loop_.send(hub_, kTag, n));
      if (root_ != 0) (void)done(loop_.send(loop_.child(root_, 3), kTag, n));
    }
    jzx_timer_id timer = 0;
    for (uint32_t n = 0; n < 100 && target_ != 0; ++n) {
      if (done(loop_.send_after(target_, n * 7, kTag, n, &timer)) && n % 3 == 0) {
        EXPECT_EQ(loop_.cancel(timer), JZX_OK);
      }
    }
    std::thread([this] {
      for (uint64_t n = 0; n < 300 && hub_ != 0; ++n) (void)done(loop_.send_async(hub_, kTag, n));
    }).join();
    put(pipe_.writer);
    loop_.advance(50);
  }

  void end_some() {
    if (root_ != 0) {
      // First inside the nested family; the group restart takes that one down too.
      EXPECT_EQ(jzx_actor_fail(loop_, loop_.child(loop_.child(root_, 2), 1)), JZX_OK);
      loop_.settle();
      const jzx_actor_id first = loop_.child(root_, 0);
      if (first != 0) {
        EXPECT_EQ(jzx_actor_fail(loop_, first), JZX_OK);
      }
    }
    if (target_ != 0) {
      EXPECT_EQ(jzx_actor_stop(loop_, target_), JZX_OK);
    }
    if (peer_ != 0) {
      EXPECT_EQ(jzx_actor_fail(loop_, peer_), JZX_OK);
    }
    loop_.advance(50);
  }

  TestLoop& loop_;
  const Pipe pipe_;
  Probe& hub_probe_ = loop_.probe();
  Probe& peer_probe_ = loop_.probe();
  jzx_actor_id hub_ = 0;
  jzx_actor_id peer_ = 0;
  jzx_actor_id target_ = 0;
  jzx_actor_id root_ = 0;
  bool watched_ = false;
  size_t monitors_ = 0;
};

TEST(AllocationFailure, WhileCreatingALoopGivesNullAndLeavesNothing) {
  CountingAllocator allocator;
  jzx_config config = default_config();
  config.allocator = allocator.c_allocator();
  for (uint64_t n = 1;; ++n) {
    ASSERT_LT(n, 1000u) << "the loop is never created";
    const uint64_t refused = allocator.refused();
    allocator.refuse_nth(n);
    jzx_loop* loop = jzx_loop_create(&config);
    if (loop != nullptr) {
      EXPECT_EQ(allocator.refused(), refused) << "an allocation failed unnoticed";
      jzx_loop_destroy(loop);
    }
    EXPECT_EQ(allocator.live_blocks(), 0);
    if (loop != nullptr) break;
  }
}

// Fewer would mean that the scenario no longer allocates what it is meant to.
constexpr uint64_t kFewestFailures = 20;

TEST(AllocationFailure, OfAnySingleAllocationIsSurvivedWithoutLossOrLeak) {
  for (uint64_t n = 1;; ++n) {
    SCOPED_TRACE(n);
    ASSERT_LT(n, 20'000u) << "the scenario never completes";
    TestLoop loop;
    Scenario scenario(loop);
    loop.allocator().refuse_nth(n);
    scenario.run();
    const bool complete = loop.allocator().refused() == 0;
    loop.allocator().refuse_nth(0);
    scenario.check_that_the_loop_works();
    loop.close();
    if (::testing::Test::HasFailure()) break;
    if (!complete) continue;
    RecordProperty("failures_tried", std::to_string(n - 1));
    EXPECT_GE(n - 1, kFewestFailures);
    break;
  }
}

TEST(AllocationFailure, OfEveryAllocationFromSomePointOnIsSurvivedWithoutLossOrLeak) {
  for (uint64_t n = 1;; ++n) {
    SCOPED_TRACE(n);
    ASSERT_LT(n, 20'000u) << "the scenario never completes";
    TestLoop loop;
    Scenario scenario(loop);
    loop.allocator().refuse_from_nth(n);
    scenario.run();
    const bool complete = loop.allocator().refused() == 0;
    loop.allocator().refuse_nth(0);
    scenario.check_that_the_loop_works();
    loop.close();
    if (::testing::Test::HasFailure()) break;
    if (!complete) continue;
    RecordProperty("failures_tried", std::to_string(n - 1));
    EXPECT_GE(n - 1, kFewestFailures);
    break;
  }
}

}  // namespace
}  // namespace jzx::testing

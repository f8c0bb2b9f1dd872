// A long random life of actors, in batches of steps. Whenever the loop has come to rest,
// a plain model says what must be true: who is alive and why the others ended, that each
// payload (a heap block) was freed once, by a handler or by on_dead_letter, that each
// monitor gave one DOWN, each link its exit, each child its CHILD_EXIT, that no timer was
// early or late, and that the ledger balances.
//
// A failing run prints its seed; JZX_SEED=<seed> in the environment runs only that one.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "capi/create_loop.hpp"
#include "jzx/jzx.h"
#include "support/payload_bank.hpp"
#include "support/scale.hpp"
#include "support/seeds.hpp"
#include "support/test_loop.hpp"

namespace jzx::testing {
namespace {

using Kind = Event::Kind;

constexpr size_t kMaxActors = 80;
constexpr size_t kMaxSupervisors = 6;
constexpr size_t kChildren = 3;
constexpr uint64_t kMillisecond = 1'000'000;
constexpr const char* kSupervisorName = "supervisor";

// What a handler does with a message; chosen by the tag.
enum Tag : uint32_t { keep = 1, forward, stop, fail, stop_by_id, fail_by_id, spawn_another, delay };

struct Actor {
  uint32_t share = 1020;
  uint32_t queued = 0;  // by the driver, since the loop was last at rest
  bool ending = false;  // told to by the driver, since then
  bool trapping = false;
  bool is_supervisor = false;
  jzx_actor_id boss = 0;  // a plain actor it is attached to
  bool has_supervisor = false;
  std::string name;
};

struct Monitor {
  jzx_actor_id watcher, target;
  int downs = 0;
};

struct Timer {
  jzx_timer_id id;
  jzx_actor_id target;
  Payload* payload;
  uint64_t number;  // of the payload
  uint64_t due_ns;
};

using Pair = std::pair<jzx_actor_id, jzx_actor_id>;
Pair ordered(jzx_actor_id a, jzx_actor_id b) { return {std::min(a, b), std::max(a, b)}; }

class RandomLife {
 public:
  explicit RandomLife(uint64_t seed) : random_(seed) {
    loop_.on_event = [this](const Event& event) { observe(event); };
  }
  ~RandomLife() {
    loop_.close();  // dead-letters, and so frees, what is left
    EXPECT_EQ(bank_.live_count(), 0u) << "payloads were never freed";
  }

  void run(size_t steps) {
    for (size_t done = 0; done < steps && !::testing::Test::HasFailure();) {
      const size_t batch = 1 + below(20);
      for (size_t n = 0; n < batch; ++n) step();
      done += batch;
      if (chance(3)) loop_.clock().advance_ms(below(20));
      rest();
      if (chance(50)) check_that_children_are_up();
    }
  }

 private:
  // ---- choices ----
  size_t below(size_t bound) { return static_cast<size_t>(random_() % bound); }
  bool chance(size_t one_in) { return below(one_in) == 0; }
  jzx_actor_id anybody() {
    if (alive_.empty()) return 0;
    return std::next(alive_.begin(), static_cast<std::ptrdiff_t>(below(alive_.size())))->first;
  }
  [[nodiscard]] bool is_sound(jzx_actor_id id) const {
    const auto found = alive_.find(id);
    return found != alive_.end() && !found->second.ending;
  }

  // ---- what the driver does ----
  void step() {
    switch (below(16)) {
      case 0:
      case 1:
        spawn_actor(chance(3) ? anybody() : 0);
        break;
      case 2:
        if (chance(4)) spawn_family();
        break;
      case 3:
        end(anybody(), below(2) == 0);
        break;
      case 4:
        link(anybody(), anybody());
        break;
      case 5:
        if (chance(5)) unlink();
        break;
      case 6:
        monitor(anybody(), anybody());
        break;
      case 7:
        if (chance(5)) demonitor();
        break;
      case 8:
        arm(anybody());
        break;
      case 9:
        if (chance(5)) cancel();
        break;
      case 10:
        trap(anybody());
        break;
      case 11:
        register_name(anybody());
        break;
      default:
        send_some(anybody());
        break;
    }
  }

  void spawn_actor(jzx_actor_id boss) {
    if (alive_.size() >= kMaxActors) return;
    const uint32_t cap = chance(4) ? 6 : 0;
    if (!is_sound(boss)) boss = 0;
    const jzx_actor_id id = loop_.spawn(make_probe(), cap, boss);
    Actor& actor = alive_.at(id);
    actor.share = cap == 0 ? actor.share : cap - 4;
    if (boss == 0) return;
    actor.has_supervisor = true;
    if (!alive_.at(boss).is_supervisor) actor.boss = boss;
  }

  void spawn_family() {
    if (supervisors_.size() >= kMaxSupervisors) return;
    const jzx_backoff_spec backoff{5, 20, 2.0f, 2};
    std::vector<jzx_child_spec> children;
    for (size_t n = 0; n < kChildren; ++n) {
      const jzx_backoff_spec* chosen = chance(2) ? &backoff : nullptr;
      children.push_back(child_spec(make_probe(), JZX_CHILD_PERMANENT, chosen));
      children.back().name = "child";
    }
    const std::vector<jzx_child_spec> grandchildren = children;
    const jzx_supervisor_init inner = family(grandchildren, JZX_SUP_ONE_FOR_ALL, 1000, 1);
    if (chance(2)) {
      children.back() = nested_spec(inner);
      children.back().name = kSupervisorName;
    }
    // Children have names, plain actors have none. An intensity nothing here can use up: what ends
    // a supervisor is the driver or a link.
    const auto strategy = static_cast<jzx_supervisor_strategy>(below(3));
    const jzx_actor_id id = loop_.spawn_supervisor(family(children, strategy, 1000, 1));
    supervisors_.insert(id);
    alive_.at(id).is_supervisor = true;
  }

  void end(jzx_actor_id id, bool abnormally) {
    if (id == 0 || !chance(2)) return;
    const jzx_err expected = is_sound(id) ? JZX_OK : JZX_ERR_NO_SUCH_ACTOR;
    EXPECT_EQ(abnormally ? jzx_actor_fail(loop_, id) : jzx_actor_stop(loop_, id), expected);
    if (expected != JZX_OK) return;
    alive_.at(id).ending = true;
    (abnormally ? told_to_fail_ : told_to_stop_).insert(id);
  }

  void link(jzx_actor_id a, jzx_actor_id b) {
    if (a == b || !is_sound(a) || !is_sound(b) || !chance(2)) return;
    EXPECT_EQ(jzx_link(loop_, a, b), JZX_OK);
    links_.insert(ordered(a, b));
  }

  void unlink() {
    if (links_.empty()) return;
    const auto found = std::next(links_.begin(), static_cast<std::ptrdiff_t>(below(links_.size())));
    if (!is_sound(found->first) || !is_sound(found->second)) return;
    EXPECT_EQ(jzx_unlink(loop_, found->second, found->first), JZX_OK);
    links_.erase(found);
  }

  void monitor(jzx_actor_id watcher, jzx_actor_id target) {
    if (watcher == target || !is_sound(watcher) || alive_.at(watcher).is_supervisor) return;
    if (chance(8) && !gone_.empty()) target = gone_[below(gone_.size())];
    uint64_t ref = 0;
    EXPECT_EQ(jzx_monitor(loop_, watcher, target, &ref), JZX_OK);
    EXPECT_TRUE(monitors_.emplace(ref, Monitor{watcher, target}).second) << "a ref given twice";
  }

  void demonitor() {
    if (monitors_.empty()) return;
    const auto found =
        std::next(monitors_.begin(), static_cast<std::ptrdiff_t>(below(monitors_.size())));
    if (!is_sound(found->second.watcher) || !is_sound(found->second.target)) return;
    EXPECT_EQ(jzx_demonitor(loop_, found->first), JZX_OK);
    monitors_.erase(found);
  }

  void trap(jzx_actor_id id) {
    if (!is_sound(id) || alive_.at(id).is_supervisor) return;
    bool& trapping = alive_.at(id).trapping;
    trapping = !trapping;
    EXPECT_EQ(jzx_trap_exit(loop_, id, trapping ? 1 : 0), JZX_OK);
  }

  void register_name(jzx_actor_id id) {
    if (!is_sound(id)) return;
    const std::string name = "name " + std::to_string(below(40));
    const bool fits = alive_.at(id).name.empty() && names_.count(name) == 0;
    EXPECT_EQ(jzx_register(loop_, id, name.c_str()), fits ? JZX_OK : JZX_ERR_INVALID_ARG);
    if (!fits) return;
    alive_.at(id).name = name;
    names_[name] = id;
  }

  void send_some(jzx_actor_id id) {
    for (size_t left = chance(10) ? 5 : 1; left > 0; --left) send(id);
  }

  void send(jzx_actor_id id) {
    if (chance(20) && !gone_.empty()) id = gone_[below(gone_.size())];
    Payload* payload = bank_.make();
    const auto tag = static_cast<uint32_t>(chance(10) ? 1 + below(8) : 1 + below(2));
    const jzx_err err = chance(4) ? loop_.send_async(id, tag, as_value(payload))
                                  : loop_.send(id, tag, as_value(payload));
    jzx_err expected = JZX_OK;
    if (!is_sound(id)) {
      expected = JZX_ERR_NO_SUCH_ACTOR;
    } else if (alive_.at(id).queued == alive_.at(id).share) {
      expected = JZX_ERR_MAILBOX_FULL;
    }
    EXPECT_EQ(err, expected);
    if (err != JZX_OK) return bank_.free(payload);
    ++alive_.at(id).queued;
  }

  void arm(jzx_actor_id id) {
    Payload* payload = bank_.make();
    const auto ms = static_cast<uint32_t>(chance(5) ? below(5000) : below(300));
    jzx_timer_id timer = 0;
    const jzx_err err = loop_.send_after(id, ms, Tag::keep, as_value(payload), &timer);
    EXPECT_EQ(err, is_sound(id) ? JZX_OK : JZX_ERR_NO_SUCH_ACTOR);
    if (err != JZX_OK) return bank_.free(payload);
    payload->not_before_ns = loop_.clock().now_ns() + ms * kMillisecond;
    timers_.push_back({timer, id, payload, payload->number, payload->not_before_ns});
  }

  void cancel() {
    if (timers_.empty()) return;
    const size_t index = below(timers_.size());
    const Timer timer = timers_[index];
    if (!is_sound(timer.target)) return;
    EXPECT_EQ(loop_.cancel(timer.id), JZX_OK);
    EXPECT_EQ(loop_.cancel(timer.id), JZX_ERR_TIMER_INVALID);
    bank_.free(timer.payload);
    timers_.erase(timers_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  // ---- what the actors do ----
  Probe& make_probe() {
    Probe& probe = loop_.probe();
    probe.on = [this, &probe](jzx_context* ctx, const Received& received) {
      probe.log.clear();
      return received.is_system() ? hear(ctx->self, received) : handle(ctx->self, received);
    };
    return probe;
  }

  jzx_behavior_result handle(jzx_actor_id self, const Received& received) {
    EXPECT_TRUE(alive_.count(self) == 1 && !alive_.at(self).ending) << "the dead handle nothing";
    auto* payload = static_cast<Payload*>(as_data(received.value));
    if (!bank_.is_live(payload)) {
      ADD_FAILURE() << "a message whose payload was freed already";
      return JZX_BEHAVIOR_OK;
    }
    EXPECT_GE(loop_.clock().now_ns(), payload->not_before_ns) << "a timer fired early";
    payload->not_before_ns = 0;
    const jzx_actor_id next = anybody();
    if (received.tag == Tag::forward && loop_.send(next, Tag::keep, received.value) == JZX_OK) {
      return JZX_BEHAVIOR_OK;
    }
    bank_.free(payload);
    switch (received.tag) {
      case Tag::stop:
        told_to_stop_.insert(self);
        return JZX_BEHAVIOR_STOP;
      case Tag::fail:
        told_to_fail_.insert(self);
        return JZX_BEHAVIOR_FAIL;
      case Tag::stop_by_id:
      case Tag::fail_by_id: {
        const bool abnormally = received.tag == Tag::fail_by_id;
        EXPECT_EQ(abnormally ? jzx_actor_fail(loop_, self) : jzx_actor_stop(loop_, self), JZX_OK);
        alive_.at(self).ending = true;
        (abnormally ? told_to_fail_ : told_to_stop_).insert(self);
        return JZX_BEHAVIOR_OK;
      }
      case Tag::spawn_another:
        spawn_actor(0);  // at rest only can the model tell whom one may attach to
        return JZX_BEHAVIOR_OK;
      case Tag::delay:
        arm(self);
        return JZX_BEHAVIOR_OK;
      default:
        return JZX_BEHAVIOR_OK;
    }
  }

  jzx_behavior_result hear(jzx_actor_id self, const Received& received) {
    switch (received.tag) {
      case JZX_TAG_SYS_DOWN: {
        const auto found = monitors_.find(received.down.ref);
        if (found == monitors_.end() || found->second.watcher != self) {
          ADD_FAILURE() << "a DOWN nobody asked for";
        } else {
          ++found->second.downs;
        }
        break;
      }
      case JZX_TAG_SYS_EXIT:
        ++exits_[{self, received.exit.from}];
        break;
      case JZX_TAG_SYS_CHILD_EXIT:
        EXPECT_EQ(owed_child_exits_.erase({self, received.child_exit.child}), 1u)
            << "a CHILD_EXIT too many, or for the wrong one";
        break;
      default:
        ADD_FAILURE() << "an unexpected system message";
    }
    return JZX_BEHAVIOR_OK;
  }

  // ---- what the observer is told ----
  void observe(const Event& event) {
    if (event.kind == Kind::start) {
      Actor actor;
      actor.has_supervisor = !event.name.empty();
      actor.is_supervisor = event.name == kSupervisorName;
      alive_[event.id] = actor;
    } else if (event.kind == Kind::stop) {
      note_end(event.id, event.value);
    } else if (event.kind == Kind::dead_letter) {
      bank_.free(static_cast<Payload*>(as_data(event.data)));
    } else if (event.kind == Kind::escalate) {
      ADD_FAILURE() << "nothing here exceeds an intensity";
    }
  }

  void note_end(jzx_actor_id id, int reason) {
    const auto found = alive_.find(id);
    if (found == alive_.end()) {
      ADD_FAILURE() << "it ended twice, or never started";
      return;
    }
    const Actor& actor = found->second;
    const bool by_link = std::any_of(broken_.begin(), broken_.end(), [&](const auto& one) {
      return one.first.first == id && one.second != JZX_EXIT_NORMAL;
    });
    if (reason == JZX_EXIT_NORMAL) {
      EXPECT_TRUE(told_to_stop_.count(id) == 1 || actor.has_supervisor) << "stopped by nobody";
    } else {
      EXPECT_TRUE(told_to_fail_.count(id) == 1 || by_link) << "failed without a cause";
    }
    if (actor.boss != 0) owed_child_exits_.insert({actor.boss, id});
    if (!actor.name.empty()) names_.erase(actor.name);
    for (auto link = links_.begin(); link != links_.end();) {
      if (link->first != id && link->second != id) {
        ++link;
        continue;
      }
      const jzx_actor_id peer = link->first == id ? link->second : link->first;
      broken_[{peer, id}] = reason;
      link = links_.erase(link);
    }
    std::erase_if(monitors_, [&](const auto& one) { return one.second.watcher == id; });
    supervisors_.erase(id);
    gone_.push_back(id);
    alive_.erase(found);
  }

  // ---- what must be true at rest ----
  void rest() {
    loop_.settle();
    check_endings();
    check_timers_and_payloads();
    const core::Ledger ledger = capi::ledger(loop_);
    EXPECT_EQ(ledger.accepted, ledger.handled + ledger.dead_lettered + ledger.queued);
    for (const auto& [name, id] : names_) {
      jzx_actor_id found = 0;
      EXPECT_EQ(jzx_whereis(loop_, name.c_str(), &found), JZX_OK);
      EXPECT_EQ(found, id);
    }
  }

  void check_endings() {
    for (auto& [id, actor] : alive_) {
      EXPECT_FALSE(actor.ending) << "it was told to end and did not";
      actor.queued = 0;
    }
    for (const auto& [pair, reason] : broken_) {
      const auto peer = alive_.find(pair.first);
      if (peer == alive_.end()) continue;
      const bool trapping = peer->second.trapping;
      EXPECT_TRUE(trapping || reason == JZX_EXIT_NORMAL) << "it outlived a link that failed";
      EXPECT_EQ(exits_[pair], trapping ? 1 : 0);
    }
    broken_.clear();
    exits_.clear();
    for (auto one = monitors_.begin(); one != monitors_.end();) {
      const bool target_is_alive = alive_.count(one->second.target) == 1;
      EXPECT_EQ(one->second.downs, target_is_alive ? 0 : 1);
      one = target_is_alive ? std::next(one) : monitors_.erase(one);
    }
    for (const Pair& owed : owed_child_exits_) {
      EXPECT_EQ(alive_.count(owed.first), 0u) << "a living boss was not told of its child's end";
    }
    owed_child_exits_.clear();
    told_to_stop_.clear();
    told_to_fail_.clear();
  }

  void check_timers_and_payloads() {
    std::erase_if(timers_, [this](const Timer& timer) {
      const bool freed = !bank_.is_live(timer.payload, timer.number);
      if (!freed) {
        EXPECT_EQ(alive_.count(timer.target), 1u) << "a timer outlived its target";
      }
      return freed;
    });
    EXPECT_EQ(bank_.live_count(), timers_.size()) << "at rest only pending timers hold payloads";
  }

  void check_that_children_are_up() {
    for (int n = 0; n < 3; ++n) {
      rest();
      loop_.clock().advance_ms(30);
    }
    rest();
    // A timer is stamped by the tick after the call that arms it, and run() may have moved
    // the clock by up to 19 ms before that tick.
    const uint64_t now_ns = loop_.clock().now_ns();
    for (const Timer& timer : timers_) {
      EXPECT_LT(now_ns, timer.due_ns + 25 * kMillisecond) << "a timer is late";
    }
    for (const jzx_actor_id supervisor : supervisors_) {
      for (size_t n = 0; n < kChildren; ++n) {
        EXPECT_EQ(alive_.count(loop_.child(supervisor, n)), 1u) << "a child was given up";
      }
    }
  }

  std::mt19937_64 random_;
  TestLoop loop_;
  std::map<jzx_actor_id, Actor> alive_;
  std::vector<jzx_actor_id> gone_;
  std::set<jzx_actor_id> supervisors_;
  std::set<jzx_actor_id> told_to_stop_;
  std::set<jzx_actor_id> told_to_fail_;
  PayloadBank bank_;
  std::vector<Timer> timers_;
  std::set<Pair> links_;
  std::map<Pair, int> broken_;  // (the peer, who ended) and why, since the last rest
  std::map<Pair, int> exits_;   // (who was told, of whom), since the last rest
  std::map<uint64_t, Monitor> monitors_;
  std::set<Pair> owed_child_exits_;
  std::map<std::string, jzx_actor_id> names_;
};

class RandomModel : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomModel, AgreesWithTheLoopAtEveryRest) {
  SCOPED_TRACE("JZX_SEED=" + std::to_string(GetParam()));
  RecordProperty("seed", std::to_string(GetParam()));
  RandomLife(GetParam()).run(scaled(30'000, 10));
}

INSTANTIATE_TEST_SUITE_P(Seed, RandomModel, ::testing::ValuesIn(seeds({1, 2, 3, 4})));

}  // namespace
}  // namespace jzx::testing

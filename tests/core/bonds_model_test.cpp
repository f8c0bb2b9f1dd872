// Links and monitors under random spawns, ends, bonds and unbonds, against a plain model: who dies
// with whom, who is told what, each exactly once.
#include "core/bonds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "base/prng.hpp"
#include "core/rig.hpp"
#include "support/scale.hpp"

namespace jzx::core {
namespace {

using jzx::testing::Rig;
using jzx::testing::Script;

// Tag, whom it is about, why, and the monitor's reference.
using Told = std::tuple<SystemTag, ActorId, ExitReason, uint64_t>;
using Heard = std::multiset<Told>;

struct ModelMonitor {
  ActorId watcher;
  ActorId target;
};

class BondsModel : public ::testing::Test {
 protected:
  ActorId spawn() {
    Script script;
    script.handle = [this](Turn& turn, Envelope& envelope) {
      const auto& raw = envelope.as<RawMessage>();
      const auto tag = static_cast<SystemTag>(raw.tag);
      if (tag == SystemTag::exit) {
        const auto& exit = *static_cast<const Exit*>(raw.data);
        told_[turn.actor.id()].insert({tag, exit.from, exit.reason, 0});
      } else if (tag == SystemTag::down) {
        const auto& down = *static_cast<const Down*>(raw.data);
        told_[turn.actor.id()].insert({tag, down.actor, down.reason, down.ref});
      }
      return Outcome::wants_mail;
    };
    const ActorId id = rig_.spawn(std::move(script));
    alive_.push_back(id);
    return id;
  }

  ActorId somebody() { return alive_[random_.below(static_cast<uint32_t>(alive_.size()))]; }

  // Most often alive.
  ActorId anybody() {
    return dead_.empty() || random_.below(5) != 0
               ? somebody()
               : dead_[random_.below(static_cast<uint32_t>(dead_.size()))];
  }
  bool is_dead(ActorId id) const {
    return std::find(alive_.begin(), alive_.end(), id) == alive_.end();
  }
  static std::pair<ActorId, ActorId> pair_of(ActorId a, ActorId b) { return std::minmax(a, b); }

  void do_link() {
    const ActorId a = anybody();
    const ActorId b = anybody();
    const Errc expected = a == b                     ? Errc::invalid_arg
                          : is_dead(a) || is_dead(b) ? Errc::no_such_actor
                                                     : Errc::ok;
    ASSERT_EQ(link(rig_.host(), a, b), expected);
    if (expected == Errc::ok) links_.insert(pair_of(a, b));
  }

  void do_unlink() {
    const ActorId a = somebody();
    const ActorId b = somebody();
    if (a == b) return;
    ASSERT_EQ(unlink(rig_.host(), a, b), Errc::ok);
    links_.erase(pair_of(a, b));
  }

  void do_monitor() {
    const ActorId watcher = anybody();
    const ActorId target = anybody();
    uint64_t ref = 0;
    const Errc result = monitor(rig_.host(), watcher, target, ref);
    ASSERT_EQ(result, is_dead(watcher) ? Errc::no_such_actor : Errc::ok);
    if (result != Errc::ok) return;
    ASSERT_EQ(monitors_.count(ref), 0u) << "each has its own reference";
    if (is_dead(target)) {
      expected_[watcher].insert({SystemTag::down, target, ExitReason::noproc, ref});
      spent_refs_.push_back(ref);
    } else {
      monitors_[ref] = {watcher, target};
    }
  }

  void do_demonitor() {
    if (!spent_refs_.empty() && random_.below(3) == 0) {
      const uint64_t spent = spent_refs_[random_.below(static_cast<uint32_t>(spent_refs_.size()))];
      ASSERT_EQ(demonitor(rig_.host(), spent), Errc::invalid_arg);
      return;
    }
    if (monitors_.empty()) return;
    auto which = monitors_.begin();
    std::advance(which, random_.below(static_cast<uint32_t>(monitors_.size())));
    ASSERT_EQ(demonitor(rig_.host(), which->first), Errc::ok);
    spent_refs_.push_back(which->first);
    monitors_.erase(which);
  }

  void do_trap() {
    const ActorId id = somebody();
    const bool on = random_.below(2) == 0;
    ASSERT_EQ(set_trap_exit(rig_.host(), id, on), Errc::ok);
    if (on) {
      traps_.insert(id);
    } else {
      traps_.erase(id);
    }
  }

  void do_end() {
    static constexpr ExitReason kReasons[] = {ExitReason::normal, ExitReason::fail,
                                              ExitReason::killed};
    const ActorId id = somebody();
    const ExitReason reason = kReasons[random_.below(3)];
    ASSERT_EQ(request_exit(rig_.host(), id, reason), Errc::ok);
    std::set<ActorId> dying{id};
    if (reason != ExitReason::normal) spread(dying);
    for (auto it = links_.begin(); it != links_.end();) {
      const auto [a, b] = *it;
      if (dying.count(a) + dying.count(b) == 0) {
        ++it;
        continue;
      }
      for (const auto& [dead, survivor] : {std::pair(a, b), std::pair(b, a)}) {
        if (dying.count(dead) == 1 && dying.count(survivor) == 0 && traps_.count(survivor) == 1) {
          expected_[survivor].insert({SystemTag::exit, dead, reason, 0});
        }
      }
      it = links_.erase(it);
    }
    for (auto it = monitors_.begin(); it != monitors_.end();) {
      const auto [watcher, target] = it->second;
      const bool watcher_dies = dying.count(watcher) == 1;
      if (!watcher_dies && dying.count(target) == 0) {
        ++it;
        continue;
      }
      if (!watcher_dies) {
        expected_[watcher].insert({SystemTag::down, target, reason, it->first});
      }
      spent_refs_.push_back(it->first);
      it = monitors_.erase(it);
    }
    for (const ActorId dead : dying) {
      alive_.erase(std::find(alive_.begin(), alive_.end(), dead));
      dead_.push_back(dead);
      traps_.erase(dead);
      expected_.erase(dead);
    }
  }

  // Whoever is linked to the dying dies too, unless it traps exits.
  void spread(std::set<ActorId>& dying) const {
    for (bool grew = true; grew;) {
      grew = false;
      for (const auto& [a, b] : links_) {
        if (dying.count(a) == 1 && traps_.count(b) == 0) grew = dying.insert(b).second || grew;
        if (dying.count(b) == 1 && traps_.count(a) == 0) grew = dying.insert(a).second || grew;
      }
    }
  }

  void compare() {
    for (const ActorId id : alive_) {
      ASSERT_TRUE(rig_.is_alive(id));
      ASSERT_EQ(told_[id], expected_[id]);
    }
    for (const ActorId id : dead_) ASSERT_FALSE(rig_.is_alive(id));
    ASSERT_EQ(rig_.system().alive_count(), alive_.size());
    ASSERT_EQ(rig_.system().monitors.in_use(), monitors_.size());
  }

  void step() {
    while (alive_.size() < 4) spawn();
    switch (random_.below(10)) {
      case 0:
        if (alive_.size() < 14) spawn();
        break;
      case 1:
      case 2:
      case 3:
        do_link();
        break;
      case 4:
        do_unlink();
        break;
      case 5:
      case 6:
        do_monitor();
        break;
      case 7:
        do_demonitor();
        break;
      case 8:
        do_trap();
        break;
      default:
        do_end();
        break;
    }
  }

  Rig rig_;
  base::Prng random_{0};
  std::vector<ActorId> alive_;
  std::vector<ActorId> dead_;
  std::set<ActorId> traps_;
  std::set<std::pair<ActorId, ActorId>> links_;
  std::map<uint64_t, ModelMonitor> monitors_;
  std::vector<uint64_t> spent_refs_;
  std::map<ActorId, Heard> expected_;
  std::map<ActorId, Heard> told_;
};

TEST_F(BondsModel, EverybodyHearsExactlyWhatTheModelSaysAndDiesWithWhomItSays) {
  const uint64_t seed = 4711;
  SCOPED_TRACE(seed);
  random_ = base::Prng(seed);
  for (int i = 0; i < 8; ++i) spawn();
  for (size_t n = 0; n < jzx::testing::scaled(6000); ++n) {
    SCOPED_TRACE(n);
    step();
    if (HasFatalFailure()) return;
    rig_.settle();
    compare();
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(dead_.size(), jzx::testing::scaled(200)) << "the sequence must lead through deaths";
}

}  // namespace
}  // namespace jzx::core

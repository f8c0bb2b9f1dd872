// Supervisors seen from the inside: children that do as they are told, factories that refuse on
// demand, and a diary of who started, ended and was restarted.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/rig.hpp"
#include "supervise/supervisor.hpp"

namespace jzx::testing {

enum Order : uint32_t { kEndWell = 1, kEndBadly = 2 };

// Makes children named in its spec; refuses as often as `refusals` says.
class ObedientFactory final : public supervise::ChildFactory {
 public:
  explicit ObedientFactory(int& refusals) : refusals_(refusals) {}

  Errc make(core::Host&, core::SpawnOptions& options) override {
    if (refusals_ > 0) {
      --refusals_;
      return Errc::start_failed;
    }
    options.kind = &script_kind;
    options.body.words[0] = new Script{.handle = [](core::Turn& turn, Envelope& envelope) {
      switch (value_of(envelope)) {
        case kEndWell:
          return core::Outcome::stopped;
        case kEndBadly:
          return turn.fail(ExitReason::fail, "as ordered");
        default:
          return core::Outcome::wants_mail;
      }
    }};
    return Errc::ok;
  }
  void unmake(core::Host&, core::SpawnOptions& options) noexcept override {
    delete static_cast<Script*>(options.body.words[0]);
  }
  void dispose(const base::Allocator&) noexcept override { delete this; }

 private:
  int& refusals_;
};

// What was heard, in words: "start a", "stop a", "restart a 1", "escalate sup".
class Diary final : public Observer {
 public:
  void actor_started(ActorId id, const char* label) override {
    names_[id] = label == nullptr ? "sup" : label;
    add("start " + names_[id]);
  }
  void actor_stopped(ActorId id, ExitReason, const ExitText&) override {
    add("stop " + names_[id]);
  }
  void actor_restarted(ActorId, ActorId child, uint32_t attempt) override {
    add("restart " + names_[child] + " " + std::to_string(attempt));
  }
  void supervisor_escalated(ActorId id) override { add("escalate " + names_[id]); }

  std::vector<std::string> take() { return std::exchange(lines_, {}); }
  [[nodiscard]] size_t count(const std::string& line) const {
    return static_cast<size_t>(std::count(lines_.begin(), lines_.end(), line));
  }

 private:
  void add(std::string line) { lines_.push_back(std::move(line)); }

  std::map<ActorId, std::string> names_;
  std::vector<std::string> lines_;
};

struct ChildWish {
  const char* name = "";
  supervise::ChildMode mode = supervise::ChildMode::permanent;
  uint32_t backoff_ms = 0;
};

// A rig with room for one family; the supervisor's plan is its own.
class FamilyRig : public Rig {
 public:
  using Spec = supervise::SupervisorSpec;

  explicit FamilyRig(uint32_t turns_per_tick = 1024) : Rig(options(turns_per_tick)) {
    system().set_observer(&diary);
  }
  ~FamilyRig() { close(); }

  [[nodiscard]] const base::Allocator& allocator() { return system().allocator; }

  void fill(supervise::ChildSpec& spec, const ChildWish& wish) {
    spec.factory = new ObedientFactory(refusals[wish.name]);
    const size_t size = std::strlen(wish.name) + 1;
    spec.name = static_cast<char*>(allocator().allocate(size));
    std::memcpy(spec.name, wish.name, size);
    spec.mode = wish.mode;
    spec.has_backoff = wish.backoff_ms > 0;
    spec.backoff = {wish.backoff_ms, wish.backoff_ms, 1.0f, 0};
  }

  supervise::Plan& plan(const Spec& spec, const std::vector<ChildWish>& children) {
    supervise::Plan* made = supervise::Plan::create(allocator(), children.size());
    made->supervisor = spec;
    for (size_t i = 0; i < children.size(); ++i) fill(made->children[i], children[i]);
    return *made;
  }

  ActorId spawn_family(const Spec& spec, const std::vector<ChildWish>& children,
                       ActorId parent = core::kNobody) {
    ActorId id = core::kNobody;
    EXPECT_EQ(supervise::spawn_supervisor(host(), plan(spec, children), true, parent, id),
              Errc::ok);
    return id;
  }

  // A visit to a supervisor that must be there.
  template <class Use>
  auto visit(ActorId id, Use&& use) {
    std::optional<decltype(use(std::declval<supervise::Supervisor&>()))> answer;
    EXPECT_EQ(supervise::visit(host(), id,
                               [&](supervise::Supervisor& found) {
                                 answer = use(found);
                                 return Errc::ok;
                               }),
              Errc::ok);
    return *answer;
  }

  // kNobody: refused with `expected`.
  ActorId add(ActorId parent, const ChildWish& wish, Errc expected = Errc::ok) {
    auto* spec = allocator().create<supervise::ChildSpec>();
    fill(*spec, wish);
    ActorId id = core::kNobody;
    const Errc result = visit(
        parent, [&](supervise::Supervisor& supervisor) { return supervisor.add_child(*spec, id); });
    EXPECT_EQ(result, expected);
    if (result != Errc::ok) {
      spec->dispose(allocator());
      allocator().destroy(spec);
    }
    return id;
  }

  [[nodiscard]] ActorId child(ActorId parent, size_t index) {
    ActorId id = core::kNobody;
    (void)supervise::child_id(host(), parent, index, id);
    return id;
  }

  void order(ActorId id, Order what) {
    EXPECT_EQ(send(id, what), Errc::ok);
    settle();
  }

  Diary diary;
  std::map<std::string, int> refusals;  // how many starts of that child will be refused

 private:
  static runtime::LoopOptions options(uint32_t turns_per_tick) {
    runtime::LoopOptions result;
    result.max_actors_per_tick = turns_per_tick;
    result.max_actors = 64;
    return result;
  }
};

}  // namespace jzx::testing

// The supervisor as an actor: its kind, how it is spawned, and how it nests.
#include "core/guard.hpp"
#include "supervise/supervisor.hpp"

namespace jzx::supervise {

namespace {

using core::Actor;
using core::Outcome;
using core::Turn;

class SupervisorKind final : public core::Kind {
 public:
  Outcome resume(Actor& actor, Turn& turn) const override {
    while (Envelope* envelope = turn.take()) {
      if ((envelope->flags & Envelope::kSystem) == 0) {
        turn.refuse();  // a supervisor takes no orders from users
      } else if (!hear(turn.host, actor, static_cast<core::Notice&>(*envelope))) {
        if (Observer* observer = turn.host.system.observer()) {
          observer->supervisor_escalated(actor.id());
        }
        return turn.fail(ExitReason::fail, "a child failed too often");
      }
    }
    return turn.pause();
  }

  void destroy(Actor& actor, core::Host& host, ExitReason) const noexcept override {
    {
      core::Bonds hold(host.system.is_shared, actor);
      actor.is_supervisor = false;  // nobody finds it any more
    }
    supervisor_of(actor).end(host, actor);
  }

  bool goes_on_without_mail(core::Actor&) const noexcept override { return false; }
  const char* name() const noexcept override { return "supervisor"; }

 private:
  // False: escalate.
  static bool hear(core::Host& host, Actor& actor, core::Notice& notice) {
    Supervisor::Visit supervisor(supervisor_of(actor), host);
    switch (static_cast<core::SystemTag>(notice.as<RawMessage>().tag)) {
      case core::SystemTag::child_exit: {
        const auto& child = static_cast<core::Child&>(notice);
        auto* slot = static_cast<ChildSlot*>(child.mark);
        if (slot != nullptr) return supervisor->child_ended(*slot, child.exit.reason);
        // Attached without a spec: nothing says how to start it again. If it is a supervisor, what
        // was too much for it is too much for us.
        return !(child.is_supervisor && child.exit.reason != ExitReason::normal);
      }
      case core::SystemTag::child_restart:
        return supervisor->restart_due(static_cast<ChildSlot&>(notice));
      default:
        return true;
    }
  }
};

constexpr SupervisorKind the_kind;

Errc make_body(core::Host& host, const Plan& plan, bool owns_plan,
               core::SpawnOptions& options) noexcept {
  auto* supervisor = host.system.allocator.create<Supervisor>(host.system, plan, owns_plan);
  if (supervisor == nullptr) return Errc::no_memory;
  options.kind = &the_kind;
  options.body.words[0] = supervisor;
  options.is_supervisor = true;
  return Errc::ok;
}

// The actor is new, and nobody else runs it yet.
Errc start_children(core::Host& host, core::ActorId id) noexcept {
  Supervisor::Visit supervisor(supervisor_of(*host.system.actors.find(id)), host);
  return supervisor->start_all(id);
}

// Nobody of a start runs before the whole of it has succeeded.
class HoldingBack {
 public:
  explicit HoldingBack(core::Host& host) noexcept : host_(host) { host_.hold_back(); }
  ~HoldingBack() { host_.let_go(); }
  HoldingBack(const HoldingBack&) = delete;
  HoldingBack& operator=(const HoldingBack&) = delete;

 private:
  core::Host& host_;
};

class NestedFactory final : public ChildFactory {
 public:
  explicit NestedFactory(Plan& plan) noexcept : plan_(plan) {}

  Errc make(core::Host& host, core::SpawnOptions& options) override {
    return make_body(host, plan_, false, options);
  }
  void unmake(core::Host& host, core::SpawnOptions& options) noexcept override {
    host.system.allocator.destroy(static_cast<Supervisor*>(options.body.words[0]));
  }
  Errc after_spawn(core::Host& host, core::ActorId id) override { return start_children(host, id); }
  bool makes_supervisors() const noexcept override { return true; }
  void dispose(const base::Allocator& allocator) noexcept override {
    plan_.dispose(allocator);
    allocator.destroy(this);
  }

 private:
  Plan& plan_;
};

}  // namespace

Errc spawn_supervisor(core::Host& host, Plan& plan, bool owns_plan, core::ActorId parent,
                      core::ActorId& out) noexcept {
  HoldingBack hold(host);
  core::SpawnOptions options;
  options.parent = parent;
  options.stop_within_ms = core::kNoStopLimit;  // its children have theirs
  if (const Errc made = make_body(host, plan, owns_plan, options); made != Errc::ok) {
    if (owns_plan) plan.dispose(host.system.allocator);
    return made;
  }
  core::ActorId id = core::kNobody;
  if (const Errc spawned = core::spawn(host, options, id); spawned != Errc::ok) {
    host.system.allocator.destroy(static_cast<Supervisor*>(options.body.words[0]));
    return spawned;
  }
  if (const Errc started = start_children(host, id); started != Errc::ok) {
    core::abort_start(host, id);
    return started;
  }
  out = id;
  return Errc::ok;
}

Errc find_supervisor(core::Host& host, core::ActorId id, Supervisor*& out) noexcept {
  core::Actor* actor = host.system.actors.find(id);
  if (actor == nullptr) return Errc::no_such_actor;
  core::Bonds hold(host.system.is_shared, *actor);
  if (!host.system.is_live(*actor, id)) return Errc::no_such_actor;
  if (!actor->is_supervisor) return Errc::invalid_arg;
  out = &supervisor_of(*actor);
  out->hold();
  return Errc::ok;
}

Errc child_id(core::Host& host, core::ActorId supervisor, size_t index,
              core::ActorId& out) noexcept {
  return visit(host, supervisor, [&](Supervisor& found) {
    const ChildSlot* slot = found.slot_at(index);
    if (slot == nullptr) return Errc::invalid_arg;
    if (host.system.find_open(slot->id) == nullptr) return Errc::no_such_actor;
    out = slot->id;
    return Errc::ok;
  });
}

ChildFactory* make_nested(const base::Allocator& allocator, Plan& plan) noexcept {
  return allocator.create<NestedFactory>(plan);
}

}  // namespace jzx::supervise

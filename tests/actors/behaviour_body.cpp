// The body `behaviour`: a C function, and a world of jzx_* calls.
#include <jzx/jzx.h>

#include <deque>

#include "actors/stage/body.hpp"
#include "actors/stage/script.hpp"
#include "actors/stage/stage.hpp"

namespace jzx::actors {

namespace {

constexpr uint32_t kCommandTag = 1;

jzx_behavior_result behave(jzx_context* context, const jzx_message* message);

[[nodiscard]] Errc from_c(jzx_err error) { return static_cast<Errc>(error); }

class CWorld final : public World {
 public:
  CWorld(Stage& stage, jzx_loop* loop) : World(stage), loop_(loop) {}

  Errc spawn(const Wish& wish, ActorId& out) override {
    jzx_spawn_opts options{};
    options.behavior = &behave;
    options.state = &stage_;
    options.supervisor = wish.parent;
    options.mailbox_cap = wish.mailbox_cap;
    options.name = wish.label.empty() ? nullptr : wish.label.c_str();
    return from_c(jzx_spawn(loop_, &options, &out));
  }

  Errc supervise(const Family& family, ActorId parent, ActorId& out) override {
    Specs specs;
    const jzx_supervisor_init init = init_of(family, specs);
    return from_c(jzx_spawn_supervisor(loop_, &init, parent, &out));
  }

  ActorId child_at(ActorId supervisor, size_t index) override {
    jzx_actor_id id = 0;
    return jzx_supervisor_child_id(loop_, supervisor, index, &id) == JZX_OK ? id : 0;
  }

  Errc stop(ActorId whom) override { return from_c(jzx_actor_stop(loop_, whom)); }
  Errc kill(ActorId whom) override { return from_c(jzx_actor_fail(loop_, whom)); }
  ExitReason kill_reason() const override { return ExitReason::fail; }
  Errc link(ActorId a, ActorId b) override { return from_c(jzx_link(loop_, a, b)); }
  Errc unlink(ActorId a, ActorId b) override { return from_c(jzx_unlink(loop_, a, b)); }
  Errc monitor(ActorId watcher, ActorId target, uint64_t& ref) override {
    return from_c(jzx_monitor(loop_, watcher, target, &ref));
  }
  Errc demonitor(uint64_t ref) override { return from_c(jzx_demonitor(loop_, ref)); }
  Errc trap_exit(ActorId whom, bool on) override {
    return from_c(jzx_trap_exit(loop_, whom, on ? 1 : 0));
  }
  Errc register_name(ActorId whom, const std::string& name) override {
    return from_c(jzx_register(loop_, whom, name.c_str()));
  }
  ActorId whereis(const std::string& name) override {
    jzx_actor_id id = 0;
    return jzx_whereis(loop_, name.c_str(), &id) == JZX_OK ? id : 0;
  }
  Errc watch_fd(int fd, ActorId owner) override {
    return from_c(jzx_watch_fd(loop_, fd, owner, JZX_IO_READ));
  }
  Errc unwatch_fd(int fd) override { return from_c(jzx_unwatch_fd(loop_, fd)); }

 protected:
  // From the test's other threads too, which on a loop only this call may be used by.
  Errc do_send(ActorId to, Command command) override {
    Command* kept = stage_.keep(std::move(command));
    const auto send = is_inside_ ? &jzx_send : &jzx_send_async;
    return from_c(send(loop_, to, kept, sizeof(Command), kCommandTag));
  }
  Errc do_send_after(uint64_t ms, ActorId to, Command command, uint64_t& timer) override {
    Command* kept = stage_.keep(std::move(command));
    return from_c(jzx_send_after(loop_, to, static_cast<uint32_t>(ms), kept, sizeof(Command),
                                 kCommandTag, &timer));
  }
  Errc do_cancel(uint64_t timer) override { return from_c(jzx_cancel_timer(loop_, timer)); }

 private:
  friend class Behaving;

  // The specs of all supervisors of a family; they stay where they are.
  struct Specs {
    std::deque<std::vector<jzx_child_spec>> children;
    std::deque<jzx_supervisor_init> supervisors;
    std::deque<jzx_backoff_spec> backoffs;
  };

  jzx_supervisor_init init_of(const Family& family, Specs& specs) {
    std::vector<jzx_child_spec> children;
    for (const Member& member : family.members) {
      jzx_child_spec spec{};
      spec.name = member.name.c_str();
      spec.mode = static_cast<jzx_child_mode>(member.mode);
      if (member.backoff_ms != 0) {
        specs.backoffs.push_back({member.backoff_ms, 60'000, 2.0f, 0});
        spec.backoff = &specs.backoffs.back();
      }
      if (member.family != nullptr) {
        specs.supervisors.push_back(init_of(*member.family, specs));
        spec.supervisor = &specs.supervisors.back();
      } else {
        spec.behavior = &behave;
        spec.state = &stage_;
      }
      children.push_back(spec);
    }
    jzx_supervisor_init init{};
    init.supervisor.strategy = static_cast<jzx_supervisor_strategy>(family.strategy);
    init.supervisor.intensity = family.intensity;
    init.supervisor.period_ms = family.period_ms;
    specs.children.push_back(std::move(children));
    init.children = specs.children.back().data();
    init.child_count = specs.children.back().size();
    return init;
  }

  jzx_loop* loop_;
  bool is_inside_ = false;  // of a behaviour
};

// An actor in its turn.
class Behaving final : public ScriptFace {
 public:
  Behaving(Stage& stage, const jzx_context& context, const jzx_message& message)
      : world_(stage, context.loop), self_(context.self), sender_(message.sender) {
    world_.is_inside_ = true;
  }
  World& world() override { return world_; }
  ActorId self() const override { return self_; }
  ActorId sender() const override { return sender_; }
  void stop() override { result_ = JZX_BEHAVIOR_STOP; }
  void fail(const std::string&) override { result_ = JZX_BEHAVIOR_FAIL; }
  [[nodiscard]] jzx_behavior_result result() const { return result_; }

 private:
  CWorld world_;
  ActorId self_;
  ActorId sender_;
  jzx_behavior_result result_ = JZX_BEHAVIOR_OK;
};

[[nodiscard]] ExitReason from_c(jzx_exit_reason reason) { return static_cast<ExitReason>(reason); }

jzx_behavior_result behave(jzx_context* context, const jzx_message* message) {
  auto& stage = *static_cast<Stage*>(context->state);
  switch (message->tag) {
    case JZX_TAG_SYS_DOWN: {
      const auto& down = *static_cast<const jzx_down*>(message->data);
      hear(stage, context->self, Down{down.ref, down.actor, from_c(down.reason), {}});
      return JZX_BEHAVIOR_OK;
    }
    case JZX_TAG_SYS_EXIT: {
      const auto& exit = *static_cast<const jzx_exit_signal*>(message->data);
      hear(stage, context->self, Exit{exit.from, from_c(exit.reason), {}});
      return JZX_BEHAVIOR_OK;
    }
    case JZX_TAG_SYS_CHILD_EXIT: {
      const auto& child = *static_cast<const jzx_child_exit*>(message->data);
      hear(stage, context->self, ChildExit{child.child, from_c(child.reason), {}});
      return JZX_BEHAVIOR_OK;
    }
    case JZX_TAG_SYS_IO: {
      const auto& event = *static_cast<const jzx_io_event*>(message->data);
      hear(stage, context->self, IoEvent{event.fd, event.readiness});
      return JZX_BEHAVIOR_OK;
    }
    default: {
      Behaving face(stage, *context, *message);
      perform(stage, face, *static_cast<const Command*>(message->data));
      return face.result();
    }
  }
}

class BehaviourBody final : public Body {
 public:
  const char* name() const override { return "behaviour"; }
  std::unique_ptr<World> open_world(Stage& stage) const override {
    return std::make_unique<CWorld>(stage, stage.loop());
  }
  const char* lacks(Trait trait) const override {
    switch (trait) {
      case Trait::priority:
        return "jzx_spawn_opts has no priority";
      case Trait::overload:
        return "jzx_spawn_opts has no overload rule";
      case Trait::placement:
        return "jzx_spawn_opts has no placement";
      case Trait::texts:
        return "a behaviour fails without a text, and C signals carry none";
    }
    return nullptr;
  }
};

}  // namespace

const Body& behaviour_body() {
  static const BehaviourBody body;
  return body;
}

}  // namespace jzx::actors

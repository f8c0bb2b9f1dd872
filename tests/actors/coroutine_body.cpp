// The body `coroutine`: a struct whose handlers are coroutines. What they do here needs no wait, so
// that they keep the promises of turns; handlers that wait are in tests/coroutines.
#include <jzx/jzx.hpp>

#include <functional>
#include <optional>

#include "actors/stage/body.hpp"
#include "actors/stage/script.hpp"
#include "actors/stage/stage.hpp"

namespace jzx::actors {

namespace {

struct ScriptedTasks {
  using Messages = jzx::Messages<Command>;
  explicit ScriptedTasks(Stage& the_stage) : stage(the_stage) {}

  Task<void> on(Command command);
  Task<void> on(const Down& down) { return listen(down); }
  Task<void> on(const Exit& exit) { return listen(exit); }
  Task<void> on(const ChildExit& child) { return listen(child); }
  Task<void> on(const IoEvent& event) { return listen(event); }

  template <class Signal>
  Task<void> listen(const Signal& signal) {
    Self self = co_await this_actor();
    hear(stage, self.pid().id(), signal);
  }

  Stage& stage;
};

class CoroutineWorld final : public CppWorld {
 public:
  using CppWorld::CppWorld;

  Errc spawn(const Wish& wish, ActorId& out) override {
    const auto made = face_.spawn_with<ScriptedTasks>(options(wish), stage_);
    out = made.id();
    return made ? Errc::ok : face_.spawn_error();
  }

 protected:
  ChildSpec child_spec(const std::string& name) const override {
    return jzx::child<ScriptedTasks>(name, std::ref(stage_));
  }
  Errc do_send(ActorId to, Command command) override {
    return ActorRef<ScriptedTasks>(pid(to)).send(std::move(command));
  }
};

// An actor in its turn. It ends when the command has been performed, and not in the middle of it.
class HandlingTask final : public ScriptFace {
 public:
  HandlingTask(Stage& stage, Self& self) : self_(self), world_(stage, self) {}
  World& world() override { return world_; }
  ActorId self() const override { return self_.pid().id(); }
  ActorId sender() const override { return self_.sender().id(); }
  void stop() override { wants_stop_ = true; }
  void fail(const std::string& why) override { why_ = why; }

  // Empty: it goes on.
  [[nodiscard]] const std::optional<std::string>& why() const { return why_; }
  [[nodiscard]] bool wants_stop() const { return wants_stop_; }

 private:
  Self& self_;
  CoroutineWorld world_;
  bool wants_stop_ = false;
  std::optional<std::string> why_;
};

Task<void> nothing() { co_return; }

Task<void> ScriptedTasks::on(Command command) {
  Self self = co_await this_actor();
  auto inner = nothing();
  (void)co_await inner;
  HandlingTask face(stage, self);
  perform(stage, face, command);
  if (face.wants_stop()) (void)self.stop();
  if (face.why()) co_await jzx::fail(Errc::unknown, *face.why());
}

class CoroutineBody final : public Body {
 public:
  const char* name() const override { return "coroutine"; }
  std::unique_ptr<World> open_world(Stage& stage) const override {
    return std::make_unique<CoroutineWorld>(stage, stage.face());
  }
};

}  // namespace

const Body& coroutine_body() {
  static const CoroutineBody body;
  return body;
}

}  // namespace jzx::actors

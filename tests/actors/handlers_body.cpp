// The body `handlers`: a struct with on(Message), and a world of typed references.
#include <jzx/jzx.hpp>

#include <functional>

#include "actors/stage/body.hpp"
#include "actors/stage/script.hpp"
#include "actors/stage/stage.hpp"

namespace jzx::actors {

namespace {

struct Scripted {
  using Messages = jzx::Messages<Command>;
  explicit Scripted(Stage& the_stage) : stage(the_stage) {}

  void on(Command command, Context& context);
  void on(const Down& down, Context& context) { hear(stage, context.self().id(), down); }
  void on(const Exit& exit, Context& context) { hear(stage, context.self().id(), exit); }
  void on(const ChildExit& child, Context& context) { hear(stage, context.self().id(), child); }
  void on(const IoEvent& event, Context& context) { hear(stage, context.self().id(), event); }

  Stage& stage;
};

class HandlersWorld final : public CppWorld {
 public:
  using CppWorld::CppWorld;

  Errc spawn(const Wish& wish, ActorId& out) override {
    const auto made = face_.spawn_with<Scripted>(options(wish), stage_);
    out = made.id();
    return made ? Errc::ok : face_.spawn_error();
  }

 protected:
  ChildSpec child_spec(const std::string& name) const override {
    return jzx::child<Scripted>(name, std::ref(stage_));
  }
  Errc do_send(ActorId to, Command command) override {
    return ActorRef<Scripted>(pid(to)).send(std::move(command));
  }
};

// An actor in its turn.
class Handling final : public ScriptFace {
 public:
  Handling(Stage& stage, Context& context) : context_(context), world_(stage, context) {}
  World& world() override { return world_; }
  ActorId self() const override { return context_.self().id(); }
  ActorId sender() const override { return context_.sender().id(); }
  void stop() override { context_.stop(); }
  void fail(const std::string& why) override { context_.fail(why); }

 private:
  Context& context_;
  HandlersWorld world_;
};

void Scripted::on(Command command, Context& context) {
  Handling face(stage, context);
  perform(stage, face, command);
}

class HandlersBody final : public Body {
 public:
  const char* name() const override { return "handlers"; }
  std::unique_ptr<World> open_world(Stage& stage) const override {
    return std::make_unique<HandlersWorld>(stage, stage.face());
  }
};

}  // namespace

const Body& handlers_body() {
  static const HandlersBody body;
  return body;
}

}  // namespace jzx::actors

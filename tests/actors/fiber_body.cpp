// The body `fiber`: a function on a stack of its own that receives in a loop, and a world of
// untyped Pids.
#include <jzx/jzx.hpp>

#include <optional>

#include "actors/stage/body.hpp"
#include "actors/stage/script.hpp"
#include "actors/stage/stage.hpp"

namespace jzx::actors {

namespace {

void play(Stage& stage);

class FiberWorld final : public CppWorld {
 public:
  using CppWorld::CppWorld;

  Errc spawn(const Wish& wish, ActorId& out) override {
    const Pid made = face_.spawn_fn_with(options(wish), [&stage = stage_] { play(stage); });
    out = made.id();
    return made ? Errc::ok : face_.spawn_error();
  }

 protected:
  ChildSpec child_spec(const std::string& name) const override {
    return jzx::child_fn(name, [&stage = stage_] { play(stage); });
  }
};

// An actor in its turn. It ends when the command has been performed, and not in the middle of it.
class Playing final : public ScriptFace {
 public:
  explicit Playing(Stage& stage) : self_(jzx::self()), world_(stage, system_) {}
  World& world() override { return world_; }
  ActorId self() const override { return self_.id(); }
  ActorId sender() const override { return jzx::sender().id(); }
  void stop() override { end_ = End{ExitReason::normal, {}}; }
  void fail(const std::string& why) override { end_ = End{ExitReason::fail, why}; }

  // False: the body is to return.
  [[nodiscard]] bool goes_on() const {
    if (end_ && end_->reason != ExitReason::normal) jzx::exit(end_->reason, end_->why);
    return !end_;
  }

 private:
  struct End {
    ExitReason reason;
    std::string why;
  };

  Pid self_;
  FiberSystem system_;
  FiberWorld world_;
  std::optional<End> end_;
};

void play(Stage& stage) {
  Playing face(stage);
  const ActorId self = face.self();
  while (face.goes_on()) {
    const Wait wait = receive([&](Command command) { perform(stage, face, command); },
                              [&](const Down& down) { hear(stage, self, down); },
                              [&](const Exit& exit) { hear(stage, self, exit); },
                              [&](const ChildExit& child) { hear(stage, self, child); },
                              [&](const IoEvent& event) { hear(stage, self, event); });
    if (wait == Wait::killed) return;
  }
}

class FiberBody final : public Body {
 public:
  const char* name() const override { return "fiber"; }
  std::unique_ptr<World> open_world(Stage& stage) const override {
    return std::make_unique<FiberWorld>(stage, stage.face());
  }
};

}  // namespace

const Body& fiber_body() {
  static const FiberBody body;
  return body;
}

}  // namespace jzx::actors

#include "runtime/behaviour_child.hpp"

#include "core/guard.hpp"
#include "kinds/behaviour/behaviour.hpp"

namespace jzx::runtime {

namespace {

class BehaviourChild final : public supervise::ChildFactory {
 public:
  explicit BehaviourChild(const jzx_child_spec& spec) noexcept
      : behavior_(spec.behavior), init_(spec.init), state_(spec.state) {}

  Errc make(core::Host&, core::SpawnOptions& options) override {
    void* state = state_;
    if (init_ != nullptr) {
      state = nullptr;
      const jzx_behavior_result result =
          core::guard([&] { return init_(&state); }, [](const char*) { return JZX_BEHAVIOR_FAIL; });
      if (result != JZX_BEHAVIOR_OK) return Errc::start_failed;
    }
    options.kind = &kinds::behaviour_kind;
    options.body = kinds::behaviour_body(behavior_, state);
    return Errc::ok;
  }

  // What an init function made is the user's, and the C interface has no way to give it back.
  void unmake(core::Host&, core::SpawnOptions&) noexcept override {}

  void dispose(const base::Allocator& allocator) noexcept override { allocator.destroy(this); }

 private:
  jzx_behavior_fn behavior_;
  jzx_init_fn init_;
  void* state_;
};

}  // namespace

supervise::ChildFactory* make_behaviour_child(const base::Allocator& allocator,
                                              const jzx_child_spec& spec) noexcept {
  return allocator.create<BehaviourChild>(spec);
}

Errc spawn_behaviour(core::Host& host, const jzx_spawn_opts& options, ActorId& out) noexcept {
  const core::Body body = kinds::behaviour_body(options.behavior, options.state);
  if (options.supervisor == core::kNobody && options.name == nullptr &&
      core::spawn_common(host, kinds::behaviour_kind, body, options.mailbox_cap, false, out))
      [[likely]] {
    return Errc::ok;
  }
  core::SpawnOptions spawn;
  spawn.kind = &kinds::behaviour_kind;
  spawn.body = body;
  spawn.mailbox_cap = options.mailbox_cap;
  spawn.label = options.name;
  spawn.parent = options.supervisor;
  return core::spawn(host, spawn, out);
}

}  // namespace jzx::runtime

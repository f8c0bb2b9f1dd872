#include "kinds/behaviour/behaviour.hpp"

#include "core/guard.hpp"

namespace jzx::kinds {

namespace {

using core::Actor;
using core::Outcome;
using core::Turn;

static_assert(sizeof(jzx_message) == sizeof(RawMessage));
static_assert(offsetof(jzx_message, tag) == offsetof(RawMessage, tag));
static_assert(offsetof(jzx_message, sender) == offsetof(RawMessage, sender));

class BehaviourKind final : public core::Kind {
 public:
  constexpr BehaviourKind() noexcept : Kind(&run_own) {}

  Outcome resume(Actor& actor, Turn& turn) const override {
    return core::guard(turn, [&] { return handle_mail(actor, turn); });
  }

  // The state is the user's; there is nothing of ours to free.
  void destroy(Actor&, core::Host&, ExitReason) const noexcept override {}

  const char* name() const noexcept override { return "behaviour"; }

 private:
  static void run_own(base::Runnable& runnable, base::Executor& executor) {
    auto& actor = static_cast<Actor&>(runnable);
    core::run_turn(static_cast<core::Host&>(executor), actor, [&](Turn& turn) {
      return core::guard(turn, [&] { return handle_mail(actor, turn); });
    });
  }

  static Outcome handle_mail(Actor& actor, Turn& turn) {
    const auto function = reinterpret_cast<jzx_behavior_fn>(actor.body.words[0]);
    while (Envelope* envelope = turn.take()) {
      if (envelope->type != &raw_message_type) {  // a C++ message means nothing to C
        turn.refuse();
        continue;
      }
      jzx_context context{actor.body.words[1], actor.id(), static_cast<jzx_loop*>(turn.host.face)};
      const jzx_behavior_result result = function(&context, &envelope->as<jzx_message>());
      if (result == JZX_BEHAVIOR_OK) [[likely]]
        continue;
      if (result == JZX_BEHAVIOR_STOP) return Outcome::stopped;
      return turn.fail(ExitReason::fail, result == JZX_BEHAVIOR_FAIL
                                             ? "the behaviour returned FAIL"
                                             : "the behaviour returned an unknown result");
    }
    return turn.pause();
  }
};

constexpr BehaviourKind the_kind;

}  // namespace

const core::Kind& behaviour_kind = the_kind;

}  // namespace jzx::kinds

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
    return core::guard(turn, [&] { return handle_mail(turn.host, actor, turn); });
  }

  // The state is the user's; there is nothing of ours to free.
  void destroy(Actor&, core::Host&, ExitReason) const noexcept override {}

  core::Throw can_throw(Actor& actor) const noexcept override {
    return core::has_mail(actor) ? core::Throw::at_message : core::Throw::nowhere;
  }
  Outcome resume_throwing(Actor&, Turn& turn) const override {
    if (turn.take() == nullptr) return turn.pause();
    return turn.fail(ExitReason::panic, core::kThrownText);
  }

  const char* name() const noexcept override { return "behaviour"; }

 private:
  // Most turns are for one message, so the first one has a way of its own, straight and without a
  // loop.
  static void run_own(base::Runnable& runnable, base::Executor& executor) {
    auto& actor = static_cast<Actor&>(runnable);
    auto& host = static_cast<core::Host&>(executor);
    core::run_turn(host, actor, [&](Turn& turn) {
      return core::guard(turn, [&] {
        Envelope* envelope = turn.take_first(host, actor);
        if (envelope == nullptr) [[unlikely]]
          return handle_mail(host, actor, turn);
        const Outcome outcome = handle(host, actor, turn, *envelope);
        if (outcome != Outcome::wants_mail) [[unlikely]]
          return outcome;
        if (turn.ends_with_first(host, actor)) [[likely]]
          return Outcome::wants_mail;
        return handle_mail(host, actor, turn);
      });
    });
  }

  [[gnu::noinline]] static Outcome handle_mail(core::Host& host, Actor& actor, Turn& turn) {
    while (Envelope* envelope = turn.take(host, actor)) {
      const Outcome outcome = handle(host, actor, turn, *envelope);
      if (outcome != Outcome::wants_mail) return outcome;
    }
    return turn.pause();
  }

  // wants_mail: and it goes on.
  static Outcome handle(core::Host& host, Actor& actor, Turn& turn, Envelope& envelope) {
    if (envelope.type != &raw_message_type) [[unlikely]] {  // a C++ message means nothing to C
      turn.refuse();
      return Outcome::wants_mail;
    }
    const auto function = reinterpret_cast<jzx_behavior_fn>(actor.body.words[0]);
    jzx_context context{actor.body.words[1], actor.id(), static_cast<jzx_loop*>(host.face)};
    const jzx_behavior_result result = function(&context, &envelope.as<jzx_message>());
    if (result == JZX_BEHAVIOR_OK) [[likely]]
      return Outcome::wants_mail;
    return end(turn, result);
  }
  [[gnu::noinline]] static Outcome end(Turn& turn, jzx_behavior_result result) {
    if (result == JZX_BEHAVIOR_STOP) return Outcome::stopped;
    return turn.fail(ExitReason::fail, result == JZX_BEHAVIOR_FAIL
                                           ? "the behaviour returned FAIL"
                                           : "the behaviour returned an unknown result");
  }
};

constexpr BehaviourKind the_kind;

}  // namespace

const core::Kind& behaviour_kind = the_kind;

}  // namespace jzx::kinds

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

  bool goes_on_without_mail(Actor&) const noexcept override { return false; }
  core::Throw can_throw(Actor& actor) const noexcept override {
    return core::has_mail(actor) ? core::Throw::at_message : core::Throw::nowhere;
  }
  Outcome resume_throwing(Actor&, Turn& turn) const override {
    if (turn.take() == nullptr) return turn.pause();
    return turn.fail(ExitReason::panic, core::kThrownText);
  }

  const char* name() const noexcept override { return "behaviour"; }

 private:
  static void run_own(base::Runnable& runnable, base::Executor& executor) {
    auto& actor = static_cast<Actor&>(runnable);
    auto& host = static_cast<core::Host&>(executor);
    core::run_short_turn(
        host, actor, &is_raw, [&](bool, Envelope& one) { return call_or_end(host, actor, one); },
        [&](Envelope&) { run_rest(host, actor, host.steps()); },
        [&](uint64_t steps_before) { run_more(host, actor, steps_before); });
  }
  [[gnu::noinline]] static void run_more(core::Host& host, Actor& actor, uint64_t steps_before) {
    core::continue_short_turn(
        host, actor, steps_before, &is_raw,
        [&](bool, Envelope& one) { return call_or_end(host, actor, one); },
        [&](uint64_t before) { run_rest(host, actor, before); });
  }
  static bool is_raw(const MessageType& type) noexcept { return &type == &raw_message_type; }
  // False: it has ended.
  [[gnu::always_inline]] static bool call_or_end(core::Host& host, Actor& actor,
                                                 Envelope& envelope) {
    const int64_t result =
        core::guard([&]() -> int64_t { return call(host, actor, envelope); },
                    [&](const char* text) { return host.note_panic(text), kPanic; });
    // There is nothing to end about pointers and numbers.
    if (result == JZX_BEHAVIOR_OK) [[likely]]
      return true;
    // Not before an exception has ended.
    end_at(host, actor, envelope, result);
    return false;
  }
  static constexpr int64_t kPanic = int64_t{1} << 40;  // nothing that a behaviour can return

  [[gnu::noinline]] static void end_at(core::Host& host, Actor& actor, Envelope& envelope,
                                       int64_t result) {
    Turn turn(host, actor, envelope);
    core::end_turn(
        host, actor, turn,
        result == kPanic ? Outcome::failed : end(turn, static_cast<jzx_behavior_result>(result)));
  }
  [[gnu::noinline]] static void run_rest(core::Host& host, Actor& actor, uint64_t steps_before) {
    host.set_acting(actor.id());
    Turn turn(host, actor, steps_before);
    core::end_turn(host, actor, turn,
                   core::guard(turn, [&] { return handle_mail(host, actor, turn); }));
  }

  [[gnu::noinline]] static Outcome handle_mail(core::Host& host, Actor& actor, Turn& turn) {
    while (Envelope* envelope = turn.take(host, actor)) {
      if (envelope->type != &raw_message_type) [[unlikely]] {  // a C++ message means nothing to C
        turn.refuse();
        continue;
      }
      const jzx_behavior_result result = call(host, actor, *envelope);
      if (result != JZX_BEHAVIOR_OK) [[unlikely]]
        return end(turn, result);
    }
    return turn.pause();
  }

  static jzx_behavior_result call(core::Host& host, Actor& actor, Envelope& envelope) {
    const auto function = reinterpret_cast<jzx_behavior_fn>(actor.body.words[0]);
    jzx_context context{actor.body.words[1], actor.id(), static_cast<jzx_loop*>(host.face)};
    return function(&context, &envelope.as<jzx_message>());
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

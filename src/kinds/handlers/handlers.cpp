#include "kinds/handlers/handlers.hpp"

#include <jzx/context.hpp>

#include "core/guard.hpp"

namespace jzx::kinds {

namespace {

using core::Actor;
using core::Outcome;
using core::Turn;
using detail::ActorType;

const ActorType& type_of(const Actor& actor) noexcept {
  return *static_cast<const ActorType*>(actor.body.words[0]);
}
void* instance_of(const Actor& actor) noexcept { return actor.body.words[1]; }
detail::Port& port_of(const core::Host& host) noexcept {
  return *static_cast<detail::Port*>(host.port);
}

// What the handler wished through its context.
Outcome obey(Turn& turn, const Context& context) noexcept {
  return context.wish() == Context::Wish::stop ? Outcome::stopped
                                               : turn.fail(ExitReason::fail, context.why());
}

// Two of them: an actor changes from the one to the other when its on_start has returned, and only
// then will its on_stop be called.
class HandlersKind final : public core::Kind {
 public:
  explicit constexpr HandlersKind(bool has_started) noexcept
      : Kind(&run_own), has_started_(has_started) {}

  Outcome start(Actor& actor, Turn& turn) const override;

  Outcome resume(Actor& actor, Turn& turn) const override {
    return core::guard(turn, [&] { return handle_mail(actor, turn); });
  }

  void destroy(Actor& actor, core::Host& host, ExitReason reason) const noexcept override {
    const ActorType& type = type_of(actor);
    // When the whole system ends, no user code runs but destructors.
    if (type.on_stop != nullptr && has_started_ &&
        !host.system.is_closing.load(std::memory_order_relaxed)) {
      (void)core::guard(
          [&] {
            Context context(port_of(host), actor.id());
            type.on_stop(instance_of(actor), context, reason);
            return true;
          },
          [](const char*) { return false; });  // it is ending, and for a reason of its own
    }
    type.destroy(instance_of(actor), port_of(host));
  }

  const char* name() const noexcept override { return "handlers"; }

 private:
  static void run_own(base::Runnable& runnable, base::Executor& executor) {
    auto& actor = static_cast<Actor&>(runnable);
    core::run_turn(static_cast<core::Host&>(executor), actor, [&](Turn& turn) {
      return core::guard(turn, [&] { return handle_mail(actor, turn); });
    });
  }

  static Outcome handle_mail(Actor& actor, Turn& turn) {
    const ActorType& type = type_of(actor);
    Context context(port_of(turn.host), actor.id());
    while (Envelope* envelope = turn.take()) {
      context.begin(envelope->sender);
      if (envelope->type->handle != nullptr) [[likely]] {
        envelope->type->handle(instance_of(actor), context, *envelope);
      } else if ((envelope->flags & Envelope::kSystem) != 0) {
        const RawMessage& raw = envelope->as<RawMessage>();
        type.on_system(instance_of(actor), context, raw.tag, raw.data);
      } else if (!handle_untyped(type, instance_of(actor), context, *envelope)) {
        turn.refuse();
      }
      if (context.wish() != Context::Wish::go_on) [[unlikely]]
        return obey(turn, context);
    }
    return turn.pause();
  }

  static bool handle_untyped(const ActorType& type, void* instance, Context& context,
                             Envelope& envelope) {
    for (size_t i = 0; i < type.handler_count; ++i) {
      if (type.handlers[i].key != envelope.type->key) continue;
      type.handlers[i].handle(instance, context, envelope);
      return true;
    }
    return false;
  }

  bool has_started_;
};

constexpr HandlersKind unstarted(false);
constexpr HandlersKind started(true);

Outcome HandlersKind::start(Actor& actor, Turn& turn) const {
  return core::guard(turn, [&] {
    Context context(port_of(turn.host), actor.id());
    type_of(actor).on_start(instance_of(actor), context);
    actor.kind = &started;
    return context.wish() == Context::Wish::go_on ? Outcome::wants_mail : obey(turn, context);
  });
}

}  // namespace

void describe_handlers(const ActorType& type, void* instance,
                       core::SpawnOptions& options) noexcept {
  options.kind = type.on_start != nullptr ? &unstarted : &started;
  options.body.words[0] = const_cast<ActorType*>(&type);
  options.body.words[1] = instance;
  options.first_turn = type.on_start != nullptr;
}

}  // namespace jzx::kinds

#include "kinds/coroutine/coroutine.hpp"

#include "base/leave.hpp"
#include "core/guard.hpp"
#include "core/host.hpp"
#include "core/lifecycle.hpp"
#include "core/turn.hpp"

namespace jzx::kinds {

namespace {

using core::Actor;
using core::Outcome;
using core::Turn;
using detail::SpawnedTask;

SpawnedTask& task_of(const Actor& actor) noexcept {
  return *static_cast<SpawnedTask*>(actor.body.words[0]);
}

class CoroutineKind final : public core::Kind {
 public:
  Outcome start(Actor& actor, Turn& turn) const override {
    SpawnedTask& task = task_of(actor);
    task.actor = &actor;
    task.runner = &actor;
    task.generation = core::generation_of(actor.id());
    task.begin(task.type.begin(task));
    return go_on(task, turn);
  }

  Outcome resume(Actor& actor, Turn& turn) const override {
    SpawnedTask& task = task_of(actor);
    if (task.can_go_on()) turn.host.note_other_step(&core::resumed_step);
    return go_on(task, turn);
  }

  Outcome stop(Actor& actor, Turn& turn) const override {
    SpawnedTask& task = task_of(actor);
    if (task.actor == nullptr) return Outcome::stopped;  // it has not begun
    task.request_stop();  // whoever ends its wait may be waking it now, by the host it has
    // It would only be told in vain again, until it is killed.
    if (task.is_deaf() && core::has_time_left(actor)) return Outcome::suspended;
    const Outcome outcome = go_on(task, turn);
    return outcome == Outcome::failed ? Outcome::stopped : outcome;  // it was asked to end
  }

  // It is told once more.
  Outcome kill(Actor& actor, Turn& turn) const override {
    SpawnedTask& task = task_of(actor);
    const Outcome outcome = stop(actor, turn);
    if (!is_running(task) || !task.is_between_waits()) return outcome;
    task.is_given_up = true;
    return Outcome::failed;
  }

  void destroy(Actor& actor, core::Host& host, ExitReason) const noexcept override {
    SpawnedTask& task = task_of(actor);
    if (is_running(task) && !task.is_given_up) end_with_system(actor, host, task);
    if (is_running(task)) return base::leave_for_good(&task);
    task.type.destroy(task);
  }

  bool goes_on_without_mail(Actor& actor) const noexcept override {
    return task_of(actor).can_go_on();
  }
  core::Throw can_throw(Actor& actor) const noexcept override {
    SpawnedTask& task = task_of(actor);
    const bool can = task.actor != nullptr && !has_ended(task) && task.can_throw();
    return can ? core::Throw::in_wait : core::Throw::nowhere;
  }
  Outcome resume_throwing(Actor& actor, Turn& turn) const override {
    task_of(actor).throw_when_run();
    return resume(actor, turn);
  }

  const char* name() const noexcept override { return "coroutine"; }
  const char* type_name(const Actor& actor) const noexcept override {
    return task_of(actor).type.name;
  }

 private:
  static bool has_ended(const SpawnedTask& task) noexcept { return task.host == nullptr; }
  static bool is_running(const SpawnedTask& task) noexcept {
    return task.actor != nullptr && !has_ended(task);
  }

  static Outcome go_on(SpawnedTask& task, Turn& turn) noexcept {
    if (!task.can_go_on()) return Outcome::suspended;
    task.host = &turn.host;
    if (!task.run()) return Outcome::suspended;
    task.host = nullptr;
    const Error error = task.type.finish(task);
    if (ok(error.code())) return Outcome::stopped;
    return turn.fail(error.code() == Errc::exception ? ExitReason::panic : ExitReason::fail,
                     error.message());
  }

  // What it waits for may only end with a look at the outside world.
  static void end_with_system(Actor& actor, core::Host& host, SpawnedTask& task) noexcept {
    Turn turn(host, actor);
    task.request_stop();  // task.host stays: see stop()
    while (go_on(task, turn) == Outcome::suspended && !task.is_hopeless()) {
      host.system.look_outside();
    }
  }
};

constexpr CoroutineKind coroutine_kind;

void wake(detail::TaskRoot& root) noexcept {
  auto& task = static_cast<SpawnedTask&>(root);
  core::Waker{static_cast<Actor*>(task.actor), task.generation, static_cast<core::Host*>(task.host)}
      .wake();
}

}  // namespace

void describe_task(SpawnedTask& task, core::SpawnOptions& options) noexcept {
  options.kind = &coroutine_kind;
  options.body.words[0] = &task;
  options.first_turn = true;
}

}  // namespace jzx::kinds

namespace jzx::detail {

SpawnedTask::SpawnedTask(const TaskType& the_type) noexcept
    : TaskRoot(&kinds::wake), type(the_type) {}

}  // namespace jzx::detail

// A run: the queue is emptied, then the simulator takes a step, until nothing is left to do. And
// how it all ends.
#include <algorithm>
#include <utility>

#include "runtime/commands/command_core.hpp"

namespace jzx::detail {

using base::kNever;
using drivers::sim::VirtualTime;
using runtime::QueuedCommand;

RunReport CommandCore::run(RunWhat what, uint64_t for_ns) {
  RunReport result;
  if (is_busy_ || is_in_step_) {
    result.end = RunEnd::refused;
    result.report = "a run inside of a run: what is dispatched there is processed by the outer one";
    return result;
  }
  const uint64_t commands_before = queue_.taken();
  const uint64_t steps_before = simulator_.steps();
  const uint64_t start_ns = simulator_.time().now_ns();
  const uint64_t latest_ns = what == RunWhat::all         ? kNever
                             : for_ns < kNever - start_ns ? start_ns + for_ns
                                                          : kNever;
  const bool is_only_one = what == RunWhat::one || what == RunWhat::one_more;
  if (what != RunWhat::one_more) {
    left_ = budget();
    trail_.clear();
  }
  for (bool goes_on = true; goes_on;) {
    const Stop stop = pump(is_only_one);
    if (wants_shutdown_ && !is_ended_) shut_down_now();
    goes_on = false;
    if (stop == Stop::budget) {
      result.end = RunEnd::budget_spent;
      result.report = report_runaway();
    } else if (stop == Stop::differs) {
      result.end = RunEnd::differs;
      result.report = difference_;
    } else if (is_only_one && queue_.taken() != commands_before) {
      result.end = test_end() ? RunEnd::ended : RunEnd::idle;
    } else if (stop == Stop::output_full) {
      // Somebody in here may be about to take from it.
      goes_on = step_once(simulator_.time().now_ns()) && !is_only_one;
      result.end = RunEnd::output_full;
    } else {
      (void)test_end();  // others may still have something to do
      const bool is_held = stop == Stop::held;
      const uint64_t held_ns = is_held ? held_until_ns_ + VirtualTime::kStart : kNever;
      const uint64_t until_ns = std::min(latest_ns, held_ns);
      if (left_ == 0 && has_more(until_ns)) {
        result.end = RunEnd::budget_spent;
        result.report = report_runaway();
        break;
      }
      goes_on = step_once(until_ns);
      if (!goes_on && held_ns <= latest_ns && is_held) {
        simulator_.move_to(held_ns);
        goes_on = true;
      } else if (goes_on && is_only_one) {
        goes_on = false;
      } else if (!goes_on) {
        if (what == RunWhat::until && latest_ns != kNever) simulator_.move_to(latest_ns);
        const bool is_later = is_held || simulator_.next_event_ns() != kNever;
        result.end = is_ended_ ? RunEnd::ended : is_later ? RunEnd::time_up : RunEnd::idle;
      }
    }
  }
  result.commands = queue_.taken() - commands_before;
  result.steps = simulator_.steps() - steps_before;
  return result;
}

bool CommandCore::has_more(uint64_t latest_ns) {
  return simulator_.has_ready() || simulator_.next_event_ns() <= std::min(latest_ns, kNever - 1);
}

bool CommandCore::step_once(uint64_t latest_ns) {
  is_in_step_ = true;
  const bool has_stepped = simulator_.step(latest_ns);
  is_in_step_ = false;
  if (has_stepped && left_ > 0) --left_;
  return has_stepped;
}

// Only when the queue is empty: who hands over may be gone before his successor is there.
bool CommandCore::test_end() {
  if (!is_ended_ && has_spawned_ && live_count_ == 0 && queue_.is_empty()) end_now();
  return is_ended_ && queue_.is_empty();
}

// Whoever waits for an output is told, and must not run anything meanwhile.
void CommandCore::end_now() noexcept {
  const bool was_busy = std::exchange(is_busy_, true);
  is_ended_ = true;
  for (const auto& entry : reserved_) core::release_reserved(host(), entry.first);
  reserved_.clear();
  fail_all(output_waiters_, Error(Errc::closed, "the scheduler has ended", "output"));
  is_busy_ = was_busy;
}

void CommandCore::shutdown() noexcept {
  if (is_ended_) return;
  const bool is_inside = (is_busy_ || is_in_step_) && !is_outside_;
  if (options_.keeps_log && !is_inside && !wants_shutdown_) {
    log_.shutdown = CommandShutdown{{queue_.taken(), simulator_.steps()}, now_ns()};
  }
  wants_shutdown_ = true;
  update_care();
  if (!is_busy_ && !is_in_step_) shut_down_now();
}

void CommandCore::shut_down_now() noexcept {
  const bool was_busy = std::exchange(is_busy_, true);
  drop_queue();
  for (CommandSeat* seat = newest_; seat != nullptr; seat = seat->older) {
    seat->is_ended = true;
    (void)core::request_exit(host(), seat->id, ExitReason::normal);
  }
  // Most end in their next turn; a task may take its time to clean up, but not for ever.
  constexpr int kManySteps = 1'000'000;
  for (int step = 0; step < kManySteps && live_count_ > 0; ++step) {
    if (!step_once(kNever)) break;
    drop_queue();  // mail that came past it
  }
  end_now();
  is_busy_ = was_busy;
}

void CommandCore::drop_queue() noexcept {
  const drivers::sim::InName here(host());
  while (!queue_.is_empty()) {
    const bool is_logged = options_.keeps_log || expected_ != nullptr;
    if (is_logged && looked_at_ != queue_.taken() + 1) note_first();
    const QueuedCommand command = queue_.pop();
    Envelope& envelope = *command.envelope;
    if (kind_of(envelope) == CommandKind::send) {
      dead_letter(command.target, envelope, DeadLetterReason::closing, CommandFate::closing);
    } else {
      note_fate(CommandFate::closing);
      host().discard(envelope);
    }
    settle_record();
  }
}

}  // namespace jzx::detail

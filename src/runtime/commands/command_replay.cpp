// Replaying a log: what came from outside comes again, each between the same two turns as before,
// and every command is compared with the one that was logged. Nobody takes the output meanwhile:
// where it has room is what the log says (makes_room_again), and the oldest is dropped for that.
#include <algorithm>

#include "core/guard.hpp"
#include "runtime/commands/command_core.hpp"
#include "runtime/commands/join.hpp"

namespace jzx::detail {

using runtime::join;

namespace {

std::string text_of(const CommandRecord& record) {
  CommandLog one;
  one.records.push_back(record);
  one.records.back().fate = CommandFate::waiting;
  std::string text = one.to_text();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

RunReport refusal(std::string why) {
  RunReport result;
  result.end = RunEnd::differs;
  result.report = std::move(why);
  return result;
}

RunReport too_short(const CommandRecord& next) {
  return refusal(join({"the run has come to its end before command #",
                       std::to_string(next.sequence), " of the log: ", text_of(next)}));
}

}  // namespace

bool CommandCore::compare(const CommandRecord& record) {
  if (!difference_.empty()) return false;  // the first one counts
  const uint64_t place = record.sequence - 1;
  if (place >= expected_->records.size()) {
    if (expected_->is_cut) return true;
    difference_ = join({"the log ends before command #", std::to_string(record.sequence),
                        "; the run has: ", text_of(record)});
    return false;
  }
  const CommandRecord& wanted = expected_->records[place];
  const bool is_same =
      wanted.kind == record.kind && wanted.source == record.source &&
      wanted.target == record.target && wanted.cause == record.cause &&
      wanted.time_ns == record.time_ns && wanted.type == record.type &&
      wanted.is_injected == record.is_injected &&
      (!codec_.is_comparable || !wanted.payload || wanted.payload == record.payload);
  if (is_same) return true;
  difference_ = join({"the run differs from the log at command #", std::to_string(record.sequence),
                      "\n  logged: ", text_of(wanted), "\n  now:    ", text_of(record)});
  return false;
}

RunReport CommandCore::replay(const CommandLog& log) {
  if (is_busy_ || is_in_step_) return refusal("a replay inside of a run");
  if (queue_.taken() != 0) return refusal("a replay needs a scheduler that has not run yet");
  if (log.input != input_ || log.output != output_) {
    return refusal("the log is of a scheduler that was made otherwise: its handles differ");
  }
  expected_ = &log;
  difference_.clear();
  update_care();
  RunReport result;
  const uint64_t given = queue_.queued();  // before the replay, as in the run that was logged
  for (const CommandRecord& record : log.records) {
    if (!record.moment || record.sequence <= given) continue;
    std::string trouble = go_to(record);
    if (trouble.empty()) trouble = dispatch_again(record);
    if (trouble.empty()) continue;
    result = refusal(std::move(trouble));
    break;
  }
  if (result.end != RunEnd::differs && log.shutdown && !log.is_cut) {
    if (std::string trouble = go_to(*log.shutdown); !trouble.empty()) {
      result = refusal(std::move(trouble));
    } else {
      shutdown();
      result.end = RunEnd::ended;
      if (!difference_.empty()) {
        result = refusal(difference_);
      } else if (queue_.taken() < log.records.size()) {
        result = too_short(log.records[queue_.taken()]);
      }
    }
  } else if (result.end != RunEnd::differs) {
    // The log says how many commands there are, but not how many turns: a whole budget for each.
    RunWhat what = RunWhat::one;
    while (queue_.taken() < log.records.size() && result.end != RunEnd::differs) {
      const uint64_t before_taken = queue_.taken();
      const uint64_t before = before_taken + simulator_.steps();
      const uint64_t before_ns = now_ns();
      result = run(what, ~uint64_t{0});
      if (result.end == RunEnd::budget_spent) break;
      what = queue_.taken() != before_taken ? RunWhat::one : RunWhat::one_more;
      const bool has_moved = queue_.taken() + simulator_.steps() != before || now_ns() != before_ns;
      if (result.end == RunEnd::differs || has_moved) continue;
      const CommandRecord& next = log.records[queue_.taken()];
      if (next.fate == CommandFate::closing || next.fate == CommandFate::waiting) break;
      result = too_short(next);
    }
  }
  result.commands = queue_.taken();
  result.steps = simulator_.steps();
  expected_ = nullptr;
  update_care();
  return result;
}

// An interceptor that holds a command may have queued others for it before this moment.
bool CommandCore::is_something_missing(uint64_t sequence) const noexcept {
  const uint64_t queued = queue_.queued();
  if (sequence != 0) return queued + 1 < sequence;
  return queued < expected_->records.size() && expected_->records[queued].is_injected;
}

bool CommandCore::go_to(const CommandMoment& moment, uint64_t time_ns, uint64_t sequence,
                        std::string& difference) {
  const auto is_there = [&] {
    return queue_.taken() == moment.processed && simulator_.steps() == moment.steps;
  };
  // Both are counted up: past one of them it does not come there any more.
  while (queue_.taken() <= moment.processed && simulator_.steps() <= moment.steps && !is_there()) {
    const uint64_t before = queue_.taken() + simulator_.steps();
    const uint64_t before_ns = now_ns();
    RunReport part = run(RunWhat::one, ~uint64_t{0});
    if (part.end == RunEnd::differs) {
      difference = std::move(part.report);
      return false;
    }
    if (queue_.taken() + simulator_.steps() == before && now_ns() == before_ns) break;
  }
  // Time goes on only in runs, and a run begins with the queue. So the interceptors saw the first
  // command before the time went on: a delay counts from then, and what they injected for it was
  // queued then.
  if (is_there() && (now_ns() < time_ns || is_something_missing(sequence))) {
    RunReport part = run(RunWhat::until, time_ns - std::min(now_ns(), time_ns));
    if (part.end == RunEnd::differs) difference = std::move(part.report);
  }
  return is_there() && now_ns() == time_ns;
}

std::string CommandCore::go_to(const CommandRecord& record) {
  std::string difference;
  if (go_to(*record.moment, record.time_ns, record.sequence, difference) &&
      queue_.queued() + 1 == record.sequence) {
    return {};
  }
  if (!difference.empty()) return difference;
  return join({"the run took another way before command #", std::to_string(record.sequence),
               " came from outside: ", text_of(record)});
}

std::string CommandCore::go_to(const CommandShutdown& shutdown) {
  std::string difference;
  if (go_to(shutdown.moment, shutdown.time_ns, 0, difference)) return {};
  if (!difference.empty()) return difference;
  return join({"the run took another way before the shutdown, after command #",
               std::to_string(shutdown.moment.processed)});
}

std::string CommandCore::dispatch_again(const CommandRecord& record) {
  const std::string number = join({"command #", std::to_string(record.sequence)});
  Envelope* envelope = nullptr;
  switch (record.kind) {
    case CommandKind::send: {
      if (!record.payload || codec_.decode == nullptr) {
        return join({number, " came from outside, and its message (", record.type,
                     ") is opaque in the log: give the type a jzx::Codec"});
      }
      envelope = take_command(*this);
      if (envelope == nullptr) break;
      const bool is_read =
          core::guard([&] { return codec_.decode(port(), *envelope, *record.payload); },
                      [](const char*) { return false; });
      if (is_read) break;
      give_command(*this, *envelope);
      return join({number, " came from outside, and its message (", record.type,
                   ") cannot be read: ", *record.payload});
    }
    case CommandKind::spawn:
      return join({number, " spawned an actor (", record.type,
                   ") from outside: do so before the replay, or let an actor do it"});
    case CommandKind::kill:
      envelope = make_kill(*this, record.target);
      break;
    case CommandKind::fail:
      envelope = make_fail(*this, record.target, record.payload.value_or(std::string()));
      break;
  }
  if (envelope == nullptr) return join({number, ": no memory"});
  envelope->sender = record.target;
  CommandList list;
  append(list, *envelope);
  const Result<uint64_t> sent = dispatch(list);
  if (sent.ok()) return {};
  return join({number, " was accepted from outside, and is refused now: ", sent.error().message()});
}

}  // namespace jzx::detail

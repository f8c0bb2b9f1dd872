// What only some runs want: interceptors, the log, the comparison with another log, and the report
// of a run that does not come to an end.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>

#include "core/guard.hpp"
#include "runtime/commands/command_core.hpp"
#include "runtime/commands/join.hpp"

namespace jzx::detail {

using runtime::join;
using runtime::QueuedCommand;

// ---- before a command is processed ----

CommandCore::Next CommandCore::look_at_first() {
  const uint64_t sequence = queue_.taken() + 1;
  if (looked_at_ != sequence) {
    note_first();
    if (!difference_.empty()) return Next::stop;
    looked_at_ = sequence;
    next_interceptor_ = 0;
    held_until_ns_ = 0;
  }
  if (held_until_ns_ > now_ns()) return Next::stop;
  return intercept_first();
}

CommandCore::Next CommandCore::intercept_first() {
  const uint64_t sequence = queue_.taken() + 1;
  while (next_interceptor_ < interceptors_.size()) {
    const QueuedCommand command = queue_.first();
    Envelope& envelope = *command.envelope;
    CommandStep step{*this, {}, nullptr, nullptr, {}, 0, false};
    step.command = describe(command, sequence);
    if (kind_of(envelope) == CommandKind::send) step.message = &envelope;
    CommandSeat* seat = nullptr;
    if (kind_of(envelope) == CommandKind::spawn) {
      seat = envelope.as<SpawnPlan>().seat;
      step.seat = &seat;
    }
    const ActorId target = step.command.target;
    Interceptor& interceptor = interceptors_[next_interceptor_++];
    call_interceptor(interceptor, step);
    if (seat != nullptr && seat != envelope.as<SpawnPlan>().seat) {
      // Another actor takes the place of the one that was meant.
      CommandSeat& meant = *std::exchange(envelope.as<SpawnPlan>().seat, seat);
      seat->core = this;
      seat->id = meant.id;
      seat->predecessor = meant.predecessor;
      seat->holds_id = std::exchange(meant.holds_id, false);
      end_plan(&meant);
    }
    if (step.command.target != target) queue_.first().target = step.command.target;
    inject(interceptor, step.injected, sequence);
    if (step.is_dropped) {
      host().discard(*queue_.pop().envelope);
      note_fate(CommandFate::filtered);
      settle_record();
      return Next::gone;
    }
    if (step.delay_ns != 0) {
      using drivers::sim::VirtualTime;
      constexpr uint64_t kEndOfTime = VirtualTime::kEnd - VirtualTime::kStart;
      const uint64_t left_ns = kEndOfTime - std::min(now_ns(), kEndOfTime);
      held_until_ns_ = now_ns() + std::min(step.delay_ns, left_ns);
      return Next::stop;
    }
  }
  if (has_record_ && !interceptors_.empty()) note_changes();
  if (left_ <= kTrail) trail_.push_back(describe(queue_.first(), sequence));
  return Next::perform;
}

void CommandCore::inject(Interceptor& interceptor, CommandList& list, uint64_t cause) noexcept {
  Errc error = list.error;
  if (ok(error) && (list.first == nullptr || enqueue(list, 0, cause, kInjected))) return;
  if (ok(error)) {
    error = queue_.size() + list.count > queue_.limit() ? Errc::mailbox_full : Errc::no_memory;
  }
  fail_interceptor(interceptor, Error(error, why_refused(list), "interceptor"));
}

void CommandCore::add_interceptor(CommandInterceptor interceptor) {
  interceptors_.push_back({std::move(interceptor), std::make_unique<FailureNote>()});
  update_care();
}

void CommandCore::call_interceptor(Interceptor& interceptor, CommandStep& step) noexcept {
  if (interceptor.note == nullptr) return;
  (void)core::guard([&] { return interceptor.function(step), true; },
                    [&](const char* text) {
                      end_commands(*this, step.injected);
                      fail_interceptor(interceptor, Error(Errc::exception, text, "interceptor"));
                      return false;
                    });
}

// It is not called again.
void CommandCore::fail_interceptor(Interceptor& interceptor, const Error& error) noexcept {
  interceptor.note->error = error;
  tell(std::move(interceptor.note));
}

// ---- the log ----

CommandRecord CommandCore::describe(const QueuedCommand& command, uint64_t sequence) {
  const Envelope& envelope = *command.envelope;
  CommandRecord record;
  record.sequence = sequence;
  record.cause = command.cause;
  record.time_ns = command.time_ns;
  record.kind = kind_of(envelope);
  record.source = envelope.sender;
  record.target = command.target;
  record.is_injected = (envelope.trace & kInjected) != 0;
  return record;
}

void CommandCore::note_first() {
  const uint64_t sequence = queue_.taken() + 1;
  const QueuedCommand& command = queue_.first();
  Envelope& envelope = *command.envelope;
  std::optional<CommandMoment> moment;
  if (!arrivals_.empty() && arrivals_.front().sequence == sequence) {
    moment = arrivals_.front().moment;
    arrivals_.pop_front();
  }
  has_record_ = false;
  if (!options_.keeps_log && expected_ == nullptr) return;
  CommandRecord record = describe(command, sequence);
  record.moment = moment;
  switch (record.kind) {
    case CommandKind::send:
      record.type = envelope.type->name;
      record.payload = encoded(envelope);
      break;
    case CommandKind::spawn:
      record.type = envelope.as<SpawnPlan>().seat->type.name;
      break;
    case CommandKind::fail:
      record.payload = std::string(envelope.as<FailPlan>().text->view());
      break;
    case CommandKind::kill:
      break;
  }
  if (expected_ != nullptr && !compare(record)) return;
  if (!options_.keeps_log) return;
  if (log_.records.size() >= options_.max_log) {
    log_.is_cut = true;
    return;
  }
  log_.records.push_back(std::move(record));
  has_record_ = true;
}

std::optional<std::string> CommandCore::encoded(Envelope& message) {
  std::optional<std::string> text;
  if (codec_.encode == nullptr) return text;
  (void)core::guard([&] { return text = codec_.encode(message), true; },
                    [](const char*) { return false; });  // it stays opaque
  return text;
}

void CommandCore::note_changes() {
  const QueuedCommand& command = queue_.first();
  Envelope& envelope = *command.envelope;
  CommandRecord& record = log_.records.back();
  if (command.target != record.target) record.redirected = command.target;
  if (record.kind == CommandKind::send) {
    std::optional<std::string> now = encoded(envelope);
    if (now != record.payload) record.rewritten = std::move(now);
  } else if (record.kind == CommandKind::spawn) {
    const char* type = envelope.as<SpawnPlan>().seat->type.name;
    if (type != record.type) record.rewritten = type;
  }
}

void CommandCore::settle_record() noexcept {
  if (has_record_) log_.records.back().fate = fate_;
  has_record_ = false;
}

// ---- a runaway ----

std::string CommandCore::name_of(ActorId id) {
  char text[40];
  std::snprintf(text, sizeof(text), "%#" PRIx64, id);
  if (id == 0) return "the outside";
  if (id == output_) return "the output";
  if (id == input_) return "the input";
  const CommandSeat* seat = seat_of(id);
  return join({text, " (", seat != nullptr ? seat->type.name : "ended", ")"});
}

std::string CommandCore::report_runaway() {
  std::string text = join(
      {"a runaway? The turn budget of this run is spent: ", std::to_string(options_.turn_budget),
       " commands and turns; ", std::to_string(queue_.size()), " commands wait\n"});
  std::map<ActorId, size_t> counts;
  for (const CommandRecord& record : trail_) ++counts[record.target];
  std::vector<std::pair<ActorId, size_t>> busiest(counts.begin(), counts.end());
  std::stable_sort(busiest.begin(), busiest.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr size_t kMostNamed = 5;
  if (busiest.size() > kMostNamed) busiest.resize(kMostNamed);
  text += join({"who got most of the last ", std::to_string(trail_.size()), ":\n"});
  for (const auto& [id, count] : busiest) {
    text += join({"  ", name_of(id), ": ", std::to_string(count), "\n"});
  }
  text += "the cascade, the newest first:\n";
  constexpr size_t kMostSteps = 16;
  uint64_t wanted = trail_.empty() ? 0 : trail_.back().sequence;
  size_t shown = 0;
  for (auto record = trail_.rbegin(); record != trail_.rend() && shown < kMostSteps; ++record) {
    if (record->sequence != wanted) continue;
    text += join({"  #", std::to_string(record->sequence), " ", to_string(record->kind), " from ",
                  name_of(record->source), " to ", name_of(record->target), ", because of #",
                  std::to_string(record->cause), "\n"});
    wanted = record->cause;
    ++shown;
  }
  trail_.clear();
  return text;
}

}  // namespace jzx::detail

// Making and queueing commands, reservations, and the functions of jzx/detail/commands/core.hpp.
#include "runtime/commands/command_core.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "drivers/sim/empty_world.hpp"

namespace jzx::detail {

namespace {

void end_spawn(Envelope& envelope) noexcept {
  CommandSeat* seat = envelope.as<SpawnPlan>().seat;
  if (seat != nullptr) seat->core->end_plan(seat);
}
void end_fail(Envelope& envelope) noexcept {
  const FailPlan plan = envelope.as<FailPlan>();
  release(*plan.port, plan.text, sizeof(ExitText));
}

// A kind of command that carries no message.
constexpr MessageType plan_type(const char* name, const MessageType* key,
                                void (*destroy)(Envelope&) noexcept) noexcept {
  return {name, key, destroy, nullptr, key, false};
}
constexpr MessageType spawn_command = plan_type("spawn", &spawn_command, &end_spawn);
constexpr MessageType kill_command = plan_type("kill", &kill_command, nullptr);
constexpr MessageType fail_command = plan_type("fail", &fail_command, &end_fail);

Envelope* take_plan(CommandCore& core, const MessageType& type, CommandKind kind,
                    ActorId target) noexcept {
  Envelope* envelope = core.host().envelopes.take(&type, target);
  if (envelope != nullptr) envelope->trace = static_cast<uint32_t>(kind);
  return envelope;
}

}  // namespace

CommandCore::CommandCore(const CommandOptions& options, const MessageType& type,
                         const CommandCodec& codec) noexcept
    : options_(options), message_(type), codec_(codec), queue_(options.max_commands) {
  update_care();
}

bool CommandCore::open() noexcept {
  runtime::SimOptions wanted;
  // Two more, for the handles that stand for others.
  wanted.max_actors = std::min(options_.max_actors, std::numeric_limits<uint32_t>::max() - 2) + 2;
  system_ = runtime::SimSystem::create(wanted, simulator_,
                                       drivers::sim::EmptyWorld::make(wanted.allocator));
  if (system_ == nullptr) return false;
  system_->system.set_observer(options_.observer);
  if (!ok(core::reserve(host(), input_)) || !ok(core::reserve(host(), output_))) return false;
  log_.input = input_;
  log_.output = output_;
  return true;
}

CommandCore::~CommandCore() {
  if (system_ == nullptr) return;
  is_ended_ = true;
  is_busy_ = true;  // for good: nothing is run any more
  drop_queue();
  end_outputs();
  (void)system_->destroy();
}

// ---- queueing ----

Result<uint64_t> CommandCore::dispatch(CommandList& list) noexcept {
  constexpr const char* kSource = "dispatch";
  Errc error = is_ended_ || wants_shutdown_ ? Errc::closed : list.error;
  const bool is_inside = (is_busy_ || is_in_step_) && !is_outside_;
  const uint64_t first = queue_.queued() + 1;
  const uint32_t count = list.count;
  const ActorId source = is_inside ? host().acting() : 0;
  if (dead_.contains(source)) killed_.insert(source);
  if (ok(error) && !enqueue(list, source, is_inside && is_busy_ ? current() : 0)) {
    error = queue_.size() + count > queue_.limit() ? Errc::mailbox_full : Errc::no_memory;
  }
  if (ok(error)) {
    if (options_.keeps_log && !is_inside) {
      for (uint32_t i = 0; i < count; ++i) {
        arrivals_.push_back({first + i, {queue_.taken(), simulator_.steps()}});
      }
    }
    return first;
  }
  end_commands(*this, list);
  switch (error) {
    case Errc::closed:
      return Error(error, "the scheduler has ended: its last actor is gone, or it was shut down",
                   kSource);
    case Errc::mailbox_full:
      return Error(error, "the command queue is full", kSource);
    case Errc::actor_not_local:
      return Error(error, "the actions were made with another scheduler", kSource);
    default:
      return Error(error, {}, kSource);
  }
}

Errc CommandCore::emit(ActorId source, CommandList& list) noexcept {
  const CommandSeat* seat = seat_of(source);
  Errc error = list.error;
  if (seat == nullptr || seat->is_ended || !seat->type.is_async || wants_shutdown_) {
    error = Errc::killed;
  } else if (ok(error) &&
             !enqueue(list, source, static_cast<const AsyncCommandSeat*>(seat)->cause)) {
    error = Errc::mailbox_full;
  }
  if (!ok(error)) end_commands(*this, list);
  return error;
}

bool CommandCore::adopt(CommandSeat& seat, Envelope& message) {
  Envelope* command = take_command(*this);
  if (command == nullptr) return false;
  if (!seat.move_message(message, *command)) return give_command(*this, *command), false;
  command->sender = seat.id;
  CommandList list;
  append(list, *command);
  if (dead_.contains(message.sender)) killed_.insert(message.sender);
  if (enqueue(list, message.sender, 0)) return true;
  end_commands(*this, list);
  return false;
}

// ---- plans and reservations ----

Errc CommandCore::reserve(ActorId owner, ActorId& out) noexcept {
  CommandSeat* seat = owner == 0 ? nullptr : seat_of(owner);
  if (owner != 0 && (seat == nullptr || seat->is_ended)) return Errc::killed;
  if (is_ended_ || wants_shutdown_) return Errc::closed;
  const Errc error = core::reserve(host(), out);
  if (!ok(error)) return error;
  reserved_.emplace(out, Reservation{owner, false});
  if (seat != nullptr && seat->type.is_async) {
    seat->has_reserved = true;
  } else if (seat != nullptr) {
    made_now_.push_back(out);
  }
  return Errc::ok;
}

void CommandCore::claim_reservation(CommandSeat& seat, ActorId id) noexcept {
  seat.core = this;
  seat.id = id;
  const auto found = reserved_.find(id);
  if (found == reserved_.end() || found->second.is_planned) return;
  found->second.is_planned = true;
  seat.holds_id = true;
}

void CommandCore::end_plan(CommandSeat* seat) noexcept {
  if (seat->holds_id && reserved_.erase(seat->id) != 0) core::release_reserved(host(), seat->id);
  delete seat;
}

void CommandCore::release_unreturned() noexcept {
  for (const ActorId id : made_now_) {
    const auto found = reserved_.find(id);
    if (found == reserved_.end() || found->second.is_planned) continue;
    reserved_.erase(found);
    core::release_reserved(host(), id);
  }
  made_now_.clear();
}

// ---- the functions of the header ----

CommandCore* make_command_core(const CommandOptions& options, const MessageType& type,
                               const CommandCodec& codec) noexcept {
  auto* core = new (std::nothrow) CommandCore(options, type, codec);
  if (core != nullptr && core->open()) return core;
  delete core;
  return nullptr;
}
void end_command_core(CommandCore& core) noexcept { delete &core; }
Port& port_of(CommandCore& core) noexcept { return core.port(); }

SchedulerPhase phase_of(const CommandCore& core) noexcept { return core.phase(); }
ActorId input_of(const CommandCore& core) noexcept { return core.input(); }
ActorId output_of(const CommandCore& core) noexcept { return core.output(); }
uint64_t now_of(const CommandCore& core) noexcept { return core.now_ns(); }
bool is_ended(const CommandCore& core) noexcept { return core.is_ended(); }
size_t queued_of(const CommandCore& core) noexcept { return core.queued(); }
size_t actors_of(const CommandCore& core) noexcept { return core.live_count(); }

Envelope* take_command(CommandCore& core) noexcept {
  return core.host().envelopes.take(&core.message(), 0);
}
void give_command(CommandCore& core, Envelope& envelope) noexcept {
  core.host().envelopes.give(envelope);
}

Envelope* make_spawn(CommandCore& core, ActorId reserved, CommandSeat* seat,
                     ActorId predecessor) noexcept {
  core.claim_reservation(*seat, reserved);
  seat->predecessor = predecessor;
  Envelope* envelope = take_plan(core, spawn_command, CommandKind::spawn, reserved);
  if (envelope == nullptr) return core.end_plan(seat), nullptr;
  new (envelope->storage) SpawnPlan{seat};
  return envelope;
}
Envelope* make_kill(CommandCore& core, ActorId target) noexcept {
  return take_plan(core, kill_command, CommandKind::kill, target);
}
Envelope* make_fail(CommandCore& core, ActorId target, std::string_view text) noexcept {
  void* memory = allocate(core.port(), sizeof(ExitText));
  if (memory == nullptr) return nullptr;
  Envelope* envelope = take_plan(core, fail_command, CommandKind::fail, target);
  if (envelope == nullptr) return release(core.port(), memory, sizeof(ExitText)), nullptr;
  new (envelope->storage) FailPlan{new (memory) ExitText(text), &core.port()};
  return envelope;
}

void end_commands(CommandCore& core, CommandList& list) noexcept {
  for (Envelope* command = list.first; command != nullptr;) {
    Envelope* next = command->next;
    core.host().discard(*command);
    command = next;
  }
  list = CommandList();
}

void no_actions_here() noexcept {
  std::fputs("jzx: an empty Actions cannot be added to: begin with context.actions()\n", stderr);
  std::abort();
}

Errc reserve_actor(CommandCore& core, ActorId owner, ActorId& out) noexcept {
  return core.reserve(owner, out);
}
Result<uint64_t> dispatch(CommandCore& core, CommandList& list) noexcept {
  return core.dispatch(list);
}
Errc emit(CommandCore& core, ActorId source, CommandList& list) noexcept {
  return core.emit(source, list);
}
RunReport run(CommandCore& core, RunWhat what, uint64_t for_ns) { return core.run(what, for_ns); }
RunReport replay(CommandCore& core, const CommandLog& log) { return core.replay(log); }
void shutdown(CommandCore& core) noexcept { core.shutdown(); }
void wait_for_output(CommandCore& core, CommandWaiter& waiter) { core.wait_for_output(waiter); }
void try_output(CommandCore& core, CommandWaiter& waiter) { core.try_output(waiter); }
void add_interceptor(CommandCore& core, CommandInterceptor interceptor) {
  core.add_interceptor(std::move(interceptor));
}
const CommandLog& log_of(const CommandCore& core) noexcept { return core.log(); }

}  // namespace jzx::detail

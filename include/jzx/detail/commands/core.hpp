// The narrow place between the templates of a CommandScheduler and the library. Not for users.
//
// A command is an envelope from the moment it is made: its message is built there once, and only
// the pointer goes through the list of actions, the queue and the mailbox.
//
//   Envelope of a command   next: in its list, before it is queued
//                           sender: its target before it is queued, its source from then on
//                           trace: its CommandKind, until it is delivered
//
// Threads: one, that of the scheduler.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <jzx/detail/port.hpp>
#include <jzx/detail/task_root.hpp>
#include <jzx/envelope.hpp>
#include <jzx/observer.hpp>
#include <jzx/sim/command_log.hpp>

namespace jzx {

// See CommandScheduler.
enum class SchedulerPhase : uint8_t {
  idle,    // nothing is queued
  queued,  // commands wait for a run
  busy,    // commands are being processed
};

struct CommandOptions {
  uint32_t max_actors = 65536;
  size_t max_commands = size_t{1} << 20;  // queued at once
  size_t max_outputs = 65536;  // messages that nobody has taken yet; and failures, so many again
  uint32_t inbox_cap = 1024;   // of an async actor
  // Commands and turns in one run, after which it is taken for a runaway; 0: no limit.
  uint64_t turn_budget = 10'000'000;
  bool keeps_log = false;
  size_t max_log = size_t{1} << 20;  // commands that are kept
  Observer* observer = nullptr;      // must outlive the scheduler
};

enum class RunEnd : uint8_t {
  idle,          // nothing happens any more, until something is dispatched
  ended,         // the last actor has ended, or the scheduler was shut down
  time_up,       // what is left to do is later
  output_full,   // somebody must take from the output first
  budget_spent,  // a runaway? `report` says who; a further run goes on
  differs,       // of a replay: `report` says where
  refused,       // from inside of the scheduler's own run: only dispatch is for there
};

struct RunReport {
  RunEnd end = RunEnd::idle;
  uint64_t commands = 0;  // processed in this run
  uint64_t steps = 0;     // turns of async actors and tasks in this run
  std::string report;
};

namespace detail {

class CommandCore;
class CommandSeat;

// Actions that were not queued yet.
struct CommandList {
  Envelope* first = nullptr;
  Envelope* last = nullptr;
  uint32_t count = 0;
  Errc error = Errc::ok;  // there was no memory for one of them, or they are another scheduler's
};

inline void append(CommandList& list, Envelope& command) noexcept {
  command.next = nullptr;
  (list.first == nullptr ? list.first : list.last->next) = &command;
  list.last = &command;
  ++list.count;
}

// How messages of a scheduler are logged.
struct CommandCodec {
  std::string (*encode)(Envelope& message) = nullptr;  // null: they are opaque
  // Makes the message in the envelope; false: that is none.
  bool (*decode)(Port& port, Envelope& envelope, std::string_view text) = nullptr;
  bool is_comparable = false;  // equal messages have equal texts
};

// ---- the scheduler ----

[[nodiscard]] JZX_API CommandCore* make_command_core(const CommandOptions& options,
                                                     const MessageType& type,
                                                     const CommandCodec& codec) noexcept;
JZX_API void end_command_core(CommandCore& core) noexcept;
[[nodiscard]] JZX_API Port& port_of(CommandCore& core) noexcept;

[[nodiscard]] JZX_API SchedulerPhase phase_of(const CommandCore& core) noexcept;
[[nodiscard]] JZX_API ActorId input_of(const CommandCore& core) noexcept;
[[nodiscard]] JZX_API ActorId output_of(const CommandCore& core) noexcept;
[[nodiscard]] JZX_API uint64_t now_of(const CommandCore& core) noexcept;
[[nodiscard]] JZX_API bool is_ended(const CommandCore& core) noexcept;
[[nodiscard]] JZX_API size_t queued_of(const CommandCore& core) noexcept;
[[nodiscard]] JZX_API size_t actors_of(const CommandCore& core) noexcept;

// ---- making commands ----

// For a message of this scheduler's type; nullptr: no memory.
[[nodiscard]] JZX_API Envelope* take_command(CommandCore& core) noexcept;
// One whose message could not be made.
JZX_API void give_command(CommandCore& core, Envelope& envelope) noexcept;
// The other kinds, whole. nullptr: no memory; then the seat is gone.
[[nodiscard]] JZX_API Envelope* make_spawn(CommandCore& core, ActorId reserved, CommandSeat* seat,
                                           ActorId predecessor) noexcept;
[[nodiscard]] JZX_API Envelope* make_kill(CommandCore& core, ActorId target) noexcept;
[[nodiscard]] JZX_API Envelope* make_fail(CommandCore& core, ActorId target,
                                          std::string_view text) noexcept;
JZX_API void end_commands(CommandCore& core, CommandList& list) noexcept;
// Says so on stderr, and ends the program.
[[noreturn]] JZX_API void no_actions_here() noexcept;

// Its owner is who is to return the spawn, 0: the outside.
[[nodiscard]] JZX_API Errc reserve_actor(CommandCore& core, ActorId owner, ActorId& out) noexcept;

// From outside, or from inside of a run: all of them or none, at the tail. The number of the first.
[[nodiscard]] JZX_API Result<uint64_t> dispatch(CommandCore& core, CommandList& list) noexcept;
// A batch of an async actor.
[[nodiscard]] JZX_API Errc emit(CommandCore& core, ActorId source, CommandList& list) noexcept;

// ---- running ----

enum class RunWhat : uint8_t {
  one,
  one_more,  // from the budget of the run before
  ready,
  until,
  all,
};
JZX_API RunReport run(CommandCore& core, RunWhat what, uint64_t for_ns);
JZX_API void shutdown(CommandCore& core) noexcept;

// ---- who waits for a message: of the output, or of an inbox ----

struct CommandWaiter {
  void (*give)(CommandWaiter& self, Envelope& message) = nullptr;  // moves the message out
  void (*fail)(CommandWaiter& self, const Error& error) = nullptr;
  CommandWaiter* next = nullptr;
  CommandWaiter* before = nullptr;
  struct CommandWaiters* list = nullptr;  // null: it does not wait any more
};
struct CommandWaiters {
  CommandWaiter* first = nullptr;
  CommandWaiter* last = nullptr;
};
JZX_API void leave(CommandWaiter& waiter) noexcept;

// Gives it the oldest output, or an error, now or later.
JZX_API void wait_for_output(CommandCore& core, CommandWaiter& waiter);
// The same now, or Errc::empty.
JZX_API void try_output(CommandCore& core, CommandWaiter& waiter);
// The next message in the inbox of this actor.
JZX_API void wait_for_inbox(CommandCore& core, ActorId actor, CommandWaiter& waiter);

// ---- interceptors ----

// What an interceptor wants done with the command at the head of the queue.
struct CommandStep {
  CommandCore& core;
  CommandRecord command;         // without type and payload
  Envelope* message = nullptr;   // of a send
  CommandSeat** seat = nullptr;  // of a spawn
  CommandList injected;
  uint64_t delay_ns = 0;
  bool is_dropped = false;
};
using CommandInterceptor = std::function<void(CommandStep&)>;
JZX_API void add_interceptor(CommandCore& core, CommandInterceptor interceptor);

// ---- the log ----

[[nodiscard]] JZX_API const CommandLog& log_of(const CommandCore& core) noexcept;
JZX_API RunReport replay(CommandCore& core, const CommandLog& log);

// ---- actors ----

// What a handler is called with, and what it wants.
struct CommandCall {
  CommandCall(CommandCore& the_core, ActorId the_self, ActorId the_sender,
              uint64_t the_sequence) noexcept
      : core(the_core), self(the_self), sender(the_sender), sequence(the_sequence) {}
  CommandCall(const CommandCall&) = delete;
  CommandCall& operator=(const CommandCall&) = delete;
  ~CommandCall() {
    if (actions.first != nullptr) end_commands(core, actions);
  }

  CommandCore& core;
  ActorId self;
  ActorId sender;     // the source of the command; 0: the outside
  uint64_t sequence;  // of the command that is handled
  CommandList actions;
};

struct CommandActorType {
  const char* name;
  bool is_async;
};

// How an actor failed, on its way to the output. It is made with the actor, so that telling needs
// no memory.
struct FailureNote {
  Envelope envelope;
  Error error;
};

// The body of a command actor, and before that the plan of it: the user's actor is made in its
// first turn.
class CommandSeat {
 public:
  explicit CommandSeat(const CommandActorType& the_type)
      : type(the_type), note(std::make_unique<FailureNote>()) {}
  CommandSeat(const CommandSeat&) = delete;
  CommandSeat& operator=(const CommandSeat&) = delete;
  virtual ~CommandSeat() = default;

  // May throw, all of them. The first turn; of an async actor, makes its task.
  virtual void start(CommandCall& call) = 0;
  // Of a sync actor: leaves what it returned in call.actions.
  virtual void handle(CommandCall& call, Envelope& message) = 0;
  virtual void stop(ExitReason reason) = 0;
  // A message that came another way becomes a command. False: it is of another type, or there was
  // no memory.
  virtual bool move_message(Envelope& from, Envelope& to) = 0;

  const CommandActorType& type;

  // ---- the library's ----
  std::unique_ptr<FailureNote> note;  // until it is used
  CommandCore* core = nullptr;
  ActorId id = 0;
  bool holds_id = false;    // the id is reserved for this plan
  ActorId predecessor = 0;  // who hands over to it
  CommandSeat* newer = nullptr;
  CommandSeat* older = nullptr;
  uint64_t born = 0;  // the command that spawned it
  ExitText why;       // of a Fail that it was told
  bool is_to_fail = false;
  bool has_started = false;
  bool has_reserved = false;  // handles that its batches have not used yet
  bool is_ended = false;      // nothing from it counts any more
};

// Of an async actor: the root of its task's chain.
class AsyncCommandSeat : public CommandSeat, public TaskRoot {
 public:
  JZX_API explicit AsyncCommandSeat(const CommandActorType& the_type);

  // After start().
  [[nodiscard]] virtual std::coroutine_handle<> first() noexcept = 0;
  // The task has ended: with what.
  [[nodiscard]] virtual Error finish() = 0;

  // ---- the library's ----
  CommandWaiters waiters;  // for mail
  void* host = nullptr;
  uint64_t cause = 0;           // the command that brought the last message
  std::deque<uint64_t> causes;  // of what is in its mailbox
  bool is_in_turn = false;
  bool has_begun = false;
};

}  // namespace detail
}  // namespace jzx

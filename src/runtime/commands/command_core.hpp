// The core of a CommandScheduler: one queue of commands in front of the actors of one simulated
// node.
//
//   dispatch ──▶ queue ──▶ interceptors ──▶ send to a sync actor: its turn, now; what it returns
//     emit ──▶    ▲                     │                         goes to the tail, together
//                 └─────────────────────┤ send to an async actor: its mailbox; its turn comes when
//                                       │                         the queue is empty
//                                       ├ send to the output:     a list, or whoever waits
//                                       └ spawn, kill, fail:      done, now
//
// The actors are the core's, of two kinds of their own, and the node is the simulator's: the queue
// is emptied first, then the simulator takes one step, and so on. So a run is a function of what
// was dispatched.
//
// Invariants: commands are processed in the order of their numbers, each one once, never one inside
// another. What is in the queue is in no mailbox yet; a send is in the ledger from when it is
// processed. A plan (CommandSeat) belongs to its command until it is spawned, then to its actor.
// `killed_` holds who was killed by another while commands of his may still be queued, `dead_` all
// of them: mail of theirs that comes late brings them back into `killed_`.
//
// Threads: one.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include <jzx/detail/commands/core.hpp>

#include "core/lifecycle.hpp"
#include "core/turn.hpp"
#include "drivers/sim/policies.hpp"
#include "drivers/sim/simulator.hpp"
#include "runtime/commands/command_queue.hpp"
#include "runtime/commands/dead_senders.hpp"
#include "runtime/sim/sim_system.hpp"

namespace jzx::detail {

// Beside the kind, in Envelope::trace.
inline constexpr uint32_t kInjected = 256;
[[nodiscard]] inline CommandKind kind_of(const Envelope& command) noexcept {
  return static_cast<CommandKind>(command.trace & 255u);
}

extern const core::Kind& sync_command_kind;
extern const core::Kind& async_command_kind;

// Of a spawn command.
struct SpawnPlan {
  CommandSeat* seat;
};
// Of a fail command.
struct FailPlan {
  ExitText* text;
  Port* port;
};

class CommandCore {
 public:
  CommandCore(const CommandOptions& options, const MessageType& type,
              const CommandCodec& codec) noexcept;
  ~CommandCore();
  CommandCore(const CommandCore&) = delete;
  CommandCore& operator=(const CommandCore&) = delete;
  // False: no memory.
  [[nodiscard]] bool open() noexcept;

  [[nodiscard]] drivers::sim::SimHost& host() noexcept { return system_->host; }
  [[nodiscard]] core::System& actors() noexcept { return system_->system; }
  [[nodiscard]] const core::System& actors() const noexcept { return system_->system; }
  [[nodiscard]] Port& port() noexcept { return *system_; }

  // ---- looking ----

  [[nodiscard]] SchedulerPhase phase() const noexcept {
    if (is_busy_) return SchedulerPhase::busy;
    return queue_.is_empty() ? SchedulerPhase::idle : SchedulerPhase::queued;
  }
  [[nodiscard]] uint64_t now_ns() const noexcept {
    // The time is a clock, whose functions are not const.
    return const_cast<drivers::sim::Simulator&>(simulator_).time().now_ns() -
           drivers::sim::VirtualTime::kStart;
  }
  [[nodiscard]] bool is_ended() const noexcept { return is_ended_; }
  [[nodiscard]] size_t queued() const noexcept { return queue_.size(); }
  [[nodiscard]] size_t live_count() const noexcept { return live_count_; }
  // The command that is being processed.
  [[nodiscard]] uint64_t current() const noexcept { return queue_.taken(); }
  [[nodiscard]] const CommandLog& log() const noexcept { return log_; }

  const ActorId& input() const noexcept { return input_; }
  const ActorId& output() const noexcept { return output_; }
  const MessageType& message() const noexcept { return message_; }

  // ---- queueing: all of it or nothing; the list is empty after a success ----

  [[nodiscard]] bool enqueue(CommandList& list, ActorId source, uint64_t cause,
                             uint32_t mark = 0) noexcept {
    if (!queue_.make_room(list.count)) [[unlikely]]
      return false;
    const uint64_t time_ns = now_ns();
    for (Envelope* command = list.first; command != nullptr;) {
      Envelope* next = command->next;
      const ActorId target = std::exchange(command->sender, source);
      if (mark != 0) command->trace |= mark;
      queue_.push({command, target, cause, time_ns});
      command = next;
    }
    list.first = nullptr;  // the rest means nothing then
    list.count = 0;
    return true;
  }
  [[nodiscard]] Result<uint64_t> dispatch(CommandList& list) noexcept;
  [[nodiscard]] Errc emit(ActorId source, CommandList& list) noexcept;
  // A message that came to a command actor past the queue goes through it.
  [[nodiscard]] bool adopt(CommandSeat& seat, Envelope& message);

  // ---- plans and reservations ----

  [[nodiscard]] Errc reserve(ActorId owner, ActorId& out) noexcept;
  void claim_reservation(CommandSeat& seat, ActorId id) noexcept;
  void end_plan(CommandSeat* seat) noexcept;
  // What the call that has just ended reserved and did not return.
  void release_unreturned() noexcept;

  // ---- running ----

  RunReport run(RunWhat what, uint64_t for_ns);
  RunReport replay(const CommandLog& log);
  void shutdown() noexcept;

  // ---- the output ----

  void wait_for_output(CommandWaiter& waiter);
  void try_output(CommandWaiter& waiter);

  void add_interceptor(CommandInterceptor interceptor);

  // ---- for the kinds ----

  // The handler has returned: queues what it wants. Empty: done. Else why the actor fails.
  [[nodiscard]] const char* commit(CommandCall& call) noexcept {
    if (!made_now_.empty()) [[unlikely]]
      release_unreturned();
    if (ok(call.actions.error) && enqueue(call.actions, call.self, current())) [[likely]]
      return nullptr;
    return why_refused(call.actions);
  }
  // Is this the message of the command that is being processed? Asked once.
  [[nodiscard]] bool takes_delivery(const Envelope* envelope) noexcept {
    if (delivering_ != envelope) return false;
    delivering_ = nullptr;
    return true;
  }
  // It has ended: tells the output if it failed, and forgets it.
  void bury(CommandSeat& seat, ExitReason reason, std::string_view text) noexcept;

 private:
  enum class Stop : uint8_t { none, held, output_full, budget, differs };
  enum class Next : uint8_t { perform, gone, stop };
  struct Reservation {
    ActorId owner = 0;
    bool is_planned = false;
  };
  struct Interceptor {
    CommandInterceptor function;
    std::unique_ptr<FailureNote> note;
  };

  // ---- command_turns.cpp ----
  [[nodiscard]] Stop pump(bool is_only_one);
  // False: the output is full, and the command is as it was.
  [[nodiscard]] bool perform_first();
  [[nodiscard]] bool perform_rare(Envelope& envelope, ActorId target);
  void deliver(core::Actor& actor, Envelope& envelope, core::Admission admission, ActorId target);
  void send_rare(ActorId target, Envelope& envelope);
  void spawn(ActorId target, Envelope& envelope);
  void end_one(ActorId target, ActorId source, const ExitText* text);
  // Nothing from it counts any more, nor from its tasks.
  void silence(const core::Actor& actor);
  // Out of whichever queue it waits in.
  [[nodiscard]] bool take_back(core::Actor& actor) noexcept;
  [[nodiscard]] CommandSeat* seat_of(ActorId id) noexcept;
  void dead_letter(ActorId target, Envelope& envelope, DeadLetterReason reason,
                   CommandFate fate) noexcept;
  void refuse_spawn(CommandSeat& seat, std::string_view why) noexcept;
  [[nodiscard]] const char* why_refused(CommandList& list) noexcept;

  // ---- command_run.cpp ----
  [[nodiscard]] bool step_once(uint64_t latest_ns);
  // Is there a step to be taken until then?
  [[nodiscard]] bool has_more(uint64_t latest_ns);
  [[nodiscard]] bool test_end();
  void end_now() noexcept;
  void shut_down_now() noexcept;
  void drop_queue() noexcept;
  [[nodiscard]] uint64_t budget() const noexcept {
    return options_.turn_budget == 0 ? ~uint64_t{0} : options_.turn_budget;
  }

  // ---- command_watch.cpp: what only some runs want ----
  [[nodiscard]] Next look_at_first();
  [[nodiscard]] Next intercept_first();
  void call_interceptor(Interceptor& interceptor, CommandStep& step) noexcept;
  void inject(Interceptor& interceptor, CommandList& list, uint64_t cause) noexcept;
  void fail_interceptor(Interceptor& interceptor, const Error& error) noexcept;
  void note_first();
  // What the interceptors have made of it.
  void note_changes();
  [[nodiscard]] std::optional<std::string> encoded(Envelope& message);
  [[nodiscard]] CommandRecord describe(const runtime::QueuedCommand& command, uint64_t sequence);
  void note_fate(CommandFate fate) noexcept { fate_ = fate; }
  void settle_record() noexcept;
  [[nodiscard]] bool compare(const CommandRecord& record);
  [[nodiscard]] std::string report_runaway();
  [[nodiscard]] std::string name_of(ActorId id);
  void update_care() noexcept {
    is_careful_ =
        options_.keeps_log || !interceptors_.empty() || expected_ != nullptr || wants_shutdown_;
  }
  // Until the run is where it was when this command came from outside, or the shutdown; else the
  // text says why not.
  [[nodiscard]] std::string go_to(const CommandRecord& record);
  [[nodiscard]] std::string go_to(const CommandShutdown& shutdown);
  // `sequence`: of the command that came from outside there; 0: it was the shutdown. False: it did
  // not come there. Text: so it differs already.
  [[nodiscard]] bool go_to(const CommandMoment& moment, uint64_t time_ns, uint64_t sequence,
                           std::string& difference);
  // Was more queued at this moment than there is now?
  [[nodiscard]] bool is_something_missing(uint64_t sequence) const noexcept;
  [[nodiscard]] std::string dispatch_again(const CommandRecord& record);
  // For the output that is being processed, if there was room for it at this moment before.
  [[nodiscard]] bool makes_room_again();
  // An output waits, or waited, for room.
  void note_room(bool has_room) noexcept;

  // ---- command_output.cpp ----
  // While somebody gets what he waited for: what he dispatches at once comes from outside.
  class GivingOut {
   public:
    explicit GivingOut(CommandCore& core) noexcept
        : core_(core), was_outside_(std::exchange(core.is_outside_, true)) {}
    ~GivingOut() { core_.is_outside_ = was_outside_; }
    GivingOut(const GivingOut&) = delete;
    GivingOut& operator=(const GivingOut&) = delete;

   private:
    CommandCore& core_;
    bool was_outside_;
  };
  void put_output(Envelope& envelope);
  void tell(std::unique_ptr<FailureNote> note) noexcept;
  void give_output(CommandWaiter& waiter);
  void end_outputs() noexcept;
  void drop_output(Envelope& envelope) noexcept;
  // A failure is out of the list.
  [[nodiscard]] std::unique_ptr<FailureNote> take_note(Envelope& envelope) noexcept;
  [[nodiscard]] bool has_room_for_output() {
    if (expected_ != nullptr) [[unlikely]]
      return makes_room_again();
    return output_waiters_.first != nullptr || output_count_ < options_.max_outputs;
  }

  static constexpr uint64_t kTrail = 64;  // of a run, so many last commands are in its report

  CommandOptions options_;
  const MessageType& message_;
  CommandCodec codec_;
  runtime::CommandQueue queue_;
  Envelope* delivering_ = nullptr;
  uint64_t left_ = 0;  // of the budget of this run
  bool is_careful_ = false;
  bool is_busy_ = false;
  bool is_in_step_ = false;
  bool is_outside_ = false;  // though inside of a run
  bool is_ended_ = false;
  bool wants_shutdown_ = false;
  bool has_spawned_ = false;
  drivers::sim::Fifo policy_;
  drivers::sim::Simulator simulator_{policy_};
  runtime::SimSystem* system_ = nullptr;

  ActorId input_ = 0;   // stands for root_
  ActorId output_ = 0;  // stands for the outside
  ActorId root_ = 0;
  // Ordered, since it is gone through to free handles: the order in which that happens is seen in
  // the handles that come after.
  std::map<ActorId, Reservation> reserved_;
  std::vector<ActorId> made_now_;  // by the call that is running
  std::unordered_set<ActorId> killed_;
  runtime::DeadSenders dead_;
  CommandSeat* oldest_ = nullptr;  // of the live ones
  CommandSeat* newest_ = nullptr;
  size_t live_count_ = 0;
  ExitText refusal_;  // of the last batch

  CommandList outputs_;       // messages and failure notes
  size_t output_count_ = 0;   // messages
  size_t failure_count_ = 0;  // failures that are told one by one
  // In the list, if there: stands for all failures that were too many.
  FailureNote* more_failures_ = nullptr;
  uint64_t more_failure_count_ = 0;
  CommandWaiters output_waiters_;

  std::deque<Interceptor> interceptors_;  // one may add another while it is called
  uint64_t looked_at_ = 0;                // the last command that was logged
  size_t next_interceptor_ = 0;
  uint64_t held_until_ns_ = 0;
  std::vector<CommandRecord> trail_;
  CommandFate fate_ = CommandFate::delivered;
  CommandLog log_;
  bool has_record_ = false;  // the last record is of the command that is processed
  struct Arrival {
    uint64_t sequence;
    CommandMoment moment;
  };
  std::deque<Arrival> arrivals_;  // from outside, not processed yet
  const CommandLog* expected_ = nullptr;
  std::string difference_;
};

// ---- lists of waiters ----

inline void push_back(CommandWaiters& list, CommandWaiter& waiter) noexcept {
  waiter.list = &list;
  waiter.next = nullptr;
  waiter.before = list.last;
  (list.last == nullptr ? list.first : list.last->next) = &waiter;
  list.last = &waiter;
}
[[nodiscard]] inline CommandWaiter& pop_front(CommandWaiters& list) noexcept {
  CommandWaiter& waiter = *list.first;
  leave(waiter);
  return waiter;
}
inline void fail_all(CommandWaiters& list, const Error& error) noexcept {
  while (list.first != nullptr) {
    CommandWaiter& waiter = pop_front(list);
    waiter.fail(waiter, error);
  }
}

// Whose actor this is: its seat is in the first word, the core in the second.
[[nodiscard]] inline CommandCore& core_of(const core::Actor& actor) noexcept {
  return *static_cast<CommandCore*>(actor.body.words[1]);
}

}  // namespace jzx::detail

// A recorder at work: it sits where a worker and its messages can be seen, and writes down what
// happens.
//
//   Tap           every message sent, every message taken, every exit asked for
//   WorkWitness   every turn, every timer armed and fired, every choice
//   Observer      every birth and end
//
// What the worker does while something it began is not done belongs to that, and will come about
// again in a replay; the rest is from outside, and is written down with what is in it.
//
// Threads: the worker's own, and whoever sends from outside. The mutex is an innermost lock: nobody
// else's code runs under it. A message from another thread is noted before it is let in: so it is
// there before anything that it causes. A turn for nothing is not written down: the actor had no
// mail, and none of its waits was over. There may be many of them, and a replay need not have them.
#pragma once

#include <jzx/sim/recorder.hpp>

#include <mutex>
#include <optional>
#include <unordered_map>

#include "drivers/loop/worker.hpp"
#include "runtime/port.hpp"
#include "runtime/record/event.hpp"
#include "runtime/record/forwarding_observer.hpp"
#include "runtime/record/store.hpp"

namespace jzx::detail {

class RecorderState final : public core::Tap,
                            public drivers::WorkWitness,
                            public runtime::ForwardingObserver {
 public:
  explicit RecorderState(RecorderOptions&& options);

  // From now on it writes down what this worker does, which has not begun yet. `driver` is a word.
  // False: it cannot; error() says why.
  [[nodiscard]] bool attach(Port& port, drivers::Worker& worker, const char* driver,
                            Observer* observer) noexcept;
  // It will not be used, for this reason.
  void refuse(std::string why) noexcept;

  [[nodiscard]] std::string error() const;
  [[nodiscard]] std::string text() const;

 private:
  using Event = runtime::Event;
  using Op = runtime::Op;

  // ---- Tap ----
  Errc before_send(ActorId, const Envelope&) noexcept override { return Errc::ok; }
  void coming(ActorId target, Envelope& envelope) noexcept override { note(target, envelope); }
  void sent(const core::Actor& target, Envelope& envelope) noexcept override {
    note(target.id(), envelope);
  }
  void armed(Envelope&) noexcept override {}
  void taken(const core::Actor& actor, const Envelope& envelope) noexcept override;
  void exit_requested(ActorId actor, ExitReason reason) noexcept override;
  void closing() noexcept override { note_end(Op::closing); }
  void destroying() noexcept override { note_end(Op::destroyed); }

  // ---- WorkWitness ----
  void begin_work(base::Runnable& work) noexcept override;
  void begin_timer(base::Timer& timer) noexcept override;
  void end_work() noexcept override;
  void armed(base::Timer& timer) noexcept override;
  void chose(uint32_t count, uint32_t taken) noexcept override;

  // ---- Observer ----
  void actor_started(ActorId id, const char* label) override;
  void actor_stopped(ActorId id, ExitReason reason, const ExitText& text) override;

  void note_end(Op op) noexcept;
  // Writes it down, if that was not done.
  void note(ActorId target, Envelope& envelope) noexcept;
  // Is this a consequence of what the worker is doing?
  [[nodiscard]] bool is_inside() const noexcept {
    return base::Executor::current() == worker_ && is_busy_;
  }
  [[nodiscard]] bool encode(const Envelope& envelope, std::string& out) const;

  // Runs it under the mutex. If it throws there was no memory, and that is the end of the record.
  template <class Write>
  void locked(Write&& write) noexcept;
  // All under the mutex.
  void write(const Event& event);
  void begin(Event& event, uint64_t number);
  void write_exit(uint64_t actor, ExitReason reason);
  void write_strange(const char* text);
  [[nodiscard]] uint32_t name_number(const std::string& name);
  [[nodiscard]] uint32_t name_of(const Envelope& envelope);
  [[nodiscard]] uint64_t number_of(ActorId id) const noexcept;

  const Codecs codecs_;
  Port* port_ = nullptr;
  drivers::Worker* worker_ = nullptr;

  // ---- the worker's own ----
  bool is_busy_ = false;          // something began, and is not done
  bool is_from_outside_ = false;  // it is a timer that was armed from outside
  ActorId acting_ = 0;            // the actor whose turn it is
  uint64_t steps_before_ = 0;     // of the host, when the turn began

  mutable std::mutex mutex_;
  std::unique_ptr<runtime::RecordStore> store_;
  const bool is_ring_;
  std::string refusal_;
  std::string first_line_;
  std::string line_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> numbers_of_names_;
  std::unordered_map<const MessageType*, uint32_t> numbers_of_types_;
  std::unordered_map<ActorId, uint64_t> actors_;   // those alive
  std::unordered_map<ActorId, ExitReason> early_;  // asked to end before they were told of
  std::optional<Event> unwritten_;                 // a turn that may be for nothing
  struct ArmedTimer {
    uint64_t number = 0;
    bool is_outside = false;
  };
  std::unordered_map<const base::Timer*, ArmedTimer> timers_;  // the last arming at each place
  uint64_t actor_count_ = 0;
  uint64_t message_count_ = 0;
  uint64_t timer_count_ = 0;
  uint64_t last_ns_ = 0;
};

}  // namespace jzx::detail

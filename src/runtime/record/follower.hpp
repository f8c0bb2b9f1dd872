// Follows a record in a simulation: has the actors do the recorded turns, gives them what came from
// outside, and sees whether what they do is what they did.
//
//   setup      what the user's function does is what came from outside, in the same order
//   act        a turn, a timer or other work of the record, step by step; what follows from it is
//              matched with what the record says
//   resending  a message from outside that a turn is about to take
//   after      the record has ended; the simulation goes on by itself
//
// A message from outside is sent when it is needed, and every message is taken when the record says
// so, not when it happens to be next: a thread that sends may have been overtaken by another
// between being noted and being queued. In the same way an exit that was asked for, or the closing
// of the system, is noted before it has an effect, and may come in the middle of a turn: it is done
// as soon as what the record has before it has come about, and what cannot be after it.
//
// A program that died left a record that ends in the middle of an act, or before the program had
// done all that the setup does. What comes about after everything that the record has of it is
// beyond the record, and passes.
//
// Threads: one.
#pragma once

#include <jzx/sim/recorder.hpp>

#include <unordered_map>

#include "runtime/record/event.hpp"
#include "runtime/record/forwarding_observer.hpp"
#include "runtime/record/replay_world.hpp"
#include "runtime/sim/sim_run.hpp"

namespace jzx::runtime {

class Follower final : public drivers::sim::Policy,
                       public drivers::sim::Witness,
                       public drivers::sim::TimerKeeper,
                       public ForwardingObserver {
 public:
  Follower(const detail::RecordData& record, const Codecs& codecs);

  // The run was made with this as its policy and its observer.
  void begin(detail::SimRun& run, ReplayWorld& world);
  // After the setup.
  void follow();
  // After follow(): until everything has come to rest.
  void go_on();
  // Nothing is looked at any more.
  void end();

  void stop(ReplayEnd how, std::string why);
  [[nodiscard]] bool is_over() const noexcept { return run_->has_failed(); }
  [[nodiscard]] ReplayEnd how() const noexcept { return how_; }
  [[nodiscard]] uint64_t turns() const noexcept { return turns_; }
  // In the replay, of an actor that had this id in the record; 0: there is none.
  [[nodiscard]] ActorId replayed(ActorId recorded) const noexcept;
  [[nodiscard]] detail::Port* port() const noexcept { return port_; }

 private:
  using SimHost = drivers::sim::SimHost;
  using Step = drivers::sim::Step;
  enum class Phase : uint8_t { setup, act, resending, after };

  // What is still to come, in order.
  struct Queue {
    std::vector<const Event*> events;
    size_t next = 0;

    [[nodiscard]] const Event* take() noexcept {
      return next < events.size() ? events[next++] : nullptr;
    }
    [[nodiscard]] const Event* front() const noexcept {
      return next < events.size() ? events[next] : nullptr;
    }
  };
  // What follows from an act, or comes from outside.
  struct Expected {
    std::vector<const Event*> sent;  // nullptr: it was
    Queue births;
    Queue arms;
    Queue choices;
    size_t takes = 0;     // that are still to come
    bool is_cut = false;  // the record ends before the act does
    [[nodiscard]] bool is_empty() const noexcept {
      return sent.empty() && births.events.empty() && arms.events.empty();
    }
    [[nodiscard]] bool is_met() const noexcept;
  };

  // ---- Policy ----
  uint32_t choose(uint32_t count, drivers::sim::ChoiceSite site) override;
  bool chance(uint32_t, drivers::sim::ChoiceSite) override { return false; }

  // ---- Witness ----
  void before_step(SimHost& host, const Step& step) override;
  void after_step(SimHost& host, const Step& step) override { next_->after_step(host, step); }
  void message_sent(SimHost& host, ActorId target, const Envelope& envelope, uint64_t sequence,
                    uint64_t cause) override;
  void send_refused(SimHost& host, ActorId target, const Envelope& envelope, Errc error) override {
    next_->send_refused(host, target, envelope, error);
  }
  void message_taken(SimHost& host, ActorId actor, const Envelope& envelope,
                     uint64_t sequence) override;
  void time_moved(uint64_t from_ns, uint64_t to_ns) override { next_->time_moved(from_ns, to_ns); }

  // ---- TimerKeeper ----
  void armed(SimHost& host, base::Timer& timer) override;
  void disarmed(base::Timer& timer) noexcept override;

  // ---- Observer ----
  void actor_started(ActorId id, const char* label) override;

  void sort(const Event& event, bool is_busy);
  void put_off();

  // ---- acts ----
  [[nodiscard]] size_t play(size_t at);
  void expect(size_t first, size_t last);
  void play_turn(size_t first, size_t last);
  void play_timer(size_t first, size_t last);
  void play_work(bool is_needed);
  // What can only be between two steps.
  void play_outside(const Event& event);
  void play_exit(const Event& event);
  // This has come about.
  void reached(const Event& event);
  void take(ActorId actor, const Event& event);
  [[nodiscard]] bool run_actor(ActorId actor, bool must_run);
  [[nodiscard]] bool run_background();
  void bring_forward(ActorId actor, const Event& event);
  void resend(const Event& event);
  [[nodiscard]] std::string deliver(const Event& event, ActorId target);
  void find_unmet();
  // The record ends before what comes about now.
  [[nodiscard]] bool is_beyond() const noexcept {
    return phase_ == Phase::setup ? !record_.is_destroyed : here_.is_cut && here_.is_met();
  }

  // ---- words ----
  [[nodiscard]] std::string where() const;
  [[nodiscard]] std::string actor_name(uint64_t number) const;
  [[nodiscard]] std::string message_text(uint64_t number) const;
  [[nodiscard]] std::string message_text(const Event& event) const;
  [[nodiscard]] std::string message_text(ActorId target, const Envelope& envelope) const;

  [[nodiscard]] uint64_t number_of(ActorId id) const noexcept;
  [[nodiscard]] ActorId id_of(uint64_t number) const noexcept;
  [[nodiscard]] Expected& expected() noexcept {
    return phase_ == Phase::setup ? from_outside_ : here_;
  }

  const detail::RecordData& record_;
  const Codecs& codecs_;
  detail::SimRun* run_ = nullptr;
  SimHost* host_ = nullptr;
  ReplayWorld* world_ = nullptr;
  detail::Port* port_ = nullptr;
  Witness* next_ = nullptr;  // told of the same: the run

  Phase phase_ = Phase::setup;
  ReplayEnd how_ = ReplayEnd::whole;
  Expected from_outside_;
  Expected here_;
  const Event* act_ = nullptr;     // the turn, timer or work under way
  const Event* wanted_ = nullptr;  // the message to be taken now
  bool is_taken_ = false;          // it has been
  uint64_t resent_ = 0;            // the message that is being sent again
  bool is_resent_ = false;         // it was let in
  uint64_t time_ns_ = 0;           // of the record
  uint64_t turns_ = 0;

  std::unordered_map<uint64_t, const Event*> messages_;        // all, by number
  std::unordered_map<uint64_t, const Event*> unsent_;          // from outside, by number
  std::unordered_map<uint64_t, const Event*> births_;          // by number
  std::unordered_map<ActorId, uint64_t> recorded_actors_;      // numbers, by the ids they had
  std::unordered_map<uint64_t, bool> arms_;                    // by number: from outside?
  std::unordered_map<const Event*, const Event*> put_off_;     // exits and the closing: after what
  std::unordered_multimap<const Event*, const Event*> later_;  // the same, by that
  std::unordered_map<uint64_t, ActorId> actors_;               // in the replay, by number
  std::unordered_map<ActorId, uint64_t> numbers_;
  std::unordered_map<uint64_t, uint64_t> sequences_;        // in the replay, by number
  std::unordered_map<uint64_t, uint64_t> message_numbers_;  // by sequence
  std::unordered_map<uint64_t, base::Timer*> timers_;
  std::unordered_map<const base::Timer*, uint64_t> timer_numbers_;
};

}  // namespace jzx::runtime

// The supervisor: an actor whose body starts children, hears of their ends, and starts them again
// as its strategy and their modes say, until that happens too often. Stopping the children when the
// supervisor itself ends is not its business but the core's, which does it for every parent.
//
//   child ends ──▶ not to be restarted: ended
//             └──▶ window full: escalate (the supervisor fails)
//             └──▶ one_for_one: wait out the backoff, start it
//             └──▶ one_for_all, rest_for_one: stop the others concerned, the youngest first, each
//                  after the one before is gone; wait out one backoff; start them in start order
//
// A child that is stopped has so long to end, and is then killed by the core: core::stop_child().
//
// A start that fails (its init refuses, no slot, no memory) counts as a failure of that child.
//
// Where several workers share a system its turns may be anywhere, and others may ask it for its
// children at the same time. So whoever uses it visits it (Visit): that locks it, holds it alive,
// and tells it which host to work with. The lock is recursive, since a visit may call back: an init
// function may ask its own supervisor. The timer of a restart fires on the worker it was armed
// with; the two words that it shares with the turns are atomic.
//
// Threads: as Visit says.
#pragma once

#include <cstddef>
#include <mutex>

#include "supervise/restart_window.hpp"
#include "supervise/spec.hpp"

namespace jzx::supervise {

// A supervisor's spec and its children's, in one piece that owns all of it.
struct Plan {
  SupervisorSpec supervisor;
  ChildSpec* children = nullptr;
  size_t child_count = 0;

  // nullptr: no memory. The children are empty specs, to be filled in.
  [[nodiscard]] static Plan* create(const base::Allocator& allocator, size_t child_count) noexcept;
  void dispose(const base::Allocator& allocator) noexcept;
};

class Supervisor;

// One child: what it is, whether it runs, and the timer and the message of its next restart.
struct ChildSlot : core::Notice, base::Timer {
  enum class Phase : uint8_t {
    down,      // to be started
    running,   //
    stopping,  // asked to end as part of a group
    waiting,   // its restart is under way: the timer, or the message
    ended,     // will not come back
  };

  ChildSlot(Supervisor& supervisor, ChildSpec& the_spec, uint32_t the_index) noexcept;

  Supervisor& owner;
  ChildSpec& spec;
  uint32_t index;  // also the payload of the restart message
  Phase phase = Phase::down;
  bool is_dynamic = false;           // added at run time; owns its spec, and goes when it has ended
  bool is_unwanted = false;          // being removed: does not come back, whatever its mode
  core::Host* armed_with = nullptr;  // whose timer is under way
  base::Atomic<bool> is_ticking{false};   // the timer has not fired yet
  base::Atomic<bool> is_queued{false};    // its restart message is in the mailbox
  bool is_dropped = false;                // only that message still needs the memory
  core::ActorId id = core::kNobody;       // while it runs
  core::ActorId last_id = core::kNobody;  // of its present or last run
  uint32_t attempts = 0;
  uint64_t started_ns = 0;
  Backoff backoff;
};

struct ChildCounts {
  size_t specs = 0;        // children known
  size_t active = 0;       // of them, running
  size_t supervisors = 0;  // of the active ones, supervisors
};

class Supervisor {
 public:
  Supervisor(core::System& system, const Plan& plan, bool owns_plan) noexcept;
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // For the length of a scope this thread works on the supervisor, with this host.
  class Visit {
   public:
    Visit(Supervisor& supervisor, core::Host& host) noexcept;
    ~Visit();
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    // False: it has ended.
    [[nodiscard]] explicit operator bool() const noexcept { return !supervisor_.has_ended_; }
    [[nodiscard]] Supervisor* operator->() const noexcept { return &supervisor_; }

   private:
    Supervisor& supervisor_;
    core::Host* outer_;
  };

  // The body of the actor ends; the memory goes when the last visitor has left.
  void end(core::Host& host, core::Actor& actor) noexcept;
  // Under the actor's lock, by who is about to visit.
  void hold() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }  // who counts, holds
  void release() noexcept;

  // Starts the children of the plan, in order. Anything but ok: some may run, and the caller
  // aborts.
  [[nodiscard]] Errc start_all(core::ActorId self) noexcept;

  // ---- events; false: it is too much, escalate ----
  [[nodiscard]] bool child_ended(ChildSlot& slot, ExitReason reason) noexcept;
  [[nodiscard]] bool restart_due(ChildSlot& slot) noexcept;

  // ---- dynamic children ----
  // The spec is the supervisor's if the answer is ok.
  [[nodiscard]] Errc add_child(ChildSpec& spec, core::ActorId& out) noexcept;
  [[nodiscard]] Errc remove_child(core::ActorId child) noexcept;

  // ---- looking ----
  [[nodiscard]] ChildSlot* slot_at(size_t index) const noexcept {
    return index < slot_count_ ? slots_[index] : nullptr;
  }
  [[nodiscard]] ChildCounts count() const noexcept;
  [[nodiscard]] const SupervisorSpec& spec() const noexcept { return plan_->supervisor; }
  // Are several being stopped, to be started again together?
  [[nodiscard]] bool is_group_under_way() const noexcept { return group_from_ != kNoGroup; }
  // How often a restart was allowed, and then the child could not be started.
  [[nodiscard]] uint32_t refused_starts() const noexcept { return refused_starts_; }

  // The timer of a restart fired.
  static void timer_fired(ChildSlot& slot, core::Host& host) noexcept;
  // The message of a restart came back from the mailbox.
  static void restart_notice_done(core::Notice& notice, core::Host& host);

 private:
  static constexpr uint32_t kNoGroup = 0xffffffffu;

  static void send_restart(ChildSlot& slot, core::Host& host) noexcept;
  void disarm(ChildSlot& slot) noexcept;
  void drop_everything() noexcept;

  [[nodiscard]] ChildSlot* make_slot(ChildSpec& spec) noexcept;
  void drop_slot(ChildSlot& slot) noexcept;
  void free_slot(ChildSlot& slot) noexcept;

  [[nodiscard]] Errc start_child(ChildSlot& slot) noexcept;
  [[nodiscard]] Errc start_one(ChildSlot& slot) noexcept;
  void tell_restarted(ChildSlot& slot) noexcept;
  [[nodiscard]] bool comes_back(const ChildSlot& slot, ExitReason reason) const noexcept;
  // One more restart: counted, or refused.
  [[nodiscard]] bool child_failed(ChildSlot& slot, bool abnormal, bool is_retry) noexcept;
  [[nodiscard]] uint32_t delay_for(ChildSlot& slot, bool abnormal) noexcept;
  void restart_later(ChildSlot& slot, uint32_t delay_ms) noexcept;
  [[nodiscard]] bool restart_one(ChildSlot& slot) noexcept;

  [[nodiscard]] bool is_child(core::ActorId id) noexcept;
  [[nodiscard]] ChildSlot* slot_last_run_by(core::ActorId child) noexcept;

  [[nodiscard]] bool is_grouped() const noexcept {
    return plan_->supervisor.strategy != Strategy::one_for_one;
  }
  [[nodiscard]] bool continue_group_stop() noexcept;
  [[nodiscard]] bool start_group() noexcept;

  core::System& system_;
  core::Host* host_ = nullptr;  // of the visit under way
  std::recursive_mutex mutex_;  // in a shared system
  base::Atomic<uint32_t> holders_{1};
  bool has_ended_ = false;
  const Plan* plan_;
  bool owns_plan_;
  core::ActorId self_ = core::kNobody;
  base::Slab slot_memory_;
  ChildSlot** slots_ = nullptr;
  uint32_t slot_count_ = 0;
  uint32_t slot_capacity_ = 0;
  RestartWindow window_;

  // The group restart under way: children from this index on are concerned.
  uint32_t group_from_ = kNoGroup;
  ChildSlot* group_leader_ = nullptr;  // the one whose failure began it; its timer waits
  uint32_t group_delay_ms_ = 0;
  bool group_is_retry_ = false;
  uint32_t refused_starts_ = 0;
};

// Of an actor that is one, and whose body is there.
[[nodiscard]] inline Supervisor& supervisor_of(const core::Actor& actor) noexcept {
  return *static_cast<Supervisor*>(actor.body.words[0]);
}

// Makes a supervisor actor and starts its children. The plan is the supervisor's from the call on,
// if `owns_plan`, whatever the answer; else it must outlive the supervisor.
[[nodiscard]] Errc spawn_supervisor(core::Host& host, Plan& plan, bool owns_plan,
                                    core::ActorId parent, core::ActorId& out) noexcept;

// The supervisor with this id, held: invalid_arg if it is none, no_such_actor if it is gone. The
// caller visits and then releases it.
[[nodiscard]] Errc find_supervisor(core::Host& host, core::ActorId id, Supervisor*& out) noexcept;

// Calls use(Supervisor&), which answers an Errc, on the supervisor with this id. Errors as above.
template <class Use>
[[nodiscard]] Errc visit(core::Host& host, core::ActorId id, Use&& use) {
  Supervisor* found = nullptr;
  if (const Errc error = find_supervisor(host, id, found); error != Errc::ok) return error;
  Errc result = Errc::no_such_actor;
  {
    Supervisor::Visit visit(*found, host);
    if (visit) result = use(*found);
  }
  found->release();
  return result;
}

// no_such_actor while the child is down or ended, invalid_arg for a bad index.
[[nodiscard]] Errc child_id(core::Host& host, core::ActorId supervisor, size_t index,
                            core::ActorId& out) noexcept;

// A child that is a supervisor itself, made anew from its plan for every restart.
[[nodiscard]] ChildFactory* make_nested(const base::Allocator& allocator, Plan& plan) noexcept;

}  // namespace jzx::supervise

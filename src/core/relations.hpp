// What binds an actor to others: its children, links, monitors, timers, watched fds and name. Each
// binding is one record, made when it is registered, that hangs in a list at both of its ends and
// contains the system message that it may cause one day.
//
// Where several workers share a system, the lists of an actor are changed under that actor's lock
// (Bonds, below), and a record that hangs at two actors under both. Two locks are taken in the
// order of the actors' addresses, or the second is only tried. No user code runs and no memory is
// asked for while one is held, and nothing that may wait is done. Lock order: watched fds, names;
// actors; timers, pools.
//
// Why nothing is missed: an actor that ends first closes its state word, then takes its lock, marks
// its bonds closed and takes its lists down. Who wants to bind another to it takes the lock, and
// binds only if the bonds are not closed. So a bond is made before, and then told of, or refused.
#pragma once

#include "base/list.hpp"
#include "base/slot_map.hpp"
#include "core/actor.hpp"
#include "core/notice.hpp"

namespace jzx::core {

// ---- parent and child ----

// How long a child may take to end once its parent waits for that; see stop_child().
inline constexpr uint32_t kNoStopLimit = UINT32_MAX;
inline constexpr uint32_t kUsualStopLimitMs = 5000;

struct InChildren {};
// The timer is that of the limit: it is here so that it needs no memory when it is armed.
struct Child : Notice, base::ListNode<InChildren>, base::Timer {
  enum class Limit : uint8_t {
    none,        // nobody waits for its end, or for as long as it takes
    ticking,     //
    is_up,       // it is to be killed
    is_parents,  // that was up: it is to be killed with its parent
  };

  Child() noexcept;
  using base::ListNode<InChildren>::unlink;

  Actor* parent = nullptr;  // hears of the end
  Actor* actor = nullptr;
  void* mark = nullptr;  // the parent's own
  uint32_t stop_within_ms = kNoStopLimit;
  base::Atomic<Limit> limit{Limit::none};  // a flag on its own: whoever changes it wakes the child
  Host* limit_home = nullptr;              // whose timer it is, once it was armed; under the lock
  bool is_supervisor = false;              // its failure is its parent's failure
  bool is_quiet = false;                   // the parent is not told of its end
  ChildExit exit;
};

// ---- links: one record, two ends ----

struct Link;
struct InLinks {};
struct LinkEnd : base::ListNode<InLinks> {
  Actor* actor = nullptr;
  Link* link = nullptr;
};
struct Link : Notice {  // told to the end that survives, if that traps exits
  LinkEnd ends[2];
  Exit exit;

  [[nodiscard]] LinkEnd& other(const LinkEnd& end) noexcept {
    return &end == ends ? ends[1] : ends[0];
  }
};

// ---- monitors ----

struct InWatchedBy {};
struct InWatching {};
struct Monitor : Notice, base::Slotted, base::ListNode<InWatchedBy>, base::ListNode<InWatching> {
  Actor* watcher = nullptr;
  Actor* target = nullptr;
  Down down;
};
using MonitorMap = base::SlotMap<Monitor, 64>;

// ---- timers that carry a message ----

struct InTargetTimers {};
struct MessageTimer : Envelope, base::Timer, base::ListNode<InTargetTimers>, base::Slotted {
  MessageTimer() noexcept;

  // The number of the host that it belongs to. In the high byte of the flags, which it keeps when
  // it is delivered.
  void set_home(uint8_t index) noexcept { flags = kTimer | (uint32_t{index} << 24); }
  [[nodiscard]] uint8_t home() const noexcept { return static_cast<uint8_t>(flags >> 24); }

  ActorId target = kNobody;
};
static_assert(sizeof(MessageTimer) == 128);
using TimerMap = base::SlotMap<MessageTimer, 256>;

// ---- watched file descriptors (the records are the driver's) ----

struct InOwnerWatches {};
struct OwnedWatch : base::ListNode<InOwnerWatches> {};

// ---- names ----

struct NameEntry;

// The lock of an actor's lists, for the length of a scope; nothing where there is one thread only.
class Bonds {
 public:
  Bonds(bool is_shared, Actor& actor) noexcept : first_(is_shared ? &actor : nullptr) {
    if (first_ != nullptr) first_->bonds_lock.lock();
  }
  // Of both.
  Bonds(bool is_shared, Actor& a, Actor& b) noexcept {
    if (!is_shared) return;
    first_ = &a < &b ? &a : &b;
    second_ = &a < &b ? &b : &a;
    first_->bonds_lock.lock();
    if (second_ != first_) second_->bonds_lock.lock();
  }
  ~Bonds() {
    if (first_ == nullptr) return;
    if (second_ != nullptr && second_ != first_) second_->bonds_lock.unlock();
    first_->bonds_lock.unlock();
  }
  Bonds(const Bonds&) = delete;
  Bonds& operator=(const Bonds&) = delete;

  // Locks another one too, if that can be had without waiting or in order. False: let go of the
  // first and begin again.
  [[nodiscard]] bool also(Actor& other) noexcept {
    if (first_ == nullptr || &other == first_) return true;
    JZX_ASSERT(second_ == nullptr);
    if (first_ < &other) {
      other.bonds_lock.lock();
    } else if (!other.bonds_lock.try_lock()) {
      return false;
    }
    second_ = &other;
    return true;
  }
  void let_go_of_second() noexcept {
    if (second_ == nullptr) return;
    second_->bonds_lock.unlock();
    second_ = nullptr;
  }

 private:
  Actor* first_ = nullptr;
  Actor* second_ = nullptr;
};

struct Relations {
  base::List<Child, InChildren> children;  // in start order
  base::List<LinkEnd, InLinks> links;
  uint32_t link_count = 0;
  base::List<Monitor, InWatchedBy> watched_by;
  base::List<Monitor, InWatching> watching;
  base::List<MessageTimer, InTargetTimers> timers;          // armed
  base::List<MessageTimer, InTargetTimers> waiting_timers;  // due, the mailbox is full
  base::List<OwnedWatch, InOwnerWatches> watches;
  NameEntry* name = nullptr;
  uint32_t high_water = 0;                      // 0: none
  bool is_high = false;                         // and it was told
  ExitReason exit_reason = ExitReason::normal;  // while stopping: how it will have ended
  ExitText exit_text;
};

}  // namespace jzx::core

// What binds an actor to others: its children, links, monitors, timers, watched fds and name. Each
// binding is one record, made when it is registered, that hangs in a list at both of its ends and
// contains the system message that it may cause one day.
//
// Threads: all records belong to the thread of the system's one worker.
#pragma once

#include "base/list.hpp"
#include "base/slot_map.hpp"
#include "core/actor.hpp"
#include "core/notice.hpp"

namespace jzx::core {

// ---- parent and child ----

struct InChildren {};
struct Child : Notice, base::ListNode<InChildren> {
  Actor* parent = nullptr;  // hears of the end
  Actor* actor = nullptr;
  void* mark = nullptr;        // the parent's own
  bool is_supervisor = false;  // its failure is its parent's failure
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

  Actor* target = nullptr;
};
static_assert(sizeof(MessageTimer) == 128);
using TimerMap = base::SlotMap<MessageTimer, 256>;

// ---- watched file descriptors (the records are the driver's) ----

struct InOwnerWatches {};
struct OwnedWatch : base::ListNode<InOwnerWatches> {};

// ---- names ----

struct NameEntry;

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
  ExitReason exit_reason = ExitReason::normal;  // while stopping: how it will have ended
  ExitText exit_text;
};

}  // namespace jzx::core

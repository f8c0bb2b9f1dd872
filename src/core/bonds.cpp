#include "core/bonds.hpp"

#include <mutex>

#include "core/lifecycle.hpp"
#include "core/send.hpp"

namespace jzx::core {

namespace {

template <class Tag, class Record>
base::ListNode<Tag>& node(Record& record) noexcept {
  return static_cast<base::ListNode<Tag>&>(record);
}

// ---- links ----

void free_link(Host& host, Link& link) noexcept {
  link.~Link();
  host.system.links.give(&link);
}

void link_notice_done(Notice& notice, Host& host) { free_link(host, static_cast<Link&>(notice)); }

// Under both locks, as everything that looks at lists.
LinkEnd* find_link(Actor& a, Actor& b) noexcept {
  if (a.relations == nullptr || b.relations == nullptr) return nullptr;
  // The end with fewer links is searched: a hub of many has partners with few.
  if (a.relations->link_count > b.relations->link_count) return find_link(b, a);
  auto& links = a.relations->links;
  for (LinkEnd* end = links.front(); end != nullptr; end = links.after(*end)) {
    if (end->link->other(*end).actor == &b) return end;
  }
  return nullptr;
}

void unhook(Link& link) noexcept {
  for (LinkEnd& end : link.ends) {
    node<InLinks>(end).unlink();
    --end.actor->relations->link_count;
  }
}

// One end died: takes the link down and tells the other. False: its lock cannot be had now.
[[nodiscard]] bool take_down_link(Host& host, Actor& dead, ExitReason reason, const ExitText& text,
                                  bool& is_last) noexcept {
  Admission admission = Admission::gone;
  Link* link = nullptr;
  Actor* survivor = nullptr;
  ActorId survivor_id = kNobody;
  {
    Bonds hold(host.system.is_shared, dead);
    LinkEnd* end = dead.relations->links.front();
    is_last = end == nullptr;
    if (is_last) return true;
    link = end->link;
    survivor = link->other(*end).actor;
    if (!hold.also(*survivor)) return false;
    unhook(*link);
    survivor_id = survivor->id();
    if (survivor->traps_exit) {
      link->exit = Exit{dead.id(), reason, text};
      link->address(SystemTag::exit, dead.id(), &link->exit, kSizeOfExit, &link_notice_done);
      admission = admit_notice(*survivor);
    }
  }
  if (admission != Admission::gone) {
    deliver_notice(host, *survivor, *link, admission);
    return true;
  }
  free_link(host, *link);
  // It may have been asked to end already, for its own reasons.
  if (reason != ExitReason::normal) (void)request_exit(host, survivor_id, reason);
  return true;
}

// The system ends, or the link is withdrawn.
void drop_link(Host& host, Link& link) noexcept {
  unhook(link);
  free_link(host, link);
}

// ---- monitors ----

void give_monitor(Host& host, Monitor& monitor) noexcept {
  std::lock_guard hold(host.system.monitors_lock);
  host.system.monitors.give(monitor);
}

void monitor_notice_done(Notice& notice, Host& host) {
  give_monitor(host, static_cast<Monitor&>(notice));
}

// Its id goes stale: the Down is on its way.
void address_down(Host& host, Monitor& monitor, ActorId target, ExitReason reason,
                  const ExitText& text) noexcept {
  {
    std::lock_guard hold(host.system.monitors_lock);
    monitor.down = Down{host.system.monitors.id_of(monitor), target, reason, text};
    MonitorMap::invalidate(monitor);
  }
  monitor.address(SystemTag::down, target, &monitor.down, kSizeOfDown, &monitor_notice_done);
}

void unhook(Monitor& monitor) noexcept {
  node<InWatchedBy>(monitor).unlink();
  node<InWatching>(monitor).unlink();
}

// The target died. False: the watcher's lock cannot be had now.
[[nodiscard]] bool tell_watcher(Host& host, Actor& dead, ExitReason reason, const ExitText& text,
                                bool& is_last) noexcept {
  Monitor* monitor = nullptr;
  Admission admission = Admission::gone;
  {
    Bonds hold(host.system.is_shared, dead);
    monitor = dead.relations->watched_by.front();
    is_last = monitor == nullptr;
    if (is_last) return true;
    if (!hold.also(*monitor->watcher)) return false;
    unhook(*monitor);
    address_down(host, *monitor, dead.id(), reason, text);
    admission = admit_notice(*monitor->watcher);
  }
  deliver_notice(host, *monitor->watcher, *monitor, admission);
  return true;
}

// The watcher died. False: the target's lock cannot be had now.
[[nodiscard]] bool stop_watching(Host& host, Actor& dead, bool& is_last) noexcept {
  Monitor* monitor = nullptr;
  {
    Bonds hold(host.system.is_shared, dead);
    monitor = dead.relations->watching.front();
    is_last = monitor == nullptr;
    if (is_last) return true;
    if (!hold.also(*monitor->target)) return false;
    unhook(*monitor);
  }
  give_monitor(host, *monitor);
  return true;
}

// Takes one record down after another until there is none. One whose other end is locked by
// somebody who may be waiting for us is tried again, with our own lock free in between.
template <class TakeDown>
void take_down_all(TakeDown&& take_down) noexcept {
  for (bool is_last = false; !is_last;) {
    if (!take_down(is_last)) base::yield_thread();
  }
}

}  // namespace

Errc link(Host& host, ActorId a, ActorId b) noexcept {
  if (a == b) return Errc::invalid_arg;
  System& system = host.system;
  Actor* first = system.find_open(a);
  Actor* second = system.find_open(b);
  if (first == nullptr || second == nullptr) return Errc::no_such_actor;
  if (const Errc error = system.make_relations(*first, a); !ok(error)) return error;
  if (const Errc error = system.make_relations(*second, b); !ok(error)) return error;
  void* memory = system.links.take();
  if (memory == nullptr) return Errc::no_memory;
  auto* link = new (memory) Link;
  Errc result = Errc::ok;
  {
    Bonds hold(system.is_shared, *first, *second);
    // Asked again, now that they cannot end.
    if (!system.is_live(*first, a) || !system.is_live(*second, b)) {
      result = Errc::no_such_actor;
    } else if (find_link(*first, *second) == nullptr) {
      for (int i = 0; i < 2; ++i) {
        link->ends[i].actor = i == 0 ? first : second;
        link->ends[i].link = link;
        link->ends[i].actor->relations->links.push_back(link->ends[i]);
        ++link->ends[i].actor->relations->link_count;
      }
      link = nullptr;
    }
  }
  if (link != nullptr) free_link(host, *link);
  return result;
}

Errc unlink(Host& host, ActorId a, ActorId b) noexcept {
  if (a == b) return Errc::invalid_arg;
  System& system = host.system;
  Actor* first = system.find_open(a);
  Actor* second = system.find_open(b);
  if (first == nullptr || second == nullptr) return Errc::no_such_actor;
  Link* link = nullptr;
  {
    Bonds hold(system.is_shared, *first, *second);
    if (!system.is_live(*first, a) || !system.is_live(*second, b)) return Errc::no_such_actor;
    if (LinkEnd* end = find_link(*first, *second)) {
      link = end->link;
      unhook(*link);
    }
  }
  if (link != nullptr) free_link(host, *link);
  return Errc::ok;
}

Errc set_trap_exit(Host& host, ActorId id, bool on) noexcept {
  Actor* actor = host.system.find_open(id);
  if (actor == nullptr) return Errc::no_such_actor;
  Bonds hold(host.system.is_shared, *actor);
  if (!host.system.is_live(*actor, id)) return Errc::no_such_actor;
  actor->traps_exit = on;
  return Errc::ok;
}

Errc monitor(Host& host, ActorId watcher, ActorId target, uint64_t& ref) noexcept {
  System& system = host.system;
  Actor* watching = system.find_open(watcher);
  if (watching == nullptr) return Errc::no_such_actor;
  if (target == kNobody) return Errc::invalid_arg;
  if (const Errc error = system.make_relations(*watching, watcher); !ok(error)) return error;
  Actor* watched = system.actors.find(target);
  if (watched != nullptr) {
    const Errc error = system.make_relations(*watched, target);
    if (error == Errc::no_memory) return error;
    if (!ok(error)) watched = nullptr;
  }
  Monitor* monitor = nullptr;
  {
    std::lock_guard hold(system.monitors_lock);
    monitor = system.monitors.take();
    if (monitor == nullptr) return Errc::no_memory;
    ref = system.monitors.id_of(*monitor);
  }
  monitor->watcher = watching;
  monitor->target = watched;
  monitor->down.actor = target;  // for who looks at what is watched
  Errc result = Errc::ok;
  Admission admission = Admission::gone;
  {
    Bonds hold(system.is_shared, *watching, watched != nullptr ? *watched : *watching);
    // Asked again, now that they cannot end.
    if (!system.is_live(*watching, watcher)) {
      result = Errc::no_such_actor;
    } else if (watched == nullptr || !system.is_live(*watched, target)) {
      address_down(host, *monitor, target, ExitReason::noproc, {});
      admission = admit_notice(*watching);
    } else {
      watching->relations->watching.push_back(*monitor);
      watched->relations->watched_by.push_back(*monitor);
    }
  }
  if (!ok(result)) give_monitor(host, *monitor);
  if (admission != Admission::gone) deliver_notice(host, *watching, *monitor, admission);
  return result;
}

Errc demonitor(Host& host, uint64_t ref) noexcept {
  System& system = host.system;
  Monitor* monitor = nullptr;
  Actor* watcher = nullptr;
  Actor* target = nullptr;
  const auto find = [&] {
    std::lock_guard hold(system.monitors_lock);
    monitor = system.monitors.find(ref);
    if (monitor == nullptr) return false;
    watcher = monitor->watcher;
    target = monitor->target;
    return true;
  };
  if (!find()) return Errc::invalid_arg;
  if (target == nullptr) return Errc::invalid_arg;  // gone from the start: its Down is on its way
  {
    Bonds hold(system.is_shared, *watcher, *target);
    // Again, since somebody may have ended meanwhile. Under the locks it cannot change any more.
    if (!find() || !node<InWatching>(*monitor).is_linked()) return Errc::invalid_arg;
    unhook(*monitor);
  }
  give_monitor(host, *monitor);
  return Errc::ok;
}

void tell_bonds(Host& host, Actor& actor, ExitReason reason, const ExitText& text) noexcept {
  take_down_all([&](bool& is_last) { return take_down_link(host, actor, reason, text, is_last); });
  take_down_all([&](bool& is_last) { return stop_watching(host, actor, is_last); });
  take_down_all([&](bool& is_last) { return tell_watcher(host, actor, reason, text, is_last); });
}

void drop_bonds(Host& host, Actor& actor) noexcept {
  Relations& relations = *actor.relations;
  while (LinkEnd* end = relations.links.front()) drop_link(host, *end->link);
  take_down_all([&](bool& is_last) { return stop_watching(host, actor, is_last); });
  while (Monitor* monitor = relations.watched_by.front()) {
    unhook(*monitor);
    give_monitor(host, *monitor);
  }
}

}  // namespace jzx::core

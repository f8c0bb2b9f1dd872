#include "core/bonds.hpp"

#include <utility>

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

void tell_link(Host& host, Link& link, Actor& survivor, ActorId dead, ExitReason reason,
               const ExitText& text) noexcept {
  if (survivor.traps_exit) {
    link.exit = Exit{dead, reason, text};
    link.address(SystemTag::exit, dead, &link.exit, kSizeOfExit, &link_notice_done);
    send_notice(host, survivor, link);
    return;
  }
  free_link(host, link);
  // It may have been asked to end already, for its own reasons.
  if (reason != ExitReason::normal) (void)request_exit(host, survivor.id(), reason);
}

// ---- monitors ----

void monitor_notice_done(Notice& notice, Host& host) {
  host.system.monitors.give(static_cast<Monitor&>(notice));
}

void tell_watcher(Host& host, Monitor& monitor, ActorId target, ExitReason reason,
                  const ExitText& text) noexcept {
  monitor.down = Down{host.system.monitors.id_of(monitor), target, reason, text};
  MonitorMap::invalidate(monitor);
  monitor.address(SystemTag::down, target, &monitor.down, kSizeOfDown, &monitor_notice_done);
  send_notice(host, *monitor.watcher, monitor);
}

void drop_monitor(Host& host, Monitor& monitor) noexcept {
  node<InWatchedBy>(monitor).unlink();
  node<InWatching>(monitor).unlink();
  host.system.monitors.give(monitor);
}

}  // namespace

Errc link(Host& host, ActorId a, ActorId b) noexcept {
  if (a == b) return Errc::invalid_arg;
  Actor* first = host.system.find_open(a);
  Actor* second = host.system.find_open(b);
  if (first == nullptr || second == nullptr) return Errc::no_such_actor;
  if (find_link(*first, *second) != nullptr) return Errc::ok;
  if (host.system.relations_of(*first) == nullptr || host.system.relations_of(*second) == nullptr) {
    return Errc::no_memory;
  }
  void* memory = host.system.links.take();
  if (memory == nullptr) return Errc::no_memory;
  auto* link = new (memory) Link;
  for (int i = 0; i < 2; ++i) {
    link->ends[i].actor = i == 0 ? first : second;
    link->ends[i].link = link;
    link->ends[i].actor->relations->links.push_back(link->ends[i]);
    ++link->ends[i].actor->relations->link_count;
  }
  return Errc::ok;
}

Errc unlink(Host& host, ActorId a, ActorId b) noexcept {
  if (a == b) return Errc::invalid_arg;
  Actor* first = host.system.find_open(a);
  Actor* second = host.system.find_open(b);
  if (first == nullptr || second == nullptr) return Errc::no_such_actor;
  if (LinkEnd* end = find_link(*first, *second)) {
    Link& link = *end->link;
    unhook(link);
    free_link(host, link);
  }
  return Errc::ok;
}

Errc set_trap_exit(Host& host, ActorId id, bool on) noexcept {
  Actor* actor = host.system.find_open(id);
  if (actor == nullptr) return Errc::no_such_actor;
  actor->traps_exit = on;
  return Errc::ok;
}

Errc monitor(Host& host, ActorId watcher, ActorId target, uint64_t& ref) noexcept {
  Actor* watching = host.system.find_open(watcher);
  if (watching == nullptr) return Errc::no_such_actor;
  if (target == kNobody) return Errc::invalid_arg;
  if (host.system.relations_of(*watching) == nullptr) return Errc::no_memory;
  Actor* watched = host.system.find_live(target);
  if (watched != nullptr && host.system.relations_of(*watched) == nullptr) return Errc::no_memory;
  Monitor* monitor = host.system.monitors.take();
  if (monitor == nullptr) return Errc::no_memory;
  monitor->watcher = watching;
  monitor->target = watched;
  ref = host.system.monitors.id_of(*monitor);
  if (watched == nullptr) {
    tell_watcher(host, *monitor, target, ExitReason::noproc, {});
  } else {
    watching->relations->watching.push_back(*monitor);
    watched->relations->watched_by.push_back(*monitor);
  }
  return Errc::ok;
}

Errc demonitor(Host& host, uint64_t ref) noexcept {
  Monitor* monitor = host.system.monitors.find(ref);
  if (monitor == nullptr) return Errc::invalid_arg;
  drop_monitor(host, *monitor);
  return Errc::ok;
}

void tell_bonds(Host& host, Actor& actor, ExitReason reason, const ExitText& text) noexcept {
  const ActorId id = actor.id();
  Relations& relations = *actor.relations;
  while (LinkEnd* end = relations.links.front()) {
    Link& link = *end->link;
    Actor& survivor = *link.other(*end).actor;
    unhook(link);
    tell_link(host, link, survivor, id, reason, text);
  }
  while (Monitor* monitor = relations.watching.front()) drop_monitor(host, *monitor);
  while (Monitor* monitor = relations.watched_by.pop_front()) {
    node<InWatching>(*monitor).unlink();
    tell_watcher(host, *monitor, id, reason, text);
  }
}

void drop_bonds(Host& host, Actor& actor) noexcept {
  Relations& relations = *actor.relations;
  while (LinkEnd* end = relations.links.front()) {
    Link& link = *end->link;
    unhook(link);
    free_link(host, link);
  }
  while (Monitor* monitor = relations.watching.front()) drop_monitor(host, *monitor);
  while (Monitor* monitor = relations.watched_by.front()) drop_monitor(host, *monitor);
}

}  // namespace jzx::core

#include "actors/stage/world.hpp"

#include <chrono>

#include "actors/stage/stage.hpp"

namespace jzx::actors {

using std::chrono::milliseconds;

// ---- what is counted ----

Errc World::send(ActorId to, Command command) {
  const Errc error = do_send(to, std::move(command));
  if (ok(error)) stage_.books().accepted.fetch_add(1);
  return error;
}

Errc World::send_after(uint64_t ms, ActorId to, Command command, uint64_t& timer) {
  const Errc error = do_send_after(ms, to, std::move(command), timer);
  if (ok(error)) stage_.books().accepted.fetch_add(1);
  return error;
}

Errc World::cancel(uint64_t timer) {
  const Errc error = do_cancel(timer);
  if (ok(error)) stage_.books().cancelled.fetch_add(1);
  return error;
}

// ---- C++ ----

CppWorld::CppWorld(Stage& stage, SystemFace& face)
    : World(stage), face_(face), port_(detail::port_of(face)) {}

Errc CppWorld::supervise(const Family& family, ActorId parent, ActorId& out) {
  const SupervisorRef supervisor =
      face_.supervise({family.strategy, family.intensity, milliseconds(family.period_ms)},
                      specs(family), pid(parent));
  out = supervisor.pid().id();
  return supervisor ? Errc::ok : face_.supervise_error();
}

ActorId CppWorld::child_at(ActorId supervisor, size_t index) {
  return SupervisorRef(pid(supervisor)).child(index).id();
}

Errc CppWorld::monitor(ActorId watcher, ActorId target, uint64_t& ref) {
  MonitorRef made;
  const Errc error = face_.monitor(pid(watcher), pid(target), &made);
  ref = made.value;
  return error;
}

Errc CppWorld::do_send_after(uint64_t ms, ActorId to, Command command, uint64_t& timer) {
  TimerId id;
  const Errc error = face_.send_after(milliseconds(ms), pid(to), std::move(command), &id);
  timer = id.value;
  return error;
}

SpawnOptions CppWorld::options(const Wish& wish) const {
  SpawnOptions options;
  options.name = wish.label.empty() ? nullptr : wish.label.c_str();
  options.mailbox_cap = wish.mailbox_cap;
  options.supervisor = pid(wish.parent);
  options.priority = wish.priority;
  options.overload = wish.overload;
  options.placement = wish.placement;
  return options;
}

std::vector<ChildSpec> CppWorld::specs(const Family& family) const {
  std::vector<ChildSpec> made;
  for (const Member& member : family.members) {
    ChildSpec spec = member.family == nullptr
                         ? child_spec(member.name)
                         : supervisor(member.name,
                                      {member.family->strategy, member.family->intensity,
                                       milliseconds(member.family->period_ms)},
                                      specs(*member.family));
    if (member.mode == ChildMode::transient) spec = std::move(spec).transient();
    if (member.mode == ChildMode::temporary) spec = std::move(spec).temporary();
    if (member.backoff_ms != 0) {
      spec = std::move(spec).backoff({.initial = milliseconds(member.backoff_ms)});
    }
    made.push_back(std::move(spec));
  }
  return made;
}

}  // namespace jzx::actors

// World: all that can be done in a system, as the users of one body write it: in C through the
// jzx_* calls, in C++ through a SystemFace. The same calls are made from inside an actor and from
// the test.
//
// Sends are counted here, so that a stage can check in the end that every accepted command was
// performed, dead-lettered or cancelled, once.
//
// Threads: as the system's.
#pragma once

#include <jzx/system.hpp>
#include <memory>
#include <string>
#include <vector>

#include "actors/stage/command.hpp"

namespace jzx::actors {

class Stage;

// How an actor is to be spawned.
struct Wish {
  std::string label = {};
  uint32_t mailbox_cap = 0;  // slots, of which the system has 4; 0: the default
  ActorId parent = 0;
  Priority priority = Priority::normal;
  Overload overload = Overload::refuse;
  Placement placement = Placement::anywhere();
};

// Of a mailbox with room for this many commands.
[[nodiscard]] inline uint32_t room_for(uint32_t commands) { return commands + 4; }

struct Family;

struct Member {
  std::string name;
  ChildMode mode = ChildMode::permanent;
  uint32_t backoff_ms = 0;                   // 0: started again at once
  std::shared_ptr<Family> family = nullptr;  // not null: a supervisor
};

struct Family {
  std::vector<Member> members;
  Strategy strategy = Strategy::one_for_one;
  uint32_t intensity = 100;
  uint32_t period_ms = 3'600'000;
};

class World {
 public:
  explicit World(Stage& stage) : stage_(stage) {}
  virtual ~World() = default;

  Errc send(ActorId to, Command command);
  Errc send_after(uint64_t ms, ActorId to, Command command, uint64_t& timer);
  Errc cancel(uint64_t timer);

  virtual Errc spawn(const Wish& wish, ActorId& out) = 0;
  virtual Errc supervise(const Family& family, ActorId parent, ActorId& out) = 0;
  // 0: it is down, or there is none.
  virtual ActorId child_at(ActorId supervisor, size_t index) = 0;

  virtual Errc stop(ActorId whom) = 0;
  // Ends it badly, in the way this face has; the reason is kill_reason().
  virtual Errc kill(ActorId whom) = 0;
  [[nodiscard]] virtual ExitReason kill_reason() const = 0;

  virtual Errc link(ActorId a, ActorId b) = 0;
  virtual Errc unlink(ActorId a, ActorId b) = 0;
  virtual Errc monitor(ActorId watcher, ActorId target, uint64_t& ref) = 0;
  virtual Errc demonitor(uint64_t ref) = 0;
  virtual Errc trap_exit(ActorId whom, bool on) = 0;

  virtual Errc register_name(ActorId whom, const std::string& name) = 0;
  // 0: nobody.
  virtual ActorId whereis(const std::string& name) = 0;

  // For reading.
  virtual Errc watch_fd(int fd, ActorId owner) = 0;
  virtual Errc unwatch_fd(int fd) = 0;

 protected:
  virtual Errc do_send(ActorId to, Command command) = 0;
  virtual Errc do_send_after(uint64_t ms, ActorId to, Command command, uint64_t& timer) = 0;
  virtual Errc do_cancel(uint64_t timer) = 0;

  Stage& stage_;
};

// For bodies that are spawned and sent to in C++; what differs between those is left open.
class CppWorld : public World {
 public:
  CppWorld(Stage& stage, SystemFace& face);

  Errc supervise(const Family& family, ActorId parent, ActorId& out) override;
  ActorId child_at(ActorId supervisor, size_t index) override;
  Errc stop(ActorId whom) override { return face_.stop(pid(whom)); }
  Errc kill(ActorId whom) override { return face_.kill(pid(whom)); }
  ExitReason kill_reason() const override { return ExitReason::killed; }
  Errc link(ActorId a, ActorId b) override { return face_.link(pid(a), pid(b)); }
  Errc unlink(ActorId a, ActorId b) override { return face_.unlink(pid(a), pid(b)); }
  Errc monitor(ActorId watcher, ActorId target, uint64_t& ref) override;
  Errc demonitor(uint64_t ref) override { return face_.demonitor(MonitorRef{ref}); }
  Errc trap_exit(ActorId whom, bool on) override { return face_.trap_exit(pid(whom), on); }
  Errc register_name(ActorId whom, const std::string& name) override {
    return face_.register_name(pid(whom), name);
  }
  ActorId whereis(const std::string& name) override { return face_.whereis(name).id(); }
  Errc watch_fd(int fd, ActorId owner) override { return face_.watch_fd(fd, pid(owner), kIoRead); }
  Errc unwatch_fd(int fd) override { return face_.unwatch_fd(fd); }

 protected:
  // A child of this body in a supervisor.
  [[nodiscard]] virtual ChildSpec child_spec(const std::string& name) const = 0;

  // Through an untyped Pid, unless a body has something better.
  Errc do_send(ActorId to, Command command) override { return pid(to).send(std::move(command)); }
  Errc do_send_after(uint64_t ms, ActorId to, Command command, uint64_t& timer) override;
  Errc do_cancel(uint64_t timer) override { return face_.cancel(TimerId{timer}); }

  [[nodiscard]] Pid pid(ActorId id) const { return id == 0 ? Pid() : Pid(port_, id); }
  [[nodiscard]] SpawnOptions options(const Wish& wish) const;

  SystemFace& face_;
  detail::Port* port_;

 private:
  [[nodiscard]] std::vector<ChildSpec> specs(const Family& family) const;
};

}  // namespace jzx::actors

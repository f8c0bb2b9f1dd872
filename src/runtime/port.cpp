// The functions of jzx/port.hpp: how the typed edge reaches a system.
#include <jzx/port.hpp>

#include <algorithm>

#include "core/bonds.hpp"
#include "core/lifecycle.hpp"
#include "core/message_timer.hpp"
#include "core/names.hpp"
#include "kinds/handlers/handlers.hpp"
#include "runtime/loop_system.hpp"
#include "runtime/port.hpp"

namespace jzx::detail {

using runtime::LoopSystem;
using runtime::Outside;
using runtime::system_of;

Envelope* begin_send(Port& port, Errc& error) noexcept {
  LoopSystem& system = system_of(port);
  Envelope* envelope = nullptr;
  if (system.is_on_its_thread()) {
    envelope = system.worker.envelopes.take(&raw_message_type, system.worker.current_id);
  } else {
    // Left again by finish_send().
    if (!system.enter()) return error = Errc::loop_closed, nullptr;
    envelope = system.worker.envelopes.take_foreign(&raw_message_type);
    if (envelope == nullptr) system.leave();
  }
  if (envelope == nullptr) error = Errc::no_memory;
  return envelope;
}

Errc finish_send(Port& port, ActorId target, Envelope& envelope) noexcept {
  LoopSystem& system = system_of(port);
  const bool is_foreign = (envelope.flags & Envelope::kForeign) != 0;
  const Errc result = is_foreign ? core::send_foreign(system.worker, target, envelope)
                                 : core::send(system.worker, target, envelope);
  if (result != Errc::ok) {
    if (envelope.type->destroy != nullptr) envelope.type->destroy(envelope);
    if (is_foreign) {
      system.worker.envelopes.give_back_foreign(envelope);
    } else {
      system.worker.envelopes.give(envelope);
    }
  }
  if (is_foreign) system.leave();
  return result;
}

void* allocate(Port& port, size_t size) noexcept {
  return system_of(port).system.allocator.allocate(size);
}
void release(Port& port, void* memory) noexcept {
  system_of(port).system.allocator.release(memory);
}

void wake(Port& port) noexcept {
  LoopSystem& system = system_of(port);
  if (system.is_on_its_thread() || !system.enter()) return;
  system.worker.io().wake();
  system.leave();
}

Errc spawn(Port& port, const ActorType& type, void* instance, const SpawnRequest& request,
           ActorId& out) noexcept {
  Outside here(port);
  core::SpawnOptions options;
  kinds::describe_handlers(type, instance, options);
  options.label = request.label;
  options.mailbox_cap = request.mailbox_cap;
  options.parent = request.parent;
  return core::spawn(here.host(), options, out);
}

Errc request_exit(Port& port, ActorId id, ExitReason reason) noexcept {
  return core::request_exit(Outside(port).host(), id, reason);
}
Errc register_name(Port& port, ActorId id, std::string_view name) noexcept {
  return core::register_name(Outside(port).host(), id, name);
}
Errc whereis(Port& port, std::string_view name, ActorId& out) noexcept {
  return core::whereis(Outside(port).host(), name, out);
}
Errc link(Port& port, ActorId a, ActorId b) noexcept {
  return core::link(Outside(port).host(), a, b);
}
Errc unlink(Port& port, ActorId a, ActorId b) noexcept {
  return core::unlink(Outside(port).host(), a, b);
}
Errc trap_exit(Port& port, ActorId id, bool on) noexcept {
  return core::set_trap_exit(Outside(port).host(), id, on);
}
Errc monitor(Port& port, ActorId watcher, ActorId target, uint64_t& ref) noexcept {
  return core::monitor(Outside(port).host(), watcher, target, ref);
}
Errc demonitor(Port& port, uint64_t ref) noexcept {
  return core::demonitor(Outside(port).host(), ref);
}
Errc watch_fd(Port& port, int fd, ActorId owner, uint32_t interest) noexcept {
  return Outside(port).worker().watches().watch(fd, owner, interest);
}
Errc unwatch_fd(Port& port, int fd) noexcept {
  return Outside(port).worker().watches().unwatch(fd);
}

Envelope* begin_timer(Port& port, ActorId target, Errc& error) noexcept {
  return core::make_timer(system_of(port).worker, target, error);
}
uint64_t finish_timer(Port& port, Envelope& envelope, uint64_t delay_ms) noexcept {
  return core::arm_timer(Outside(port).host(), static_cast<core::MessageTimer&>(envelope),
                         std::min(delay_ms, runtime::kLongestTimeMs));
}
void abort_timer(Port& port, Envelope& envelope) noexcept {
  system_of(port).worker.reclaim(envelope);
}
Errc cancel_timer(Port& port, uint64_t id) noexcept {
  return core::cancel_timer(Outside(port).host(), id);
}

bool is_on_a_loop() noexcept { return base::Executor::current() != nullptr; }

}  // namespace jzx::detail

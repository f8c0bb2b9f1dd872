// The functions of jzx/detail/port.hpp: how the typed edge reaches a system.
#include "runtime/port.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <jzx/manual.hpp>

#include "base/prng.hpp"
#include "core/bonds.hpp"
#include "core/lifecycle.hpp"
#include "core/message_timer.hpp"
#include "core/names.hpp"
#include "core/turn.hpp"
#include "io/signal_source.hpp"
#include "kinds/handlers/handlers.hpp"
#include "runtime/spawn_request.hpp"
#include "runtime/waiting_send.hpp"

namespace jzx::runtime {

uint64_t make_seed(const void* place) noexcept {
  uint64_t seed = base::SteadyClock().now_ns() ^ reinterpret_cast<uintptr_t>(place);
  return base::splitmix64(seed);
}

bool is_actor_limit(uint32_t max_actors) noexcept {
  constexpr uint32_t kMost = core::StateWord::kMostSlots;
  if (max_actors <= kMost) return max_actors != 0;
  std::fprintf(stderr, "jzx: max_actors is %u, and at most %u (2^%d) is possible\n", max_actors,
               kMost, core::StateWord::kSlotBits);
  return false;
}

}  // namespace jzx::runtime

namespace jzx::detail {

using runtime::Call;
using runtime::wait_for_room;

Errc Port::send_from_anywhere(ActorId target, const RawMessage& message) noexcept {
  // Before memory is asked for: an actor that is gone is gone, whether there is memory or not.
  if (system.find_open(target) == nullptr) return Errc::no_such_actor;
  core::Host* here = host_here();
  Envelope* envelope = here != nullptr ? here->envelopes.take(&raw_message_type, here->acting())
                                       : system.envelopes.take_foreign(&raw_message_type);
  if (envelope == nullptr) return Errc::no_memory;
  auto* raw = new (envelope->storage) RawMessage(message);
  raw->sender = envelope->sender;
  if (here != nullptr) {
    const Errc result = core::send(*here, target, *envelope);
    if (result != Errc::ok) here->envelopes.give(*envelope);
    return result;
  }
  const Errc result = send_from_outside(target, *envelope);
  if (result != Errc::ok) system.envelopes.give_back(*envelope);
  return result;
}

Errc Port::send_from_outside(ActorId target, Envelope& envelope) noexcept {
  const Errc result = core::send_foreign(any_host(), target, envelope);
  if (result != Errc::mailbox_full || !is_run_by_this_thread()) [[likely]]
    return result;
  return core::drop_newest_foreign(any_host(), target, envelope);
}

core::Ledger Port::ledger() noexcept {
  core::Ledger total;
  system.for_each_host([&](core::Host& host) {
    total.accepted += host.counters.accepted;
    total.handled += host.counters.handled;
    total.dead_lettered += host.counters.dead_lettered;
  });
  total.accepted += system.envelopes.foreign_accepted();
  total.dead_lettered += system.envelopes.foreign_dropped();
  system.actors.for_each_slot([&](core::Actor& actor) {
    total.queued += core::queued_count(actor) - actor.system_queued.load(std::memory_order_relaxed);
  });
  return total;
}

// ---- messages ----

// The common way through the next two is short, and calls nobody: the rest is out of line.

namespace {

[[gnu::noinline]] Envelope* begin_rare(Port& port, Errc& error) noexcept {
  Envelope* envelope = nullptr;
  if (core::Host* here = port.host_here()) {
    envelope = here->envelopes.take(nullptr, here->acting());
    if (envelope != nullptr) envelope->next = reinterpret_cast<Envelope*>(here);
  } else {
    // Left again by finish_send().
    if (!port.enter()) return error = Errc::loop_closed, nullptr;
    envelope = port.system.envelopes.take_foreign(nullptr);
    if (envelope == nullptr) {
      port.leave();
    } else {
      envelope->flags = Envelope::kForeign;
    }
  }
  if (envelope == nullptr) error = Errc::no_memory;
  return envelope;
}

}  // namespace

// Not inlined, also not by a linker: see Executor::current_inlined().
[[gnu::noinline]] Envelope* begin_send(Port& port, Errc& error) noexcept {
  auto* here = static_cast<core::Host*>(base::Executor::current_inlined());
  if (here == nullptr || here->port != &port || !here->envelopes.has_own()) [[unlikely]] {
    return begin_rare(port, error);
  }
  Envelope* envelope = &here->envelopes.take_own(nullptr, here->acting());
  // Asking for the thread's host is not free: finish_send() finds it here.
  envelope->next = reinterpret_cast<Envelope*>(here);
  return envelope;
}

namespace {

void end_message(Envelope& envelope) noexcept {
  // Without a type it is empty: to make the message failed.
  if (envelope.type != nullptr && envelope.type->destroy != nullptr) {
    envelope.type->destroy(envelope);
  }
}

Errc finish_refused(Port& port, core::Host& here, ActorId target, Envelope& envelope,
                    Errc result) noexcept {
  core::Host* now = &here;
  if (result == Errc::mailbox_full) result = wait_for_room(port, now, target, envelope);
  if (result != Errc::ok) {
    end_message(envelope);
    now->envelopes.give(envelope);
  }
  return result;
}

Errc finish_foreign(Port& port, ActorId target, Envelope& envelope) noexcept {
  envelope.flags = 0;
  Errc result = port.send_from_outside(target, envelope);
  core::Host* nowhere = nullptr;
  if (result == Errc::mailbox_full) result = wait_for_room(port, nowhere, target, envelope);
  if (result != Errc::ok) {
    end_message(envelope);
    port.system.envelopes.give_back(envelope);
  }
  port.leave();
  return result;
}

}  // namespace

namespace {

Errc finish_here(Port& port, core::Host& here, ActorId target, Envelope& envelope) noexcept {
  const Errc result = core::send(here, target, envelope);
  if (result != Errc::ok) [[unlikely]]
    return finish_refused(port, here, target, envelope, result);
  return Errc::ok;
}

// Nothing has happened yet.
[[gnu::noinline]] Errc finish_rare(Port& port, ActorId target, Envelope& envelope) noexcept {
  if ((envelope.flags & Envelope::kForeign) != 0) return finish_foreign(port, target, envelope);
  return finish_here(port, *reinterpret_cast<core::Host*>(envelope.next), target, envelope);
}

}  // namespace

Errc finish_send(Port& port, ActorId target, Envelope& envelope) noexcept {
  if ((envelope.flags & Envelope::kForeign) == 0) [[likely]] {
    core::Host& here = *reinterpret_cast<core::Host*>(envelope.next);
    if (core::send_common(here, target, [&]() -> Envelope& { return envelope; })) [[likely]]
      return Errc::ok;
  }
  return finish_rare(port, target, envelope);
}

namespace {

// By copy, since they are the message that the type says, and no numbers.
void put_words(Envelope& envelope, uint64_t first, uint64_t second) noexcept {
  const uint64_t words[2] = {first, second};
  std::memcpy(envelope.storage, words, sizeof(words));
}

// There is no envelope for it.
Errc end_words(const MessageType& type, uint64_t first, uint64_t second, Errc error) noexcept {
  Envelope envelope(&type, 0, 0);
  put_words(envelope, first, second);
  end_message(envelope);
  return error;
}

// Nothing has happened yet, in both.
[[gnu::noinline]] Errc send_words_outside(Port& port, ActorId target, const MessageType& type,
                                          uint64_t first, uint64_t second) noexcept {
  Errc error = Errc::ok;
  Envelope* envelope = begin_send(port, error);
  if (envelope == nullptr) return end_words(type, first, second, error);
  envelope->type = &type;
  put_words(*envelope, first, second);
  return finish_rare(port, target, *envelope);
}
[[gnu::noinline]] Errc send_words_rare(core::Host& here, ActorId target, const MessageType& type,
                                       uint64_t first, uint64_t second) noexcept {
  Envelope* envelope = here.envelopes.take(&type, here.acting());
  if (envelope == nullptr) return end_words(type, first, second, Errc::no_memory);
  put_words(*envelope, first, second);
  return finish_here(*static_cast<Port*>(here.port), here, target, *envelope);
}

}  // namespace

[[gnu::noinline]] Errc send_words(Port& port, ActorId target, const MessageType& type,
                                  uint64_t first, uint64_t second) noexcept {
  auto* here = static_cast<core::Host*>(base::Executor::current_inlined());
  if (here == nullptr || here->port != &port) [[unlikely]]
    return send_words_outside(port, target, type, first, second);
  // From here on `port` is not needed, which spares a register.
  if (here->envelopes.has_own() && core::send_common(*here, target, [&]() -> Envelope& {
        Envelope& envelope = here->envelopes.take_own(&type, here->acting());
        put_words(envelope, first, second);
        return envelope;
      })) [[likely]] {
    return Errc::ok;
  }
  return send_words_rare(*here, target, type, first, second);
}

Errc try_send(Port& port, ActorId target, Envelope& envelope) noexcept {
  if ((envelope.flags & Envelope::kForeign) == 0) {
    return core::send(*reinterpret_cast<core::Host*>(envelope.next), target, envelope);
  }
  envelope.flags = 0;
  const Errc result = port.send_from_outside(target, envelope);
  if (result == Errc::ok) {
    port.leave();
  } else {
    envelope.flags = Envelope::kForeign;
  }
  return result;
}

[[gnu::noinline]] void* allocate(Port& port, size_t size) noexcept {
  if (size > core::kLargestSmall) return port.system.allocator.allocate(size);
  const size_t small = core::small_class(size);
  if (core::Host* here = port.host_here_inlined()) return here->small.classes[small].take();
  return port.system.small.classes[small].take_one([] {});
}

[[gnu::noinline]] void release(Port& port, void* memory, size_t size) noexcept {
  if (size > core::kLargestSmall) return port.system.allocator.release(memory);
  const size_t small = core::small_class(size);
  if (core::Host* here = port.host_here_inlined()) return here->small.classes[small].give(memory);
  port.system.small.classes[small].give_one(memory, [] {});
}

void wake(Port& port) noexcept {
  if (port.host_here() != nullptr || !port.enter()) return;
  port.wake();
  port.leave();
}

// ---- actors ----

// Not inlined, also not by a linker: see Executor::current_inlined().
[[gnu::noinline]] Errc spawn(Port& port, const ActorType& type, void* instance,
                             const SpawnRequest& request, ActorId& out) noexcept {
  core::Host* here = port.host_here_inlined();
  if (here != nullptr && port.is_open() && runtime::is_common(request) &&
      core::spawn_common(*here, kinds::handlers_kind_for(type), kinds::body_for(type, instance),
                         request.mailbox_cap, type.on_start != nullptr, out)) [[likely]] {
    port.types.note(type);
    return Errc::ok;
  }
  Call call(port);
  if (!call) return type.destroy(instance, port), Errc::loop_closed;
  core::SpawnOptions options = runtime::spawn_options(call.host(), request);
  kinds::describe_handlers(type, instance, options);
  const runtime::Spawned spawned = runtime::spawn_bound(call.host(), options, request, out);
  if (ok(spawned.error)) {
    port.types.note(type);
  } else if (!spawned.is_body_ended) {
    type.destroy(instance, port);
  }
  return spawned.error;
}

bool poll_by_hand(Port& port, ActorId id, uint32_t messages, size_t& handled) {
  core::Host* host = port.begin_turn();
  if (host == nullptr) return false;
  core::Actor* actor = port.system.actors.find(id);
  bool is_there = false;
  if (actor != nullptr) {
    core::Bonds hold(port.system.is_shared, *actor);
    is_there = port.system.is_live(*actor, id) && actor->home() == base::kByHand;
  }
  // It ends in its own turns only, and those are here.
  const uint64_t before = host->counters.handled;
  const bool has_run = is_there && core::run_by_hand(*host, *actor, messages);
  handled += host->counters.handled - before;
  port.end_turn(*host);
  return has_run;
}

std::string_view type_name_of(Port& port, ActorId id) noexcept {
  core::Actor* actor = port.system.actors.find(id);
  if (actor == nullptr) return {};
  core::Bonds hold(port.system.is_shared, *actor);
  if (!port.system.is_live(*actor, id) || actor->kind == nullptr) return {};
  return actor->kind->type_name(*actor);
}

HandlePools& handle_pools_of(Port* port) noexcept {
  if (port == nullptr) {
    std::fputs("jzx: no handle pools: their system could not be made\n", stderr);
    std::abort();
  }
  return port->pools;
}

std::vector<ActorTypeInfo> known_types(Port& port) { return port.types.list(); }

Errc request_exit(Port& port, ActorId id, ExitReason reason) noexcept {
  Call call(port);
  return call ? core::request_exit(call.host(), id, reason) : Errc::loop_closed;
}
Errc register_name(Port& port, ActorId id, std::string_view name) noexcept {
  Call call(port);
  return call ? core::register_name(call.host(), id, name) : Errc::loop_closed;
}
Errc whereis(Port& port, std::string_view name, ActorId& out) noexcept {
  Call call(port);
  return call ? core::whereis(call.host(), name, out) : Errc::loop_closed;
}
Errc link(Port& port, ActorId a, ActorId b) noexcept {
  Call call(port);
  return call ? core::link(call.host(), a, b) : Errc::loop_closed;
}
Errc unlink(Port& port, ActorId a, ActorId b) noexcept {
  Call call(port);
  return call ? core::unlink(call.host(), a, b) : Errc::loop_closed;
}
Errc trap_exit(Port& port, ActorId id, bool on) noexcept {
  Call call(port);
  return call ? core::set_trap_exit(call.host(), id, on) : Errc::loop_closed;
}
Errc monitor(Port& port, ActorId watcher, ActorId target, uint64_t& ref) noexcept {
  Call call(port);
  return call ? core::monitor(call.host(), watcher, target, ref) : Errc::loop_closed;
}
Errc demonitor(Port& port, uint64_t ref) noexcept {
  Call call(port);
  return call ? core::demonitor(call.host(), ref) : Errc::loop_closed;
}
Errc watch_fd(Port& port, int fd, ActorId owner, uint32_t interest) noexcept {
  Call call(port);
  return call ? port.watches_for(fd).watch(fd, owner, interest) : Errc::loop_closed;
}
Errc unwatch_fd(Port& port, int fd) noexcept {
  Call call(port);
  return call ? port.watches_for(fd).unwatch(fd) : Errc::loop_closed;
}
Errc watch_signal(Port& port, int signal, ActorId owner) noexcept {
  Call call(port);
  if (!call) return Errc::loop_closed;
  int error = 0;
  io::SignalSource* source = io::listen_to_signal(signal, port.system.allocator, error);
  if (source == nullptr) {
    return error == -EINVAL   ? Errc::invalid_arg
           : error == -ENOMEM ? Errc::no_memory
                              : Errc::io_reg_failed;
  }
  const Errc result = port.watches_for(source->fd()).watch_signal(*source, owner);
  if (!ok(result)) source->end();
  return result;
}

// ---- timers ----

Envelope* begin_timer(Port& port, ActorId target, Errc& error) noexcept {
  Call call(port);
  if (!call) return error = Errc::loop_closed, nullptr;
  return core::make_timer(call.host(), target, error);
}
uint64_t finish_timer(Port& port, Envelope& envelope, uint64_t delay_ms) noexcept {
  Call call(port);
  auto& timer = static_cast<core::MessageTimer&>(envelope);
  if (!call) {  // it closed since begin_timer(): nobody will hear of this message
    port.any_host().discard(envelope);
    return 0;
  }
  return core::arm_timer(call.host(), timer, std::min(delay_ms, runtime::kLongestTimeMs));
}
void abort_timer(Port& port, Envelope& envelope) noexcept { port.any_host().reclaim(envelope); }
Errc cancel_timer(Port& port, uint64_t id) noexcept {
  Call call(port);
  return call ? core::cancel_timer(call.host(), id) : Errc::loop_closed;
}

}  // namespace jzx::detail

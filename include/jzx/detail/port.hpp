// The narrow place between the templates of these headers and the library: everything typed above,
// everything type-erased below. Not for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <jzx/detail/export.hpp>
#include <jzx/envelope.hpp>
#include <jzx/errc.hpp>

namespace jzx::detail {

// A running system, seen from a typed reference.
class Port;

// ---- messages, from any thread ----

// A message that is a word or two, in one call: one that may be moved as it lies. If it is refused
// it has been ended.
JZX_API Errc send_words(Port& port, ActorId target, const MessageType& type, uint64_t first,
                        uint64_t second) noexcept;

// For all others: an envelope for a message to an actor of this port; nullptr and the error: no
// memory, or the port is closing. finish_send() must follow.
[[nodiscard]] JZX_API Envelope* begin_send(Port& port, Errc& error) noexcept;
// Sends it, or ends the message and gives the envelope back.
JZX_API Errc finish_send(Port& port, ActorId target, Envelope& envelope) noexcept;
// Sends it, or leaves everything as it is, for another target: finish_send() must still follow.
JZX_API Errc try_send(Port& port, ActorId target, Envelope& envelope) noexcept;
// How many messages wait for this actor, at this moment; 0 if it is gone.
[[nodiscard]] JZX_API uint32_t queue_length(Port& port, ActorId id) noexcept;

// ---- memory of the port: small blocks from pools, the rest from its allocator ----

[[nodiscard]] JZX_API void* allocate(Port& port, size_t size) noexcept;
// `size` as it was asked for.
JZX_API void release(Port& port, void* memory, size_t size) noexcept;

// Makes a sleeping run() or run_once() return to its caller's conditions. From any thread while the
// port exists.
JZX_API void wake(Port& port) noexcept;

// ---- actors: on the loop's thread, or on any thread of a runtime ----

struct SpawnRequest {
  const char* label = nullptr;
  ActorId parent = 0;
  ActorId link = 0;     // is linked to it from the start
  ActorId watcher = 0;  // monitors it from the start
  uint64_t* monitor_ref = nullptr;
  // These five in one word, so that the library sees by one look that they are as usual.
  uint32_t high_water = 0;
  uint8_t priority = 2;   // of jzx::Priority
  uint8_t home = 255;     // a worker, or one of jzx::Placement
  uint8_t overload = 0;   // of jzx::Overload
  bool is_quiet = false;  // the parent is not told of its end
  uint32_t mailbox_cap = 0;
};
// Of one who asks for nothing.
inline constexpr SpawnRequest kUsualRequest;

struct ActorType;

// The instance is the actor's; if the answer is not ok it has been destroyed.
JZX_API Errc spawn(Port& port, const ActorType& type, void* instance, const SpawnRequest& request,
                   ActorId& out) noexcept;
JZX_API Errc request_exit(Port& port, ActorId id, ExitReason reason) noexcept;
JZX_API Errc register_name(Port& port, ActorId id, std::string_view name) noexcept;
JZX_API Errc whereis(Port& port, std::string_view name, ActorId& out) noexcept;
JZX_API Errc link(Port& port, ActorId a, ActorId b) noexcept;
JZX_API Errc unlink(Port& port, ActorId a, ActorId b) noexcept;
JZX_API Errc trap_exit(Port& port, ActorId id, bool on) noexcept;
JZX_API Errc monitor(Port& port, ActorId watcher, ActorId target, uint64_t& ref) noexcept;
JZX_API Errc demonitor(Port& port, uint64_t ref) noexcept;
JZX_API Errc watch_fd(Port& port, int fd, ActorId owner, uint32_t interest) noexcept;
JZX_API Errc unwatch_fd(Port& port, int fd) noexcept;
// Until the owner ends. invalid_arg: not a signal that can be listened to.
JZX_API Errc watch_signal(Port& port, int signal, ActorId owner) noexcept;

// ---- timers, threads as above ----

// An envelope that is a timer; nullptr and the error.
[[nodiscard]] JZX_API Envelope* begin_timer(Port& port, ActorId target, Errc& error) noexcept;
// Starts it: its id.
[[nodiscard]] JZX_API uint64_t finish_timer(Port& port, Envelope& envelope,
                                            uint64_t delay_ms) noexcept;
// Gives it back unused.
JZX_API void abort_timer(Port& port, Envelope& envelope) noexcept;
JZX_API Errc cancel_timer(Port& port, uint64_t id) noexcept;

}  // namespace jzx::detail

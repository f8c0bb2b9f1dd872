// The life of an actor: spawned, asked to end, ending, ended.
//
//   spawn ──▶ init ──▶ running ──▶ stopping ──────────────▶ stopped / failed ──▶ slot retired
//                         │          children end first,        names, timers, watches,
//                         │          last started first         links, monitors, parent told
//                         └ returns STOP or FAIL, throws, is asked to, or a link dies
//
// Threads: the host's own; the actors may be anywhere.
#pragma once

#include <string_view>

#include <jzx/errc.hpp>

#include "core/host.hpp"
#include "core/relations.hpp"

namespace jzx::core {

struct SpawnOptions {
  const Kind* kind = nullptr;
  Body body;
  uint32_t mailbox_cap = 0;     // 0: the system's default
  const char* label = nullptr;  // copied
  ActorId parent = kNobody;
  void* child_mark = nullptr;  // the parent finds it again in Child::mark
  bool first_turn = false;     // Kind::start() is wanted
  bool is_supervisor = false;
  bool is_quiet = false;  // ends with its parent, which is not told of its end
  uint32_t stop_within_ms = kUsualStopLimitMs;  // see stop_child()
  base::Priority priority = base::Priority::normal;
  uint8_t home = base::kAnyWorker;
  Overload overload = Overload::refuse;
  uint32_t high_water = 0;     // queued messages at which the observer is told; 0: never
  ActorId reserved = kNobody;  // an id from reserve(), to be the actor's
};

// Where an actor lives that asks for this home: kSomeWorker is this host's worker, if it has one.
[[nodiscard]] uint8_t settle_home(const Host& host, uint8_t home) noexcept;

// An id for an actor that is spawned later, so that others can be told of it before. Until then it
// is as that of one who has ended. no_memory, max_actors.
[[nodiscard]] Errc reserve(Host& host, ActorId& out) noexcept;
// Nobody will have it.
void release_reserved(Host& host, ActorId id) noexcept;

// The body, and an id that was reserved, belong to the actor if this answers ok, else still to the
// caller. invalid_arg: there is no such home, priority or overload.
[[nodiscard]] Errc spawn(Host& host, const SpawnOptions& options, ActorId& out) noexcept;

// The common spawn, in a few instructions: of an actor without a parent, a label or any other wish.
// False if anything is unusual; then nothing has happened, and spawn() finds out what.
[[nodiscard]] bool spawn_common(Host& host, const Kind& kind, Body body, uint32_t mailbox_cap,
                                bool first_turn, ActorId& out) noexcept;

// Undoes a spawn, with all children of the new actor, before any of them had a turn: the parent is
// not told. For starts that fail half-way.
void abort_start(Host& host, ActorId id) noexcept;

// Takes effect before its next message. no_such_actor: gone, or asked before.
[[nodiscard]] Errc request_exit(Host& host, ActorId id, ExitReason reason) noexcept;

// A parent asks its child to end, and waits for that. When the child's time is up it is killed,
// with all below it: see Kind::kill(). Also for one that ends already, and was not asked by its
// parent. no_such_actor: as request_exit(); the time runs all the same.
Errc stop_child(Host& host, ActorId child) noexcept;

// In its own turn, of one that is to end: is its time limited, or that of one above it, and some is
// left? A body that does not end for all it is told may rest: it gets a turn when the time is up.
[[nodiscard]] bool has_time_left(const Actor& actor) noexcept;

// ---- for the turn ----

// Most ends have nothing to say; a constant, since the text is long to clear.
inline constexpr ExitText kNoText;

void begin_end(Host& host, Actor& actor, ExitReason reason, const ExitText& text) noexcept;
void obey_exit_request(Host& host, Actor& actor) noexcept;
void continue_end(Host& host, Actor& actor) noexcept;

// Everything queued is dead-lettered, or discarded if it is the system's. For a kind whose own
// notices may be among it, before it frees them.
void drain_mailbox(Host& host, Actor& actor, DeadLetterReason reason) noexcept;

// The record of a child, when its parent has been told of the end, or will not be.
void end_child_record(Notice& record, Host& host);

// ---- for the end of a system ----

// Ends every actor at once: no body runs again, nobody is told of anybody; queued messages and
// timers are dead-lettered.
void abandon_all(Host& host) noexcept;
// Meanwhile: a body that is being ended waits for the end of this one, and there are no more turns.
void abandon_early(Host& host, ActorId id) noexcept;

}  // namespace jzx::core

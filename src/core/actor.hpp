// The actor: two cache lines in a table that never moves. The first line is what senders touch,
// the second what the turn touches, so that a stream of messages from another core does not make
// the two fight over one line. Everything an idle actor rarely has (children, links, monitors,
// timers, watches, a registered name) is in Relations, made when first needed.
//
// Threads: the atomics, `state` and `arrivals` by anybody; the rest by the consumer, that is by whoever runs the actor's turn, and before it is first opened.
#pragma once

#include <atomic>
#include <cstdint>

#include <jzx/envelope.hpp>

#include "base/executor.hpp"
#include "base/mpsc_stack.hpp"
#include "core/kind.hpp"
#include "core/state_word.hpp"

namespace jzx::core {

using jzx::ActorId;

inline constexpr ActorId kNobody = 0;

[[nodiscard]] constexpr ActorId make_id(uint32_t slot, uint32_t generation) noexcept {
  return (static_cast<uint64_t>(generation) << 32) | slot;
}
[[nodiscard]] constexpr uint32_t slot_of(ActorId id) noexcept { return static_cast<uint32_t>(id); }
[[nodiscard]] constexpr uint32_t generation_of(ActorId id) noexcept {
  return static_cast<uint32_t>(id >> 32);
}

struct Child;
struct Relations;

enum class Status : uint8_t { init, running, stopping, stopped, failed };

// What a kind keeps for one actor; the meaning of the words is the kind's.
struct Body {
  void* words[3] = {};
};

void run_actor(base::Runnable& actor, base::Executor& executor);

struct alignas(64) Actor : base::Runnable {
  Actor() noexcept : Runnable(&run_actor) {}

  [[nodiscard]] ActorId id() const noexcept { return make_id(slot, state.generation()); }

  // ---- the senders' line ----

  StateWord state;
  base::MpscStack<Envelope, &Envelope::next> arrivals;
  std::atomic<uint32_t> handled_seen{0};   // a sender's last look at `handled`
  std::atomic<uint32_t> system_queued{0};  // how many of the queued messages are the system's
  uint32_t user_limit = 0;                 // how many queued messages users may have
  uint32_t slot = 0;                       // while free: the next free slot
  Relations* relations = nullptr;
  const char* label = nullptr;

  // ---- the consumer's line ----

  Envelope* inbox = nullptr;  // taken from the arrivals, oldest first
  const Kind* kind = nullptr;
  Body body;
  Child* child = nullptr;            // our place among our parent's children
  std::atomic<uint32_t> handled{0};  // messages ever taken; see state_word.hpp
  Status status = Status::init;
  bool traps_exit = false;
  bool has_waiting_timers = false;           // due, but the mailbox was full
  std::atomic<bool> full_noted{false};       // a foreign sender was refused; not yet told
  // Set after an exit was requested in the state word: lets a turn look for that between messages
  // without touching the senders' line.
  std::atomic<bool> exit_hint{false};
};
static_assert(sizeof(Actor) == 128);

}  // namespace jzx::core

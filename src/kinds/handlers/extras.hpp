// What a typed actor has besides its instance once it has changed its behaviour, put a message
// aside, or had a handler that is a coroutine; most never do. Made on the first use, and found
// through the body from then on.
//
// Threads: the actor's own turn.
#pragma once

#include <jzx/detail/become.hpp>

#include "core/turn.hpp"
#include "kinds/handlers/handlings.hpp"

namespace jzx::kinds {

struct Extras {
  Extras(void* the_instance, bool interleaves) noexcept
      : instance(the_instance), handlings(interleaves) {}

  void* instance;
  Handlings handlings;

  // ---- behaviours, the newest first; the actor's own handlers are below the last ----
  detail::Behaviour* behaviour = nullptr;
  detail::Behaviour* retired = nullptr;  // to be ended when all handlers under way have ended

  // ---- messages put aside, the oldest first ----
  Envelope* oldest = nullptr;
  Envelope* newest = nullptr;
  uint32_t stashed = 0;

  void stash(Envelope& envelope) noexcept {
    envelope.next = nullptr;
    (oldest == nullptr ? oldest : newest->next) = &envelope;
    newest = &envelope;
    ++stashed;
  }
  void unstash_all(core::Turn& turn) noexcept {
    if (stashed == 0) return;
    turn.release(*oldest, *newest, stashed);
    oldest = newest = nullptr;
    stashed = 0;
  }
  void end_retired(detail::Port& port) noexcept {
    if (!handlings.is_empty()) return;  // one of them may be a coroutine of it
    while (retired != nullptr) {
      detail::Behaviour* gone = retired;
      retired = gone->below;
      gone->dispose(port);
    }
  }
};

}  // namespace jzx::kinds

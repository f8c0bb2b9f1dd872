// What a typed actor has besides its instance once it has changed its behaviour or put a message
// aside; most never do. Made on the first use, and found through the body from then on.
//
// Threads: the actor's own turn.
#pragma once

#include <jzx/detail/become.hpp>

#include "core/turn.hpp"

namespace jzx::kinds {

struct Extras {
  void* instance = nullptr;

  // ---- behaviours, the newest first; the actor's own handlers are below the last ----
  detail::Behaviour* behaviour = nullptr;
  detail::Behaviour* retired = nullptr;  // to be ended when the handler that runs has returned

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
    while (retired != nullptr) {
      detail::Behaviour* gone = retired;
      retired = gone->below;
      gone->dispose(port);
    }
  }
};

}  // namespace jzx::kinds

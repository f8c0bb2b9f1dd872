// What a reactor remembers of a handle: who waits for each of its two sides, and what is known
// about their readiness.
//
//   may be ready ── kNotReady, or fewer bytes than there was room for ──▶ not ready
//        ▲                                                                    │
//        └──────────────────────── an edge tells of it ───────────────────────┘
//
// So an operation is tried at once while it may succeed, and not tried in vain. A side is believed
// ready until the kernel has said otherwise. That fewer bytes mean "empty" holds for bytes without
// borders, and only before the other end has hung up: the hang-up is told with the last bytes, and
// no edge follows. What comes between the short read and the registration is told by the latter.
//
// Threads: under the reactor's lock.
#pragma once

#include "io/calls/perform.hpp"
#include "io/contract.hpp"
#include "io/signal_source.hpp"

namespace jzx::io {

class EpollReactor;

struct HandleState : Watch {
  HandleState() noexcept;

  EpollReactor* reactor = nullptr;
  Operation* waiting[2] = {nullptr, nullptr};  // by Side
  Operation* closing = nullptr;                // waits until the ring has let go of the handle
  SignalSource* source = nullptr;              // the handle is a signal's, and this ends with it
  uint32_t in_ring = 0;                        // operations that the kernel is at
  bool may_be_ready[2] = {true, true};
  bool hung_up = false;
  bool is_registered = false;

  static void expected(const Watch& watch);

  // The number may come again, for another handle.
  void clear() noexcept {
    waiting[kReadSide] = waiting[kWriteSide] = nullptr;
    closing = nullptr;
    source = nullptr;
    in_ring = 0;
    may_be_ready[kReadSide] = may_be_ready[kWriteSide] = true;
    hung_up = is_registered = false;
  }
};

}  // namespace jzx::io

// What may be chosen for an actor, whoever starts it: a spawn, a supervisor or a pool. Part of
// jzx/system.hpp and jzx/supervisor.hpp.
#pragma once

#include <cstdint>

namespace jzx {

// Among what is ready, higher first; the lower ones still get on. (A loop has one queue for all.)
enum class Priority : uint8_t { critical, high, normal, low };

// What a full mailbox does with one more message of a user. What the system sends always fits.
enum class Overload : uint8_t {
  refuse,  // the sender gets mailbox_full
  // The sender gets ok; the message is dead-lettered. To an actor of a loop, other threads get
  // mailbox_full, since the observer of a loop is called on the loop's thread only.
  drop_newest,
  // The oldest are dead-lettered by the actor before its next turn; senders are refused at twice
  // the size.
  drop_oldest,
  // The sender waits until there is room: a fiber is suspended; others if their thread may block,
  // one that is not the system's or one for what blocks. no_such_actor, if the actor ends
  // meanwhile; loop_closed, if the system does. A handler or a coroutine on a worker or a loop or
  // run by hand, a loop's own thread, and an actor that sends to itself cannot wait in a send and
  // get mailbox_full; so does what is sent to many, by a router, or in C. Who polls the actor by
  // hand must not wait for it.
  //
  // Who waits on a thread for what blocks occupies it (max_blocking_threads, 64). If as many wait
  // as there are such threads, and the consumer needs one too, all of them wait until the shutdown.
  wait,
};

// Where an actor runs, in a runtime.
class Placement {
 public:
  // Wherever there is time: the default.
  [[nodiscard]] static constexpr Placement anywhere() noexcept { return Placement(255); }
  // On one worker only, 0 to 249.
  [[nodiscard]] static constexpr Placement pin_to(uint32_t worker) noexcept {
    return Placement(static_cast<uint8_t>(worker < kNoWorker ? worker : kNoWorker));
  }
  // On a thread that may block.
  [[nodiscard]] static constexpr Placement blocking() noexcept { return Placement(254); }

  // Nowhere by itself: when its owner polls it; see manual.hpp.
  [[nodiscard]] static constexpr Placement by_hand() noexcept { return Placement(253); }
  // On one worker only, whichever: the one that spawns it, if one does. For fibers whose code must
  // find the same thread again after a wait.
  [[nodiscard]] static constexpr Placement pinned() noexcept { return Placement(252); }

  // ---- for the library ----
  [[nodiscard]] constexpr uint8_t home() const noexcept { return home_; }

 private:
  static constexpr uint8_t kNoWorker = 250;  // there are never that many
  explicit constexpr Placement(uint8_t home) noexcept : home_(home) {}
  uint8_t home_;
};

}  // namespace jzx

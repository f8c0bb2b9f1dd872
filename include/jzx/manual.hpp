// ManualRef: an actor that runs when its owner says so, for game loops and the like. Messages queue
// as for any other; no worker looks at them.
//
//   auto controller = jzx::spawn_manual<EnemyController>(runtime);
//   for (;;) {
//     (void)controller.send(Tick{dt});  // or look whether it was refused
//     controller.drain();
//     render();
//   }
//
// Threads: polled by one thread at a time (a poll that meets another does nothing); a loop's by the
// loop's thread. Sent to from anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <jzx/system.hpp>

namespace jzx {

namespace detail {

// One turn of at most so many messages. False: there was nothing to do, or it is gone. `handled` is
// increased by the user messages that were.
JZX_API bool poll_by_hand(Port& port, ActorId id, uint32_t messages, size_t& handled);

// Any other placement becomes one that no spawn accepts.
[[nodiscard]] constexpr Placement placement_by_hand(Placement wanted) noexcept {
  const bool fits =
      wanted.home() == Placement::anywhere().home() || wanted.home() == Placement::by_hand().home();
  return fits ? Placement::by_hand() : Placement::pin_to(UINT32_MAX);
}

}  // namespace detail

template <class A>
class ManualRef {
 public:
  constexpr ManualRef() noexcept = default;
  constexpr explicit ManualRef(ActorRef<A> actor) noexcept : actor_(actor) {}

  // Handles one message. False: there is none. Its start and what the system tells it come on the
  // way, and do not count.
  bool poll_one() const {
    size_t handled = 0;
    while (handled == 0 && poll(1, handled)) {
    }
    return handled > 0;
  }
  // Handles messages until there is none left; how many. What handlers send to this very actor
  // counts too, so a handler that always does holds this up for ever.
  size_t drain() const {
    size_t handled = 0;
    while (poll(64, handled)) {
    }
    return handled;
  }
  // Handles messages as long as `go_on()` says so and there are any; how many.
  template <class GoOn>
  size_t poll_while(GoOn&& go_on) const {
    size_t handled = 0;
    while (go_on() && poll(1, handled)) {
    }
    return handled;
  }

  template <class M>
  Errc send(M&& message) const {
    return actor_.send(std::forward<M>(message));
  }
  template <class M>
  [[nodiscard]] auto ask(M&& message) const {
    return actor_.ask(std::forward<M>(message));
  }

  [[nodiscard]] constexpr ActorRef<A> ref() const noexcept { return actor_; }
  constexpr operator ActorRef<A>() const noexcept { return actor_; }  // NOLINT: it is one
  constexpr operator Pid() const noexcept { return actor_.pid(); }    // NOLINT: and a Pid
  [[nodiscard]] constexpr Pid pid() const noexcept { return actor_.pid(); }
  [[nodiscard]] constexpr explicit operator bool() const noexcept {
    return static_cast<bool>(actor_);
  }

 private:
  bool poll(uint32_t messages, size_t& handled) const {
    return actor_ && detail::poll_by_hand(*actor_.pid().port(), actor_.id(), messages, handled);
  }

  ActorRef<A> actor_;
};

// An actor of `face`, a Loop, a Runtime or a Context, that is polled by its owner. An empty
// reference if it cannot be: SystemFace::spawn_error() says why. It has no other placement
// (invalid_arg), and no use for a priority.
template <class A, class... Args>
[[nodiscard]] ManualRef<A> spawn_manual_with(SystemFace& face, const SpawnOptions& options,
                                             Args&&... args) {
  SpawnOptions by_hand = options;
  by_hand.placement = detail::placement_by_hand(options.placement);
  return ManualRef<A>(face.spawn_with<A>(by_hand, std::forward<Args>(args)...));
}
template <class A, class... Args>
[[nodiscard]] ManualRef<A> spawn_manual(SystemFace& face, Args&&... args) {
  return spawn_manual_with<A>(face, SpawnOptions{}, std::forward<Args>(args)...);
}

}  // namespace jzx

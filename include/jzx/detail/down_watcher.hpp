// What is behind SystemFace::when_down(): a small actor that watches another one. Not for users.
//
// It has the promise's end of the future, in a ticket, and ends when it has used it, or when the
// future is dropped; its monitor ends with it.
//
// Threads: the actor's own turn.
#pragma once

#include <utility>

#include <jzx/actor_ref.hpp>
#include <jzx/detail/spawned_task.hpp>

namespace jzx::detail {

struct DownTicket {
  using State = SourcedState<Down, TaskOwner>;

  // Without memory there is no state.
  DownTicket() noexcept
      : state(State::try_make([](FutureCore& core) {
          const TaskOwner& owner = static_cast<State&>(core).source;
          if (owner.port != nullptr) cancel_task(owner);
        })) {
    if (state != nullptr) state->cancel_on_drop = true;
  }
  DownTicket(DownTicket&& other) noexcept : state(std::exchange(other.state, nullptr)) {}
  DownTicket& operator=(DownTicket&&) = delete;
  ~DownTicket() {
    if (state != nullptr) settle(Error(Errc::cancelled, {}, "when_down"));
  }
  void settle(Result<Down>&& result) {
    state->put_result(std::move(result));
    std::exchange(state, nullptr)->settle();
  }

  State* state;
};

struct DownWatcher {
  explicit DownWatcher(DownTicket&& the_ticket) noexcept : ticket(std::move(the_ticket)) {}
  JZX_API void on(const Down& down, Context& context);

  DownTicket ticket;
};

}  // namespace jzx::detail

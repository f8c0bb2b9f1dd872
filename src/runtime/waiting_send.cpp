#include "runtime/waiting_send.hpp"

#include "kinds/fiber/fiber.hpp"
#include "runtime/waiting_get.hpp"

namespace jzx::runtime {

namespace {

bool may_wait(const detail::Port& port, const core::Host* here, const kinds::Fiber* fiber,
              ActorId target) noexcept {
  if (fiber != nullptr) {
    return fiber->id() != target && fiber->turn().actor.home() != base::kByHand &&
           !fiber->is_asked_to_end && fiber->may_wait();
  }
  // Also in a handler of another system.
  if (must_not_block()) return false;
  if (here == nullptr) return !port.is_run_by_this_thread();
  return here->acting() != target;
}

// For the length of a scope.
class Waiting : private base::WaitingRoom::Guest {
 public:
  Waiting(base::WaitingRoom& room, ActorId target, kinds::Fiber* fiber) noexcept
      : Guest(target, fiber != nullptr ? &wake : nullptr),
        room_(room),
        fiber_(fiber),
        waker_(fiber != nullptr ? fiber->waker() : core::Waker{}),
        is_inside_(room.enter(*this)) {}
  ~Waiting() {
    if (is_inside_) room_.leave(*this);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  [[nodiscard]] bool is_inside() const noexcept { return is_inside_; }
  // ok: it was called. A fiber may be on another thread afterwards.
  [[nodiscard]] Errc wait() noexcept {
    if (fiber_ == nullptr) return room_.wait(*this) ? Errc::ok : Errc::loop_closed;
    for (;;) {
      switch (room_.ask(*this)) {
        case base::WaitingRoom::Answer::called:
          return Errc::ok;
        case base::WaitingRoom::Answer::closed:
          return Errc::loop_closed;
        case base::WaitingRoom::Answer::not_yet:
          break;
      }
      if (!fiber_->suspend(nullptr)) return Errc::killed;
    }
  }

 private:
  static void wake(Guest& guest) { static_cast<Waiting&>(guest).waker_.wake_from_anywhere(); }

  base::WaitingRoom& room_;
  kinds::Fiber* fiber_;
  core::Waker waker_;
  const bool is_inside_;
};

void wake(detail::Port& port, core::Host* here, core::Actor& actor, uint32_t generation) noexcept {
  if (here != nullptr) {
    if (here->wake(actor, generation) == core::Wake::submit) here->submit(actor);
  } else if (actor.state.wake(generation) == core::Wake::submit) {
    port.any_host().post(actor);
  }
}

// As core::send() and core::send_foreign(), but the observer has been told already.
core::Admission try_again(detail::Port& port, core::Host* here, core::Actor& actor, ActorId target,
                          Envelope& envelope) noexcept {
  const core::Admission admission = core::admit_user(actor, core::generation_of(target));
  if (admission >= core::Admission::full) return admission;
  if (here != nullptr) ++here->counters.accepted;  // the depot counts for foreign threads
  if (here != nullptr) {
    core::put(*here, actor, envelope, admission);
  } else if (core::enqueue(actor, envelope, admission, core::Inboxes::none)) {
    port.any_host().post(actor);
  }
  return admission;
}

}  // namespace

Errc wait_for_room(detail::Port& port, core::Host*& here, ActorId target,
                   Envelope& envelope) noexcept {
  core::Actor* actor = port.system.actors.find(target);
  if (actor == nullptr) return Errc::no_such_actor;
  // relaxed: who is wrong about an actor that has just moved in finds out when it tries again.
  if (actor->overload.load(std::memory_order_relaxed) != core::Overload::wait) {
    return Errc::mailbox_full;
  }
  // A fiber of another system waits as a handler there does: on its thread, if that may block.
  kinds::Fiber* fiber = here != nullptr ? kinds::Fiber::acting() : nullptr;
  if (!may_wait(port, here, fiber, target)) return Errc::mailbox_full;
  Waiting waiting(port.system.waiting_senders, target, fiber);
  if (!waiting.is_inside()) return Errc::loop_closed;
  core::Admission admission = core::Admission::full;
  for (;;) {
    actor->note(core::kSenderWaits);
    wake(port, here, *actor, core::generation_of(target));
    admission = try_again(port, here, *actor, target, envelope);
    if (admission != core::Admission::full) break;
    const Errc waited = waiting.wait();
    if (fiber != nullptr) here = &fiber->turn().host;
    if (waited != Errc::ok) return waited;
    admission = try_again(port, here, *actor, target, envelope);  // most often that is all
    if (admission != core::Admission::full) break;
  }
  return admission == core::Admission::gone ? Errc::no_such_actor : Errc::ok;
}

}  // namespace jzx::runtime

// The path of a send: find the slot, be admitted by its state word, enqueue, and submit the actor
// if it was idle. The envelope is the mailbox's if the answer is ok, else still the caller's.
#pragma once

#include <jzx/errc.hpp>

#include "core/host.hpp"
#include "core/mailbox.hpp"
#include "core/one_runner.hpp"

namespace jzx::core {

[[nodiscard]] inline Errc refusal(Admission admission) noexcept {
  return admission == Admission::full ? Errc::mailbox_full : Errc::no_such_actor;
}

// It was not admitted. Tells the observer of a full mailbox; ok if the actor drops what does not
// fit, and then the envelope is gone. Out of line, so that send() stays short.
[[nodiscard]] Errc refused(Host& host, Actor& actor, ActorId target, Envelope& envelope,
                           Admission admission) noexcept;
[[nodiscard]] Errc refused_foreign(Host& host, Actor& actor, ActorId target, Envelope& envelope,
                                   Admission admission) noexcept;
// A foreign send was answered mailbox_full, on a thread that may call the observer. ok: the actor
// drops what does not fit, and the envelope is gone; else still mailbox_full.
[[nodiscard]] Errc drop_newest_foreign(Host& host, ActorId target, Envelope& envelope) noexcept;

// One that was admitted to a busy actor. What waits in the lifo slot of this worker is its own to
// write to; not past a message that came before.
inline void push(Host& host, Actor& actor, Envelope& envelope) noexcept {
  if (actor.arrivals.looks_empty() && host.lifo->begin_writing(actor)) {
    actor.inbox.put(envelope);
    host.lifo->end_writing();
  } else {
    actor.arrivals.push(envelope);
  }
}

// Queues what was admitted, and submits the actor if it was idle. On the host's thread.
inline void put(Host& host, Actor& actor, Envelope& envelope, Admission admission) noexcept {
  if (host.tap != nullptr) [[unlikely]]
    host.tap->sent(actor, envelope);
  if (host.inboxes != Inboxes::all && admission != Admission::first) {
    return push(host, actor, envelope);
  }
  if (enqueue(actor, envelope, admission, host.inboxes)) host.submit(actor);
}

// A host with a tap, or one that may write to no inbox, keeps its view empty, so that every send
// comes here.
[[nodiscard]] inline Errc ask_tap(Host& host, ActorId target, const Envelope& envelope) noexcept {
  if (host.tap != nullptr) [[unlikely]]
    return host.tap->before_send(target, envelope);
  if (host.inboxes != Inboxes::none) host.actors = host.system.actors.view();
  return Errc::ok;
}

// On the host's thread.
[[nodiscard]] inline Errc send(Host& host, ActorId target, Envelope& envelope) noexcept {
  if (const Errc error = ask_tap(host, target, envelope); !ok(error)) return error;
  Actor* actor = host.system.actors.find(target);
  if (actor == nullptr) return Errc::no_such_actor;
  if (host.tap != nullptr && host.tap->hold(*actor, target, envelope)) [[unlikely]]
    return Errc::ok;
  const Admission admission = admit_user(*actor, generation_of(target));
  if (admission >= Admission::full) [[unlikely]]
    return refused(host, *actor, target, envelope, admission);
  ++host.counters.accepted;
  put(host, *actor, envelope, admission);
  return Errc::ok;
}

// The common send, whole and without a loop or a call inside, so that it compiles to a leaf
// function. `fill()` answers the envelope with the message, and is called when that is let in.
// False if anything is unusual; then nothing has happened, and send() finds out what. On the host's
// thread.
template <class Fill>
[[nodiscard]] inline bool send_common(Host& host, ActorId target, Fill&& fill) noexcept {
  Actor* actor = host.actors.find(slot_of(target));
  if (actor == nullptr) [[unlikely]]
    return false;
  // Each outcome has its way to the end, so that none is looked at again.
  if (host.inboxes == Inboxes::all) {
    switch (send_own(*actor, target, fill)) {
      case OwnSend::first:
        ++host.counters.accepted;
        host.submit(static_cast<base::Runnable&>(*actor));
        return true;
      case OwnSend::queued:
        ++host.counters.accepted;
        return true;
      case OwnSend::refused:
        return false;
      case OwnSend::by_exchange:
        break;
    }
  }
  switch (admit_user_at_once(*actor, target)) {
    case Admission::first:
      actor->inbox.put_only(fill());
      ++host.counters.accepted;
      host.submit(static_cast<base::Runnable&>(*actor));
      return true;
    case Admission::queued:
      ++host.counters.accepted;
      push(host, *actor, fill());
      return true;
    default:
      return false;
  }
}

// The same for a raw message, in an envelope from the host's own ones.
[[nodiscard]] inline bool send_common_raw(Host& host, ActorId target, void* data, size_t size,
                                          uint32_t tag) noexcept {
  return host.envelopes.has_own() && send_common(host, target, [&]() -> Envelope& {
           Envelope& envelope = host.envelopes.take_own(&raw_message_type, host.acting());
           new (envelope.storage) RawMessage{data, size, tag, host.acting()};
           return envelope;
         });
}

// On a foreign thread, with an envelope from the depot; `host` is any of the system's.
[[nodiscard]] inline Errc send_foreign(Host& host, ActorId target, Envelope& envelope) noexcept {
  Actor* actor = host.system.actors.find(target);
  if (actor == nullptr) return Errc::no_such_actor;
  if (host.tap != nullptr) [[unlikely]]
    host.tap->coming(target, envelope);
  const Admission admission = admit_user(*actor, generation_of(target));
  if (admission >= Admission::full) [[unlikely]]
    return refused_foreign(host, *actor, target, envelope, admission);
  if (host.tap != nullptr) [[unlikely]]
    host.tap->sent(*actor, envelope);
  if (enqueue(*actor, envelope, admission, Inboxes::none)) host.post(*actor);
  return Errc::ok;
}

// A system message, in two steps: it is admitted while the target cannot retire (under its lock, or
// because it waits for us), and from then on it holds the slot itself. It cannot be refused.
[[nodiscard]] inline Admission admit_notice(Actor& target) noexcept {
  // relaxed: counted before it is admitted; see has_room_for_user().
  target.system_queued.fetch_add(1, std::memory_order_relaxed);
  const Admission admission = target.state.admit_system(target.state.generation());
  JZX_ASSERT(admission != Admission::gone);
  return admission;
}
inline void deliver_notice(Host& host, Actor& target, Notice& notice,
                           Admission admission) noexcept {
  put(host, target, notice, admission);
}
inline void send_notice(Host& host, Actor& target, Notice& notice) noexcept {
  deliver_notice(host, target, notice, admit_notice(target));
}

}  // namespace jzx::core

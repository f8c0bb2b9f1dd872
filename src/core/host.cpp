#include "core/send.hpp"

namespace jzx {

const MessageType raw_message_type{"raw", &raw_message_type, nullptr, nullptr};

const char* to_string(Errc code) noexcept {
  switch (code) {
    case Errc::ok:
      return "ok";
    case Errc::unknown:
      return "unknown error";
    case Errc::no_memory:
      return "out of memory";
    case Errc::invalid_arg:
      return "invalid argument";
    case Errc::loop_closed:
      return "the loop is being destroyed";
    case Errc::no_such_actor:
      return "no such actor: it has ended, or never was";
    case Errc::actor_not_local:
      return "the actor belongs to another system";
    case Errc::mailbox_full:
      return "the actor's mailbox is full";
    case Errc::timer_invalid:
      return "no such timer: it has fired, was cancelled, or never was";
    case Errc::io_reg_failed:
      return "the file descriptor cannot be watched";
    case Errc::io_not_watched:
      return "the file descriptor is not watched";
    case Errc::max_actors:
      return "the limit of live actors is reached";
    case Errc::start_failed:
      return "a child refused to start";
  }
  return "unknown error code";
}

const char* to_string(ExitReason reason) noexcept {
  switch (reason) {
    case ExitReason::normal:
      return "normal";
    case ExitReason::fail:
      return "fail";
    case ExitReason::panic:
      return "panic";
    case ExitReason::noproc:
      return "noproc";
    case ExitReason::killed:
      return "killed";
  }
  return "unknown";
}

}  // namespace jzx

namespace jzx::core {

Errc refused(Host& host, ActorId target, Admission admission) noexcept {
  if (admission == Admission::full && host.system.observer != nullptr) {
    host.system.observer->mailbox_full(target);
  }
  return refusal(admission);
}

void Host::finish_unusual(Envelope& envelope) noexcept {
  if ((envelope.flags & Envelope::kSystem) == 0) ++counters.handled;
  discard(envelope);
}

void Host::reclaim_record(Envelope& envelope) noexcept {
  if ((envelope.flags & Envelope::kTimer) != 0) {
    timers.give(static_cast<MessageTimer&>(envelope));
  } else {
    auto& notice = static_cast<Notice&>(envelope);
    notice.reclaim(notice, *this);
  }
}

void Host::dead_letter(ActorId target, Envelope& envelope, DeadLetterReason reason) noexcept {
  JZX_ASSERT((envelope.flags & Envelope::kSystem) == 0);
  ++counters.dead_lettered;
  if (system.observer != nullptr) system.observer->dead_letter(target, envelope, reason);
  discard(envelope);
}

}  // namespace jzx::core

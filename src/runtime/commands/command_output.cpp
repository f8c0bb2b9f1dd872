// The output of a CommandScheduler: messages and failures in the order in which they came, and who
// waits for them, the longest waiting first. There is never both.
#include "runtime/commands/command_core.hpp"

namespace jzx::detail {

namespace {

// Of a note on its way.
constexpr MessageType failure_type{"failure", &failure_type, nullptr,
                                   nullptr,   &failure_type, false};

Error ended() noexcept { return Error(Errc::closed, "the scheduler has ended", "output"); }

Envelope& pop(CommandList& list) noexcept {
  Envelope& envelope = *list.first;
  list.first = envelope.next;
  --list.count;
  return envelope;
}

// A note's envelope is its first member.
std::unique_ptr<FailureNote> note_of(Envelope& envelope) noexcept {
  return std::unique_ptr<FailureNote>(reinterpret_cast<FailureNote*>(&envelope));
}

}  // namespace

void leave(CommandWaiter& waiter) noexcept {
  CommandWaiters& list = *std::exchange(waiter.list, nullptr);
  (waiter.before == nullptr ? list.first : waiter.before->next) = waiter.next;
  (waiter.next == nullptr ? list.last : waiter.next->before) = waiter.before;
}

void CommandCore::put_output(Envelope& envelope) {
  if (output_waiters_.first == nullptr) {
    append(outputs_, envelope);
    ++output_count_;
    return;
  }
  CommandWaiter& waiter = pop_front(output_waiters_);
  waiter.give(waiter, envelope);
  envelope.trace = 0;
  host().discard(envelope);
}

void CommandCore::tell(std::unique_ptr<FailureNote> note) noexcept {
  if (output_waiters_.first != nullptr) {
    CommandWaiter& waiter = pop_front(output_waiters_);
    return waiter.fail(waiter, note->error);
  }
  note->envelope.type = &failure_type;
  append(outputs_, note.release()->envelope);
}

void CommandCore::give_output(CommandWaiter& waiter) {
  Envelope& envelope = pop(outputs_);
  if (envelope.type == &failure_type) return waiter.fail(waiter, note_of(envelope)->error);
  --output_count_;
  waiter.give(waiter, envelope);
  host().discard(envelope);
}

void CommandCore::wait_for_output(CommandWaiter& waiter) {
  if (outputs_.first != nullptr) return give_output(waiter);
  if (is_ended_) return waiter.fail(waiter, ended());
  push_back(output_waiters_, waiter);
}

void CommandCore::try_output(CommandWaiter& waiter) {
  if (outputs_.first != nullptr) return give_output(waiter);
  waiter.fail(waiter, is_ended_ ? ended() : Error(Errc::empty, {}, "output"));
}

void CommandCore::end_outputs() noexcept {
  fail_all(output_waiters_, ended());
  while (outputs_.first != nullptr) {
    Envelope& envelope = pop(outputs_);
    if (envelope.type == &failure_type) {
      note_of(envelope).reset();
    } else {
      host().discard(envelope);
    }
  }
}

}  // namespace jzx::detail

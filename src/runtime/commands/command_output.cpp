// The output of a CommandScheduler: messages and failures in the order in which they came, and who
// waits for them, the longest waiting first. There is never both.
//
// It is bounded: messages by making the run wait (perform_rare), failures by counting. A failure
// brings its own memory and cannot wait, so those beyond the limit share one place: that of the
// first of them, whose note says how many they are.
#include <cinttypes>
#include <cstdio>

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
  {
    const GivingOut outside(*this);
    waiter.give(waiter, envelope);
  }
  envelope.trace = 0;
  host().discard(envelope);
}

void CommandCore::tell(std::unique_ptr<FailureNote> note) noexcept {
  if (output_waiters_.first != nullptr) {
    CommandWaiter& waiter = pop_front(output_waiters_);
    const GivingOut outside(*this);
    return waiter.fail(waiter, note->error);
  }
  const bool is_one_too_many = failure_count_ >= options_.max_outputs;
  if (is_one_too_many && more_failures_ != nullptr) {
    char text[48];
    std::snprintf(text, sizeof(text), "and %" PRIu64 " more failures", ++more_failure_count_);
    more_failures_->error = Error(Errc::lagged, text, "output");
    return;
  }
  if (is_one_too_many) {
    more_failures_ = note.get();  // and says what it says, as long as it is the only one
    more_failure_count_ = 1;
  } else {
    ++failure_count_;
  }
  note->envelope.type = &failure_type;
  append(outputs_, note.release()->envelope);
}

std::unique_ptr<FailureNote> CommandCore::take_note(Envelope& envelope) noexcept {
  std::unique_ptr<FailureNote> note = note_of(envelope);
  if (note.get() == more_failures_) {
    more_failures_ = nullptr;
  } else {
    --failure_count_;
  }
  return note;
}

// It is out of the list, and nobody wants it.
void CommandCore::drop_output(Envelope& envelope) noexcept {
  if (envelope.type == &failure_type) {
    take_note(envelope).reset();
  } else {
    --output_count_;
    host().discard(envelope);
  }
}

void CommandCore::give_output(CommandWaiter& waiter) {
  Envelope& envelope = pop(outputs_);
  if (envelope.type == &failure_type) return waiter.fail(waiter, take_note(envelope)->error);
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
  while (outputs_.first != nullptr) drop_output(pop(outputs_));
}

bool CommandCore::makes_room_again() {
  const uint64_t place = current() - 1;
  if (place < expected_->records.size()) {
    const CommandRecord& wanted = expected_->records[place];
    const bool was_put = wanted.fate == CommandFate::output;
    if (wanted.full_until && (!was_put || simulator_.steps() < *wanted.full_until)) return false;
    if (has_record_) log_.records.back().full_until = wanted.full_until;
  }
  if (output_waiters_.first != nullptr) return true;
  while (output_count_ >= options_.max_outputs && outputs_.first != nullptr) {
    drop_output(pop(outputs_));
  }
  return true;
}

void CommandCore::note_room(bool has_room) noexcept {
  if (!has_record_) return;
  std::optional<uint64_t>& full_until = log_.records.back().full_until;
  if (!has_room || full_until) full_until = simulator_.steps();
}

}  // namespace jzx::detail

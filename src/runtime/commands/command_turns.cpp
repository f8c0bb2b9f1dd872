// How commands are processed, and the kind of sync actors: the short way of a send from the queue
// through the handler to the queue.
#include <cstdio>

#include "core/guard.hpp"
#include "core/relations.hpp"
#include "core/send.hpp"
#include "runtime/commands/command_core.hpp"

namespace jzx::detail {

using core::Actor;
using core::Admission;
using core::generation_of;
using core::Outcome;
using core::Turn;
using runtime::QueuedCommand;

namespace {

CommandSeat& seat_in(const Actor& actor) noexcept {
  return *static_cast<CommandSeat*>(actor.body.words[0]);
}

class SyncCommandKind final : public core::Kind {
 public:
  constexpr SyncCommandKind() noexcept : Kind(&run_own) {}

  static void run_own(base::Runnable& runnable, base::Executor& executor) {
    auto& actor = static_cast<Actor&>(runnable);
    auto& host = static_cast<core::Host&>(executor);
    core::run_turn(host, actor, [&](Turn& turn) {
      return guard(turn, [&] {
        CommandCore& core = core_of(actor);
        Envelope* envelope = turn.take_first(host, actor);
        if (envelope == nullptr || !core.takes_delivery(envelope)) [[unlikely]]
          return handle_mail(actor, turn);
        if (const char* why = handle(core, actor, *envelope)) [[unlikely]]
          return turn.fail(ExitReason::fail, why);
        if (turn.ends_with_first(host, actor)) [[likely]]
          return Outcome::wants_mail;
        return handle_mail(actor, turn);
      });
    });
  }

  Outcome start(Actor& actor, Turn& turn) const override {
    CommandSeat& seat = seat_in(actor);
    CommandCore& core = core_of(actor);
    return guard(turn, [&] {
      CommandCall call(core, actor.id(), 0, core.current());
      seat.start(call);
      seat.has_started = true;
      const char* why = core.commit(call);
      return why == nullptr ? Outcome::wants_mail : turn.fail(ExitReason::fail, why);
    });
  }

  Outcome resume(Actor& actor, Turn& turn) const override {
    return guard(turn, [&] { return handle_mail(actor, turn); });
  }

  void destroy(Actor& actor, core::Host& host, ExitReason reason) const noexcept override {
    CommandSeat& seat = seat_in(actor);
    seat.is_ended = true;
    // When the whole scheduler goes, no user code runs but destructors.
    const bool is_closing = host.system.is_closing.load(std::memory_order_relaxed);  // a flag
    if (seat.has_started && !is_closing) {
      (void)core::guard([&] { return seat.stop(reason), true; },
                        [](const char*) { return false; });  // it ends for a reason of its own
    }
    const bool has_text = host.fate != nullptr && host.fate->text != nullptr;
    core_of(actor).bury(seat, reason, has_text ? host.fate->text->view() : std::string_view());
    delete &seat;
  }

  const char* name() const noexcept override { return "command"; }
  const char* type_name(const Actor& actor) const noexcept override {
    return seat_in(actor).type.name;
  }

 private:
  // Null, or why it fails.
  static const char* handle(CommandCore& core, Actor& actor, Envelope& envelope) {
    CommandCall call(core, actor.id(), envelope.sender, core.current());
    seat_in(actor).handle(call, envelope);
    return core.commit(call);
  }

  // From the message in hand on, if there is one: a command that found others in the mailbox, mail
  // that came past the queue, or the order to fail.
  [[gnu::noinline]] static Outcome handle_mail(Actor& actor, Turn& turn) {
    CommandSeat& seat = seat_in(actor);
    CommandCore& core = core_of(actor);
    Envelope* envelope = turn.in_hand() != nullptr ? turn.in_hand() : turn.take();
    for (; envelope != nullptr; envelope = turn.take()) {
      if (core.takes_delivery(envelope)) {
        if (const char* why = handle(core, actor, *envelope)) {
          return turn.fail(ExitReason::fail, why);
        }
      } else if ((envelope->flags & Envelope::kSystem) == 0 && !core.adopt(seat, *envelope)) {
        turn.refuse();
      }
    }
    if (seat.is_to_fail) return turn.fail(ExitReason::fail, seat.why.view());
    return turn.pause();
  }

  template <class Body>
  [[nodiscard]] static Outcome guard(Turn& turn, Body&& body) noexcept {
    return core::guard(std::forward<Body>(body),
                       [&turn](const char* text) { return panic(turn, text); });
  }
  [[gnu::noinline, gnu::cold]] static Outcome panic(Turn& turn, const char* text) noexcept {
    core_of(turn.actor).release_unreturned();
    return turn.fail(ExitReason::panic, text);
  }
};

constexpr SyncCommandKind sync_kind;

// For the length of a scope, what gets ready is kept apart: to be run at once, wherever else it
// would have had to wait.
class ReadyApart {
 public:
  explicit ReadyApart(core::Host& host) noexcept
      : host_(host), waiting_(std::exchange(host.ready, base::RunQueue())) {}
  ~ReadyApart() {
    base::RunQueue rest = std::exchange(host_.ready, waiting_);
    while (base::Runnable* work = rest.pop()) host_.ready.push(*work);
  }
  ReadyApart(const ReadyApart&) = delete;
  ReadyApart& operator=(const ReadyApart&) = delete;

  // The oldest of it; nullptr: none.
  [[nodiscard]] base::Runnable* take() noexcept { return host_.ready.pop(); }
  // Out of what waited before; false: it is not there.
  [[nodiscard]] bool take_back(base::Runnable& work) noexcept { return waiting_.remove(work); }

 private:
  core::Host& host_;
  base::RunQueue waiting_;
};

}  // namespace

const core::Kind& sync_command_kind = sync_kind;

// ---- the loop ----

CommandCore::Stop CommandCore::pump(bool is_only_one) {
  const drivers::sim::InName here(host());
  is_busy_ = true;
  Stop stop = Stop::none;
  while (!queue_.is_empty()) {
    const bool is_watched = is_careful_ || left_ <= kTrail;
    if (is_watched) [[unlikely]] {
      if (wants_shutdown_) break;
      if (left_ == 0) {
        stop = Stop::budget;
        break;
      }
      const Next next = look_at_first();
      if (next == Next::stop) {
        stop = difference_.empty() ? Stop::held : Stop::differs;
        break;
      }
      if (next == Next::gone) {
        --left_;
        if (is_only_one) break;
        continue;
      }
      note_fate(CommandFate::delivered);
    }
    if (!perform_first()) {
      stop = Stop::output_full;
      break;
    }
    if (is_watched) [[unlikely]]
      settle_record();
    --left_;
    if (is_only_one) break;
  }
  is_busy_ = false;
  if (queue_.is_empty()) killed_.clear();  // nothing from them is left
  return stop;
}

bool CommandCore::perform_first() {
  // Word by word: a copy of the whole would have to wait for the stores that made it.
  const QueuedCommand& command = queue_.first();
  Envelope& envelope = *command.envelope;
  const ActorId target = command.target;
  queue_.drop_first();
  // A send to a sync actor that is idle, as it always is unless mail came past the queue.
  if (envelope.trace == static_cast<uint32_t>(CommandKind::send) && killed_.empty()) [[likely]] {
    Actor* actor = actors().actors.find(target);
    if (actor != nullptr && actor->kind == &sync_kind) [[likely]] {
      const Admission admission = core::admit_user_at_once(*actor, target);
      if (admission == Admission::first) [[likely]] {
        ++host().counters.accepted;
        actor->inbox.put_only(envelope);
        delivering_ = &envelope;
        SyncCommandKind::run_own(*actor, host());
        if (delivering_ != nullptr) [[unlikely]]
          deliver(*actor, envelope, Admission::first, target);
        return true;
      }
      if (admission == Admission::queued) {
        ++host().counters.accepted;
        deliver(*actor, envelope, admission, target);
        return true;
      }
    }
  }
  return perform_rare(envelope, target);
}

// Admitted. It has other mail, which goes first.
void CommandCore::deliver(Actor& actor, Envelope& envelope, Admission admission, ActorId target) {
  if (admission == Admission::queued) {
    delivering_ = &envelope;
    (void)core::enqueue(actor, envelope, admission, host().inboxes);
  }
  while (delivering_ != nullptr && actor.state.is_open(generation_of(target)) && take_back(actor)) {
    actor.run(host());
  }
  if (delivering_ != nullptr) note_fate(CommandFate::dead_letter);  // it ended before
  delivering_ = nullptr;
}

bool CommandCore::take_back(Actor& actor) noexcept {
  return host().take_back(actor) || simulator_.take_back(actor);
}

CommandSeat* CommandCore::seat_of(ActorId id) noexcept {
  Actor* actor = actors().find_open(id);
  if (actor == nullptr || (actor->kind != &sync_kind && actor->kind != &async_command_kind)) {
    return nullptr;
  }
  return &seat_in(*actor);
}

void CommandCore::dead_letter(ActorId target, Envelope& envelope, DeadLetterReason reason,
                              CommandFate fate) noexcept {
  note_fate(fate);
  envelope.trace = 0;
  ++host().counters.accepted;
  host().dead_letter(target, envelope, reason);
}

bool CommandCore::perform_rare(Envelope& envelope, ActorId target) {
  const CommandKind kind = kind_of(envelope);
  if (!killed_.empty() && killed_.contains(envelope.sender)) {
    if (kind == CommandKind::send) {
      dead_letter(target, envelope, DeadLetterReason::sender_killed, CommandFate::sender_killed);
    } else {
      note_fate(CommandFate::sender_killed);
      host().discard(envelope);
    }
    return true;
  }
  switch (kind) {
    case CommandKind::send:
      if (target == output_) {
        const bool has_room = has_room_for_output();
        note_room(has_room);
        if (!has_room) return queue_.put_back(), false;
        note_fate(CommandFate::output);
        put_output(envelope);
      } else {
        send_rare(target == input_ ? root_ : target, envelope);
      }
      break;
    case CommandKind::spawn:
      spawn(target, envelope);
      break;
    case CommandKind::kill:
      end_one(target, envelope.sender, nullptr);
      host().discard(envelope);
      break;
    case CommandKind::fail:
      end_one(target, envelope.sender, envelope.as<FailPlan>().text);
      host().discard(envelope);
      break;
  }
  return true;
}

void CommandCore::send_rare(ActorId target, Envelope& envelope) {
  envelope.trace = 0;
  CommandSeat* seat = seat_of(target);
  if (seat == nullptr) {
    const bool is_there = actors().find_open(target) != nullptr;
    return dead_letter(target, envelope,
                       is_there ? DeadLetterReason::not_handled : DeadLetterReason::target_gone,
                       CommandFate::dead_letter);
  }
  Actor& actor = *actors().actors.find(target);
  if (seat->type.is_async) {
    const uint64_t sequence = current();
    const Errc error = core::send(host(), target, envelope);
    if (ok(error)) {
      static_cast<AsyncCommandSeat*>(seat)->causes.push_back(sequence);
    } else {
      dead_letter(target, envelope, DeadLetterReason::overload, CommandFate::dead_letter);
    }
    return;
  }
  const Admission admission = core::admit_user(actor, generation_of(target));
  if (admission >= Admission::full) {  // of mail that came past the queue
    return dead_letter(target, envelope, DeadLetterReason::overload, CommandFate::dead_letter);
  }
  ++host().counters.accepted;
  if (admission == Admission::first) {
    (void)core::enqueue(actor, envelope, admission, host().inboxes);
    delivering_ = &envelope;
    actor.run(host());
  }
  deliver(actor, envelope, admission, target);
}

// ---- births and ends ----

void CommandCore::refuse_spawn(CommandSeat& seat, std::string_view why) noexcept {
  note_fate(CommandFate::refused);
  seat.note->error = Error(Errc::start_failed, why, seat.type.name);
  tell(std::move(seat.note));
}

void CommandCore::spawn(ActorId target, Envelope& envelope) {
  CommandSeat& seat = *std::exchange(envelope.as<SpawnPlan>().seat, nullptr);
  host().discard(envelope);
  const auto found = reserved_.find(target);
  if (found == reserved_.end() || !seat.holds_id) {
    refuse_spawn(seat, killed_.contains(target)     ? "killed before it was spawned"
                       : seat_of(target) != nullptr ? "there is one with this handle already"
                                                    : "the handle is not reserved, or was used");
    return end_plan(&seat);
  }
  core::SpawnOptions options;
  options.kind = seat.type.is_async ? &async_command_kind : &sync_kind;
  options.body.words[0] = &seat;
  options.body.words[1] = this;
  options.mailbox_cap = seat.type.is_async ? options_.inbox_cap : 0;
  options.first_turn = true;
  options.reserved = target;
  ActorId id = 0;
  ReadyApart apart(host());
  const Errc error = core::spawn(host(), options, id);
  if (!ok(error)) {
    refuse_spawn(seat, to_string(error));
    return end_plan(&seat);
  }
  reserved_.erase(found);
  seat.holds_id = false;
  seat.id = id;
  seat.born = current();
  seat.older = newest_;
  (newest_ == nullptr ? oldest_ : newest_->newer) = &seat;
  newest_ = &seat;
  ++live_count_;
  has_spawned_ = true;
  if (root_ == 0 || (seat.predecessor != 0 && seat.predecessor == root_)) root_ = id;
  note_fate(CommandFate::done);
  if (!seat.type.is_async) apart.take()->run(host());
}

// With a text it fails, else it is killed.
void CommandCore::end_one(ActorId target, ActorId source, const ExitText* text) {
  if (target == input_) target = root_;
  if (const auto found = reserved_.find(target); found != reserved_.end()) {
    reserved_.erase(found);
    core::release_reserved(host(), target);
    killed_.insert(target);
    return note_fate(CommandFate::done);
  }
  Actor* actor = actors().find_open(target);
  if (actor == nullptr) return note_fate(CommandFate::dead_letter);
  note_fate(CommandFate::done);
  CommandSeat* seat = seat_of(target);
  if (source != target) silence(*actor);
  if (seat != nullptr) seat->is_ended = true;
  ReadyApart apart(host());
  if (text != nullptr && seat != nullptr) {
    // Its own turn says so, so that the text is the one that everybody is told.
    seat->is_to_fail = true;
    seat->why = *text;
    if (actor->state.wake(generation_of(target)) == core::Wake::submit) host().submit(*actor);
  } else {
    const ExitReason reason = text != nullptr ? ExitReason::fail : ExitReason::killed;
    (void)core::request_exit(host(), target, reason);
  }
  // It was idle; or it waited for a turn already.
  if (apart.take() == nullptr && !apart.take_back(*actor) && !simulator_.take_back(*actor)) return;
  actor->run(host());
}

void CommandCore::silence(const Actor& actor) {
  std::vector<const Actor*> left{&actor};
  while (!left.empty()) {
    const Actor& next = *left.back();
    left.pop_back();
    killed_.insert(next.id());
    dead_.add(next.id());
    if (next.relations == nullptr) continue;
    const auto& tasks = next.relations->children;
    for (core::Child* each = tasks.front(); each != nullptr; each = tasks.after(*each)) {
      left.push_back(each->actor);
    }
  }
}

void CommandCore::bury(CommandSeat& seat, ExitReason reason, std::string_view text) noexcept {
  // One that is ended before it was listed had no turn.
  if (seat.older == nullptr && seat.newer == nullptr && oldest_ != &seat) return;
  (seat.older == nullptr ? oldest_ : seat.older->newer) = seat.newer;
  (seat.newer == nullptr ? newest_ : seat.newer->older) = seat.older;
  --live_count_;
  if (seat.has_reserved) {
    std::erase_if(reserved_, [&](const auto& entry) {
      const bool is_its = entry.second.owner == seat.id && !entry.second.is_planned;
      if (is_its) core::release_reserved(host(), entry.first);
      return is_its;
    });
  }
  const bool is_closing = actors().is_closing.load(std::memory_order_relaxed);  // a flag
  if (is_closing || (reason != ExitReason::fail && reason != ExitReason::panic)) return;
  // A task has said itself what it failed with.
  if (seat.note->error.code() == Errc::unknown) {
    const Errc code = reason == ExitReason::panic ? Errc::exception : Errc::unknown;
    seat.note->error = Error(code, text, seat.type.name);
  }
  tell(std::move(seat.note));
}

const char* CommandCore::why_refused(CommandList& list) noexcept {
  char text[sizeof(ExitText)];
  if (list.error == Errc::actor_not_local) {
    std::snprintf(text, sizeof(text), "the actions were made with another scheduler");
  } else if (!ok(list.error)) {
    std::snprintf(text, sizeof(text), "no memory for one of the actions");
  } else if (queue_.size() + list.count > queue_.limit()) {
    std::snprintf(text, sizeof(text), "the command queue is full: %zu wait, %u more do not fit",
                  queue_.size(), list.count);
  } else {
    std::snprintf(text, sizeof(text), "no memory for the command queue");
  }
  refusal_ = ExitText(text);
  end_commands(*this, list);
  return refusal_.c_str();
}

}  // namespace jzx::detail

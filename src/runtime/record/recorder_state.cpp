#include "runtime/record/recorder_state.hpp"

#include <cstring>

#include "core/guard.hpp"
#include "runtime/record/message_look.hpp"
#include "runtime/record/plain_name.hpp"

namespace jzx::detail {

using runtime::Carried;

namespace {

// Raw messages are told apart by their tags, so their type says nothing.
bool has_own_name(const Envelope& envelope) noexcept { return envelope.type == &raw_message_type; }

// It has no mail, and none of its waits is over: a wake-up was stale, or its start was held back,
// or somebody is about to queue a message. A replay has no such turn, or has it elsewhere.
bool may_be_for_nothing(core::Actor& actor) noexcept {
  // relaxed: flags on their own.
  const uint8_t flags = actor.attention.load(std::memory_order_relaxed);
  return actor.status == core::Status::running && (flags & ~core::kMeasured) == 0 &&
         !core::may_have_mail(actor) && !actor.kind->goes_on_without_mail(actor);
}

// Is it something that the turn, the timer or the work under way did? The others come from outside
// or are names.
bool is_consequence(const runtime::Event& event) noexcept {
  using runtime::Op;
  switch (event.op) {
    case Op::name:
    case Op::came:
    case Op::exit:
    case Op::closing:
    case Op::destroyed:
      return false;
    case Op::born:
    case Op::arm:
      return !event.is_outside;
    default:
      return true;
  }
}

std::unique_ptr<runtime::RecordStore> make_store(const RecorderOptions& options) {
  if (options.file.empty()) return std::make_unique<runtime::RingStore>(options.most_bytes);
  return std::make_unique<runtime::FileStore>(options.file, options.most_bytes);
}

}  // namespace

RecorderState::RecorderState(RecorderOptions&& options)
    : codecs_(std::move(options.codecs)),
      store_(make_store(options)),
      is_ring_(options.file.empty()) {}

bool RecorderState::attach(Port& port, drivers::Worker& worker, const char* driver,
                           Observer* observer) noexcept {
  if (!error().empty()) return false;
  if (port_ != nullptr) return refuse("a recorder is for one loop or runtime only"), false;
  port_ = &port;
  worker_ = &worker;
  next_observer = observer;
  last_ns_ = worker.now_ns();
  worker.set_witness(this);
  port.system.for_each_host([&](core::Host& host) { host.tap = this; });
  port.system.set_observer(this);
  locked([&] {
    first_line_ = std::string(runtime::kRecordMagic) + driver + ' ' +
                  std::to_string(port.system.default_mailbox_cap) + ' ' +
                  (port.system.detects_deadlocks ? '1' : '0') + '\n';
    if (!is_ring_) (void)store_->append(first_line_);
  });
  return error().empty();
}

void RecorderState::refuse(std::string why) noexcept {
  std::lock_guard hold(mutex_);
  if (refusal_.empty()) refusal_ = std::move(why);
}

std::string RecorderState::error() const {
  std::lock_guard hold(mutex_);
  return refusal_.empty() ? store_->why() : refusal_;
}

std::string RecorderState::text() const {
  std::lock_guard hold(mutex_);
  if (!is_ring_) return store_->text();
  // A ring forgets names with the lines that they stood in.
  std::string text = first_line_;  // the loop may have ended
  for (uint32_t i = 0; i < names_.size(); ++i) {
    Event name;
    name.op = Op::name;
    name.name = i;
    name.text = names_[i];
    append_line(text, name);
  }
  if (store_->lost() != 0) {
    Event lost;
    lost.op = Op::lost;
    lost.number = store_->lost();
    append_line(text, lost);
  }
  return text + store_->text();
}

// ---- writing ----

template <class Write>
void RecorderState::locked(Write&& write) noexcept {
  std::lock_guard hold(mutex_);
  if (!refusal_.empty() || !store_->why().empty()) return;
  const bool is_done =
      core::guard([&] { return write(), true; }, [](const char*) { return false; });
  if (!is_done) refusal_ = "no memory";  // short: needs none
}

void RecorderState::write(const Event& event) {
  line_.clear();
  if (unwritten_ && is_consequence(event)) {
    append_line(line_, *std::exchange(unwritten_, std::nullopt));
  }
  append_line(line_, event);
  (void)store_->append(line_);  // the store remembers why not
}

void RecorderState::begin(Event& event, uint64_t number) {
  const uint64_t now_ns = worker_->now_ns();
  event.number = number;
  event.value = now_ns - last_ns_;
  last_ns_ = now_ns;
}

void RecorderState::write_exit(uint64_t actor, ExitReason reason) {
  Event event;
  event.op = Op::exit;
  event.number = actor;
  event.value = static_cast<uint64_t>(reason);
  write(event);
}

void RecorderState::write_strange(const char* text) {
  Event event;
  event.op = Op::strange;
  event.text = text;
  write(event);
}

uint32_t RecorderState::name_number(const std::string& name) {
  const auto [place, is_new] =
      numbers_of_names_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (!is_new) return place->second;
  names_.push_back(name);
  Event event;
  event.op = Op::name;
  event.name = place->second;
  event.text = name;
  write(event);
  return place->second;
}

uint32_t RecorderState::name_of(const Envelope& envelope) {
  if (has_own_name(envelope)) return name_number(runtime::message_name(envelope));
  const auto known = numbers_of_types_.find(envelope.type->inner);
  if (known != numbers_of_types_.end()) return known->second;
  const uint32_t number = name_number(runtime::message_name(envelope));
  numbers_of_types_.emplace(envelope.type->inner, number);
  return number;
}

// 0: it has ended, and somebody still has to do with it.
uint64_t RecorderState::number_of(ActorId id) const noexcept {
  const auto known = actors_.find(id);
  return known != actors_.end() ? known->second : 0;
}

// ---- actors ----

void RecorderState::actor_started(ActorId id, const char* label) {
  const std::string_view type = type_name_of(*port_, id);
  const bool is_outside = !is_inside();
  locked([&] {
    Event event;
    event.op = Op::born;
    event.name = name_number(!type.empty()      ? runtime::plain_type_name(type)
                             : label != nullptr ? std::string(label)
                                                : std::string("actor"));
    event.number = ++actor_count_;
    event.value = id;
    event.is_outside = is_outside;
    actors_[id] = event.number;
    write(event);
    const auto early = early_.find(id);
    if (early == early_.end()) return;
    write_exit(event.number, early->second);
    early_.erase(early);
  });
  ForwardingObserver::actor_started(id, label);
}

void RecorderState::actor_stopped(ActorId id, ExitReason reason, const ExitText& text) {
  locked([&] {
    Event event;
    event.op = Op::ended;
    event.number = number_of(id);
    event.value = static_cast<uint64_t>(reason);
    event.text = text.view();
    write(event);
    actors_.erase(id);
  });
  ForwardingObserver::actor_stopped(id, reason, text);
}

void RecorderState::exit_requested(ActorId actor, ExitReason reason) noexcept {
  if (is_inside()) return;
  // In a runtime another thread may find it before its birth was told.
  const bool is_there = port_->system.find_open(actor) != nullptr;
  locked([&] {
    const uint64_t number = number_of(actor);
    if (number != 0) {
      write_exit(number, reason);
    } else if (is_there) {
      early_[actor] = reason;
    }
  });
}

void RecorderState::note_end(Op op) noexcept {
  locked([&] {
    Event event;
    event.op = op;
    write(event);
  });
}

// ---- messages ----

bool RecorderState::encode(const Envelope& envelope, std::string& out) const {
  if (envelope.type == &raw_message_type) {
    if (runtime::is_io_event(envelope)) {
      out = ByteCodec<IoEvent>::encode(runtime::io_event_in(envelope));
      return true;
    }
    // Only the sender knows what the data of a raw message are; no data are no secret.
    const RawMessage& raw = runtime::raw_in(envelope);
    return raw.data == nullptr && raw.size == 0;
  }
  for (const MessageCodec& codec : codecs_.list()) {
    // The same type may have two constants, in two libraries.
    if (codec.key != envelope.type->inner &&
        std::strcmp(codec.message, envelope.type->inner->name) != 0) {
      continue;
    }
    codec.encode(inner_message(const_cast<Envelope&>(envelope)), out);
    return true;
  }
  return false;
}

void RecorderState::note(ActorId target, Envelope& envelope) noexcept {
  if ((envelope.flags & Envelope::kTapped) != 0) return;
  Event event;
  event.op = is_inside() ? Op::sent : Op::came;
  event.carried = runtime::carried_by(envelope);
  if (event.op == Op::came || is_from_outside_) {
    // Not under the mutex: it is the user's code.
    event.has_payload = core::guard([&] { return encode(envelope, event.text); },
                                    [](const char*) { return false; });
  }
  locked([&] {
    event.number = ++message_count_;
    event.actor = number_of(target);
    event.name = name_of(envelope);
    envelope.trace = static_cast<uint32_t>(event.number);
    envelope.flags |= Envelope::kTapped;
    write(event);
  });
}

void RecorderState::taken(const core::Actor& actor, const Envelope& envelope) noexcept {
  const bool is_ours = is_inside() && acting_ == actor.id();
  locked([&] {
    if (!is_ours) return write_strange("an actor was run by hand, or on another thread");
    Event event;
    event.op = Op::take;
    // The envelope keeps the lower half.
    event.number = message_count_ -
                   static_cast<uint32_t>(static_cast<uint32_t>(message_count_) - envelope.trace);
    if (runtime::is_io_event(envelope)) event.value = runtime::io_event_in(envelope).readiness;
    write(event);
  });
}

// ---- work ----

void RecorderState::begin_work(base::Runnable& work) noexcept {
  const bool is_actor = port_->system.actors.holds(&work);
  acting_ = is_actor ? static_cast<core::Actor&>(work).id() : 0;
  is_busy_ = true;
  steps_before_ = worker_->all_steps();
  locked([&] {
    Event event;
    event.op = is_actor ? Op::turn : Op::work;
    begin(event, number_of(acting_));
    if (is_actor && may_be_for_nothing(static_cast<core::Actor&>(work))) {
      unwritten_ = event;
    } else {
      write(event);
    }
  });
}

void RecorderState::begin_timer(base::Timer& timer) noexcept {
  is_busy_ = true;
  locked([&] {
    const ArmedTimer armed = timers_[&timer];
    is_from_outside_ = armed.is_outside;
    Event event;
    event.op = Op::fire;
    begin(event, armed.number);
    write(event);
  });
}

void RecorderState::end_work() noexcept {
  is_busy_ = false;
  is_from_outside_ = false;
  acting_ = 0;
  // What the turn waited for may have come from another thread in the middle of it.
  const bool was_for_nothing = worker_->all_steps() == steps_before_;
  locked([&] {
    if (!unwritten_ || !was_for_nothing) return write(Event{});
    last_ns_ -= unwritten_->value;
    unwritten_.reset();
  });
}

void RecorderState::armed(base::Timer& timer) noexcept {
  const bool is_outside = !is_inside();
  locked([&] {
    Event event;
    event.op = Op::arm;
    event.number = ++timer_count_;
    event.is_outside = is_outside;
    timers_[&timer] = {event.number, is_outside};
    write(event);
  });
}

void RecorderState::chose(uint32_t count, uint32_t taken) noexcept {
  if (count < 2) return;  // there was nothing to choose
  locked([&] {
    Event event;
    event.op = Op::choice;
    event.number = count;
    event.value = taken;
    write(event);
  });
}

}  // namespace jzx::detail

namespace jzx {

Recorder::Recorder(RecorderOptions options)
    : state_(std::make_unique<detail::RecorderState>(std::move(options))) {}
Recorder::~Recorder() = default;

Recorder::operator bool() const noexcept { return error().empty(); }
std::string Recorder::error() const { return state_->error(); }
Result<Recording> Recorder::recording() const { return Recording::parse(state_->text()); }

}  // namespace jzx

// Actors that are driven by events from outside: a clock, a file descriptor, a signal. The actor is
// spawned together with its source, and the source ends with it.
//
//   struct Heart { void on(const jzx::TimerEvent& beat) { … } };
//   auto heart = jzx::spawn_on<Heart>(runtime, jzx::EventSource::every(100ms));
//
//   struct Reader { void on(const jzx::IoEvent& event) { … } };
//   auto reader = jzx::spawn_on<Reader>(runtime, jzx::EventSource::fd(socket, jzx::kIoRead));
//
//   struct Reloader { void on(const jzx::SignalEvent& event) { … } };
//   auto reloader = jzx::spawn_on<Reloader>(runtime, jzx::EventSource::signal(SIGHUP));
//
// Threads: as spawning.
#pragma once

#include <chrono>
#include <utility>

#include <jzx/context.hpp>

namespace jzx {

// Time has passed. The next one is armed before the handler runs, and at most one waits in the
// mailbox: a slow actor skips beats rather than falling behind.
struct TimerEvent {
  uint64_t beat = 0;  // from 1
  std::chrono::milliseconds period{0};
};

class EventSource {
 public:
  enum class Kind : uint8_t { timer, fd, signal };

  // A TimerEvent after every period, at least a millisecond.
  [[nodiscard]] static EventSource every(std::chrono::milliseconds period) noexcept {
    EventSource source(Kind::timer);
    source.period_ = period.count() > 0 ? period : std::chrono::milliseconds(1);
    return source;
  }
  // An IoEvent when readiness begins. Interest: kIoRead, kIoWrite, or both.
  [[nodiscard]] static EventSource fd(int fd, uint32_t interest) noexcept {
    EventSource source(Kind::fd);
    source.fd_ = fd;
    source.interest_ = interest;
    return source;
  }
  // A SignalEvent when the process gets this signal, on whatever thread. Any number of actors and
  // systems may listen to the same one, and all are told. While there is one, the signal has no
  // other effect; when the last has ended, what was set up for it before holds again. Threads that
  // block the signal do not get it; nobody's mask is changed. invalid_arg: SIGKILL and SIGSTOP,
  // faults of the code itself (SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGSYS), and what
  // is no signal. It counts as a watched fd (max_io_watchers).
  [[nodiscard]] static EventSource signal(int signo) noexcept {
    EventSource source(Kind::signal);
    source.signal_ = signo;
    return source;
  }

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] std::chrono::milliseconds period() const noexcept { return period_; }
  [[nodiscard]] int watched_fd() const noexcept { return fd_; }
  [[nodiscard]] uint32_t interest() const noexcept { return interest_; }
  [[nodiscard]] int signal_number() const noexcept { return signal_; }

 private:
  explicit EventSource(Kind kind) noexcept : kind_(kind) {}

  Kind kind_;
  std::chrono::milliseconds period_{0};
  int fd_ = -1;
  uint32_t interest_ = 0;
  int signal_ = 0;
};

namespace detail {

// A beat on its way. Its handler arms the next one, so there is never more than one.
struct Beat {
  TimerEvent event;
};

inline Errc arm_beat(SystemFace& face, Pid actor, const MessageType& type, const Beat& beat) {
  return face.send_after_as(beat.event.period, actor, type, Beat(beat));
}

// Arms the next one. nullptr: that failed, and so does the actor.
inline const TimerEvent* begin_beat(Context& context, Envelope& envelope) {
  Beat& beat = message_in<Beat>(envelope);
  ++beat.event.beat;
  if (ok(arm_beat(context, context.self(), *envelope.type, beat))) return &beat.event;
  // One that cannot be armed would stop the clock without a word.
  context.fail("its next TimerEvent could not be armed");
  return nullptr;
}

template <class A>
void handle_beat(void* actor, Context& context, Envelope& envelope) {
  const TimerEvent* event = begin_beat(context, envelope);
  if (event != nullptr) tell<A, TimerEvent>(*static_cast<A*>(actor), context, event);
}

// For functions of become().
template <>
struct EventIn<TimerEvent> {
  static constexpr bool is_event = true;
  static bool is_in(Envelope& envelope) noexcept {
    return envelope.type->key == &message_type<Beat>;
  }
  static const TimerEvent* begin(Context& context, Envelope& envelope) {
    return begin_beat(context, envelope);
  }
};

template <class A>
inline constexpr MessageType beat_message{type_name<TimerEvent>.data(),
                                          &message_type<Beat>,
                                          nullptr,
                                          &handle_beat<A>,
                                          &message_type<Beat>,
                                          false};

}  // namespace detail

// An actor with its event source, or why either cannot be. A clock goes on from beat to beat, so
// its actor must not drop the oldest of its messages: invalid_arg.
template <class A, class... Args>
[[nodiscard]] Result<ActorRef<A>> spawn_on_with(SystemFace& face, const SpawnOptions& options,
                                                const EventSource& source, Args&&... args) {
  if (source.kind() == EventSource::Kind::timer && options.overload == Overload::drop_oldest) {
    return Error(Errc::invalid_arg, "drop_oldest would drop a TimerEvent, and so stop the clock");
  }
  const ActorRef<A> actor = face.spawn_with<A>(options, std::forward<Args>(args)...);
  if (!actor) return Error(face.spawn_error());
  Errc error = Errc::ok;
  if (source.kind() == EventSource::Kind::timer) {
    static_assert(sizeof(detail::Beat) <= Envelope::kInlineSize);
    error = detail::arm_beat(face, actor, detail::beat_message<A>, {{0, source.period()}});
  } else if (source.kind() == EventSource::Kind::signal) {
    error = detail::watch_signal(*detail::port_of(face), source.signal_number(), actor.id());
  } else {
    error = face.watch_fd(source.watched_fd(), actor, source.interest());
  }
  if (ok(error)) return actor;
  (void)face.kill(actor);
  if (source.kind() == EventSource::Kind::signal && error == Errc::invalid_arg) {
    return Error(error, "this is no signal, or one that cannot be listened to");
  }
  return Error(error);
}

template <class A, class... Args>
[[nodiscard]] Result<ActorRef<A>> spawn_on(SystemFace& face, const EventSource& source,
                                           Args&&... args) {
  return spawn_on_with<A>(face, SpawnOptions{}, source, std::forward<Args>(args)...);
}

}  // namespace jzx

// Journal: what happened on a stage, in one order: what the actors saw and what the observer was
// told. Tests ask it with a Query, and wait for it instead of sleeping.
//
// Threads: any.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <jzx/errc.hpp>
#include <jzx/observer.hpp>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/stage/command.hpp"

namespace jzx::actors {

struct Note {
  enum class Kind : uint8_t {
    // by actors
    recorded,    // who, from other, number
    answered,    // who did verb: error, number
    down,        // who heard of other: reason, text; number is the reference
    exit,        // the same of a link
    child_exit,  // the same of a child
    io,          // who heard that the fd `number` is ready
    // by the observer
    begun,      // who, text is the label
    ended,      // who: reason, text
    restarted,  // who is the child, other the supervisor, number the attempt
    escalated,  // who
    full,       // who
    dead,       // for who, from other: number of the record, fate
  };
  Kind kind = Kind::recorded;
  ActorId who = 0;
  ActorId other = 0;
  uint64_t number = 0;
  Verb verb = Verb::record;
  Errc error = Errc::ok;
  ExitReason reason = ExitReason::normal;
  DeadLetterReason fate = DeadLetterReason::target_gone;
  std::string text = {};
  uint64_t token = 0;
  uint64_t at_ns = 0;  // by the clock of the stage
};

// Which notes; what is empty is not asked for.
struct Query {
  Note::Kind kind = Note::Kind::recorded;
  ActorId who = 0;
  ActorId other = 0;
  std::optional<uint64_t> number = {};
  std::optional<std::string> text = {};
  uint64_t token = 0;

  [[nodiscard]] bool fits(const Note& note) const;
};

// How tests write queries: seen::recorded(a), seen::begun("b").
namespace seen {

using Kind = Note::Kind;
[[nodiscard]] inline Query recorded(ActorId who) { return {Kind::recorded, who}; }
[[nodiscard]] inline Query recorded(ActorId who, uint64_t number) {
  return {Kind::recorded, who, 0, number};
}
[[nodiscard]] inline Query down(ActorId who, ActorId of = 0) { return {Kind::down, who, of}; }
[[nodiscard]] inline Query exit(ActorId who, ActorId of = 0) { return {Kind::exit, who, of}; }
[[nodiscard]] inline Query child_exit(ActorId who, ActorId of = 0) {
  return {Kind::child_exit, who, of};
}
[[nodiscard]] inline Query io(ActorId who) { return {Kind::io, who}; }
[[nodiscard]] inline Query begun(ActorId who) { return {Kind::begun, who}; }
[[nodiscard]] inline Query begun(std::string label) {
  return {Kind::begun, 0, 0, {}, std::move(label)};
}
[[nodiscard]] inline Query ended(ActorId who = 0) { return {Kind::ended, who}; }
[[nodiscard]] inline Query restarted(ActorId supervisor = 0) {
  return {Kind::restarted, 0, supervisor};
}
[[nodiscard]] inline Query escalated(ActorId who = 0) { return {Kind::escalated, who}; }
[[nodiscard]] inline Query full(ActorId who) { return {Kind::full, who}; }
[[nodiscard]] inline Query dead(ActorId target = 0) { return {Kind::dead, target}; }
[[nodiscard]] inline Query dead(ActorId target, uint64_t number) {
  return {Kind::dead, target, 0, number};
}

}  // namespace seen

class Journal {
 public:
  explicit Journal(std::function<uint64_t()> now_ns) : now_ns_(std::move(now_ns)) {}

  void add(Note note);

  [[nodiscard]] std::vector<Note> all() const;
  [[nodiscard]] std::vector<Note> of(const Query& query) const;
  [[nodiscard]] size_t count(const Query& query) const;
  // Began, and has not ended; in the order of their beginning.
  [[nodiscard]] std::vector<ActorId> alive() const;

  // False: there are not so many after a minute, and never will be.
  [[nodiscard]] bool wait_for(const Query& query, size_t count);

  // Everything, a line each, for a test that failed.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] size_t count_locked(const Query& query) const;

  std::function<uint64_t()> now_ns_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Note> notes_;
};

// The numbers of these notes, in order.
[[nodiscard]] std::vector<uint64_t> numbers(const std::vector<Note>& notes);
// Whom they are about, in order.
[[nodiscard]] std::vector<ActorId> whom(const std::vector<Note>& notes);

}  // namespace jzx::actors

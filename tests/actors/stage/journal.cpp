#include "actors/stage/journal.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>

namespace jzx::actors {

namespace {

const char* name_of(Note::Kind kind) {
  switch (kind) {
    case Note::Kind::recorded:
      return "recorded";
    case Note::Kind::answered:
      return "answered";
    case Note::Kind::down:
      return "down";
    case Note::Kind::exit:
      return "exit";
    case Note::Kind::child_exit:
      return "child_exit";
    case Note::Kind::io:
      return "io";
    case Note::Kind::begun:
      return "begun";
    case Note::Kind::ended:
      return "ended";
    case Note::Kind::restarted:
      return "restarted";
    case Note::Kind::escalated:
      return "escalated";
    case Note::Kind::full:
      return "full";
    case Note::Kind::dead:
      return "dead";
  }
  return "?";
}

}  // namespace

bool Query::fits(const Note& note) const {
  return note.kind == kind && (who == 0 || note.who == who) &&
         (other == 0 || note.other == other) && (!number || note.number == *number) &&
         (!text || note.text == *text) && (token == 0 || note.token == token);
}

void Journal::add(Note note) {
  note.at_ns = now_ns_();
  const std::lock_guard hold(mutex_);
  notes_.push_back(std::move(note));
  changed_.notify_all();
}

std::vector<Note> Journal::all() const {
  const std::lock_guard hold(mutex_);
  return notes_;
}

std::vector<Note> Journal::of(const Query& query) const {
  const std::lock_guard hold(mutex_);
  std::vector<Note> found;
  std::copy_if(notes_.begin(), notes_.end(), std::back_inserter(found),
               [&](const Note& note) { return query.fits(note); });
  return found;
}

size_t Journal::count(const Query& query) const {
  const std::lock_guard hold(mutex_);
  return count_locked(query);
}

size_t Journal::count_locked(const Query& query) const {
  return static_cast<size_t>(std::count_if(notes_.begin(), notes_.end(),
                                           [&](const Note& note) { return query.fits(note); }));
}

std::vector<ActorId> Journal::alive() const {
  const std::lock_guard hold(mutex_);
  std::vector<ActorId> alive;
  for (const Note& note : notes_) {
    if (note.kind == Note::Kind::begun) alive.push_back(note.who);
    if (note.kind == Note::Kind::ended) std::erase(alive, note.who);
  }
  return alive;
}

bool Journal::wait_for(const Query& query, size_t count) {
  std::unique_lock hold(mutex_);
  return changed_.wait_for(hold, std::chrono::minutes(1),
                           [&] { return count_locked(query) >= count; });
}

std::string Journal::text() const {
  std::ostringstream out;
  for (const Note& note : all()) {
    out << name_of(note.kind) << " who " << std::hex << note.who << " other " << note.other
        << std::dec << " number " << note.number << " error " << to_string(note.error) << " reason "
        << to_string(note.reason) << " text '" << note.text << "'\n";
  }
  return out.str();
}

std::vector<uint64_t> numbers(const std::vector<Note>& notes) {
  std::vector<uint64_t> found;
  for (const Note& note : notes) found.push_back(note.number);
  return found;
}

std::vector<ActorId> whom(const std::vector<Note>& notes) {
  std::vector<ActorId> found;
  for (const Note& note : notes) found.push_back(note.who);
  return found;
}

}  // namespace jzx::actors

#include "support/event_log.hpp"

#include <algorithm>

namespace jzx::testing {

size_t EventLog::count(Kind kind) const {
  return static_cast<size_t>(
      std::count_if(all_.begin(), all_.end(), [&](const Event& e) { return e.kind == kind; }));
}

size_t EventLog::count(Kind kind, jzx_actor_id id) const {
  return static_cast<size_t>(std::count_if(
      all_.begin(), all_.end(), [&](const Event& e) { return e.kind == kind && e.id == id; }));
}

std::vector<jzx_actor_id> EventLog::ids(Kind kind) const {
  std::vector<jzx_actor_id> found;
  for (const Event& event : all_) {
    if (event.kind == kind) found.push_back(event.id);
  }
  return found;
}

std::vector<Event> EventLog::of(Kind kind) const {
  std::vector<Event> found;
  for (const Event& event : all_) {
    if (event.kind == kind) found.push_back(event);
  }
  return found;
}

std::vector<uint64_t> EventLog::dead_values() const {
  std::vector<uint64_t> found;
  for (const Event& event : all_) {
    if (event.kind == Kind::dead_letter) found.push_back(event.data);
  }
  return found;
}

int EventLog::stop_reason(jzx_actor_id id) const {
  for (const Event& event : all_) {
    if (event.kind == Kind::stop && event.id == id) return event.value;
  }
  return -1;
}

size_t EventLog::position(Kind kind, jzx_actor_id id) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Event& event) {
    return event.kind == kind && event.id == id;
  });
  return static_cast<size_t>(found - all_.begin());
}

}  // namespace jzx::testing

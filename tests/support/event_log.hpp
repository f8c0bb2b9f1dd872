// What an observer was told, in order, with the questions tests ask about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "jzx/jzx.h"

namespace jzx::testing {

struct Event {
  enum class Kind { start, stop, restart, escalate, mailbox_full, dead_letter };

  Kind kind = Kind::start;
  jzx_actor_id id = 0;          // whom it is about; of a restart: the new child
  jzx_actor_id supervisor = 0;  // of a restart
  int value = 0;                // a stop's reason, a restart's attempt
  std::string name;             // of a start
  uint32_t tag = 0;             // of a dead letter, as are the next two
  uint64_t data = 0;
  jzx_actor_id sender = 0;
};

class EventLog {
 public:
  using Kind = Event::Kind;

  void add(Event event) { all_.push_back(std::move(event)); }
  void clear() { all_.clear(); }
  [[nodiscard]] const std::vector<Event>& all() const { return all_; }

  [[nodiscard]] size_t count(Kind kind) const;
  [[nodiscard]] size_t count(Kind kind, jzx_actor_id id) const;
  // In the order told.
  [[nodiscard]] std::vector<jzx_actor_id> ids(Kind kind) const;
  [[nodiscard]] std::vector<Event> of(Kind kind) const;
  // The payloads of the dead letters, as numbers.
  [[nodiscard]] std::vector<uint64_t> dead_values() const;
  // -1: it never stopped.
  [[nodiscard]] int stop_reason(jzx_actor_id id) const;
  // Where it stands in all(); all().size() when it never came.
  [[nodiscard]] size_t position(Kind kind, jzx_actor_id id) const;

 private:
  std::vector<Event> all_;
};

}  // namespace jzx::testing

// An Observer that writes down what it is told.
#pragma once

#include <algorithm>
#include <functional>
#include <jzx/observer.hpp>
#include <set>
#include <string>
#include <vector>

namespace jzx::testing {

class Recorder final : public Observer {
 public:
  struct Start {
    ActorId id;
    std::string label;
  };
  struct Stop {
    ActorId id;
    ExitReason reason;
    std::string text;
  };
  struct Restart {
    ActorId supervisor;
    ActorId child;
    uint32_t attempt;
  };
  struct DeadLetter {
    ActorId target;
    std::string type;
    DeadLetterReason reason;
    ActorId sender;
  };

  std::vector<Start> starts;
  std::vector<Stop> stops;
  std::vector<Restart> restarts;
  std::vector<ActorId> escalations;
  std::vector<ActorId> full;
  std::vector<DeadLetter> dead;
  // Runs inside the callback, after it was written down.
  std::function<void(const DeadLetter&, Envelope&)> on_dead_letter;

  [[nodiscard]] bool is_alive(ActorId id) const { return alive_.count(id) != 0; }
  [[nodiscard]] size_t alive_count() const { return alive_.size(); }
  // The end of this actor; an empty record with id 0 if it has not ended.
  [[nodiscard]] Stop stop_of(ActorId id) const {
    const auto found =
        std::find_if(stops.begin(), stops.end(), [&](const Stop& one) { return one.id == id; });
    return found == stops.end() ? Stop{0, ExitReason::normal, ""} : *found;
  }
  // Labels of those that were started, in order.
  [[nodiscard]] std::vector<std::string> started() const {
    std::vector<std::string> labels;
    for (const Start& one : starts) labels.push_back(one.label);
    return labels;
  }

  void actor_started(ActorId id, const char* label) override {
    alive_.insert(id);
    starts.push_back({id, label == nullptr ? "" : label});
  }
  void actor_stopped(ActorId id, ExitReason reason, const ExitText& text) override {
    alive_.erase(id);
    stops.push_back({id, reason, text.c_str()});
  }
  void actor_restarted(ActorId supervisor, ActorId child, uint32_t attempt) override {
    restarts.push_back({supervisor, child, attempt});
  }
  void supervisor_escalated(ActorId id) override { escalations.push_back(id); }
  void mailbox_full(ActorId id) override { full.push_back(id); }
  void dead_letter(ActorId target, Envelope& envelope, DeadLetterReason reason) override {
    dead.push_back({target, envelope.type->name, reason, envelope.sender});
    if (on_dead_letter) on_dead_letter(dead.back(), envelope);
  }

 private:
  std::set<ActorId> alive_;
};

}  // namespace jzx::testing

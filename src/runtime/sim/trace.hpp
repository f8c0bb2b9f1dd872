// What happened in a run, as a list of events with their causes, a text for people, and a hash that
// is the same for the same run. Contains no address.
//
// Threads: one.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <jzx/observer.hpp>

#include "drivers/sim/step.hpp"

namespace jzx::runtime {

// The name of an actor in a trace.
struct ActorKey {
  uint32_t node = 0;
  ActorId id = 0;
  friend auto operator<=>(const ActorKey&, const ActorKey&) noexcept = default;
};

class Trace {
 public:
  // Keeps the events themselves too, not only their hash.
  explicit Trace(bool keeps_events) noexcept : keeps_events_(keeps_events) {}

  void name_node(uint32_t node, std::string name) { nodes_[node] = std::move(name); }
  void name_actor(ActorKey actor, std::string_view name);
  [[nodiscard]] std::string name_of(ActorKey actor) const;

  void add_step(const drivers::sim::Step& step);
  // Something that happened in the middle of a step, or outside of one (cause 0).
  void add_note(uint64_t time_ns, uint64_t cause, std::string text);

  [[nodiscard]] uint64_t hash() const noexcept { return hash_; }
  // After each step.
  [[nodiscard]] const std::vector<uint64_t>& hashes() const noexcept { return hashes_; }

  // Everything, or the last of it if that is long.
  [[nodiscard]] std::string text(size_t most_lines) const;
  // The chain of causes that ends with this step, the first cause on top. Of a long chain, its
  // beginning and its end: each step of a livelock causes the next, and nobody reads a million.
  [[nodiscard]] std::string causes_of(uint64_t step) const;
  [[nodiscard]] std::string line_of(uint64_t step) const;
  [[nodiscard]] uint64_t last_step() const noexcept;

 private:
  struct Event {
    drivers::sim::Step step;
    uint64_t time_ns = 0;
    std::string note;  // instead of a step
  };

  [[nodiscard]] std::string line_of(const Event& event) const;
  [[nodiscard]] const Event* find(uint64_t step) const noexcept;
  void mix(uint64_t value) noexcept;
  void mix(std::string_view text) noexcept;

  std::map<uint32_t, std::string> nodes_;
  std::map<ActorKey, std::string> names_;
  std::vector<Event> events_;
  std::vector<size_t> places_;  // among the events, of each step: the first one's at 0
  std::vector<uint64_t> hashes_;
  uint64_t hash_ = 0xcbf29ce484222325u;
  bool keeps_events_;
};

}  // namespace jzx::runtime

#include "runtime/sim/trace.hpp"

#include <cstdio>

#include "base/assert.hpp"
#include "core/notice.hpp"
#include "drivers/sim/sim_clock.hpp"
#include "runtime/record/plain_name.hpp"

namespace jzx::runtime {

namespace {

using drivers::sim::Mishap;
using drivers::sim::Step;
using drivers::sim::StepKind;

// Of a chain that is longer than both together, so many are told.
constexpr size_t kFirstCauses = 20;
constexpr size_t kLastCauses = 80;

std::string time_text(uint64_t time_ns) {
  const uint64_t since = time_ns - drivers::sim::VirtualTime::kStart;
  char text[40];
  std::snprintf(text, sizeof text, "%6llu.%06llu ms",
                static_cast<unsigned long long>(since / 1'000'000),
                static_cast<unsigned long long>(since % 1'000'000));
  return text;
}

std::string message_text(const Step& step) {
  if (step.message != &raw_message_type) return plain_type_name(step.message->inner->name);
  if (step.tag >= core::kFirstSystemTag) {
    const char* name = core::name_of(static_cast<core::SystemTag>(step.tag));
    return name != nullptr ? name : "a system message";
  }
  return "message " + std::to_string(step.tag);
}

const char* mishap_text(Mishap mishap) {
  switch (mishap) {
    case Mishap::none:
      return "";
    case Mishap::killed:
      return ", but is killed (fault)";
    case Mishap::threw:
      return ", and throws (fault)";
    case Mishap::clock_jumped:
      return ", its clock has jumped (fault)";
    case Mishap::refused:
    case Mishap::no_memory:
      return "";
  }
  return "";
}

}  // namespace

void Trace::name_actor(ActorKey actor, std::string_view name) {
  names_[actor] = plain_type_name(name);
}

std::string Trace::name_of(ActorKey actor) const {
  if (actor.id == 0) return "outside";
  const auto known = names_.find(actor);
  std::string name = known != names_.end() ? known->second : "actor";
  name += '#' + std::to_string(static_cast<uint32_t>(actor.id));
  const uint64_t generation = actor.id >> 32;
  if (generation > 1) name += '.' + std::to_string(generation);
  if (nodes_.size() < 2) return name;
  const auto node = nodes_.find(actor.node);
  return node == nodes_.end() ? name : name + '@' + node->second;
}

void Trace::mix(uint64_t value) noexcept {
  hash_ = (hash_ ^ value) * 0x100000001b3u;
  hash_ ^= hash_ >> 29;
}

void Trace::mix(std::string_view text) noexcept {
  for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
}

void Trace::add_step(const Step& step) {
  mix(step.time_ns);
  mix(step.actor ^ (uint64_t{step.node} << 56));
  mix(step.sender);
  mix(step.sequence);
  mix((static_cast<uint64_t>(step.kind) << 8) | static_cast<uint64_t>(step.mishap));
  if (step.message != nullptr) mix(std::string_view(step.message->inner->name));
  if (!keeps_events_) return;
  hashes_.push_back(hash_);
  places_.push_back(events_.size());
  JZX_ASSERT(step.number == places_.size());  // they are told from 1 on, and none is left out
  events_.push_back({step, step.time_ns, {}});
}

void Trace::add_note(uint64_t time_ns, uint64_t cause, std::string text) {
  mix(std::string_view(text));
  if (!keeps_events_) return;
  Event event;
  event.step.cause = cause;
  event.time_ns = time_ns;
  event.note = std::move(text);
  events_.push_back(std::move(event));
}

std::string Trace::line_of(const Event& event) const {
  std::string line = '[' + time_text(event.time_ns) + "] ";
  if (event.step.number == 0) return line + "      " + event.note;
  const Step& step = event.step;
  char number[24];
  std::snprintf(number, sizeof number, "%-5llu ", static_cast<unsigned long long>(step.number));
  line += number;
  const std::string who =
      step.actor != 0 ? name_of({step.node, step.actor}) : std::string("work in the background");
  switch (step.kind) {
    case StepKind::first_turn:
      line += who + " starts";
      break;
    case StepKind::message:
      line += who + " takes " + message_text(step) + " from " + name_of({step.node, step.sender});
      break;
    case StepKind::resumed:
      line += who + " goes on";
      break;
    case StepKind::other:
      line += who;
      break;
  }
  line += mishap_text(step.mishap);
  if (step.cause != 0) line += "  (because of " + std::to_string(step.cause) + ')';
  return line;
}

const Trace::Event* Trace::find(uint64_t step) const noexcept {
  return step == 0 || step > places_.size() ? nullptr : &events_[places_[step - 1]];
}

std::string Trace::line_of(uint64_t step) const {
  const Event* event = find(step);
  return event == nullptr ? std::string() : line_of(*event);
}

uint64_t Trace::last_step() const noexcept { return places_.size(); }

std::string Trace::text(size_t most_lines) const {
  const size_t first = events_.size() > most_lines ? events_.size() - most_lines : 0;
  std::string text;
  if (first != 0) text = "  … " + std::to_string(first) + " events before\n";
  for (size_t i = first; i < events_.size(); ++i) text += "  " + line_of(events_[i]) + '\n';
  return text;
}

std::string Trace::causes_of(uint64_t step) const {
  std::vector<const Event*> chain;  // from the step back
  for (const Event* event = find(step); event != nullptr; event = find(event->step.cause)) {
    chain.push_back(event);
    if (event->step.cause >= event->step.number) break;
  }
  std::string text;
  for (size_t i = 0; i < chain.size(); ++i) {
    if (i == kFirstCauses && chain.size() > kFirstCauses + kLastCauses) {
      const size_t left_out = chain.size() - kFirstCauses - kLastCauses;
      text += "  … " + std::to_string(left_out) + " more causes\n";
      i += left_out;
    }
    text += "  " + line_of(*chain[chain.size() - 1 - i]) + '\n';
  }
  return text;
}

}  // namespace jzx::runtime

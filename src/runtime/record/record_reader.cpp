#include "runtime/record/record_reader.hpp"

#include <charconv>
#include <utility>

#include <jzx/signals.hpp>

#include "drivers/sim/sim_clock.hpp"

namespace jzx::runtime {

namespace {

constexpr uint64_t kLongestNs = drivers::sim::VirtualTime::kEnd - drivers::sim::VirtualTime::kStart;

std::string numbered(const char* what, uint64_t number) {
  return std::string(what) + ' ' + std::to_string(number);
}

bool is_act(const Event& event) noexcept {
  return event.op == Op::turn || event.op == Op::work || event.op == Op::fire;
}
bool is_message(const Event& event) noexcept {
  return event.op == Op::sent || event.op == Op::came;
}

// The name of a raw message.
bool is_tag(const std::string& name) noexcept {
  uint32_t tag = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), tag);
  return error == std::errc() && end == name.data() + name.size();
}

}  // namespace

std::string RecordReader::add(Event&& event) {
  if (event.op == Op::name) return read_name(event);
  std::string wrong = what_is_wrong_with_values(event);
  if (wrong.empty() && data_.lost == 0) wrong = what_is_wrong_with_numbers(event);
  if (wrong.empty() && data_.lost == 0) wrong = what_is_wrong_with_place(event);
  if (!wrong.empty()) return wrong;
  count(event);
  data_.events.push_back(std::move(event));
  return {};
}

std::string RecordReader::read_name(Event& event) {
  if (event.name > data_.names.size()) {
    return numbered("name", event.name) + " comes before name " +
           std::to_string(data_.names.size());
  }
  if (event.name == data_.names.size()) {
    data_.names.push_back(std::move(event.text));
  } else if (data_.names[event.name] != event.text) {
    return numbered("name", event.name) + " stood for something else before";
  }
  return {};
}

std::string RecordReader::what_is_wrong_with_values(const Event& event) {
  const bool has_name = event.op == Op::born || is_message(event);
  if (has_name && event.name >= data_.names.size()) {
    return numbered("name", event.name) + " stands for nothing";
  }
  if (is_message(event) && event.carried == Carried::raw && !is_tag(data_.name(event.name))) {
    return '"' + data_.name(event.name) + "\" is not the tag of a raw message";
  }
  if (is_act(event)) {
    if (event.value > kLongestNs - time_ns_) return "it is beyond the end of time";
    time_ns_ += event.value;
  }
  switch (event.op) {
    case Op::choice:
      if (event.number > UINT32_MAX || event.value >= event.number) {
        return "it chooses " + std::to_string(event.value) + " of " + std::to_string(event.number) +
               ", counted from 0";
      }
      break;
    case Op::ended:
    case Op::exit:
      if (event.value > static_cast<uint64_t>(ExitReason::killed)) {
        return numbered("there is no reason", event.value);
      }
      break;
    case Op::take:
      if (event.value > UINT32_MAX) return numbered("there is no readiness", event.value);
      break;
    case Op::lost:
      if (event.number == 0 || event.number > UINT64_MAX - data_.lost) {
        return numbered("the lost events cannot be", event.number);
      }
      break;
    default:
      break;
  }
  return {};
}

// Actor 0 is one that has ended.
std::string RecordReader::what_is_wrong_with_numbers(const Event& event) const {
  const auto is_next = [](const char* what, uint64_t number, uint64_t so_far) {
    if (number == so_far + 1) return std::string();
    return numbered(what, number) + " comes where " + std::to_string(so_far + 1) + " is next";
  };
  const auto is_known = [](const char* what, uint64_t number, uint64_t least, uint64_t so_far) {
    if (number >= least && number <= so_far) return std::string();
    return numbered(what, number) + " is not known";
  };
  switch (event.op) {
    case Op::born:
      return is_next("actor", event.number, actors_);
    case Op::sent:
    case Op::came: {
      std::string wrong = is_next("message", event.number, messages_);
      return wrong.empty() ? is_known("actor", event.actor, 0, actors_) : wrong;
    }
    case Op::arm:
      return is_next("timer", event.number, timers_);
    case Op::turn:
    case Op::ended:
      return is_known("actor", event.number, 0, actors_);
    case Op::exit:
      return is_known("actor", event.number, 1, actors_);
    case Op::fire:
      return is_known("timer", event.number, 1, timers_);
    case Op::take:
      return is_known("message", event.number, 1, messages_);
    default:
      return {};
  }
}

std::string RecordReader::what_is_wrong_with_place(const Event& event) const {
  if (is_act(event)) return act_ == Op::done ? "" : "it begins before what is under way is done";
  if (event.op == Op::take && act_ != Op::turn) return "nobody has a turn that could take it";
  const bool follows = event.op == Op::done || event.op == Op::sent ||
                       ((event.op == Op::born || event.op == Op::arm) && !event.is_outside);
  return follows && act_ == Op::done ? "nothing is under way" : "";
}

void RecordReader::count(const Event& event) noexcept {
  switch (event.op) {
    case Op::turn:
      ++data_.turns;
      [[fallthrough]];
    case Op::work:
    case Op::fire:
    case Op::done:
      act_ = event.op;
      break;
    case Op::born:
      ++actors_;
      break;
    case Op::sent:
    case Op::came:
      ++messages_;
      break;
    case Op::arm:
      ++timers_;
      break;
    case Op::lost:
      data_.lost += event.number;
      break;
    case Op::destroyed:
      data_.is_destroyed = true;
      break;
    default:
      break;
  }
}

}  // namespace jzx::runtime

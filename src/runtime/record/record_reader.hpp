// Reads the events of a record one after the other, and refuses what no recorder writes: the number
// of an actor that was not born, a choice beyond its alternatives, a time beyond the end of time, a
// message that is taken outside of a turn. So a replay need not check them again.
//
// After lost events (a ring has not kept them) nobody knows which numbers exist. Then only ranges
// are checked. Such a record can be printed, but not replayed.
//
// Threads: one.
#pragma once

#include <string>

#include "runtime/record/event.hpp"

namespace jzx::runtime {

class RecordReader {
 public:
  explicit RecordReader(detail::RecordData& data) noexcept : data_(data) {}

  // Empty: it is part of the record now. Else what is wrong with it.
  [[nodiscard]] std::string add(Event&& event);

 private:
  [[nodiscard]] std::string read_name(Event& event);
  [[nodiscard]] std::string what_is_wrong_with_values(const Event& event);
  [[nodiscard]] std::string what_is_wrong_with_numbers(const Event& event) const;
  [[nodiscard]] std::string what_is_wrong_with_place(const Event& event) const;
  void count(const Event& event) noexcept;

  detail::RecordData& data_;
  uint64_t actors_ = 0;  // born so far
  uint64_t messages_ = 0;
  uint64_t timers_ = 0;
  uint64_t time_ns_ = 0;
  Op act_ = Op::done;  // what is under way; done: nothing
};

}  // namespace jzx::runtime

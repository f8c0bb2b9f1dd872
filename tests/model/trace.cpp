#include "model/trace.hpp"

#include <cstdio>
#include <string_view>

namespace jzx::base::model {

namespace {

const char* name_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
      return "consume";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "?";
}

std::string place_of(const std::source_location& where) {
  std::string_view file = where.file_name();
  if (const size_t slash = file.rfind('/'); slash != file.npos) file.remove_prefix(slash + 1);
  if (file.empty()) return {};
  // Of "bool a::B<C>::push(D&) [with …]" the word before the arguments.
  std::string_view function = where.function_name();
  function = function.substr(0, function.find('('));
  if (const size_t start = function.find_last_of(": "); start != function.npos) {
    function.remove_prefix(start + 1);
  }
  return std::string(function) + " (" + std::string(file) + ":" + std::to_string(where.line()) +
         ")";
}

class Printer {
 public:
  std::string line(const Step& step) {
    const std::string place = place_of(step.where);
    char start[160];
    std::snprintf(start, sizeof start, "  thread %u  %-40s  ", step.thread, place.c_str());
    return start + action(step) + "\n";
  }

 private:
  std::string action(const Step& step) {
    const std::string number = std::to_string(step.cell + 1);
    const std::string operation = "a" + number + "." + step.name + " ";
    const std::string order = std::string(" (") + name_of(step.order) + ")";
    std::string behind;
    if (step.stores_behind > 0) {
      behind = "  [" + std::to_string(step.stores_behind) + " newer stores not seen]";
    }
    switch (step.kind) {
      case Step::Kind::load:
        return operation + "= " + value(step.before, step.look) + order + behind;
      case Step::Kind::store:
        return operation + value(step.after, step.look) + order;
      case Step::Kind::modify:
        return operation + value(step.before, step.look) + " -> " + value(step.after, step.look) +
               order;
      case Step::Kind::failed_exchange:
        return operation + "failed, = " + value(step.before, step.look) + order + behind;
      case Step::Kind::plain:
        return "p" + number + " " + step.name;
      case Step::Kind::words:
        break;
    }
    return step.name;
  }

  std::string value(uint64_t bits, Look look) {
    switch (look) {
      case Look::boolean:
        return bits != 0 ? "true" : "false";
      case Look::pointer:
        return pointer(bits);
      case Look::signed_number:
        return std::to_string(static_cast<int64_t>(bits));
      case Look::number:
        break;
    }
    if (bits < 100'000) return std::to_string(bits);
    char hex[24];
    std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(bits));
    return hex;
  }

  std::string pointer(uint64_t bits) {
    if (bits == 0) return "null";
    size_t at = 0;
    while (at < pointers_.size() && pointers_[at] != bits) ++at;
    if (at == pointers_.size()) pointers_.push_back(bits);
    return "n" + std::to_string(at + 1);
  }

  std::vector<uint64_t> pointers_;
};

}  // namespace

std::string describe(const std::vector<Step>& steps) {
  Printer printer;
  std::string text;
  for (const Step& step : steps) text += printer.line(step);
  return text;
}

}  // namespace jzx::base::model

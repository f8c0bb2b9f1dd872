// jzx::Recording: a record, read and told.
#include <jzx/sim/recorder.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <unordered_map>

#include "base/text.hpp"
#include "runtime/record/event.hpp"
#include "runtime/record/record_reader.hpp"

namespace jzx {

namespace {

using detail::RecordData;
using runtime::Carried;
using runtime::Event;
using runtime::Op;

constexpr const char* kSource = "Recording";

// Closes it at the end of the scope.
struct File {
  explicit File(std::FILE* the_file) noexcept : file(the_file) {}
  ~File() {
    if (file != nullptr) std::fclose(file);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::FILE* file;
};

// What the first line says.
bool parse_head(std::string_view line, RecordData& out) {
  if (!line.starts_with(runtime::kRecordMagic)) return false;
  line.remove_prefix(runtime::kRecordMagic.size());
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return false;
  out.driver = line.substr(0, space);
  const char* end = line.data() + line.size();
  const auto cap = std::from_chars(line.data() + space + 1, end, out.mailbox_cap);
  if (cap.ec != std::errc() || end - cap.ptr != 2 || cap.ptr[0] != ' ') return false;
  out.detects_deadlocks = cap.ptr[1] == '1';
  const bool is_known = out.driver == "loop" || out.driver == "workers";
  return is_known && out.mailbox_cap != 0 && (cap.ptr[1] == '0' || cap.ptr[1] == '1');
}

// ---- for people ----

class Teller {
 public:
  explicit Teller(const RecordData& data) : data_(data) {
    for (const Event& event : data.events) {
      if (event.op == Op::born) actors_[event.number] = event.name;
    }
  }

  std::string line(const Event& event) {
    switch (event.op) {
      case Op::born:
        return what(event.is_outside) + actor(event.number) + " is born";
      case Op::ended:
        return actor(event.number) +
               " has ended: " + to_string(static_cast<ExitReason>(event.value)) +
               (event.text.empty() ? "" : " (" + event.text + ')');
      case Op::turn:
        return time(event) + "turn of " + actor(event.number);
      case Op::work:
        return time(event) + "work in the background";
      case Op::fire:
        return time(event) + "timer " + std::to_string(event.number) + " fires";
      case Op::take:
        return "  takes message " + std::to_string(event.number);
      case Op::sent:
        return "  sends " + message(event);
      case Op::came:
        return what(true) + message(event) + payload(event);
      case Op::arm:
        return what(event.is_outside) + "timer " + std::to_string(event.number) + " is armed";
      case Op::choice:
        return "  chooses " + std::to_string(event.value) + " of " + std::to_string(event.number);
      case Op::exit:
        return what(true) + actor(event.number) + " is asked to end";
      case Op::closing:
        return "from outside: the system takes no more actors";
      case Op::destroyed:
        return "from outside: the system is destroyed";
      case Op::strange:
        return "not replayable: " + event.text;
      case Op::lost:
        return "… " + std::to_string(event.number) + " events before";
      case Op::name:
      case Op::done:
        break;
    }
    return {};
  }

 private:
  static std::string what(bool is_outside) { return is_outside ? "from outside: " : "  "; }
  std::string actor(uint64_t number) const {
    if (number == 0) return "somebody who has ended";
    const auto known = actors_.find(number);
    return (known != actors_.end() ? data_.name(known->second) : "actor") + '#' +
           std::to_string(number);
  }
  std::string time(const Event& event) {
    ns_ += event.value;
    char text[40];
    std::snprintf(text, sizeof text, "[%10.6f ms] ", static_cast<double>(ns_) / 1e6);
    return text;
  }
  std::string message(const Event& event) const {
    const char* kind = event.carried == Carried::ask ? " (an ask)" : "";
    return (event.carried == Carried::raw ? "raw " : "") + data_.name(event.name) + kind + " to " +
           actor(event.actor) + ", message " + std::to_string(event.number);
  }
  static std::string payload(const Event& event) {
    if (!event.has_payload) return ", opaque";
    constexpr size_t kMostShown = 60;
    const auto is_visible = [](char c) { return c >= ' ' && c <= '~'; };
    if (event.text.size() <= kMostShown &&
        std::all_of(event.text.begin(), event.text.end(), is_visible)) {
      return ": " + event.text;
    }
    return ", " + std::to_string(event.text.size()) + " bytes";
  }

  const RecordData& data_;
  std::unordered_map<uint64_t, uint32_t> actors_;  // the names of their types
  uint64_t ns_ = 0;
};

}  // namespace

Result<Recording> Recording::parse(std::string_view text) {
  text = text.substr(0, text.find('\0'));  // a program that died left zeros behind its last line
  auto data = std::make_shared<RecordData>();
  runtime::RecordReader reader(*data);
  size_t number = 0;
  size_t used = 0;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', used)) {
    const std::string_view line = text.substr(used, end - used);
    used = end + 1;
    Event event;
    if (++number == 1) {
      if (parse_head(line, *data)) continue;
      return Error(Errc::invalid_arg, "not a record of jazz, or of another version", kSource);
    }
    const bool is_line = runtime::parse_line(line, event);
    const std::string wrong = is_line ? reader.add(std::move(event)) : "it has not the form of one";
    if (!wrong.empty()) {
      const std::string what = "line " + std::to_string(number) + " is none of a record: " + wrong;
      return Error(Errc::invalid_arg, what, kSource);
    }
  }
  if (number == 0) return Error(Errc::invalid_arg, "there is no record in it", kSource);
  data->text = text.substr(0, used);
  Recording recording;
  recording.data_ = std::move(data);
  return recording;
}

Result<Recording> Recording::load(const std::string& file) {
  if (base::has_zero_byte(file)) return Error(Errc::invalid_arg, base::kPathHasZeroByte, kSource);
  const File in(std::fopen(file.c_str(), "rbe"));
  if (in.file == nullptr) return Error::of_system(errno, kSource);
  std::string text;
  char piece[1 << 14];
  for (size_t count = 0; (count = std::fread(piece, 1, sizeof piece, in.file)) > 0;) {
    text.append(piece, count);
  }
  if (std::ferror(in.file) != 0) return Error::of_system(errno, kSource);
  return parse(text);
}

Errc Recording::save(const std::string& file) const {
  if (base::has_zero_byte(file)) return Errc::invalid_arg;
  const std::string content = text();
  std::FILE* out = std::fopen(file.c_str(), "wbe");
  if (out == nullptr) return Errc::io_failed;
  const bool is_whole = std::fwrite(content.data(), 1, content.size(), out) == content.size();
  return std::fclose(out) == 0 && is_whole ? Errc::ok : Errc::io_failed;
}

std::string Recording::text() const { return data_ != nullptr ? data_->text : std::string(); }
uint64_t Recording::turns() const noexcept { return data_ != nullptr ? data_->turns : 0; }
uint64_t Recording::lost() const noexcept { return data_ != nullptr ? data_->lost : 0; }

std::string Recording::dump() const {
  if (data_ == nullptr) return {};
  std::string text = "record of one " + data_->driver + ", " + std::to_string(data_->turns) +
                     (data_->turns == 1 ? " turn\n" : " turns\n");
  Teller teller(*data_);
  for (const Event& event : data_->events) {
    if (event.op != Op::done) text += teller.line(event) + '\n';
  }
  return text;
}

}  // namespace jzx

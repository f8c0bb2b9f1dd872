// The log as text, and back. A line of JSON is one flat object with strings, numbers and booleans;
// ids are strings of hex, since 64 bits are more than a JSON number can be trusted with.
#include <jzx/sim/command_log.hpp>

#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <map>

#include <jzx/sim/codec.hpp>

#include "runtime/commands/join.hpp"
#include "runtime/commands/json_text.hpp"

namespace jzx {

using runtime::is_utf8;
using runtime::join;
using runtime::json_quoted;
using runtime::take_json_string;

const char* to_string(CommandKind kind) noexcept {
  switch (kind) {
    case CommandKind::send:
      return "send";
    case CommandKind::spawn:
      return "spawn";
    case CommandKind::kill:
      return "kill";
    case CommandKind::fail:
      return "fail";
  }
  return "unknown";
}

const char* to_string(CommandFate fate) noexcept {
  switch (fate) {
    case CommandFate::waiting:
      return "waiting";
    case CommandFate::delivered:
      return "delivered";
    case CommandFate::output:
      return "output";
    case CommandFate::done:
      return "done";
    case CommandFate::dead_letter:
      return "dead letter";
    case CommandFate::refused:
      return "refused";
    case CommandFate::sender_killed:
      return "sender killed";
    case CommandFate::filtered:
      return "filtered";
    case CommandFate::closing:
      return "closing";
  }
  return "unknown";
}

namespace {

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, value);
  return text;
}

// ---- writing JSON ----

// A text with any bytes, as a field of JSON. Of one that is not UTF-8 the bytes are there too, in a
// second field, so that it can be replayed.
std::string text_field(const char* name, std::string_view text) {
  std::string field = join({",\"", name, "\":", json_quoted(text)});
  if (is_utf8(text)) return field;
  return field += join({",\"", name, "_hex\":\"", detail::hex_of(text.data(), text.size()), "\""});
}

std::string line_of(const CommandRecord& record) {
  std::string line = join(
      {"{\"seq\":", std::to_string(record.sequence), ",\"cause\":", std::to_string(record.cause),
       ",\"time_ns\":", std::to_string(record.time_ns), ",\"kind\":\"", to_string(record.kind),
       "\",\"source\":\"", hex(record.source), "\",\"target\":\"", hex(record.target), "\""});
  if (!record.type.empty()) line += join({",\"type\":", json_quoted(record.type)});
  if (record.payload) line += text_field("payload", *record.payload);
  if (record.is_injected) line += ",\"injected\":true";
  if (record.moment) {
    line += join({",\"after_commands\":", std::to_string(record.moment->processed),
                  ",\"after_steps\":", std::to_string(record.moment->steps)});
  }
  if (record.full_until) line += join({",\"full_until\":", std::to_string(*record.full_until)});
  if (record.redirected) line += join({",\"redirected\":\"", hex(*record.redirected), "\""});
  if (record.rewritten) line += text_field("rewritten", *record.rewritten);
  return line += join({",\"fate\":\"", to_string(record.fate), "\"}\n"});
}

// ---- reading it again ----

// One line; every function answers false when the line is not what it should be, and `why` says.
class LineReader {
 public:
  explicit LineReader(std::string_view line) noexcept : rest_(line) {}

  using Fields = std::map<std::string, std::string, std::less<>>;
  [[nodiscard]] bool read(Fields& fields) {
    if (!take('{')) return complain("it does not begin with {");
    if (take('}')) return ends();
    do {
      std::string name;
      std::string value;
      if (!string(name)) return complain("a name is missing");
      if (!take(':')) return complain(join({"a : is missing after ", name}));
      if (!string(value) && !word(value))
        return complain(join({"the value of ", name, " is broken"}));
      fields[name] = value;
    } while (take(','));
    return take('}') ? ends() : complain("it does not end with }");
  }
  [[nodiscard]] const std::string& why() const noexcept { return why_; }

 private:
  [[nodiscard]] bool complain(std::string why) {
    why_ = std::move(why);
    return false;
  }
  [[nodiscard]] bool ends() {
    skip();
    return rest_.empty() || complain("there is more behind the }");
  }
  void skip() noexcept {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r')) {
      rest_.remove_prefix(1);
    }
  }
  [[nodiscard]] bool take(char c) noexcept {
    skip();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // A number, true or false.
  [[nodiscard]] bool word(std::string& out) {
    skip();
    size_t size = 0;
    while (size < rest_.size() && ((rest_[size] >= '0' && rest_[size] <= '9') ||
                                   (rest_[size] >= 'a' && rest_[size] <= 'z'))) {
      ++size;
    }
    out = std::string(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return size > 0;
  }
  [[nodiscard]] bool string(std::string& out) {
    skip();
    return take_json_string(rest_, out);
  }

  std::string_view rest_;
  std::string why_;
};

bool number_in(std::string_view text, uint64_t& out) noexcept {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), out, is_hex ? 16 : 10);
  return error == std::errc() && !text.empty() && end == text.data() + text.size();
}

// Empty: the record is whole.
std::string read_record(const LineReader::Fields& fields, CommandRecord& record) {
  const auto text = [&](const char* name) -> const std::string* {
    const auto found = fields.find(name);
    return found == fields.end() ? nullptr : &found->second;
  };
  const auto number = [&](const char* name, uint64_t& out) {
    const std::string* value = text(name);
    return value != nullptr && number_in(*value, out);
  };
  if (!number("seq", record.sequence)) return "seq is missing or no number";
  if (!number("cause", record.cause)) return "cause is missing or no number";
  if (!number("time_ns", record.time_ns)) return "time_ns is missing or no number";
  if (!number("source", record.source)) return "source is missing or no id";
  if (!number("target", record.target)) return "target is missing or no id";
  const std::string* kind = text("kind");
  bool is_known = false;
  for (const auto each :
       {CommandKind::send, CommandKind::spawn, CommandKind::kill, CommandKind::fail}) {
    if (kind == nullptr || *kind != to_string(each)) continue;
    record.kind = each;
    is_known = true;
  }
  if (!is_known) return "kind is missing or unknown";
  const std::string* fate = text("fate");
  is_known = false;
  for (int i = 0; i <= static_cast<int>(CommandFate::closing); ++i) {
    const auto each = static_cast<CommandFate>(i);
    if (fate == nullptr || *fate != to_string(each)) continue;
    record.fate = each;
    is_known = true;
  }
  if (!is_known) return "fate is missing or unknown";
  if (const std::string* type = text("type")) record.type = *type;
  // See text_field().
  const auto bytes = [&](const char* name, std::optional<std::string>& out) {
    if (const std::string* value = text(name)) out = *value;
    const std::string* hex = text((std::string(name) + "_hex").c_str());
    if (hex == nullptr) return true;
    out = std::string(hex->size() / 2, '\0');
    return detail::bytes_of(*hex, out->data(), out->size());
  };
  if (!bytes("payload", record.payload)) return "payload_hex is no hex";
  if (!bytes("rewritten", record.rewritten)) return "rewritten_hex is no hex";
  record.is_injected = text("injected") != nullptr;
  if (text("full_until") != nullptr) {
    uint64_t steps = 0;
    if (!number("full_until", steps)) return "full_until is no number";
    record.full_until = steps;
  }
  if (text("redirected") != nullptr) {
    ActorId target = 0;
    if (!number("redirected", target)) return "redirected is no id";
    record.redirected = target;
  }
  if (text("after_commands") == nullptr) return {};
  CommandMoment moment;
  if (!number("after_commands", moment.processed)) return "after_commands is no number";
  if (!number("after_steps", moment.steps)) return "after_steps is missing or no number";
  record.moment = moment;
  return {};
}

// Empty: the first line is whole.
std::string read_head(LineReader::Fields& fields, CommandLog& log) {
  if (!number_in(fields["input"], log.input) || !number_in(fields["output"], log.output)) {
    return "this is no log of commands: input and output are missing";
  }
  log.is_cut = fields["cut"] == "true";
  if (!fields.contains("shutdown_after_commands")) return {};
  CommandShutdown shutdown;
  if (!number_in(fields["shutdown_after_commands"], shutdown.moment.processed) ||
      !number_in(fields["shutdown_after_steps"], shutdown.moment.steps) ||
      !number_in(fields["shutdown_ns"], shutdown.time_ns)) {
    return "the moment of the shutdown is broken";
  }
  log.shutdown = shutdown;
  return {};
}

std::string error_text(size_t line, const std::string& why) {
  return join({"line ", std::to_string(line), ": ", why});
}

}  // namespace

std::string CommandLog::to_json_lines() const {
  std::string text = join({"{\"input\":\"", hex(input), "\",\"output\":\"", hex(output),
                           "\",\"cut\":", is_cut ? "true" : "false"});
  if (shutdown) {
    text += join({",\"shutdown_after_commands\":", std::to_string(shutdown->moment.processed),
                  ",\"shutdown_after_steps\":", std::to_string(shutdown->moment.steps),
                  ",\"shutdown_ns\":", std::to_string(shutdown->time_ns)});
  }
  text += "}\n";
  for (const CommandRecord& record : records) text += line_of(record);
  return text;
}

Result<CommandLog> CommandLog::parse(std::string_view json_lines) {
  CommandLog log;
  bool has_head = false;
  for (size_t line = 1; !json_lines.empty(); ++line) {
    const size_t end = std::min(json_lines.find('\n'), json_lines.size());
    LineReader reader(json_lines.substr(0, end));
    json_lines.remove_prefix(std::min(end + 1, json_lines.size()));
    LineReader::Fields fields;
    std::string why;
    if (!reader.read(fields)) {
      why = reader.why();
    } else if (!has_head) {
      has_head = true;
      why = read_head(fields, log);
    } else {
      CommandRecord record;
      why = read_record(fields, record);
      if (why.empty() && record.sequence != log.records.size() + 1)
        why = "a line is missing before";
      log.records.push_back(std::move(record));
    }
    if (!why.empty()) return Error(Errc::invalid_arg, error_text(line, why), "command log");
  }
  if (!has_head) return Error(Errc::invalid_arg, "the log is empty", "command log");
  return log;
}

// ---- for people ----

std::string CommandLog::to_text() const {
  std::map<ActorId, std::string> names{{0, "outside"}};
  if (input != 0) names[input] = "input";
  if (output != 0) names[output] = "output";
  for (const CommandRecord& record : records) {
    if (record.kind == CommandKind::spawn) {
      names.try_emplace(record.target, join({record.type, " ", hex(record.target)}));
    }
  }
  const auto name = [&](ActorId id) {
    const auto found = names.find(id);
    return found != names.end() ? found->second : hex(id);
  };
  std::string text;
  for (const CommandRecord& record : records) {
    char when[48];
    std::snprintf(when, sizeof(when), "  %" PRIu64 ".%06" PRIu64 " ms  ",
                  record.time_ns / 1'000'000, record.time_ns % 1'000'000);
    text += join({"#", std::to_string(record.sequence)});
    if (record.cause != 0) text += join({" <- #", std::to_string(record.cause)});
    text += join({when, name(record.source), record.is_injected ? " (injected) " : " ",
                  to_string(record.kind), " ", name(record.target)});
    if (record.kind == CommandKind::send) {
      text += join({": ", record.type, " ", record.payload ? *record.payload : "(opaque)"});
    } else if (record.kind == CommandKind::fail && record.payload) {
      text += join({": ", *record.payload});
    }
    if (record.redirected) text += join({", redirected to ", name(*record.redirected)});
    if (record.rewritten) text += join({", rewritten to ", *record.rewritten});
    text += join({"  [", to_string(record.fate), "]\n"});
  }
  if (is_cut) text += "(the log was full here)\n";
  if (shutdown) {
    text += join({"(shut down after #", std::to_string(shutdown->moment.processed), ")\n"});
  }
  return text;
}

}  // namespace jzx

namespace jzx::detail {

std::string hex_of(const void* bytes, size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::string text;
  text.reserve(2 * size);
  for (size_t i = 0; i < size; ++i) {
    text += kDigits[at[i] >> 4];
    text += kDigits[at[i] & 15];
  }
  return text;
}

bool bytes_of(std::string_view hex, void* bytes, size_t size) noexcept {
  if (hex.size() != 2 * size) return false;
  auto* at = static_cast<unsigned char*>(bytes);
  for (size_t i = 0; i < size; ++i) {
    unsigned byte = 0;
    const char* first = hex.data() + 2 * i;
    const auto [end, error] = std::from_chars(first, first + 2, byte, 16);
    if (error != std::errc() || end != first + 2) return false;
    at[i] = static_cast<unsigned char>(byte);
  }
  return true;
}

}  // namespace jzx::detail

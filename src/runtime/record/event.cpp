#include "runtime/record/event.hpp"

#include <charconv>

namespace jzx::runtime {

namespace {

void put(std::string& out, uint64_t number) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  out += ' ';
  out.append(text, end);
}

void put(std::string& out, char c) {
  out += ' ';
  out += c;
}

// The rest of a line: without what would end it.
void put_text(std::string& out, std::string_view text) {
  out += ' ';
  for (const char c : text) out += c == '\n' || c == '\0' ? ' ' : c;
}

// What would not be seen, would end the field, or stands for another.
bool is_escaped(char c) noexcept { return c <= ' ' || c > '~' || c == '%'; }

void put_payload(std::string& out, const Event& event) {
  if (!event.has_payload) return put(out, '-');
  constexpr std::string_view kDigits = "0123456789abcdef";
  put(out, '=');
  for (const char c : event.text) {
    if (!is_escaped(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
}

// Reads the fields of a line, one after the other.
class Fields {
 public:
  explicit Fields(std::string_view line) noexcept : rest_(line) {}

  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

  // False: it is not there.
  [[nodiscard]] bool next(std::string_view& out) noexcept {
    if (rest_.size() < 2 || rest_[0] != ' ') return false;
    const size_t end = rest_.find(' ', 1);
    out = rest_.substr(1, end == std::string_view::npos ? end : end - 1);
    rest_.remove_prefix(1 + out.size());
    return !out.empty();
  }
  [[nodiscard]] bool next(uint64_t& out) noexcept {
    std::string_view word;
    if (!next(word)) return false;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
    return error == std::errc() && end == word.data() + word.size();
  }
  [[nodiscard]] bool next(uint32_t& out) noexcept {
    uint64_t wide = 0;
    if (!next(wide) || wide > UINT32_MAX) return false;
    out = static_cast<uint32_t>(wide);
    return true;
  }
  // One of these characters.
  [[nodiscard]] bool next(std::string_view allowed, char& out) noexcept {
    std::string_view word;
    if (!next(word) || word.size() != 1 || allowed.find(word[0]) == std::string_view::npos) {
      return false;
    }
    out = word[0];
    return true;
  }
  [[nodiscard]] bool next_place(bool& is_outside) noexcept {
    char place = 0;
    if (!next("ix", place)) return false;
    is_outside = place == 'x';
    return true;
  }
  // All that is left.
  [[nodiscard]] bool next_text(std::string& out) {
    if (rest_.empty() || rest_[0] != ' ') return false;
    out = rest_.substr(1);
    rest_ = {};
    return true;
  }
  [[nodiscard]] bool next_payload(Event& event) {
    std::string_view word;
    if (!next(word)) return false;
    event.has_payload = word[0] == '=';
    if (!event.has_payload) return word == "-";
    for (size_t i = 1; i < word.size(); ++i) {
      if (word[i] != '%') {
        event.text += word[i];
        continue;
      }
      unsigned byte = 0;
      const char* digits = word.data() + i + 1;
      if (word.size() - i < 3) return false;
      const auto [end, error] = std::from_chars(digits, digits + 2, byte, 16);
      if (error != std::errc() || end != digits + 2) return false;
      event.text += static_cast<char>(byte);
      i += 2;
    }
    return true;
  }

 private:
  std::string_view rest_;
};

bool parse_message(Fields& fields, Event& out) {
  char carried = 0;
  if (!fields.next(out.number) || !fields.next(out.actor) || !fields.next(out.name) ||
      !fields.next("mary", carried)) {
    return false;
  }
  out.carried = static_cast<Carried>(carried);
  if (out.op == Op::sent && fields.at_end()) return true;
  return fields.next_payload(out);
}

bool parse_fields(Fields& fields, Event& out) {
  switch (out.op) {
    case Op::name:
      return fields.next(out.name) && fields.next_text(out.text);
    case Op::born:
      return fields.next(out.number) && fields.next(out.name) && fields.next(out.value) &&
             fields.next_place(out.is_outside);
    case Op::ended:
      return fields.next(out.number) && fields.next(out.value) && fields.next_text(out.text);
    case Op::turn:
    case Op::fire:
    case Op::choice:
    case Op::exit:
      return fields.next(out.number) && fields.next(out.value);
    case Op::work:
      return fields.next(out.value);
    case Op::done:
    case Op::closing:
    case Op::destroyed:
      return true;
    case Op::take:
      return fields.next(out.number) && (fields.at_end() || fields.next(out.value));
    case Op::sent:
    case Op::came:
      return parse_message(fields, out);
    case Op::arm:
      return fields.next(out.number) && fields.next_place(out.is_outside);
    case Op::strange:
      return fields.next_text(out.text);
    case Op::lost:
      return fields.next(out.number);
  }
  return false;
}

}  // namespace

void append_line(std::string& out, const Event& event) {
  out += static_cast<char>(event.op);
  const auto place = [&] { put(out, event.is_outside ? 'x' : 'i'); };
  switch (event.op) {
    case Op::name:
      put(out, uint64_t{event.name});
      put_text(out, event.text);
      break;
    case Op::born:
      put(out, event.number);
      put(out, uint64_t{event.name});
      put(out, event.value);
      place();
      break;
    case Op::ended:
      put(out, event.number);
      put(out, event.value);
      put_text(out, event.text);
      break;
    case Op::turn:
    case Op::fire:
    case Op::choice:
    case Op::exit:
      put(out, event.number);
      put(out, event.value);
      break;
    case Op::work:
      put(out, event.value);
      break;
    case Op::done:
    case Op::closing:
    case Op::destroyed:
      break;
    case Op::take:
      put(out, event.number);
      if (event.value != 0) put(out, event.value);
      break;
    case Op::sent:
    case Op::came:
      put(out, event.number);
      put(out, event.actor);
      put(out, uint64_t{event.name});
      put(out, static_cast<char>(event.carried));
      if (event.op == Op::came || event.has_payload) put_payload(out, event);
      break;
    case Op::arm:
      put(out, event.number);
      place();
      break;
    case Op::strange:
      put_text(out, event.text);
      break;
    case Op::lost:
      put(out, event.number);
      break;
  }
  out += '\n';
}

bool parse_line(std::string_view line, Event& out) {
  if (line.empty()) return false;
  constexpr std::string_view kOps = "nbetwf.ksxacqzd!l";
  if (kOps.find(line[0]) == std::string_view::npos) return false;
  out = Event{};
  out.op = static_cast<Op>(line[0]);
  Fields fields(line.substr(1));
  return parse_fields(fields, out) && fields.at_end();
}

}  // namespace jzx::runtime

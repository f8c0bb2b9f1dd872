// The lines of a record. It is text: a first line, then one line for each event, its fields apart
// by one space. Numbers are decimal. Actors, messages and timers are numbered from 1, in the order
// in which they were born, sent and armed.
//
//   jzx-record 1 <driver> <default mailbox capacity> <deadlocks are detected: 0 or 1>
//   n <name> <text>                what a name's number stands for; before its first use
//   b <actor> <name> <id> <i|x>    an actor is born; i: in what is being done, x: from outside
//   e <actor> <reason> <text>      it has ended
//   t <actor> <ns>                 its turn begins, so long after what began before
//   w <ns>                         other work begins
//   f <timer> <ns>                 a timer fires
//   .                              what began last is done
//   k <message> [<readiness>]      the turn takes it; of an IoEvent, what the fd is ready for
//   s <message> <actor> <name> <m|a|r|y> [<payload>]   sent to the actor in what is being done
//   x <message> <actor> <name> <m|a|r|y> <payload>     sent from outside
//   a <timer> <i|x>                armed
//   c <count> <taken>              the driver chose one of so many
//   q <actor> <reason>             asked from outside to end
//   z                              from now on nobody is born
//   d                              the loop or runtime is destroyed; only what is under way ends
//   ! <text>                       something that cannot be replayed
//   l <events>                     so many are missing here: a ring has not kept them
//
// A record without d ended early: the program died, or was still running when it was read.
//
// A message is m plain, a an ask, r raw (its name is its tag), y the system's. A payload is = and
// what the codec has made of it (bytes that are no visible ASCII, and %, as % and two digits of
// hex), or - if it was not recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jzx::runtime {

enum class Op : char {
  name = 'n',
  born = 'b',
  ended = 'e',
  turn = 't',
  work = 'w',
  fire = 'f',
  done = '.',
  take = 'k',
  sent = 's',
  came = 'x',
  arm = 'a',
  choice = 'c',
  exit = 'q',
  closing = 'z',
  destroyed = 'd',
  strange = '!',
  lost = 'l',
};

enum class Carried : char { message = 'm', ask = 'a', raw = 'r', system = 'y' };

struct Event {
  Op op = Op::done;
  bool is_outside = false;   // b, a
  bool has_payload = false;  // s, x
  Carried carried = Carried::message;
  uint32_t name = 0;    // n, b, s, x
  uint64_t number = 0;  // of the actor, message or timer that it is about; of c, how many; of l
  uint64_t actor = 0;   // s, x: to whom
  uint64_t value = 0;   // t, w, f: nanoseconds; b: id; k: readiness; c: taken; e, q: reason
  std::string text;     // n, e, !; s, x: the payload
};

inline constexpr std::string_view kRecordMagic = "jzx-record 1 ";

// With its line feed.
void append_line(std::string& out, const Event& event);
// Without it. False: it is none.
[[nodiscard]] bool parse_line(std::string_view line, Event& out);

}  // namespace jzx::runtime

namespace jzx::detail {

// A record, read.
struct RecordData {
  std::string text;
  std::string driver;
  uint32_t mailbox_cap = 0;
  bool detects_deadlocks = false;
  std::vector<std::string> names;  // by number
  std::vector<runtime::Event> events;
  uint64_t turns = 0;
  uint64_t lost = 0;
  bool is_destroyed = false;  // what the program did from outside is in it, all of it

  [[nodiscard]] const std::string& name(uint32_t number) const noexcept {
    static const std::string unknown = "?";
    return number < names.size() ? names[number] : unknown;
  }
};

}  // namespace jzx::detail

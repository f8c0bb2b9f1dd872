// The log of a CommandScheduler: every command in the order in which it was processed, which is the
// order in which it was queued. Machine-readable as JSON lines, one command a line, and readable
// for people; loaded again it can be replayed (CommandScheduler::replay).
//
// Threads: as the values of the standard library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <jzx/detail/export.hpp>
#include <jzx/result.hpp>
#include <jzx/signals.hpp>

namespace jzx {

enum class CommandKind : uint8_t { send, spawn, kill, fail };
[[nodiscard]] JZX_API const char* to_string(CommandKind kind) noexcept;

// What became of a command.
enum class CommandFate : uint8_t {
  waiting,        // it is being processed, or was when the log was taken
  delivered,      // to a sync actor, which has handled it, or to the inbox of an async one
  output,         // to whoever takes the output
  done,           // spawned, killed, failed
  dead_letter,    // nobody is there, or its inbox is full, or it is no command actor
  refused,        // a spawn of one who exists, or was killed before, or was never reserved
  sender_killed,  // its source was killed by another before it was processed
  filtered,       // by an interceptor
  closing,        // the scheduler was shut down
};
[[nodiscard]] JZX_API const char* to_string(CommandFate fate) noexcept;

// Where an external command came in: between which turns.
struct CommandMoment {
  uint64_t processed = 0;  // commands before it
  uint64_t steps = 0;      // turns of async actors and tasks before it
};

struct CommandRecord {
  uint64_t sequence = 0;  // from 1, in the order of queueing
  uint64_t cause = 0;     // the command that led to it; 0: none, it came from outside
  uint64_t time_ns = 0;   // virtual time at which it was queued, from 0
  CommandKind kind = CommandKind::send;
  CommandFate fate = CommandFate::waiting;
  ActorId source = 0;  // 0: from outside, or from an interceptor
  ActorId target = 0;
  bool is_injected = false;             // by an interceptor
  std::optional<CommandMoment> moment;  // of one from outside
  // Of one that found the output full: turns before it had room, or before the last try.
  std::optional<uint64_t> full_until;
  std::string type;                    // of the message, or of the actor that is spawned
  std::optional<std::string> payload;  // of a send, encoded; of a fail, the text. Empty: opaque
  // All that is above is as it was queued. What interceptors made of it, if they changed it: whom
  // it went to, and its message (if it has a codec), or the type of the actor.
  std::optional<ActorId> redirected;
  std::optional<std::string> rewritten;
};

// The scheduler was shut down from outside.
struct CommandShutdown {
  CommandMoment moment;
  uint64_t time_ns = 0;
};

struct CommandLog {
  std::vector<CommandRecord> records;
  ActorId input = 0;
  ActorId output = 0;
  bool is_cut = false;  // there were more than the log was to hold
  std::optional<CommandShutdown> shutdown;

  [[nodiscard]] JZX_API std::string to_json_lines() const;
  // Who did what because of what, and when.
  [[nodiscard]] JZX_API std::string to_text() const;
  // What to_json_lines() gave. An error says which line, and what is wrong with it.
  [[nodiscard]] JZX_API static Result<CommandLog> parse(std::string_view json_lines);
};

}  // namespace jzx

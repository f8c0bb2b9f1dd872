// Command: the one message that a scripted actor understands. A test writes down what an actor is
// to do in its turn, and the actor, whatever its body, does that (see script.hpp).
//
// Threads: a value.
#pragma once

#include <cstdint>
#include <jzx/signals.hpp>
#include <memory>
#include <string>
#include <vector>

#include "workers/tally.hpp"

namespace jzx::actors {

enum class Verb : uint8_t {
  record,         // notes that it came
  batch,          // `then`, one after the other, in one turn
  send,           // then[0] to `target`
  reply,          // then[0] to the sender
  stop,           // ends well when the turn is over
  fail,           // ends badly, with `text`
  crash,          // throws `text`
  end,            // asks `target` to end
  kill,           // ends `target` badly
  link,           // with `target`
  unlink,         // from `target`
  monitor,        // `target`; the answer's number is the reference
  demonitor,      // the reference `number`
  trap_exit,      // `number` != 0
  send_after,     // then[0] to `target` in `number` ms; the answer's number is the timer
  cancel,         // the timer `number`
  register_name,  // `text` for `target`
  whereis,        // `text`; the answer's number is the id, or 0
  spawn_child,    // labelled `text`; the answer's number is the id
  watch_fd,       // the fd `number`, for reading
  unwatch_fd,     // the fd `number`
  hold,           // waits at the gate
  spin,           // sends this to itself again and again, until the gate is open
};

struct Command {
  Verb verb = Verb::record;
  ActorId target = 0;  // 0: the actor itself
  uint64_t number = 0;
  std::string text;
  std::vector<Command> then;
  std::shared_ptr<testing::Gate> gate;
  uint64_t token = 0;  // not 0: the answer carries it, so that who asked finds it
};

// How tests write commands: say::send(b, say::record(1)).
namespace say {

[[nodiscard]] inline Command of(Verb verb, ActorId target = 0, uint64_t number = 0,
                                std::string text = {}, std::vector<Command> then = {}) {
  return {verb, target, number, std::move(text), std::move(then), nullptr, 0};
}

[[nodiscard]] inline Command record(uint64_t number) { return of(Verb::record, 0, number); }
[[nodiscard]] inline Command batch(std::vector<Command> all) {
  return of(Verb::batch, 0, 0, {}, std::move(all));
}
[[nodiscard]] inline Command send(ActorId to, Command what) {
  return of(Verb::send, to, 0, {}, {std::move(what)});
}
[[nodiscard]] inline Command reply(Command what) {
  return of(Verb::reply, 0, 0, {}, {std::move(what)});
}
// Records first to last, sent one after the other.
[[nodiscard]] inline Command send_records(ActorId to, uint64_t first, uint64_t last) {
  std::vector<Command> all;
  for (uint64_t i = first; i <= last; ++i) all.push_back(send(to, record(i)));
  return batch(std::move(all));
}
[[nodiscard]] inline Command stop() { return of(Verb::stop); }
[[nodiscard]] inline Command fail(std::string why) { return of(Verb::fail, 0, 0, std::move(why)); }
[[nodiscard]] inline Command crash(std::string why) {
  return of(Verb::crash, 0, 0, std::move(why));
}
[[nodiscard]] inline Command end(ActorId whom) { return of(Verb::end, whom); }
[[nodiscard]] inline Command kill(ActorId whom) { return of(Verb::kill, whom); }
[[nodiscard]] inline Command link(ActorId with) { return of(Verb::link, with); }
[[nodiscard]] inline Command unlink(ActorId from) { return of(Verb::unlink, from); }
[[nodiscard]] inline Command monitor(ActorId whom) { return of(Verb::monitor, whom); }
[[nodiscard]] inline Command demonitor(uint64_t ref) { return of(Verb::demonitor, 0, ref); }
[[nodiscard]] inline Command trap_exit(bool on) { return of(Verb::trap_exit, 0, on ? 1 : 0); }
[[nodiscard]] inline Command send_after(uint64_t ms, ActorId to, Command what) {
  return of(Verb::send_after, to, ms, {}, {std::move(what)});
}
[[nodiscard]] inline Command cancel(uint64_t timer) { return of(Verb::cancel, 0, timer); }
[[nodiscard]] inline Command register_name(std::string name, ActorId whom = 0) {
  return of(Verb::register_name, whom, 0, std::move(name));
}
[[nodiscard]] inline Command whereis(std::string name) {
  return of(Verb::whereis, 0, 0, std::move(name));
}
[[nodiscard]] inline Command spawn_child(std::string label) {
  return of(Verb::spawn_child, 0, 0, std::move(label));
}
[[nodiscard]] inline Command watch_fd(int fd) {
  return of(Verb::watch_fd, 0, static_cast<uint64_t>(fd));
}
[[nodiscard]] inline Command unwatch_fd(int fd) {
  return of(Verb::unwatch_fd, 0, static_cast<uint64_t>(fd));
}
[[nodiscard]] inline Command hold(std::shared_ptr<testing::Gate> gate) {
  Command command = of(Verb::hold);
  command.gate = std::move(gate);
  return command;
}

[[nodiscard]] inline Command spin(std::shared_ptr<testing::Gate> until) {
  Command command = of(Verb::spin);
  command.gate = std::move(until);
  return command;
}

}  // namespace say
}  // namespace jzx::actors

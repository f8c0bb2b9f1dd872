#include "actors/stage/script.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "actors/stage/stage.hpp"

namespace jzx::actors {

namespace {

struct Answer {
  Errc error = Errc::ok;
  uint64_t number = 0;
};

// Everything but records, batches and spins.
Answer act(ScriptFace& face, const Command& command) {
  World& world = face.world();
  const ActorId target = command.target == 0 ? face.self() : command.target;
  Answer answer;
  switch (command.verb) {
    case Verb::record:
    case Verb::batch:
      break;
    case Verb::send:
      answer.error = world.send(target, command.then.at(0));
      break;
    case Verb::reply:
      answer.error = world.send(face.sender(), command.then.at(0));
      break;
    case Verb::stop:
      face.stop();
      break;
    case Verb::fail:
      face.fail(command.text);
      break;
    case Verb::crash:
      throw std::runtime_error(command.text);
    case Verb::end:
      answer.error = world.stop(target);
      break;
    case Verb::kill:
      answer.error = world.kill(target);
      break;
    case Verb::link:
      answer.error = world.link(face.self(), target);
      break;
    case Verb::unlink:
      answer.error = world.unlink(face.self(), target);
      break;
    case Verb::monitor:
      answer.error = world.monitor(face.self(), target, answer.number);
      break;
    case Verb::demonitor:
      answer.error = world.demonitor(command.number);
      break;
    case Verb::trap_exit:
      answer.error = world.trap_exit(face.self(), command.number != 0);
      break;
    case Verb::send_after:
      answer.error = world.send_after(command.number, target, command.then.at(0), answer.number);
      break;
    case Verb::cancel:
      answer.error = world.cancel(command.number);
      break;
    case Verb::register_name:
      answer.error = world.register_name(target, command.text);
      break;
    case Verb::whereis:
      answer.number = world.whereis(command.text);
      break;
    case Verb::spawn_child:
      answer.error = world.spawn({.label = command.text, .parent = face.self()}, answer.number);
      break;
    case Verb::watch_fd:
      answer.error = world.watch_fd(static_cast<int>(command.number), target);
      break;
    case Verb::unwatch_fd:
      answer.error = world.unwatch_fd(static_cast<int>(command.number));
      break;
    case Verb::hold:
      EXPECT_TRUE(command.gate->wait());
      break;
    case Verb::spin:
      break;
  }
  return answer;
}

void run(Stage& stage, ScriptFace& face, const Command& command) {
  if (command.verb == Verb::record) {
    stage.journal().add({.kind = Note::Kind::recorded,
                         .who = face.self(),
                         .other = face.sender(),
                         .number = command.number,
                         .token = command.token});
    return;
  }
  if (command.verb == Verb::batch) {
    for (const Command& one : command.then) run(stage, face, one);
    return;
  }
  if (command.verb == Verb::spin) {
    if (command.gate->is_open()) return;
    const Errc sent = face.world().send(face.self(), command);
    EXPECT_TRUE(sent == Errc::ok || sent == Errc::no_such_actor) << "it may be asked to end";
    return;
  }
  const Answer answer = act(face, command);
  stage.journal().add({.kind = Note::Kind::answered,
                       .who = face.self(),
                       .number = answer.number,
                       .verb = command.verb,
                       .error = answer.error,
                       .token = command.token});
}

void note_end(Stage& stage, Note::Kind kind, ActorId self, ActorId other, uint64_t number,
              ExitReason reason, const ExitText& text) {
  stage.journal().add({.kind = kind,
                       .who = self,
                       .other = other,
                       .number = number,
                       .reason = reason,
                       .text = text.c_str()});
}

}  // namespace

void perform(Stage& stage, ScriptFace& face, const Command& command) {
  stage.books().performed.fetch_add(1);
  run(stage, face, command);
}

void hear(Stage& stage, ActorId self, const Down& down) {
  note_end(stage, Note::Kind::down, self, down.actor, down.ref, down.reason, down.text);
}
void hear(Stage& stage, ActorId self, const Exit& exit) {
  note_end(stage, Note::Kind::exit, self, exit.from, 0, exit.reason, exit.text);
}
void hear(Stage& stage, ActorId self, const ChildExit& child) {
  note_end(stage, Note::Kind::child_exit, self, child.child, 0, child.reason, child.text);
}
void hear(Stage& stage, ActorId self, const IoEvent& event) {
  EXPECT_NE(event.readiness & kIoRead, 0u);
  stage.journal().add(
      {.kind = Note::Kind::io, .who = self, .number = static_cast<uint64_t>(event.fd)});
}

}  // namespace jzx::actors

// What every body does with a command. A body implements ScriptFace, the actor as it sees itself in
// its turn, and hands each message to perform() and each signal to hear(); nothing else of the
// suite is written per body.
//
// Threads: the actor's own turn.
#pragma once

#include "actors/stage/journal.hpp"
#include "actors/stage/world.hpp"

namespace jzx::actors {

class ScriptFace {
 public:
  virtual ~ScriptFace() = default;
  [[nodiscard]] virtual World& world() = 0;
  [[nodiscard]] virtual ActorId self() const = 0;
  // 0: nobody.
  [[nodiscard]] virtual ActorId sender() const = 0;
  // When the command has been performed.
  virtual void stop() = 0;
  virtual void fail(const std::string& why) = 0;
};

// One command that came as a message.
void perform(Stage& stage, ScriptFace& face, const Command& command);

// What the system told `self`. C has no texts.
void hear(Stage& stage, ActorId self, const Down& down);
void hear(Stage& stage, ActorId self, const Exit& exit);
void hear(Stage& stage, ActorId self, const ChildExit& child);
void hear(Stage& stage, ActorId self, const IoEvent& event);

}  // namespace jzx::actors

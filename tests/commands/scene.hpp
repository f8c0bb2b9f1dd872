// What the tests of the command scheduler share: a message that owns memory and counts itself, a
// scheduler that checks its ledger when it ends, and a journal of what happened.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <jzx/async/sleep.hpp>
#include <jzx/sim/command_scheduler.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cpp/recorder.hpp"
#include "runtime/port.hpp"

namespace jzx::commands {

using namespace std::chrono_literals;
using jzx::testing::Recorder;

// Larger than an envelope's storage, and with a destructor.
struct Note {
  Note(const char* words) : text(words) {}  // NOLINT: tests write notes as literals
  Note(std::string words, ActorId about = 0) : text(std::move(words)), who(about) {}  // NOLINT
  std::string text;
  ActorId who = 0;
};

using Context = CommandContext<Note>;
using Acts = Actions<Note>;
using Scheduler = CommandScheduler<Note>;

class Stage {
 public:
  explicit Stage(CommandOptions options = {}) : scheduler(observed(options)) {}
  ~Stage() {
    const core::Ledger ledger = detail::port_of(scheduler.system())->ledger();
    EXPECT_EQ(ledger.accepted, ledger.handled + ledger.dead_lettered + ledger.queued);
  }

  // All output that is there after a run.
  std::vector<std::string> outputs() {
    (void)scheduler.run();
    std::vector<std::string> all;
    for (;;) {
      Result<Note> next = scheduler.try_output();
      if (next) {
        all.push_back(next->text);
      } else if (next.error().code() == Errc::empty || next.error().code() == Errc::closed) {
        return all;
      } else {
        all.push_back(std::string("error: ") + next.error().message());
      }
      (void)scheduler.run();  // there may have been too much of it
    }
  }

  Recorder recorder;
  std::vector<std::string> journal;
  Scheduler scheduler;

 private:
  CommandOptions observed(CommandOptions options) {
    options.observer = &recorder;
    return options;
  }
};

using Story = std::vector<std::string>;

// An actor that does what the function says, and writes down its stop.
struct Puppet {
  std::function<Acts(Note, Context&)> script;
  std::vector<std::string>* journal = nullptr;
  std::string name;

  Acts handle(Note note, Context& context) { return script(std::move(note), context); }
  void on_stop(ExitReason reason) {
    if (journal != nullptr) journal->push_back(name + " stopped: " + to_string(reason));
  }
};

// Says to the output what it hears, after its name.
struct Echo {
  std::string name;
  Acts handle(Note note, Context& context) {
    return context.send(context.output(), name + " got " + note.text);
  }
};

}  // namespace jzx::commands

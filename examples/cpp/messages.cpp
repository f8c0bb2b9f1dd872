// messages: any movable type can be sent, and every message has exactly one fate.
//
//   a unique_ptr      moves to its handler; nobody copies it
//   by an untyped Pid  the actor lists what it takes (Messages); the rest is a dead letter
//   by a timer        arrives later, once, never early; or is cancelled
//   to a full mailbox  is refused, and the sender is told so at once
#include <jzx/jzx.hpp>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

namespace {

using namespace std::chrono_literals;

struct Letter {
  std::unique_ptr<std::string> text;
};
struct Reminder {
  int number = 0;
};
struct Advertisement {};
struct Close {};

struct Desk {
  // For those who only know it as a Pid.
  using Messages = jzx::Messages<Letter, Close>;

  jzx::TimerId unwanted = {};

  void on_start(jzx::Context& context) {
    const auto self = context.self(*this);
    (void)context.send_after(4ms, self, Reminder{2});
    (void)context.send_after(2ms, self, Reminder{1});
    (void)context.send_after(1h, self, Reminder{3}, &unwanted);
  }

  void on(Letter letter) { std::printf("desk: a letter: %s\n", letter.text->c_str()); }

  void on(Reminder reminder, jzx::Context& context) {
    std::printf("desk: reminder %d\n", reminder.number);
    if (reminder.number < 2) return;
    std::printf("desk: cancels the last one: %s\n", jzx::to_string(context.cancel(unwanted)));
    context.whereis("desk") << Close{};
  }

  void on(Close, jzx::Context& context) { context.stop(); }
};

// Dead letters, and all else that happens, are told to the observer.
struct PrintDeadLetters final : jzx::Observer {
  void dead_letter(jzx::ActorId, jzx::Envelope& envelope, jzx::DeadLetterReason reason) override {
    // Without the namespace, which compilers spell in different ways.
    const std::string name = envelope.type->name;
    std::printf("dead letter: %s, %s\n", name.substr(name.rfind(':') + 1).c_str(),
                reason == jzx::DeadLetterReason::not_handled ? "nobody handles it" : "too late");
  }
};

}  // namespace

int main() {
  PrintDeadLetters observer;
  jzx::LoopOptions options;
  options.observer = &observer;
  jzx::Loop loop(options);
  if (!loop) return 1;

  jzx::SpawnOptions small;
  small.mailbox_cap = 7;  // four are the system's: room for three letters
  const auto desk = loop.spawn_with<Desk>(small);
  (void)loop.register_name(desk, "desk");

  desk << Letter{std::make_unique<std::string>("moved, not copied")};
  const jzx::Pid pid = loop.whereis("desk");
  pid << Letter{std::make_unique<std::string>("through a Pid")};
  pid << Advertisement{};
  std::printf("main: one more: %s\n", jzx::to_string(desk.send(Letter{})));

  if (!jzx::ok(loop.run())) return 2;
  std::printf("main: and now: %s\n", jzx::to_string(desk.send(Letter{})));
  return 0;
}

// A small shop on the deterministic command scheduler: every message is a numbered command in one
// queue, so a day in the shop can be written down, repeated to the letter, and changed on its way.
//
//   orders ──▶ Shop ──▶ Bank (async: takes its time) ──▶ Shop ──▶ output
#include <chrono>
#include <cstdio>
#include <jzx/async/sleep.hpp>
#include <jzx/sim/command_scheduler.hpp>
#include <optional>
#include <string>

using namespace std::chrono_literals;

struct Event {
  std::string what;
  int amount = 0;
};

// So that the log can be read again.
template <>
struct jzx::Codec<Event> {
  static std::string encode(const Event& event) {
    return event.what + " " + std::to_string(event.amount);
  }
  static std::optional<Event> decode(std::string_view text) {
    const size_t space = text.rfind(' ');
    if (space == std::string_view::npos) return std::nullopt;
    return Event{std::string(text.substr(0, space)), std::stoi(std::string(text.substr(space)))};
  }
};

using Actions = jzx::Actions<Event>;
using Context = jzx::CommandContext<Event>;
using Scheduler = jzx::CommandScheduler<Event>;

// An async actor: a task with an inbox and an outbox. Its hours pass at once.
struct Bank {
  jzx::ActorId client = 0;

  jzx::Task<void> run(jzx::Inbox<Event> inbox, jzx::Outbox<Event> outbox) {
    for (;;) {
      jzx::Future<Event> next = inbox.next();
      jzx::Result<Event> bill = co_await next;
      if (!bill) co_return;  // it is to end
      jzx::Future<void> counting = jzx::sleep(2h);
      const jzx::Result<void> counted = co_await counting;
      if (!counted) co_return;
      if (bill->amount > 100) co_await jzx::fail(jzx::Errc::invalid_arg, "the vault is empty");
      (void)outbox.send(client, Event{"paid", bill->amount});
    }
  }
};

// A sync actor: answers with a list of actions.
struct Shop {
  jzx::ActorId bank = 0;

  Actions on_start(Context& context) {
    bank = context.reserve();
    return context.actions().spawn<Bank>(bank, context.self());
  }
  Actions handle(Event event, Context& context) {
    if (event.what == "order") return context.send(bank, Event{"bill", event.amount});
    return context.send(context.output(), Event{"shipped", event.amount});
  }
};

static void show_output(Scheduler& scheduler) {
  for (;;) {
    const jzx::Result<Event> event = scheduler.take_output();
    if (event) {
      std::printf("  %s %d, after %d hours\n", event->what.c_str(), event->amount,
                  static_cast<int>(scheduler.now() / 1h));
    } else if (event.error().code() == jzx::Errc::empty) {
      return;
    } else {
      std::printf("  %s failed: %s\n", event.error().source(), event.error().message());
    }
  }
}

int main() {
  std::puts("a day in the shop:");
  jzx::CommandOptions options;
  options.keeps_log = true;
  Scheduler day(options);
  (void)day.start<Shop>();
  (void)day.dispatch(Event{"order", 20});
  (void)day.dispatch(Event{"order", 500});
  show_output(day);

  std::puts("its log:");
  std::fputs(day.log().to_text().c_str(), stdout);

  std::puts("the same day again, from the log:");
  const jzx::Result<jzx::CommandLog> log = jzx::CommandLog::parse(day.log().to_json_lines());
  Scheduler again;
  (void)again.start<Shop>();
  const jzx::RunReport report = again.replay(*log);
  std::printf("  %d commands, %s\n", static_cast<int>(report.commands),
              report.end == jzx::RunEnd::differs ? report.report.c_str() : "all the same");

  std::puts("with a bank that always pays:");
  Scheduler rich;
  rich.mock<Bank>([] {
    return [](Event bill, Context& context) -> Actions {
      return context.send(context.sender(), Event{"paid", bill.amount});
    };
  });
  (void)rich.start<Shop>();
  (void)rich.dispatch(Event{"order", 500});
  show_output(rich);
  return report.end == jzx::RunEnd::differs ? 1 : 0;
}

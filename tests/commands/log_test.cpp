// The log: for machines and for people, read again, and replayed.
#include <optional>
#include <string_view>

#include "commands/scene.hpp"

namespace jzx::commands {

struct Text {
  std::string text;
};
struct Bare {
  int value = 0;
  bool is_last = false;  // and padding
};

}  // namespace jzx::commands

template <>
struct jzx::Codec<jzx::commands::Text> {
  static std::string encode(const commands::Text& message) { return message.text; }
  static std::optional<commands::Text> decode(std::string_view text) {
    if (text == "unreadable") return std::nullopt;
    return commands::Text{std::string(text)};
  }
};

namespace jzx::commands {
namespace {

using TextContext = CommandContext<Text>;
using TextActs = Actions<Text>;

CommandOptions logged() {
  CommandOptions options;
  options.keeps_log = true;
  return options;
}

// Answers at once, and once more from a clock; `twist` makes it answer otherwise.
struct Desk {
  std::string twist;
  ActorId clock = 0;

  TextActs handle(Text message, TextContext& context) {
    TextActs acts = context.actions();
    if (clock == 0) {
      clock = context.reserve();
      acts.spawn_with(clock, [] {
        return [](Inbox<Text> inbox, Outbox<Text> outbox) -> Task<void> {
          for (;;) {
            Future<Text> next = inbox.next();
            Result<Text> asked = co_await next;
            if (!asked) co_return;
            Future<void> waiting = jzx::sleep(std::chrono::milliseconds(3));
            Result<void> slept = co_await waiting;
            if (!slept) co_return;
            (void)outbox.send(outbox.output(), Text{"later " + asked->text});
          }
        };
      });
    }
    acts.send(clock, Text{message.text});
    acts.send(context.output(), Text{"now " + message.text + twist});
    return acts;
  }
};

// A run with inputs at different moments.
CommandLog record_a_run() {
  CommandScheduler<Text> scheduler(logged());
  (void)scheduler.start<Desk>();
  (void)scheduler.dispatch(Text{"a"});
  (void)scheduler.dispatch(Text{"b \"quoted\" \\ \n\x01\xff"});
  (void)scheduler.run_for(4ms);
  (void)scheduler.dispatch(Text{"c"});
  (void)scheduler.run_ready();
  (void)scheduler.dispatch(Text{"d"});
  (void)scheduler.fail(scheduler.input(), "enough");
  (void)scheduler.run();
  return scheduler.log();
}

TEST(CommandLogs, AreJsonLinesThatCanBeReadAgain) {
  const CommandLog log = record_a_run();
  const std::string lines = log.to_json_lines();
  EXPECT_EQ(lines.substr(0, lines.find('\n')),
            R"({"input":"0x100000000","output":"0x100000001","cut":false})");
  EXPECT_NE(lines.find(R"({"seq":2,"cause":0,"time_ns":0,"kind":"send","source":"0x0",)"
                       R"("target":"0x100000000","type":"jzx::commands::Text","payload":"a",)"
                       R"("after_commands":0,"after_steps":0,"fate":"delivered"})"),
            std::string::npos)
      << lines;
  const Result<CommandLog> again = CommandLog::parse(lines);
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(again->to_json_lines(), lines);
  EXPECT_EQ(again->records[2].payload, "b \"quoted\" \\ \n\x01\xff");
}

// One record with this payload.
CommandLog log_with(const std::string& payload) {
  CommandLog log;
  log.input = 1;
  log.output = 2;
  CommandRecord record;
  record.sequence = 1;
  record.payload = payload;
  log.records.push_back(record);
  return log;
}

TEST(CommandLogs, WriteCharactersAsTheyAreAndEscapeWhatJsonMustHaveEscaped) {
  struct Case {
    const char* payload;
    const char* json;
  };
  for (const Case& one : {
           Case{"K\u00f6ln \u20ac \U0001F600", "\"payload\":\"K\u00f6ln \u20ac \U0001F600\""},
           Case{"\t\n\x01 \x7f", R"("payload":"\u0009\u000a\u0001 \u007f")"},
           Case{"\"\\/", R"("payload":"\"\\/")"},
       }) {
    const std::string lines = log_with(one.payload).to_json_lines();
    EXPECT_NE(lines.find(one.json), std::string::npos) << lines;
    EXPECT_EQ(lines.find("payload_hex"), std::string::npos) << lines;
    EXPECT_EQ(CommandLog::parse(lines)->records[0].payload, one.payload);
  }
}

TEST(CommandLogs, ReplaceWhatIsNoUtf8AndKeepItsBytesBeside) {
  const std::string mark = "\xef\xbf\xbd";  // U+FFFD
  for (const std::string& bytes :
       {std::string("\xff"), std::string("\x80"), std::string("\xc0\xaf"), std::string("\xe2\x82"),
        std::string("\xed\xa0\x80"), std::string("\xf4\x90\x80\x80"), std::string("\xf8")}) {
    const std::string payload = "a" + bytes + "z";
    const std::string lines = log_with(payload).to_json_lines();
    EXPECT_NE(lines.find("\"payload\":\"a" + mark), std::string::npos) << lines;
    EXPECT_NE(lines.find("z\",\"payload_hex\":\"61"), std::string::npos) << lines;
    const Result<CommandLog> again = CommandLog::parse(lines);
    ASSERT_TRUE(again.ok()) << again.error().message();
    EXPECT_EQ(again->records[0].payload, payload);
  }
}

TEST(CommandLogs, TakeEveryEscapeOfJson) {
  const auto payload_of = [](const std::string& json) -> std::string {
    std::string lines = log_with("!").to_json_lines();
    lines.replace(lines.find('!'), 1, json);
    const Result<CommandLog> log = CommandLog::parse(lines);
    return log ? *log->records[0].payload : "none";
  };
  EXPECT_EQ(payload_of(R"(\b\f\n\r\t\/\"\\)"), "\b\f\n\r\t/\"\\");
  EXPECT_EQ(payload_of(R"(\u00e4\u20AC\ud83d\ude00)"), "\u00e4\u20ac\U0001F600");
  for (const char* broken : {R"(\x)", R"(\u12)", R"(\ud83d)", R"(\ud83d!)", R"(\ude00)",
                             R"(\ud83d\u0041)", R"(\u+123)"}) {
    EXPECT_EQ(payload_of(broken), "none") << broken;
  }
}

TEST(CommandLogs, AreReadableForPeople) {
  const std::string text = record_a_run().to_text();
  EXPECT_NE(text.find("#1  0.000000 ms  outside spawn jzx::commands::"), std::string::npos) << text;
  EXPECT_NE(text.find("<- #2  0.000000 ms  "), std::string::npos) << text;
  EXPECT_NE(text.find("send output: jzx::commands::Text now a  [output]"), std::string::npos)
      << text;
  EXPECT_NE(text.find("  3.000000 ms  "), std::string::npos) << text;
  EXPECT_NE(text.find("fail input: enough  [done]"), std::string::npos) << text;
}

TEST(CommandLogs, ThatAreBrokenSayWhereAndWhy) {
  const std::string good = record_a_run().to_json_lines();
  const auto parse_error = [](const std::string& text) {
    const Result<CommandLog> log = CommandLog::parse(text);
    return log ? std::string("none") : std::string(log.error().message());
  };
  EXPECT_EQ(parse_error(""), "the log is empty");
  EXPECT_EQ(parse_error("hello\n"), "line 1: it does not begin with {");
  EXPECT_EQ(parse_error("{}\n"),
            "line 1: this is no log of commands: input and output are missing");
  EXPECT_EQ(parse_error(good + "{\"seq\":\n"),
            "line " + std::to_string(std::count(good.begin(), good.end(), '\n') + 1) +
                ": the value of seq is broken");
  EXPECT_EQ(parse_error(good + "{\"seq\":1}\n").substr(0, 5), "line ");
  std::string cut = good;
  cut.erase(good.find('\n') + 1, good.find('\n', good.find('\n') + 1) - good.find('\n'));
  EXPECT_EQ(parse_error(cut), "line 2: a line is missing before");
  // Whatever is cut off, it is an answer and no crash.
  for (size_t size = 0; size < good.size(); size += 7) (void)parse_error(good.substr(0, size));
}

TEST(CommandLogs, AreReplayedToTheSameLog) {
  const CommandLog log = record_a_run();
  ASSERT_GT(log.records.size(), 12u);
  const Result<CommandLog> loaded = CommandLog::parse(log.to_json_lines());
  CommandScheduler<Text> scheduler(logged());
  (void)scheduler.start<Desk>();
  const RunReport report = scheduler.replay(*loaded);
  EXPECT_NE(report.end, RunEnd::differs) << report.report;
  EXPECT_EQ(report.commands, log.records.size());
  EXPECT_EQ(scheduler.log().to_json_lines(), log.to_json_lines());
}

// As many as the output holds, or more, from a run where somebody took them.
CommandOptions narrow() {
  CommandOptions options = logged();
  options.max_outputs = 2;
  return options;
}

// Answers twice, and wakes a task that answers too; so it matters whether the task or the next
// command goes first.
void start_choir(CommandScheduler<Text>& scheduler) {
  (void)scheduler.start_fn([clock = ActorId{0}](Text message, TextContext& context) mutable {
    TextActs acts = context.actions();
    if (clock == 0) {
      clock = context.reserve();
      acts.spawn_with(clock, [] {
        return [](Inbox<Text> inbox, Outbox<Text> outbox) -> Task<void> {
          for (;;) {
            Future<Text> next = inbox.next();
            Result<Text> asked = co_await next;
            if (!asked) co_return;
            (void)outbox.send(outbox.output(), Text{"task " + asked->text});
          }
        };
      });
    }
    if (message.text.starts_with("relay ")) {
      acts.send(context.output(), Text{message.text});
      return acts;
    }
    acts.send(clock, Text{message.text});
    acts.send(context.output(), Text{"first " + message.text});
    acts.send(context.self(), Text{"relay " + message.text});
    return acts;
  });
}

void expect_replay(const CommandLog& log) {
  const Result<CommandLog> loaded = CommandLog::parse(log.to_json_lines());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  CommandScheduler<Text> scheduler(narrow());
  start_choir(scheduler);
  const RunReport report = scheduler.replay(*loaded);
  EXPECT_NE(report.end, RunEnd::differs) << report.report;
  EXPECT_EQ(scheduler.log().to_json_lines(), log.to_json_lines());
}

TEST(CommandLogs, AReplayNeedsNobodyWhoTakesTheOutput) {
  CommandScheduler<Text> scheduler(narrow());
  start_choir(scheduler);
  for (int i = 0; i < 9; ++i) {
    (void)scheduler.dispatch(Text{std::to_string(i)});
    while (scheduler.take_output().ok()) {
    }
  }
  expect_replay(scheduler.log());
}

TEST(CommandLogs, AReplayWaitsWhereTheOutputWasFull) {
  CommandScheduler<Text> scheduler(narrow());
  start_choir(scheduler);
  for (int i = 0; i < 5; ++i) (void)scheduler.dispatch(Text{std::to_string(i)});
  int taken = 0;
  while (scheduler.run().end == RunEnd::output_full) {
    ASSERT_TRUE(scheduler.try_output().ok());
    if (++taken == 3) (void)scheduler.dispatch(Text{"late"});  // while it is full
    if (taken == 5) (void)scheduler.run();
    if (taken == 7) (void)scheduler.try_output();
    if (taken == 8) (void)scheduler.dispatch(Text{"later"});
  }
  EXPECT_GT(taken, 8);
  expect_replay(scheduler.log());
}

TEST(CommandLogs, AReplayOfARunThatStoppedAtAFullOutputStopsThere) {
  CommandScheduler<Text> scheduler(narrow());
  start_choir(scheduler);
  for (int i = 0; i < 5; ++i) (void)scheduler.dispatch(Text{std::to_string(i)});
  EXPECT_EQ(scheduler.run().end, RunEnd::output_full);
  CommandScheduler<Text> again(narrow());
  start_choir(again);
  EXPECT_EQ(again.replay(scheduler.log()).end, RunEnd::output_full);
  EXPECT_EQ(again.log().to_json_lines(), scheduler.log().to_json_lines());
}

TEST(CommandLogs, AfterAReplayTheLastOutputsCanBeTaken) {
  CommandScheduler<Text> first(narrow());
  start_choir(first);
  (void)first.dispatch(Text{"a"});
  while (first.take_output().ok()) {
  }
  CommandScheduler<Text> second(narrow());
  start_choir(second);
  EXPECT_EQ(second.replay(first.log()).end, RunEnd::idle);
  EXPECT_EQ(second.try_output()->text, "relay a");
  EXPECT_EQ(second.try_output()->text, "task a");
  EXPECT_EQ(second.try_output().error().code(), Errc::empty);
}

TEST(CommandLogs, AReplayTellsTheFirstDifference) {
  const CommandLog log = record_a_run();
  CommandScheduler<Text> scheduler;
  (void)scheduler.start<Desk>("!");
  const RunReport report = scheduler.replay(log);
  EXPECT_EQ(report.end, RunEnd::differs);
  EXPECT_NE(report.report.find("differs from the log at command #"), std::string::npos)
      << report.report;
  EXPECT_NE(report.report.find("now a  ["), std::string::npos) << report.report;
  EXPECT_NE(report.report.find("now a!  ["), std::string::npos) << report.report;
}

TEST(CommandLogs, AReplayNeedsTheSameActors) {
  const CommandLog log = record_a_run();
  CommandScheduler<Text> scheduler;
  (void)scheduler.start_fn([](Text, TextContext&) {});
  const RunReport report = scheduler.replay(log);
  EXPECT_EQ(report.end, RunEnd::differs);
  EXPECT_NE(report.report.find("#1"), std::string::npos) << report.report;
}

TEST(CommandLogs, AReplayNeedsANewScheduler) {
  const CommandLog log = record_a_run();
  CommandScheduler<Text> scheduler;
  (void)scheduler.start<Desk>();
  (void)scheduler.run();
  EXPECT_EQ(scheduler.replay(log).report, "a replay needs a scheduler that has not run yet");
}

TEST(CommandLogs, AReplayThatNeedsAnOpaqueMessageStopsThere) {
  Stage stage(logged());
  (void)stage.scheduler.start<Echo>("e");
  (void)stage.scheduler.dispatch("no codec");
  (void)stage.scheduler.run();
  const CommandLog log = stage.scheduler.log();
  EXPECT_NE(log.to_text().find("(opaque)"), std::string::npos);
  Stage again;
  (void)again.scheduler.start<Echo>("e");
  const RunReport report = again.scheduler.replay(log);
  EXPECT_EQ(report.end, RunEnd::differs);
  EXPECT_EQ(report.report,
            "command #2 came from outside, and its message (jzx::commands::Note) is opaque in the "
            "log: give the type a jzx::Codec");
}

TEST(CommandLogs, AMessageThatCannotBeReadStopsAReplay) {
  CommandLog log = record_a_run();
  log.records[1].payload = "unreadable";
  CommandScheduler<Text> scheduler;
  (void)scheduler.start<Desk>();
  const RunReport report = scheduler.replay(log);
  EXPECT_EQ(report.end, RunEnd::differs);
  EXPECT_NE(report.report.find("cannot be read: unreadable"), std::string::npos) << report.report;
}

TEST(CommandLogs, TriviallyCopyableMessagesNeedNoCodec) {
  const auto start = [](CommandScheduler<Bare>& scheduler) {
    (void)scheduler.start_fn([](Bare bare, CommandContext<Bare>& context) -> Actions<Bare> {
      if (bare.is_last) return context.kill(context.self());
      return context.send(context.output(), Bare{bare.value + 1, true});
    });
  };
  CommandOptions options;
  options.keeps_log = true;
  CommandScheduler<Bare> first(options);
  start(first);
  (void)first.dispatch(Bare{41, false});
  (void)first.dispatch(Bare{0, true});
  EXPECT_EQ(first.run().end, RunEnd::ended);
  CommandScheduler<Bare> second(options);
  start(second);
  EXPECT_EQ(second.replay(first.log()).end, RunEnd::ended);
  EXPECT_EQ(second.try_output()->value, 42);
}

TEST(CommandLogs, HoldNoMoreThanTheyMay) {
  CommandOptions options;
  options.keeps_log = true;
  options.max_log = 3;
  Stage stage(options);
  (void)stage.scheduler.start<Echo>("e");
  for (int i = 0; i < 5; ++i) (void)stage.scheduler.dispatch("a");
  EXPECT_EQ(stage.outputs().size(), 5u);
  EXPECT_EQ(stage.scheduler.log().records.size(), 3u);
  EXPECT_TRUE(stage.scheduler.log().is_cut);
}

TEST(CommandLogs, SayWhatBecameOfEveryCommand) {
  Stage stage(logged());
  Scheduler& scheduler = stage.scheduler;
  scheduler.filter([](const Interception<Note>& command) {
    return command.message() == nullptr || command.message()->text != "filtered";
  });
  (void)scheduler.start_fn([](Note, Context& context) -> Acts {
    const ActorId child = context.reserve();
    return context.actions()
        .spawn<Echo>(child, "child")
        .spawn<Echo>(child, "twice")
        .send(child, "x")
        .send(child, "filtered")
        .kill(child)
        .send(child, "late");
  });
  (void)scheduler.dispatch("begin");
  (void)scheduler.run();
  (void)scheduler.dispatch("queued");
  scheduler.shutdown();
  std::vector<CommandFate> fates;
  for (const CommandRecord& record : scheduler.log().records) fates.push_back(record.fate);
  EXPECT_EQ(fates, (std::vector{CommandFate::done, CommandFate::delivered, CommandFate::done,
                                CommandFate::refused, CommandFate::delivered, CommandFate::filtered,
                                CommandFate::done, CommandFate::dead_letter,
                                CommandFate::sender_killed, CommandFate::closing}));
}

}  // namespace
}  // namespace jzx::commands

// Where a record is kept, how it is read, and what is refused.
#include <gtest/gtest.h>

#include <jzx/runtime.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "record/cast.hpp"
#include "runtime/record/event.hpp"

using namespace std::chrono_literals;

namespace jzx::testing {
namespace {

// The name of a file that is gone after the test.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::string name = ::testing::TempDir() + "jzx_record_XXXXXX";
    const int fd = ::mkstemp(name.data());
    EXPECT_GE(fd, 0);
    ::close(fd);
    path = name;
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
  std::string path;
};

void write_numbers(Recorder& recorder, Log& log, int count) {
  LoopOptions options;
  options.recorder = &recorder;
  Loop loop(options);
  ASSERT_TRUE(loop) << recorder.error();
  const auto writer = loop.spawn<Writer>(&log);
  for (int i = 0; i < count; ++i) {
    writer << Number{i};
    loop.run_once(0ms);
  }
}

ReplayReport replay_writer(const Recording& recording, Log& log) {
  return replay_with(recording, [&](Sim& sim) { (void)sim.spawn<Writer>(&log); });
}

TEST(RecordFile, HoldsTheWholeRun) {
  TemporaryFile file;
  Log written;
  {
    Recorder recorder({.file = file.path, .codecs = all_codecs()});
    write_numbers(recorder, written, 3000);  // more than the file is mapped for at first
    EXPECT_TRUE(recorder) << recorder.error();
  }
  const Result<Recording> recording = Recording::load(file.path);
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  EXPECT_EQ(std::filesystem::file_size(file.path), recording->text().size());
  Log log;
  const ReplayReport report = replay_writer(*recording, log);
  EXPECT_TRUE(report) << report.text();
  EXPECT_EQ(log, written);
}

struct Mine {
  void on(Number number) {
    if (number.value == 13) std::_Exit(3);
  }
};

TEST(RecordFile, EndsWithTheTurnInWhichTheProgramDied) {
  TemporaryFile file;
  const pid_t child = ::fork();
  if (child == 0) {
    Recorder recorder({.file = file.path, .codecs = Codecs().add_for<Mine, Number>()});
    LoopOptions options;
    options.recorder = &recorder;
    Loop loop(options);
    const auto mine = loop.spawn<Mine>();
    for (int i = 10; i < 20; ++i) mine << Number{i};
    (void)loop.run();
    std::_Exit(4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 3);
  const Result<Recording> recording = Recording::load(file.path);
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  const std::string dump = recording->dump();
  EXPECT_TRUE(dump.ends_with("takes message 4\n")) << dump;
}

TEST(RecordFile, ThatCannotBeMadeIsAnError) {
  Recorder recorder({.file = ::testing::TempDir() + "no/such/folder/record"});
  EXPECT_FALSE(recorder);
  EXPECT_NE(recorder.error().find("the file cannot be made"), std::string::npos);
  LoopOptions options;
  options.recorder = &recorder;
  const Loop loop(options);
  EXPECT_FALSE(loop);
}

TEST(RecordFile, EndsAtItsLimitAndTheLoopGoesOn) {
  TemporaryFile file;
  Log written;
  Recorder recorder({.file = file.path, .most_bytes = 500, .codecs = all_codecs()});
  write_numbers(recorder, written, 100);
  EXPECT_EQ(written.size(), 100u);
  EXPECT_NE(recorder.error().find("limit"), std::string::npos) << recorder.error();
  const Result<Recording> recording = recorder.recording();
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  Log log;
  const ReplayReport report = replay_writer(*recording, log);
  EXPECT_TRUE(report) << report.text();
  EXPECT_GT(log.size(), 3u);
  EXPECT_LT(log.size(), 30u);
}

TEST(RecordRing, KeepsTheLastAndSaysWhatIsLost) {
  Recorder recorder({.most_bytes = 500, .codecs = all_codecs()});
  Log written;
  write_numbers(recorder, written, 100);
  const Result<Recording> recording = recorder.recording();
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  EXPECT_GT(recording->lost(), 100u);
  EXPECT_NE(recording->dump().find("message 100"), std::string::npos) << recording->dump();
  Log log;
  const ReplayReport report = replay_writer(*recording, log);
  EXPECT_EQ(report.end, ReplayEnd::not_recorded);
  EXPECT_NE(report.failure.find("the ring was too small"), std::string::npos) << report.failure;
  EXPECT_EQ(log, Log{});
}

TEST(Recorder, IsForOneLoopOnly) {
  Recorder recorder({.codecs = all_codecs()});
  LoopOptions options;
  options.recorder = &recorder;
  const Loop first(options);
  EXPECT_TRUE(first);
  const Loop second(options);
  EXPECT_FALSE(second);
  EXPECT_EQ(recorder.error(), "a recorder is for one loop or runtime only");
}

TEST(Recorder, RefusesARuntimeWithMoreThanOneWorker) {
  Recorder recorder({.codecs = all_codecs()});
  const Runtime runtime = Runtime::builder().workers(2).recorder(recorder).build();
  EXPECT_FALSE(runtime);
  EXPECT_EQ(recorder.error(), "a runtime with more than one worker cannot be recorded");
}

TEST(Recording, IsTheSameAfterItWasSavedAndRead) {
  TemporaryFile file;
  Recorder recorder({.codecs = all_codecs()});
  Log written;
  write_numbers(recorder, written, 3);
  const Result<Recording> made = recorder.recording();
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made->save(file.path), Errc::ok);
  const Result<Recording> read = Recording::load(file.path);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->text(), made->text());
  EXPECT_EQ(read->dump(), made->dump());
}

TEST(Recording, IsToldLineByLine) {
  const Result<Recording> recording = Recording::parse(
      "jzx-record 1 loop 1024 0\n"
      "n 0 Bank\nb 1 0 4294967297 x\nn 1 Deposit\nx 1 1 1 m =%0a\nx 2 1 1 m =ten%20or%25\nx 3 1 1 "
      "m -\n"
      "t 1 1500000\nk 1\na 1 i\ns 4 1 1 a\nc 7 3\ne 1 2 it broke\n.\n"
      "f 1 500000\n.\nw 0\n.\nq 1 4\n! by hand\n");
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  EXPECT_EQ(recording->turns(), 1u);
  EXPECT_EQ(recording->dump(),
            "record of one loop, 1 turn\n"
            "from outside: Bank#1 is born\n"
            "from outside: Deposit to Bank#1, message 1, 1 bytes\n"
            "from outside: Deposit to Bank#1, message 2: ten or%\n"
            "from outside: Deposit to Bank#1, message 3, opaque\n"
            "[  1.500000 ms] turn of Bank#1\n"
            "  takes message 1\n"
            "  timer 1 is armed\n"
            "  sends Deposit (an ask) to Bank#1, message 4\n"
            "  chooses 3 of 7\n"
            "Bank#1 has ended: panic (it broke)\n"
            "[  2.000000 ms] timer 1 fires\n"
            "[  2.000000 ms] work in the background\n"
            "from outside: Bank#1 is asked to end\n"
            "not replayable: by hand\n");
}

TEST(Recording, MayEndInTheMiddleOfALine) {
  const std::string whole = "jzx-record 1 loop 1024 0\nn 0 Bank\nb 1 0 1 x\nt 1 5\n";
  std::string text = whole + "k 2";
  text.resize(4096);  // zeros, as a file has them that was mapped
  const Result<Recording> recording = Recording::parse(text);
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  EXPECT_EQ(recording->text(), whole);
}

TEST(Recording, ThatIsNoneIsRefusedAndSaysWhere) {
  for (const char* text : {"", "\n", "hello\n", "jzx-record 2 loop 1024 0\n", "jzx-record 1 loop\n",
                           "jzx-record 1 loop 99999999999 0\n", "jzx-record 1 loop 0 0\n",
                           "jzx-record 1 loop 1024 2\n", "jzx-record 1 nobody 1024 0\n"}) {
    const Result<Recording> recording = Recording::parse(text);
    ASSERT_FALSE(recording.ok()) << text;
    EXPECT_EQ(recording.error().code(), Errc::invalid_arg);
  }
  for (const char* line :
       {"", "?", "t", "t 1", "t 1 x", "t 1 2 3", "t  1 2", "b 1 0 5 y", "x 1 1 0 m",
        "x 1 1 0 m =%0", "x 1 1 0 m =%0g", "x 1 1 0 q -", "k -1", "t 99999999999999999999 1"}) {
    const Result<Recording> recording =
        Recording::parse(std::string("jzx-record 1 loop 1024 0\nz\n") + line + "\n");
    ASSERT_FALSE(recording.ok()) << line;
    EXPECT_STREQ(recording.error().message(),
                 "line 3 is none of a record: it has not the form of one")
        << line;
  }
  EXPECT_EQ(Recording::load(::testing::TempDir() + "no_such_record").error().code(),
            Errc::io_failed);
}

TEST(RecordEvent, IsTheSameAfterItWasWrittenAndRead) {
  runtime::Event event;
  event.op = runtime::Op::came;
  event.number = 18446744073709551615u;
  event.actor = 4;
  event.name = 4294967295u;
  event.carried = runtime::Carried::ask;
  event.has_payload = true;
  for (int i = 0; i < 256; ++i) event.text += static_cast<char>(i);
  std::string line;
  append_line(line, event);
  ASSERT_EQ(line.back(), '\n');
  runtime::Event read;
  ASSERT_TRUE(runtime::parse_line(std::string_view(line).substr(0, line.size() - 1), read));
  EXPECT_EQ(read.number, event.number);
  EXPECT_EQ(read.name, event.name);
  EXPECT_EQ(read.carried, event.carried);
  EXPECT_EQ(read.text, event.text);
}

}  // namespace
}  // namespace jzx::testing

// What no recorder writes is refused where a record is read, with its line and the reason.
#include <gtest/gtest.h>

#include "record/cast.hpp"

namespace jzx::testing {
namespace {

// Ten lines: two actors, a message from outside, and a timer.
const std::string kBefore =
    "jzx-record 1 loop 1024 0\n"
    "n 0 Bank\nn 1 Deposit\nn 2 17\n"
    "b 1 0 4294967297 x\nb 2 0 4294967298 x\n"
    "x 1 2 1 m -\na 1 x\n"
    "w 5\n.\n";

std::string wrong_with(const std::string& line, const std::string& between = {},
                       const std::string& before = kBefore) {
  std::string text;
  for (const std::string* part : {&before, &between, &line}) text += *part;
  const Result<Recording> recording = Recording::parse(text + '\n');
  if (recording.ok()) return {};
  return recording.error().message();
}

struct Case {
  const char* line;
  const char* wrong;
};

TEST(RefusedRecords, SayWhichLineAndWhy) {
  const Case cases[] = {
      {"c 3 3", "it chooses 3 of 3, counted from 0"},
      {"c 0 0", "it chooses 0 of 0, counted from 0"},
      {"c 4294967296 1", "it chooses 1 of 4294967296, counted from 0"},
      {"c 3 4294967296", "it chooses 4294967296 of 3, counted from 0"},
      {"n 4 Bank", "name 4 comes before name 3"},
      {"n 1 Withdrawal", "name 1 stood for something else before"},
      {"b 4 0 7 x", "actor 4 comes where 3 is next"},
      {"b 2 0 7 x", "actor 2 comes where 3 is next"},
      {"b 0 0 7 x", "actor 0 comes where 3 is next"},
      {"b 3 3 7 x", "name 3 stands for nothing"},
      {"b 3 0 7 i", "nothing is under way"},
      {"e 3 0 ", "actor 3 is not known"},
      {"e 1 5 ", "there is no reason 5"},
      {"q 0 0", "actor 0 is not known"},
      {"q 3 0", "actor 3 is not known"},
      {"q 1 18446744073709551615", "there is no reason 18446744073709551615"},
      {"t 3 0", "actor 3 is not known"},
      {"t 1 18446744073709551615", "it is beyond the end of time"},
      {"w 18446744073709551610", "it is beyond the end of time"},
      {"f 2 0", "timer 2 is not known"},
      {"f 0 0", "timer 0 is not known"},
      {"a 3 x", "timer 3 comes where 2 is next"},
      {"a 2 i", "nothing is under way"},
      {"x 1 1 1 m -", "message 1 comes where 2 is next"},
      {"x 3 1 1 m -", "message 3 comes where 2 is next"},
      {"x 2 3 1 m -", "actor 3 is not known"},
      {"x 2 1 3 m -", "name 3 stands for nothing"},
      {"x 2 1 1 r -", "\"Deposit\" is not the tag of a raw message"},
      {"s 2 1 1 m", "nothing is under way"},
      {"k 1", "nobody has a turn that could take it"},
      {".", "nothing is under way"},
      {"l 0", "the lost events cannot be 0"},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(wrong_with(one.line), std::string("line 11 is none of a record: ") + one.wrong)
        << one.line;
  }
}

TEST(RefusedRecords, SayWhatCannotBeInATurn) {
  const Case cases[] = {
      {"k 2", "message 2 is not known"},
      {"k 0", "message 0 is not known"},
      {"k 1 4294967296", "there is no readiness 4294967296"},
      {"t 2 0", "it begins before what is under way is done"},
      {"w 0", "it begins before what is under way is done"},
      {"f 1 0", "it begins before what is under way is done"},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(wrong_with(one.line, "t 2 1\n"),
              std::string("line 12 is none of a record: ") + one.wrong)
        << one.line;
  }
  EXPECT_EQ(wrong_with("k 1", "f 1 1\n"),
            "line 12 is none of a record: nobody has a turn that could take it");
}

TEST(RefusedRecords, AreNotThoseAtTheEdge) {
  for (const char* line : {"c 3 2", "c 4294967295 4294967294", "b 3 0 7 x", "e 0 4 ", "e 2 4 ",
                           "q 2 4", "t 0 0", "f 1 0", "a 2 x", "x 2 0 1 m -", "x 2 2 2 r -",
                           "n 1 Deposit", "t 1 1000000000000000000", "l 18446744073709551615"}) {
    EXPECT_EQ(wrong_with(line), "") << line;
  }
}

TEST(RefusedRecords, CountTheTimeOfAll) {
  const std::string far = "w 4000000000000000000\n.\n";
  EXPECT_EQ(wrong_with("w 1", far), "");
  EXPECT_EQ(wrong_with("w 4000000000000000000", far),
            "line 13 is none of a record: it is beyond the end of time");
  EXPECT_EQ(wrong_with("l 1", "l 18446744073709551615\n"),
            "line 12 is none of a record: the lost events cannot be 1");
}

// A ring has not kept what came before.
TEST(RefusedRecords, AreNotThoseOfARingThatHasLostSomething) {
  const std::string head = "jzx-record 1 loop 1024 0\nn 0 Bank\nl 7\n";
  for (const char* line : {"k 5", ".", "s 9 3 0 m", "t 8 1", "f 3 1", "b 6 0 7 i", "a 4 i"}) {
    EXPECT_EQ(wrong_with(line, {}, head), "") << line;
  }
  EXPECT_NE(wrong_with("c 3 3", {}, head), "");
}

}  // namespace
}  // namespace jzx::testing

// What a BufferedReader gives depends on the bytes, and not on the packets they came in.
#include <gtest/gtest.h>

#include <ostream>

#include "support/reader_model.hpp"

namespace jzx {
namespace {

using testing::ReadPlan;
using testing::ReadResult;
using Piece = ReadPlan::Piece;

std::string text_of(const ReadResult& result) {
  std::string text;
  for (const std::string& piece : result.pieces) text += '<' + piece + "> ";
  return text + to_string(result.end);
}

// Bit i of `cuts`: a packet ends before byte i + 1.
std::vector<std::string_view> packets_of(std::string_view input, uint32_t cuts) {
  std::vector<std::string_view> packets;
  size_t begin = 0;
  for (size_t i = 1; i <= input.size(); ++i) {
    if (i < input.size() && (cuts >> (i - 1) & 1) == 0) continue;
    packets.push_back(input.substr(begin, i - begin));
    begin = i;
  }
  return packets;
}

void expect_the_same_for_every_split(const ReadPlan& plan, std::string_view input) {
  Loop loop;
  const std::string expected = text_of(testing::expected_of(plan, input));
  const uint32_t splits = 1u << (input.empty() ? 0 : input.size() - 1);
  for (uint32_t cuts = 0; cuts < splits; ++cuts) {
    ASSERT_EQ(text_of(testing::read_packets(loop, plan, packets_of(input, cuts))), expected)
        << "of " << input << " with a limit of " << plan.limit << ", cut as " << cuts << " says";
  }
}

TEST(ReaderPackets, DoNotChangeLines) {
  for (const size_t limit : {0, 1, 2, 3, 8}) {
    for (const char* input : {"", "\n", "ab\nc", "ab\r\ncd\n", "abc", "abcd", "a\n\nbcde"}) {
      expect_the_same_for_every_split({.piece = Piece::line, .limit = limit}, input);
    }
  }
}

TEST(ReaderPackets, DoNotChangeWhatEndsWithADelimiter) {
  for (const char* delimiter : {";", "--", "=====", "abcabcd"}) {
    for (const size_t limit : {0, 1, 5, 6, 7, 9}) {
      for (const char* input :
           {"", "a;b;", "a--b-", "ab=====", "abc=====", "abcabcabcd", "========"}) {
        expect_the_same_for_every_split(
            {.piece = Piece::until, .limit = limit, .delimiter = delimiter}, input);
      }
    }
  }
}

TEST(ReaderPackets, DoNotChangeCounts) {
  for (const size_t count : {0, 1, 3, 5}) {
    for (const char* input : {"", "abc", "abcdefg"}) {
      expect_the_same_for_every_split({.piece = Piece::exact, .limit = 4, .count = count}, input);
    }
  }
}

TEST(ReaderPackets, DoNotChangeFrames) {
  using namespace std::string_view_literals;
  for (const size_t limit : {0, 2, 3, 100}) {
    for (const std::string_view input : {""sv, "\0\0\0\2ab"sv, "\0\0\0\0\0\0\0\3abc"sv,
                                         "\0\0\0\2a"sv, "\0\0"sv, "\xff\xff\xff\xff"sv}) {
      expect_the_same_for_every_split({.piece = Piece::frame, .limit = limit}, input);
    }
  }
}

TEST(ReaderPackets, DoNotChangeWhatIsReadToTheEnd) {
  for (const char* input : {"", "abc", "abcd", "abcdefgh"}) {
    expect_the_same_for_every_split({.piece = Piece::to_end, .limit = 3}, input);
  }
}

// The limits once more, in numbers.
TEST(ReaderLimit, IsTheLengthOfTheLongestPiece) {
  const auto ends = [](const ReadPlan& plan, const std::string& input) {
    Loop loop;
    return testing::read_packets(loop, plan, {input}).end;
  };
  const std::string ten(10, 'x');
  EXPECT_EQ(ends({.piece = Piece::to_end, .limit = 10}, ten), Errc::ok);
  EXPECT_EQ(ends({.piece = Piece::to_end, .limit = 9}, ten), Errc::too_long);
  EXPECT_EQ(ends({.piece = Piece::line, .limit = 10}, ten), Errc::end_of_stream);
  EXPECT_EQ(ends({.piece = Piece::line, .limit = 9}, ten), Errc::too_long);
  EXPECT_EQ(ends({.piece = Piece::until, .limit = 12, .delimiter = "::"}, ten + "::"),
            Errc::end_of_stream);
  EXPECT_EQ(ends({.piece = Piece::until, .limit = 11, .delimiter = "::"}, ten + "::"),
            Errc::too_long);
}

}  // namespace
}  // namespace jzx

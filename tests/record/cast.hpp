// Actors and messages that are recorded, and a loop with a recorder.
#pragma once

#include <gtest/gtest.h>

#include <jzx/loop.hpp>
#include <jzx/sim/recorder.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace jzx::testing {

struct Number {
  int value = 0;
};
struct Word {
  std::string text;
};
struct Sealed {  // has no codec
  int value = 0;
};
struct Finish {};
struct Meet {
  Pid other;
};

}  // namespace jzx::testing

namespace jzx {

template <>
struct Codec<testing::Number> : ByteCodec<testing::Number> {};
template <>
struct Codec<testing::Finish> : ByteCodec<testing::Finish> {};
template <>
struct Codec<testing::Word> {
  static std::string encode(const testing::Word& word) { return word.text; }
  static std::optional<testing::Word> decode(std::string_view text) {
    return testing::Word{std::string(text)};
  }
};
template <>
struct Codec<testing::Meet> {
  static std::string encode(const testing::Meet& meet) { return Codec<Pid>::encode(meet.other); }
  static std::optional<testing::Meet> decode(std::string_view text) {
    const std::optional<Pid> other = Codec<Pid>::decode(text);
    return other ? std::optional(testing::Meet{*other}) : std::nullopt;
  }
};

}  // namespace jzx

namespace jzx::testing {

using Log = std::vector<std::string>;

struct Writer {
  Log* log;
  explicit Writer(Log* the_log) : log(the_log) {}
  void on(Number number) { log->push_back(std::to_string(number.value)); }
  void on(const Word& word) { log->push_back(word.text); }
  void on(Sealed sealed) { log->push_back("sealed " + std::to_string(sealed.value)); }
  void on(Finish, Context& context) { context.stop(); }
};

// Passes on what it gets, after a while if it is odd.
struct Relay {
  ActorRef<Writer> to;
  explicit Relay(ActorRef<Writer> writer) : to(writer) {}
  void on(Number number, Context& context) {
    if (number.value % 2 == 0) {
      to << number;
    } else {
      (void)context.send_after(std::chrono::milliseconds(1), to, number);
    }
  }
  int on(Word word) {
    to << Number{static_cast<int>(word.text.size())};
    return static_cast<int>(word.text.size());
  }
  void on(Meet meet) { meet.other << Number{77}; }
  void on(Finish, Context& context) {
    to << Finish{};
    context.stop();
  }
};

inline Codecs all_codecs() {
  Codecs codecs;
  codecs.add_for<Writer, Number, Word, Finish>();
  codecs.add_for<Relay, Number, Word, Meet, Finish>();
  return codecs;
}

struct Recorded {
  Recorder recorder{RecorderOptions{.codecs = all_codecs()}};
  Log log;
  LoopOptions options() {
    LoopOptions options;
    options.recorder = &recorder;
    return options;
  }
  Recording recording() {
    Result<Recording> made = recorder.recording();
    EXPECT_TRUE(made.ok()) << made.error().message();
    return made.ok() ? *made : Recording();
  }
};

inline ReplayReport replay_with(const Recording& recording,
                                const std::function<void(Sim&)>& setup) {
  ReplayOptions options;
  options.codecs = all_codecs();
  return replay(recording, options, setup);
}

}  // namespace jzx::testing

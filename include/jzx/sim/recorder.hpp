// Record and replay: what a loop did, written down as it does it, and done again in the simulator.
//
//   jzx::Codecs codecs;
//   codecs.add_for<Account, Deposit, Withdraw>();
//
//   jzx::Recorder recorder({.file = "bank.jzxrec", .codecs = codecs});   // in the program
//   jzx::LoopOptions options;
//   options.recorder = &recorder;
//   jzx::Loop loop(options);
//   build(loop);                                                          // spawns the actors
//
//   auto recording = jzx::Recording::load("bank.jzxrec");                // in a test
//   auto report = jzx::replay(*recording, {.codecs = codecs}, [](jzx::Sim& sim) { build(sim); });
//   EXPECT_TRUE(report) << report.text();
//
// A record holds every turn, with the actor and the messages that it took, every timer that fired,
// every choice of the driver, and what came from outside: messages with what is in them, actors,
// exits, readiness of watched fds. A replay has the actors do the same turns in the same order, and
// compares what they send, spawn and arm with the record. docs/record_replay.md says what a record
// cannot hold, and how it looks.
//
// A file holds all that was recorded also if the program dies. Its replay ends where the program
// died, in the middle of a turn perhaps; what that turn does beyond the record passes. A ring keeps
// the last of it, to be looked at; it can be replayed if nothing is lost yet.
//
// Threads: a Recorder is for one loop, or one runtime with one worker, which it must outlive; its
// members from any thread. The rest on one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <jzx/result.hpp>
#include <jzx/sim/codecs.hpp>
#include <jzx/sim/simulation.hpp>

namespace jzx {

namespace detail {
class RecorderState;
struct RecordData;
}  // namespace detail

// What was recorded. A plain value.
class JZX_API Recording {
 public:
  Recording() noexcept = default;
  // io_failed: it cannot be read. invalid_arg: it is no record, or of another version, or has
  // something in it that no recorder writes; the error says in which line. The last line may be cut
  // off, as a program that died leaves it. A file name with a zero byte is invalid_arg here and in
  // save().
  [[nodiscard]] static Result<Recording> load(const std::string& file);
  [[nodiscard]] static Result<Recording> parse(std::string_view text);
  Errc save(const std::string& file) const;

  // As it is in a file.
  [[nodiscard]] std::string text() const;
  // For people: a line for each event.
  [[nodiscard]] std::string dump() const;

  [[nodiscard]] uint64_t turns() const noexcept;
  // Events that a ring has not kept; a record that has lost some cannot be replayed.
  [[nodiscard]] uint64_t lost() const noexcept;

  // ---- for the library ----
  [[nodiscard]] const detail::RecordData* data() const noexcept { return data_.get(); }

 private:
  std::shared_ptr<const detail::RecordData> data_;
};

struct RecorderOptions {
  std::string file{};                       // empty: a ring in memory
  uint64_t most_bytes = uint64_t{1} << 28;  // of the ring; of a file, where recording ends then
  Codecs codecs{};  // messages from outside that are recorded with what is in them
};

class JZX_API Recorder {
 public:
  explicit Recorder(RecorderOptions options);
  // Ends the file; the loop has ended before.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // False: it cannot record (any more).
  [[nodiscard]] explicit operator bool() const noexcept;
  // Why: the file cannot be written, the limit is reached, or it was given to a runtime with more
  // than one worker. Empty: nothing is wrong.
  [[nodiscard]] std::string error() const;

  // What there is so far.
  [[nodiscard]] Result<Recording> recording() const;

  // ---- for the library ----
  [[nodiscard]] detail::RecorderState& state() noexcept { return *state_; }

 private:
  std::unique_ptr<detail::RecorderState> state_;
};

struct ReplayOptions {
  Codecs codecs{};  // as the recorder had them
  // After the end of the record: everything until it comes to rest, and then what must be so
  // eventually. Without it Sim::eventually() in a replay is a failure: nobody would look.
  bool goes_on = false;
  Observer* observer = nullptr;  // told of what happens in the replay
};

enum class ReplayEnd : uint8_t {
  whole,         // all of the record was replayed
  failed,        // a check of the Sim failed
  diverged,      // the actors did something else than in the record
  opaque,        // a message is needed whose payload was not recorded
  not_recorded,  // something is needed that a record cannot hold, or has not kept
};

struct ReplayReport {
  ReplayEnd end = ReplayEnd::whole;
  std::string failure;  // what was wrong
  uint64_t turns = 0;   // of the record that were replayed, the last perhaps in part
  uint64_t of = 0;      // that there are
  std::string trace;    // what happened, and because of what

  [[nodiscard]] explicit operator bool() const noexcept { return end == ReplayEnd::whole; }
  // For people: all of it.
  [[nodiscard]] JZX_API std::string text() const;
};

// `setup` spawns the actors that were spawned from outside, in the same order; it may send and arm
// what the program did, and what it does not is taken from the record. It must not run the Sim;
// what its claims look at must still be there when it has returned. `at_end` is called when all was
// replayed.
JZX_API ReplayReport replay(const Recording& recording, const ReplayOptions& options,
                            const std::function<void(Sim&)>& setup,
                            const std::function<void(Sim&)>& at_end = {});

}  // namespace jzx

// Child processes, and signals to this one.
//
//   auto starting = jzx::net::Process::start({.program = "sort", .arguments = {"-r"}, …});
//
// A process that is dropped before its end was waited for goes on, and stays in the system's table
// when it has ended, until this program ends: wait() for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <jzx/async/task.hpp>
#include <jzx/net/stream.hpp>

namespace jzx::net {

enum class ChildStream : uint8_t {
  inherited,
  nothing,  // the end at once; what is written is dropped
  piped,    // see Process::input() and the like
};

struct ProcessSpec {
  // Each with {}, so that a spec that names only some of them compiles without a warning.
  std::string program{};                                  // searched in PATH if it has no slash
  std::vector<std::string> arguments{};                   // without its name
  std::optional<std::vector<std::string>> environment{};  // NAME=value; none: ours
  std::string directory{};                                // empty: ours
  ChildStream input = ChildStream::inherited;
  ChildStream output = ChildStream::inherited;
  ChildStream error = ChildStream::inherited;
};

struct ProcessEnd {
  int code = 0;    // -1: a signal ended it
  int signal = 0;  // 0: it ended by itself
  [[nodiscard]] bool is_success() const noexcept { return code == 0; }
};

class JZX_API Process {
 public:
  Process() noexcept = default;

  // ENOENT: there is no such program.
  [[nodiscard]] static Task<Process> start(ProcessSpec spec, Home home = {});

  [[nodiscard]] bool is_open() const noexcept { return handle_.is_open(); }
  [[nodiscard]] Result<int> id() const;
  Result<void> kill(int signal);
  // A cancelled wait has taken nothing: wait again.
  [[nodiscard]] Task<ProcessEnd> wait();

  // Our ends of what is piped; else not open.
  [[nodiscard]] Stream& input() noexcept { return input_; }
  [[nodiscard]] Stream& output() noexcept { return output_; }
  [[nodiscard]] Stream& error() noexcept { return error_; }

 private:
  detail::Handle handle_;
  Stream input_;
  Stream output_;
  Stream error_;
};

// Signals of this process, one at a time.
class JZX_API Signal {
 public:
  Signal() noexcept = default;

  // invalid_arg and the like as errno: EINVAL for one that cannot be caught.
  [[nodiscard]] static Result<Signal> open(int signal, Home home = {});
  [[nodiscard]] bool is_open() const noexcept { return handle_.is_open(); }
  void close() noexcept { handle_.close(); }
  // How many came since the last time, at least one. A cancelled wait has taken none.
  [[nodiscard]] Task<uint32_t> next();

 private:
  explicit Signal(detail::Handle handle) noexcept : handle_(std::move(handle)) {}

  detail::Handle handle_;
  uint32_t kept_ = 0;  // came when their task was asked to stop
};

}  // namespace jzx::net

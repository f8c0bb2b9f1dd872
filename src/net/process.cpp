#include <jzx/net/process.hpp>

#include <algorithm>

#include "net/open_handle.hpp"

namespace jzx::net {

using detail::Handle;
using io::Opcode;

namespace {

// A pipe for one of the child's streams: which end is the child's.
struct ChildPipe {
  Handle ours;
  Handle childs;
};

Result<ChildPipe> make_pipe(base::Executor& executor, bool child_reads) {
  io::Handle ends[2];
  io::Operation operation(Opcode::pipe, &nothing_to_do);
  operation.buffer = ends;
  const int64_t result = operate_now(executor, operation);
  if (result < 0) return error_of(result, "pipe");
  Result<Handle> reads = keep(executor, ends[0]);
  Result<Handle> writes = keep(executor, ends[1]);
  if (!reads) return reads.error();
  if (!writes) return writes.error();
  if (child_reads) return ChildPipe{std::move(*writes), std::move(*reads)};
  return ChildPipe{std::move(*reads), std::move(*writes)};
}

Error prepare_stream(base::Executor& executor, ChildStream wish, bool child_reads,
                     io::ChildStream& out, ChildPipe& pipe) {
  using From = io::ChildStream::From;
  switch (wish) {
    case ChildStream::inherited:
      out.from = From::inherited;
      return Error(Errc::ok);
    case ChildStream::nothing:
      out.from = From::nothing;
      return Error(Errc::ok);
    case ChildStream::piped:
      break;
  }
  Result<ChildPipe> made = make_pipe(executor, child_reads);
  if (!made) return made.error();
  pipe = std::move(*made);
  out.from = From::handle;
  out.handle = pipe.childs.get()->handle;
  return Error(Errc::ok);
}

// The part of the spec that the system would cut off; nullptr: none.
const char* part_with_zero_byte(const ProcessSpec& spec) noexcept {
  const auto any_has = [](const std::vector<std::string>& texts) {
    return std::any_of(texts.begin(), texts.end(), has_zero_byte);
  };
  if (has_zero_byte(spec.program)) return "the program";
  if (any_has(spec.arguments)) return "an argument";
  if (spec.environment && any_has(*spec.environment)) return "the environment";
  if (has_zero_byte(spec.directory)) return "the directory";
  return nullptr;
}

std::vector<const char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<const char*> pointers;
  pointers.reserve(strings.size() + 2);
  for (const std::string& each : strings) pointers.push_back(each.c_str());
  return pointers;
}

}  // namespace

Task<Process> Process::start(ProcessSpec spec, Home home) {
  base::Executor* executor = executor_of(home.keeper());
  if (executor == nullptr) co_return no_home("start");
  if (const char* part = part_with_zero_byte(spec)) co_return zero_byte_in(part, "start");
  io::Spawn wish;
  ChildPipe pipes[3];
  const ChildStream wishes[3] = {spec.input, spec.output, spec.error};
  for (size_t i = 0; i < 3; ++i) {
    const Error error = prepare_stream(*executor, wishes[i], i == 0, wish.streams[i], pipes[i]);
    if (!ok(error.code())) co_return error;
  }
  std::vector<const char*> arguments = pointers_to(spec.arguments);
  arguments.insert(arguments.begin(), spec.program.c_str());
  arguments.push_back(nullptr);
  std::vector<const char*> environment;
  if (spec.environment) {
    environment = pointers_to(*spec.environment);
    environment.push_back(nullptr);
    wish.environment = environment.data();
  }
  wish.program = spec.program.c_str();
  wish.arguments = arguments.data();
  if (!spec.directory.empty()) wish.directory = spec.directory.c_str();

  Begun* begun = Begun::make(*executor, Opcode::spawn);
  if (begun == nullptr) co_return Error(Errc::no_memory);
  begun->buffer = &wish;
  Future<int64_t> starting = begun->begin();
  Result<int64_t> started = co_await starting;
  Result<Handle> handle = keep_opened(*executor, started, "start");
  if (!handle) co_return handle.error();
  Process process;
  process.handle_ = std::move(*handle);
  process.input_ = Stream(std::move(pipes[0].ours));
  process.output_ = Stream(std::move(pipes[1].ours));
  process.error_ = Stream(std::move(pipes[2].ours));
  co_return std::move(process);
}

Result<int> Process::id() const {
  io::Operation operation(Opcode::process_id, &nothing_to_do);
  const int64_t result = operate_now(handle_, operation);
  if (result < 0) return error_of(result, "process id");
  return static_cast<int>(result);
}

Result<void> Process::kill(int signal) {
  io::Operation operation(Opcode::kill, &nothing_to_do);
  operation.value = signal;
  return nothing_of(operate_now(handle_, operation), "kill");
}

Task<ProcessEnd> Process::wait() {
  Error error;
  Begun* begun = begin_on(handle_, Opcode::wait_exit, error);
  if (begun == nullptr) co_return error;
  Future<int64_t> waiting = begun->begin();
  Result<int64_t> result = co_await waiting;
  if (!result) co_return result.error();
  if (*result < 0) co_return error_of(*result, "wait");
  co_return ProcessEnd{io::exit_code(*result), io::exit_signal(*result)};
}

Result<Signal> Signal::open(int signal, Home home) {
  base::Executor* executor = executor_of(home.keeper());
  if (executor == nullptr) return no_home("signal");
  io::Operation operation(Opcode::open_signal, &nothing_to_do);
  operation.value = signal;
  Result<Handle> handle = keep_opened(*executor, operate_now(*executor, operation), "signal");
  if (!handle) return handle.error();
  return Signal(std::move(*handle));
}

Task<uint32_t> Signal::next() {
  if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "signal");
  if (kept_ > 0) co_return std::exchange(kept_, 0);
  Error error;
  Begun* begun = begin_on(handle_, Opcode::next_signal, error);
  if (begun == nullptr) co_return error;
  Future<int64_t> waiting = begun->begin();
  Result<int64_t> result = co_await waiting;
  Result<size_t> count = size_of(result, "signal");
  if (!count) co_return count.error();
  kept_ += static_cast<uint32_t>(*count);
  if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "signal");
  co_return std::exchange(kept_, 0);
}

}  // namespace jzx::net

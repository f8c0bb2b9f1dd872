// The rest of the world: names, processes, signals.
#include <csignal>

#include "io/operation_fixture.hpp"

namespace jzx::io {
namespace {

class World : public OperationTest {
 protected:
  void raise(int signal) {
    if (is_simulated()) {
      EXPECT_EQ(static_cast<SimulatedReactor&>(*reactor).simulated().raise(signal), 1u);
    } else {
      EXPECT_EQ(::raise(signal), 0);
    }
  }

  int64_t resolve(const char* host, const char* service, Family family = Family::none,
                  bool is_numeric = false) {
    found.fill(Address{});
    resolution = Resolution{};
    resolution.host = host;
    resolution.service = service;
    resolution.family = family;
    resolution.is_numeric = is_numeric;
    resolution.addresses = found.data();
    resolution.capacity = found.size();
    Call call(Opcode::resolve);
    call.buffer = &resolution;
    return run(call);
  }

  std::array<Address, 8> found;
  Resolution resolution;
};
JZX_TEST_ALL_REACTORS(World);

class Processes : public OperationTest {
 protected:
  // A child that runs a line of shell.
  int64_t shell(const char* line) {
    arguments = {"sh", "-c", line, nullptr};
    spawn.program = "sh";
    spawn.arguments = arguments.data();
    Call call(Opcode::spawn);
    call.buffer = &spawn;
    return run(call);
  }
  int64_t exit_of(Handle process) {
    Call call(Opcode::wait_exit, process);
    return run(call);
  }

  std::vector<const char*> arguments;
  Spawn spawn;
};
JZX_TEST_BOTH_REACTORS(Processes);

// ---- names ----

TEST_P(World, LocalhostIsThisMachine) {
  ASSERT_GE(resolve("localhost", "80", Family::ipv4), 1);
  EXPECT_EQ(found[0], Address::ipv4({127, 0, 0, 1}, 80));
  ASSERT_GE(resolve("127.0.0.1", nullptr), 1);
  EXPECT_EQ(found[0], Address::ipv4({127, 0, 0, 1}, 0));
}

TEST_P(World, NonsenseHasNoAddress) {
  constexpr bool kAskNobody = true;
  EXPECT_EQ(resolve("no such name", "80", Family::none, kAskNobody), -ENOENT);
  EXPECT_EQ(resolve("127.0.0.1", "no such service"), -EINVAL);
  EXPECT_EQ(resolve("localhost", "80", Family::local), -EINVAL);
}

// ---- processes ----

TEST_P(Processes, AProcessEndsWithItsCode) {
  const Handle process = keep(shell("exit 7"));
  const int64_t exit = exit_of(process);
  EXPECT_EQ(exit_code(exit), 7);
  EXPECT_EQ(exit_signal(exit), 0);
  EXPECT_EQ(exit_of(process), -ECHILD) << "it can be asked once";
}

TEST_P(Processes, AProcessThatIsKilledEndsWithItsSignal) {
  spawn.streams[0].from = ChildStream::From::handle;
  const auto [reader, writer] = pipe();
  spawn.streams[0].handle = reader;
  const Handle process = keep(shell("read line"));
  Call waiting(Opcode::wait_exit, process);
  EXPECT_EQ(submit(waiting), Submitted::pending);
  tell();
  EXPECT_EQ(with_value(Opcode::kill, process, SIGTERM), 0);
  const int64_t exit = await(waiting);
  EXPECT_EQ(exit_code(exit), -1);
  EXPECT_EQ(exit_signal(exit), SIGTERM);
  EXPECT_EQ(with_value(Opcode::kill, process, SIGTERM), -ESRCH);
}

TEST_P(Processes, AProcessHasTheStreamsDirectoryAndEnvironmentItWasGiven) {
  const auto [in_reader, in_writer] = pipe();
  const auto [out_reader, out_writer] = pipe();
  spawn.streams[0] = {ChildStream::From::handle, in_reader};
  spawn.streams[1] = {ChildStream::From::handle, out_writer};
  spawn.streams[2].from = ChildStream::From::nothing;
  const std::array<const char*, 2> environment{"COLOUR=blue", nullptr};
  spawn.environment = environment.data();
  spawn.directory = "/";
  const Handle process = keep(shell("read line; echo $line $COLOUR $(pwd); echo lost >&2"));
  EXPECT_EQ(close(in_reader), 0);
  EXPECT_EQ(close(out_writer), 0);
  EXPECT_EQ(write(in_writer, "sky\n"), 4);
  EXPECT_EQ(read_exactly(out_reader, 64), "sky blue /\n");
  EXPECT_EQ(exit_of(process), 0);
}

TEST_P(Processes, AProcessThatCannotBeStartedSaysWhy) {
  arguments = {"nothing", nullptr};
  spawn.program = "/no/such/program";
  spawn.arguments = arguments.data();
  Call call(Opcode::spawn);
  call.buffer = &spawn;
  EXPECT_EQ(run(call), -ENOENT);
  spawn.program = nullptr;
  EXPECT_EQ(run(call), -EINVAL);
  spawn.program = "sh";
  spawn.directory = "/no/such/directory";
  EXPECT_EQ(run(call), -ENOENT);
}

TEST_P(Processes, AProcessHasANumber) {
  const auto [reader, writer] = pipe();
  spawn.streams[1] = {ChildStream::From::handle, writer};
  const Handle process = keep(shell("echo $$"));
  EXPECT_EQ(close(writer), 0);
  Call call(Opcode::process_id, process);
  EXPECT_EQ(std::to_string(run(call)) + "\n", read_exactly(reader, 32));
  EXPECT_EQ(exit_of(process), 0);
}

// ---- signals ----

TEST_P(World, TheNextDeliveryOfASignalIsHeard) {
  const Handle signal = keep(with_value(Opcode::open_signal, Handle{}, SIGUSR1));
  Call next(Opcode::next_signal, signal);
  EXPECT_EQ(submit(next), Submitted::pending);
  tell();
  EXPECT_EQ(next.completions, 0);
  raise(SIGUSR1);
  EXPECT_EQ(await(next), 1);
  raise(SIGUSR1);
  raise(SIGUSR1);
  EXPECT_EQ(run(next), 2);
}

TEST_P(World, ASignalThatCannotBeHeardIsRefused) {
  EXPECT_EQ(with_value(Opcode::open_signal, Handle{}, SIGKILL), -EINVAL);
  const auto [reader, writer] = pipe();
  Call next(Opcode::next_signal, reader);
  EXPECT_EQ(run(next), -EINVAL);
  EXPECT_EQ(with_value(Opcode::kill, reader, SIGTERM), -EINVAL);
}

}  // namespace
}  // namespace jzx::io

// The reactor of a simulated node: what has no peer, and that every operation ends exactly once,
// whenever it is cancelled, its handle closed or its node crashed.
#include <csignal>

#include "sim/world/world_fixture.hpp"

namespace jzx::drivers::sim {
namespace {

class SimulatedReactor : public TwoMachines {
 protected:
  int64_t resolve(const char* host, const char* service = "80", Family family = Family::none) {
    io::Resolution resolution;
    resolution.host = host;
    resolution.service = service;
    resolution.family = family;
    resolution.addresses = &found;
    resolution.capacity = 1;
    Call call(Opcode::resolve);
    call.buffer = &resolution;
    return here.run(call);
  }

  Address found;
};

TEST_F(SimulatedReactor, HasNoFileDescriptorsAndNoProcesses) {
  io::Watch watch([](io::Watch&, uint32_t) {});
  EXPECT_EQ(here.reactor->watch(watch), -EPERM);
  EXPECT_LT(here.reactor->unwatch(watch), 0);
  EXPECT_EQ(here.reactor->pollable_fd(), -1);
  EXPECT_EQ(here.on({}, Opcode::adopt, 0), -EBADF);
  EXPECT_EQ(here.on({}, Opcode::spawn), -ENOSYS);
}

TEST_F(SimulatedReactor, AWakeUpIsNewsUntilTheNextWait) {
  EXPECT_FALSE(here.reactor->has_news());
  here.reactor->wake();
  here.reactor->wake();
  EXPECT_TRUE(here.reactor->has_news());
  EXPECT_EQ(here.reactor->wait(0), 0);
  EXPECT_FALSE(here.reactor->has_news());
}

TEST_F(SimulatedReactor, KnowsTheNodesByName) {
  EXPECT_EQ(resolve("there"), 1);
  EXPECT_EQ(found, there.address(80));
  EXPECT_EQ(resolve("localhost", "http"), 1);
  EXPECT_EQ(found, Address::loopback(80));
  EXPECT_EQ(resolve("10.0.0.2", nullptr), 1);
  EXPECT_EQ(found, there.address(0));
  EXPECT_EQ(resolve("nowhere"), -ENOENT);
  EXPECT_EQ(resolve("there", "no such service"), -EINVAL);
  EXPECT_EQ(resolve("there", "80", Family::ipv6), 1);
  EXPECT_EQ(found, world.network.address_of(there.id, Family::ipv6, 80));
  EXPECT_EQ(resolve(nullptr), 1);
  EXPECT_EQ(found, Address::loopback(80));
  faults().resolve_failure_per_million = kAlways;
  policy.then({kAlways - 1});
  EXPECT_EQ(resolve("there"), -EAGAIN);
}

TEST_F(SimulatedReactor, AServerOverIpv6IsReached) {
  const Handle listening{there.make_socket(SocketType::stream, Family::ipv6)};
  EXPECT_EQ(there.at(listening, Opcode::bind, Address::ipv6({}, 80)), 0);
  EXPECT_EQ(there.on(listening, Opcode::listen), 0);
  const Handle calling{here.make_socket(SocketType::stream, Family::ipv6)};
  EXPECT_EQ(resolve("there", "80", Family::ipv6), 1);
  EXPECT_EQ(here.at(calling, Opcode::connect, found), 0);
}

TEST_F(SimulatedReactor, SignalsAreCountedUntilTheyAreHeard) {
  EXPECT_EQ(here.reactor->raise(SIGTERM), 0u) << "nobody listens";
  const Handle signal{here.on({}, Opcode::open_signal, SIGTERM)};
  EXPECT_EQ(here.reactor->raise(SIGTERM), 1u);
  EXPECT_EQ(here.reactor->raise(SIGTERM), 1u);
  EXPECT_EQ(here.reactor->raise(SIGINT), 0u);
  EXPECT_EQ(there.reactor->raise(SIGTERM), 0u) << "another process";
  EXPECT_EQ(here.on(signal, Opcode::next_signal), 2);
  Call next(Opcode::next_signal, signal);
  EXPECT_EQ(here.submit(next), Submitted::pending);
  EXPECT_EQ(here.reactor->raise(SIGTERM), 1u);
  EXPECT_EQ(here.await(next), 1);
  EXPECT_EQ(here.close(signal), 0);
  EXPECT_EQ(here.reactor->raise(SIGTERM), 0u);
}

// ---- whenever it is interrupted ----

// Of everything that can be pending, one, on both sides of two nodes.
struct EverythingAtOnce {
  explicit EverythingAtOnce(Policy& policy) : world(policy) {
    listening = there.listener(80);
    client = here.socket();
    connect.handle = client;
    connect.address = &target;
    accept.handle = listening;
    receive.handle = here.bound(53, SocketType::datagram);
    signal.handle = Handle{here.on({}, Opcode::open_signal, SIGTERM)};
    Handle ends[2];
    Call pipe(Opcode::pipe);
    pipe.buffer = ends;
    EXPECT_EQ(here.run(pipe), 0);
    piped.handle = ends[0];
    Call open_file(Opcode::open);
    open_file.buffer = path.data();
    open_file.flags = io::kRead | io::kWrite | io::kCreate;
    file = Handle{here.run(open_file)};
    write_file.handle = read_file.handle = sync_file.handle = file;
    write_file.opcode = Opcode::write_at;
    read_file.opcode = Opcode::read_at;
    opening.buffer = path.data();
    opening.flags = io::kRead;
    resolution.host = "there";
    resolving.buffer = &resolution;
    // A read of a handle that is being connected waits, too.
    reading.handle = client;
    for (Call* call : all()) EXPECT_EQ(machine_of(*call).submit(*call), Submitted::pending);
  }
  std::vector<Call*> all() {
    return {&connect,    &accept,    &receive,   &signal,  &piped,    &reading,
            &write_file, &read_file, &sync_file, &opening, &resolving};
  }
  Machine& machine_of(const Call& call) { return &call == &accept ? there : here; }
  // So many things happen, which somebody may not have been told of yet; false: fewer did.
  bool advance(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (world.network.events().run_due(world.clock.now_ns()) > 0) continue;
      if (!world.step() && !world.leap()) return false;
    }
    return true;
  }
  void expect_once() {
    for (Machine& machine : world.machines) EXPECT_EQ(machine.reactor->wait(0), 0);
    for (Call* call : all()) EXPECT_EQ(call->completions, 1) << static_cast<int>(call->opcode);
    for (Machine& machine : world.machines) EXPECT_EQ(machine.reactor->pending_count(), 0u);
    world.run_all();
    for (Call* call : all()) EXPECT_EQ(call->completions, 1) << "and not again";
  }

  World world;
  Machine& here = world.add("here");
  Machine& there = world.add("there");
  Address target = there.address(80);
  std::string path = "/file";
  io::Resolution resolution;
  Handle listening;
  Handle client;
  Handle file;
  Call connect{Opcode::connect};
  Call accept{Opcode::accept};
  Reading receive{{}};
  Call signal{Opcode::next_signal};
  Reading piped{{}};
  Reading reading{{}};
  Writing write_file{{}, "bytes"};
  Reading read_file{{}};
  Call sync_file{Opcode::sync};
  Call opening{Opcode::open};
  Call resolving{Opcode::resolve};
};

// What is done after one step more each time, until there is no more.
template <class Interrupt>
void after_every_number_of_steps(Interrupt interrupt) {
  bool goes_on = true;
  int steps = 0;
  for (; goes_on; ++steps) {
    Prescribed policy;
    EverythingAtOnce all(policy);
    goes_on = all.advance(steps);
    interrupt(all);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "after " << steps << " steps";
      return;
    }
  }
  EXPECT_GT(steps, 8);
}

TEST(SimulatedInterruptions, ACancelEndsEverythingOnceAtAnyPoint) {
  after_every_number_of_steps([](EverythingAtOnce& all) {
    const uint64_t now_ns = all.world.clock.now_ns();
    for (Call* call : all.all()) all.machine_of(*call).reactor->cancel(*call);
    for (Call* call : all.all()) all.machine_of(*call).reactor->cancel(*call);
    all.expect_once();
    EXPECT_GE(all.world.clock.now_ns(), now_ns);
  });
}

TEST(SimulatedInterruptions, ACloseEndsEverythingOnceAtAnyPoint) {
  after_every_number_of_steps([](EverythingAtOnce& all) {
    for (Call* call : all.all()) {
      Machine& machine = all.machine_of(*call);
      Call close(Opcode::close, call->handle);
      const bool waits = machine.submit(close) == Submitted::pending;
      EXPECT_EQ(waits ? machine.reactor->wait(0) : 0, 0);
      EXPECT_EQ(close.completions, close.submissions);
    }
    // These two have no handle to close.
    for (Call* call : {&all.opening, &all.resolving}) all.here.reactor->cancel(*call);
    all.expect_once();
  });
}

TEST(SimulatedInterruptions, ACrashEndsNothingAndACancelThenDoes) {
  after_every_number_of_steps([](EverythingAtOnce& all) {
    std::vector<int> before;
    for (const Call* call : all.all()) before.push_back(call->completions);
    for (Machine& machine : all.world.machines) all.world.network.crash(machine.id);
    all.world.run_all();
    std::vector<int> after;
    for (const Call* call : all.all()) after.push_back(call->completions);
    EXPECT_EQ(before, after);
    for (Call* call : all.all()) all.machine_of(*call).reactor->cancel(*call);
    all.expect_once();
  });
}

TEST(SimulatedInterruptions, AnEndOfTheReactorTouchesNothingThatIsPending) {
  after_every_number_of_steps([](EverythingAtOnce& all) {
    std::vector<int> before;
    for (const Call* call : all.all()) before.push_back(call->completions);
    for (Machine& machine : all.world.machines) machine.exit();
    all.world.run_all();
    std::vector<int> after;
    for (const Call* call : all.all()) after.push_back(call->completions);
    EXPECT_EQ(before, after);
  });
}

}  // namespace
}  // namespace jzx::drivers::sim

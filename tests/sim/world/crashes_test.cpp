// Simulated nodes that crash, and what the others see of it.
#include "sim/world/world_fixture.hpp"

namespace jzx::drivers::sim {
namespace {

const std::string kReset = "errno " + std::to_string(ECONNRESET);
const std::string kTimedOut = "errno " + std::to_string(ETIMEDOUT);

class SimulatedCrashes : public TwoMachines {};

TEST_F(SimulatedCrashes, ACrashSaysNoGoodbye) {
  connect();
  EXPECT_EQ(there.write(server, "on the wire"), 11);
  there.crash();
  EXPECT_EQ(here.read(client), "on the wire");
  Reading reading(client);
  EXPECT_EQ(here.submit(reading), Submitted::pending);
  world.run_all();
  EXPECT_EQ(reading.completions, 0) << "half open, for ever";
  EXPECT_EQ(here.write(client, "anybody?"), 8);
  EXPECT_EQ(here.await(reading), -ETIMEDOUT);
}

TEST_F(SimulatedCrashes, WhoSendsToOneThatHasComeUpAgainIsReset) {
  connect();
  there.crash();
  Reading reading(client);
  EXPECT_EQ(here.submit(reading), Submitted::pending);
  there.restart();
  world.run_all();
  EXPECT_EQ(reading.completions, 0);
  EXPECT_EQ(here.write(client, "anybody?"), 8);
  EXPECT_EQ(here.await(reading), -ECONNRESET);
}

TEST_F(SimulatedCrashes, WhatIsSentWhileANodeIsDownIsResetWhenItIsUp) {
  connect();
  there.crash();
  EXPECT_EQ(here.write(client, "anybody?"), 8);
  world.run_for(10 * kSecond);
  there.restart();
  EXPECT_EQ(here.read(client), kReset);
  const Handle listening = there.listener(80);
  EXPECT_EQ(here.at(here.socket(), Opcode::connect, there.address(80)), 0) << "it serves again";
  EXPECT_EQ(there.close(listening), 0);
}

TEST_F(SimulatedCrashes, WhoKeepsAliveNoticesASilentPeer) {
  for (const bool comes_back : {false, true}) {
    connect(comes_back ? 81 : 80);
    EXPECT_EQ(here.set(client, Option::keep_idle_s, 60), 0);
    EXPECT_EQ(here.set(client, Option::keep_alive, 1), 0);
    world.run_all();
    EXPECT_EQ(world.network.events().size(), 0u) << "nothing is planned while all is well";
    there.crash();
    if (comes_back) there.restart();
    EXPECT_EQ(here.read(client), comes_back ? kReset : kTimedOut);
    if (!comes_back) there.restart();
  }
}

TEST_F(SimulatedCrashes, OptionsOfASocketAreThoseOfItsConnection) {
  const Handle listening = there.listener(80);
  const Handle handle = here.socket();
  EXPECT_EQ(here.set(handle, Option::keep_idle_s, 60), 0);
  EXPECT_EQ(here.set(handle, Option::keep_alive, 1), 0);
  EXPECT_EQ(here.set(handle, Option::send_buffer, 10), 0);
  EXPECT_EQ(here.at(handle, Opcode::connect, there.address(80)), 0);
  EXPECT_EQ(here.write(handle, std::string(100, 'x')), 10);
  Call accept(Opcode::accept, listening);
  EXPECT_EQ(there.read(Handle{there.run(accept)}), std::string(10, 'x'));
  there.crash();
  EXPECT_EQ(here.read(handle), kTimedOut);
}

TEST_F(SimulatedCrashes, WhoKeepsAliveNoticesNothingOfAShortPartition) {
  connect();
  EXPECT_EQ(here.set(client, Option::keep_idle_s, 60), 0);
  EXPECT_EQ(here.set(client, Option::keep_alive, 1), 0);
  partition();
  world.run_for(100 * kSecond);
  EXPECT_EQ(world.network.events().size(), 1u);
  world.network.heal();
  EXPECT_EQ(world.network.events().size(), 0u) << "it asks no more";
  EXPECT_EQ(there.write(server, "here"), 4);
  EXPECT_EQ(here.read(client), "here");
}

TEST_F(SimulatedCrashes, ACrashTakesWhatNobodyHasAcceptedYet) {
  const Handle listening = there.listener(80);
  const Handle handle = here.socket();
  EXPECT_EQ(here.at(handle, Opcode::connect, there.address(80)), 0);
  (void)listening;
  there.crash();
  there.restart();
  EXPECT_EQ(here.write(handle, "x"), 1);
  EXPECT_EQ(here.read(handle), kReset);
  EXPECT_EQ(here.at(here.socket(), Opcode::connect, there.address(80)), -ECONNREFUSED);
}

TEST_F(SimulatedCrashes, ACallerThatCrashesBeforeTheAnswerLeavesItHalfOpen) {
  const Handle listening = there.listener(80);
  Call call(Opcode::connect, here.socket());
  Address to = there.address(80);
  call.address = &to;
  EXPECT_EQ(here.submit(call), Submitted::pending);
  world.run_for(faults().least_latency_ns);
  here.crash();
  Call accept(Opcode::accept, listening);
  const Handle accepted{there.run(accept)};
  Reading reading(accepted);
  EXPECT_EQ(there.submit(reading), Submitted::pending);
  world.run_all();
  EXPECT_EQ(reading.completions, 0);
  EXPECT_EQ(call.completions, 0) << "what was pending there is never completed";
  EXPECT_EQ(there.close(accepted), 0);
  EXPECT_EQ(there.await(reading), -ECANCELED);
}

// Who tears down what ran there cancels and closes, as always, and no time passes.
TEST_F(SimulatedCrashes, AfterACrashTheReactorServesThoseWhoCleanUp) {
  connect();
  Reading reading(server);
  EXPECT_EQ(there.submit(reading), Submitted::pending);
  Call opening(Opcode::open);
  std::string path = "/file";
  opening.buffer = path.data();
  opening.flags = io::kWrite | io::kCreate;
  EXPECT_EQ(there.submit(opening), Submitted::pending);
  EXPECT_EQ(here.write(client, "x"), 1);
  const Handle ends_of_others = server;
  world.network.crash(there.id);
  world.run_all();
  EXPECT_EQ(reading.completions, 0);
  EXPECT_EQ(opening.completions, 0);
  EXPECT_EQ(there.reactor->pending_count(), 2u);
  Call late(Opcode::close, ends_of_others);
  EXPECT_EQ(there.reactor->submit(late), Submitted::done);
  EXPECT_EQ(late.result, 0);
  EXPECT_EQ(there.make_socket(), -ENETDOWN);
  for (Call* call : {static_cast<Call*>(&reading), &opening}) there.reactor->cancel(*call);
  EXPECT_EQ(there.reactor->wait(0), 0);
  EXPECT_EQ(reading.result, -ECANCELED);
  EXPECT_EQ(opening.completions, 1);
  EXPECT_EQ(there.reactor->pending_count(), 0u);
}

}  // namespace
}  // namespace jzx::drivers::sim

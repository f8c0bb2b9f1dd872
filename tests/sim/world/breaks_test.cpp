// What goes wrong between simulated nodes: loss, resets, partitions.
#include "sim/world/world_fixture.hpp"

namespace jzx::drivers::sim {
namespace {

const std::string kReset = "errno " + std::to_string(ECONNRESET);
const std::string kTimedOut = "errno " + std::to_string(ETIMEDOUT);

class Breaks : public TwoMachines {
 protected:
  std::string read_exactly(Machine& machine, Handle from, size_t size) {
    std::string all;
    while (all.size() < size) {
      const std::string part = machine.read(from, size - all.size());
      if (part.empty()) break;
      all += part;
    }
    return all;
  }
};

// ---- on the way ----

TEST_F(Breaks, LostSegmentsComeLateInOrderAndWithoutAHole) {
  Random random(7);
  World lossy(random);
  Machine& from = lossy.add("from");
  Machine& to = lossy.add("to");
  const Handle listening = to.listener(80);
  const Handle out = from.socket();
  EXPECT_EQ(from.at(out, Opcode::connect, to.address(80)), 0);
  Call accept(Opcode::accept, listening);
  const Handle in{to.run(accept)};
  lossy.network.faults.loss_per_million = kOften;
  lossy.network.faults.most_latency_ns = 10 * kMillisecond;
  const uint64_t start_ns = lossy.clock.now_ns();
  std::string sent;
  for (int i = 0; i < 100; ++i) {
    sent += std::to_string(i) + " ";
    EXPECT_GT(from.write(out, std::to_string(i) + " "), 0);
  }
  EXPECT_EQ(read_exactly(to, in, sent.size()), sent);
  EXPECT_GE(lossy.clock.now_ns() - start_ns, lossy.network.faults.retransmit_ns);
}

TEST_F(Breaks, AConnectWhoseFirstPacketIsLostTakesLonger) {
  const Handle listening = there.listener(80);
  Prescribed one_lost({kAlways - 1});
  World lossy(one_lost);
  Machine& from = lossy.add("from");
  Machine& to = lossy.add("to");
  (void)to.listener(80);
  lossy.network.faults.loss_per_million = 1;
  const uint64_t start_ns = lossy.clock.now_ns();
  EXPECT_EQ(from.at(from.socket(), Opcode::connect, to.address(80)), 0);
  EXPECT_GE(lossy.clock.now_ns() - start_ns, lossy.network.faults.retransmit_ns);
  EXPECT_EQ(there.close(listening), 0);
}

TEST_F(Breaks, AConnectionMayBeResetInTheMiddle) {
  connect();
  EXPECT_EQ(world.network.reset_connections(here.id, there.id), 1u);
  EXPECT_EQ(here.read(client), kReset);
  EXPECT_EQ(there.write(server, "x"), -ECONNRESET);
  EXPECT_EQ(there.write(server, "x"), -EPIPE);
  EXPECT_EQ(here.close(client), 0);
  EXPECT_EQ(there.close(server), 0);
  EXPECT_EQ(world.network.reset_connections(here.id, there.id), 0u);
}

TEST_F(Breaks, AConnectionThatOnlyItsRetriesKeepCanBeReset) {
  connect();
  partition();
  EXPECT_EQ(here.write(client, "unsent"), 6);
  EXPECT_EQ(here.close(client), 0);
  EXPECT_EQ(there.close(server), 0);
  world.run_for(kSecond);
  EXPECT_GT(world.network.events().size(), 0u);
  EXPECT_EQ(world.network.reset_connections(here.id, there.id), 1u);
  EXPECT_EQ(world.network.events().size(), 0u);
  EXPECT_EQ(world.network.reset_connections(here.id, there.id), 0u);
}

TEST_F(Breaks, ASegmentMayResetInsteadOfArriving) {
  connect();
  faults().reset_per_million = 1;
  EXPECT_EQ(here.write(client, "fine"), 4);
  EXPECT_EQ(there.read(server), "fine");
  policy.then({kAlways - 1});
  EXPECT_EQ(here.write(client, "gone"), 4);
  EXPECT_EQ(there.read(server), kReset);
  EXPECT_EQ(here.read(client), kReset);
}

TEST_F(Breaks, ReadsAndWritesMayBeShorterThanTheyNeed) {
  connect();
  faults().short_write_per_million = faults().short_read_per_million = 1;
  policy.then({kAlways - 1, 3});
  EXPECT_EQ(here.write(client, "abcdef"), 3);
  world.run_all();
  policy.then({kAlways - 1, 2});
  EXPECT_EQ(there.read(server), "a");
  EXPECT_EQ(there.read(server), "bc");
}

TEST_F(Breaks, WhatCouldBeDoneAtOnceMayTakeAWhile) {
  connect();
  EXPECT_EQ(here.write(client, "x"), 1);
  world.run_all();
  faults().not_ready_per_million = 1;
  policy.then({kAlways - 1});
  Reading reading(server);
  const uint64_t start_ns = world.clock.now_ns();
  EXPECT_EQ(there.submit(reading), Submitted::pending);
  EXPECT_EQ(there.await(reading), 1);
  EXPECT_EQ(world.clock.now_ns() - start_ns, faults().not_ready_ns);
}

// ---- partitions ----

TEST_F(Breaks, ACallIntoAPartitionTimesOut) {
  const Handle listening = there.listener(80);
  partition();
  EXPECT_EQ(here.at(here.socket(), Opcode::connect, there.address(80)), -ETIMEDOUT);
  EXPECT_EQ(there.close(listening), 0);
}

TEST_F(Breaks, ACallIntoAPartitionThatHealsInTimeSucceeds) {
  for (const Network::Way way : {Network::Way::both, Network::Way::one}) {
    for (const bool is_back : {false, true}) {
      const Handle listening = there.listener(80);
      if (is_back) {
        world.network.partition({&there.id, 1}, {&here.id, 1}, way);
      } else {
        partition(way);
      }
      Call call(Opcode::connect, here.socket());
      Address to = there.address(80);
      call.address = &to;
      EXPECT_EQ(here.submit(call), Submitted::pending);
      world.run_for(5 * kSecond);
      EXPECT_EQ(call.completions, 0);
      world.network.heal();
      EXPECT_EQ(here.await(call), 0);
      EXPECT_EQ(there.close(listening), 0);
    }
  }
}

TEST_F(Breaks, AStreamGoesOnAfterAPartition) {
  connect();
  partition();
  EXPECT_EQ(here.write(client, "across"), 6);
  Reading reading(server);
  EXPECT_EQ(there.submit(reading), Submitted::pending);
  world.run_for(60 * kSecond);
  EXPECT_EQ(reading.completions, 0);
  world.network.heal(there.id, here.id);
  EXPECT_EQ(there.await(reading), 6);
}

TEST_F(Breaks, WhoSendsIntoAPartitionGivesUpAtLast) {
  connect();
  partition();
  faults().give_up_ns = 100 * kSecond;
  const uint64_t start_ns = world.clock.now_ns();
  EXPECT_EQ(here.write(client, "across"), 6);
  EXPECT_EQ(here.read(client), kTimedOut);
  EXPECT_EQ(world.clock.now_ns() - start_ns, 100 * kSecond + faults().least_latency_ns);
  EXPECT_EQ(here.write(client, "x"), -EPIPE);
  world.network.heal();
  EXPECT_EQ(there.write(server, "anybody?"), 8) << "it knows of nothing";
  EXPECT_EQ(there.read(server), kReset);
}

TEST_F(Breaks, HowLongASenderWaitsCanBeSet) {
  connect();
  EXPECT_EQ(here.set(client, Option::send_timeout_ms, 3'000), 0);
  partition();
  const uint64_t start_ns = world.clock.now_ns();
  EXPECT_EQ(here.write(client, "across"), 6);
  EXPECT_EQ(here.read(client), kTimedOut);
  EXPECT_EQ(world.clock.now_ns() - start_ns, 3 * kSecond + faults().least_latency_ns);
}

TEST_F(Breaks, InAOneWayPartitionBytesArriveButTheSenderDoesNotLearnIt) {
  faults().send_buffer_bytes = 100;
  connect();
  world.network.partition({&there.id, 1}, {&here.id, 1}, Network::Way::one);
  EXPECT_EQ(here.write(client, std::string(100, 'a')), 100);
  EXPECT_EQ(there.read(server, 200).size(), 100u);
  Writing more(client, "more");
  EXPECT_EQ(here.submit(more), Submitted::pending);
  world.run_for(10 * kSecond);
  EXPECT_EQ(more.completions, 0) << "there is no room until it is acknowledged";
  EXPECT_EQ(there.write(server, "unheard"), 7);
  world.network.heal();
  EXPECT_EQ(here.await(more), 4);
  EXPECT_EQ(there.read(server), "more");
  EXPECT_EQ(here.read(client), "unheard");
}

TEST_F(Breaks, APartitionLeavesOthersAlone) {
  Machine& third = world.add("third");
  partition();
  const Handle listening = third.listener(80);
  EXPECT_EQ(here.at(here.socket(), Opcode::connect, third.address(80)), 0);
  EXPECT_EQ(there.at(there.socket(), Opcode::connect, third.address(80)), 0);
  EXPECT_EQ(third.close(listening), 0);
  const Handle own = here.listener(80);
  EXPECT_EQ(here.at(here.socket(), Opcode::connect, here.address(80)), 0) << "nor itself";
  EXPECT_EQ(here.close(own), 0);
}

TEST_F(Breaks, AResetThatDoesNotGetThroughIsSentAgainToWhoWrites) {
  connect();
  EXPECT_EQ(there.set(server, Option::linger_s, 0), 0);
  partition();
  EXPECT_EQ(there.close(server), 0);
  Reading reading(client);
  EXPECT_EQ(here.submit(reading), Submitted::pending);
  world.run_all();
  EXPECT_EQ(reading.completions, 0);
  world.network.heal();
  world.run_all();
  EXPECT_EQ(reading.completions, 0) << "nobody repeats it unasked";
  EXPECT_EQ(here.write(client, "x"), 1);
  EXPECT_EQ(here.await(reading), -ECONNRESET);
}

}  // namespace
}  // namespace jzx::drivers::sim

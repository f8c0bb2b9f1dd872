// Connections between simulated nodes, as long as nobody cuts or crashes anything.
#include "sim/world/world_fixture.hpp"

namespace jzx::drivers::sim {
namespace {

class SimulatedStreams : public TwoMachines {};

TEST_F(SimulatedStreams, TakeTheirLatencyInVirtualTime) {
  const uint64_t start_ns = world.clock.now_ns();
  connect();
  EXPECT_EQ(world.clock.now_ns() - start_ns, 2 * faults().least_latency_ns);
  EXPECT_EQ(here.write(client, "ping"), 4);
  EXPECT_EQ(there.read(server), "ping");
  EXPECT_EQ(there.write(server, "pong"), 4);
  EXPECT_EQ(here.read(client), "pong");
  EXPECT_EQ(world.clock.now_ns() - start_ns, 4 * faults().least_latency_ns);
  EXPECT_TRUE(world.choices.made().empty()) << "nothing could have happened otherwise";
}

TEST_F(SimulatedStreams, BothEndsKnowEachOther) {
  connect();
  EXPECT_EQ(here.name_of(client, Opcode::peer_name), there.address(80));
  EXPECT_EQ(there.name_of(server), there.address(80));
  EXPECT_EQ(there.name_of(server, Opcode::peer_name), here.name_of(client));
  EXPECT_EQ(here.name_of(client), here.address(here.name_of(client).port));
}

TEST_F(SimulatedStreams, WhoCallsWhereNobodyListensIsRefused) {
  EXPECT_EQ(here.at(here.socket(), Opcode::connect, there.address(80)), -ECONNREFUSED);
  const Handle bound = there.bound(80);
  EXPECT_EQ(here.at(here.socket(), Opcode::connect, there.address(80)), -ECONNREFUSED);
  EXPECT_EQ(there.close(bound), 0);
}

TEST_F(SimulatedStreams, WhoCallsNobodyGivesUpAfterAWhile) {
  faults().connect_timeout_ns = 7 * kSecond;
  const uint64_t start_ns = world.clock.now_ns();
  const Handle handle = here.socket();
  EXPECT_EQ(here.at(handle, Opcode::connect, Address::ipv4({8, 8, 8, 8}, 80)), -ETIMEDOUT);
  EXPECT_EQ(world.clock.now_ns() - start_ns, 7 * kSecond);
  const Handle listening = there.listener(80);
  EXPECT_EQ(here.at(handle, Opcode::connect, there.address(80)), 0) << "it may try another";
  world.run_all();
  Call accept(Opcode::accept, listening);
  EXPECT_GE(there.run(accept), 0);
  EXPECT_EQ(there.submit(accept), Submitted::pending) << "it has come once";
  EXPECT_EQ(world.network.events().size(), 0u) << "nothing of the first try is left";
  EXPECT_EQ(there.close(listening), 0);
  EXPECT_EQ(there.await(accept), -ECANCELED);
}

TEST_F(SimulatedStreams, WhoFindsTheQueueFullIsLetInWhenSomebodyIsAccepted) {
  const Handle listening = there.listener(80, 2);
  std::deque<Call> calls;
  Address to = there.address(80);
  for (int i = 0; i < 4; ++i) {
    calls.emplace_back(Opcode::connect, here.socket());
    calls.back().address = &to;
    EXPECT_EQ(here.submit(calls.back()), Submitted::pending);
  }
  world.run_for(faults().retransmit_ns - kMillisecond);
  EXPECT_EQ(here.reactor->pending_count(), 2u);
  for (int i = 0; i < 4; ++i) {
    Call accept(Opcode::accept, listening);
    EXPECT_GE(there.run(accept), 0);
  }
  for (Call& call : calls) EXPECT_EQ(here.await(call), 0);
}

TEST_F(SimulatedStreams, AQueueThatStaysFullTimesOut) {
  const Handle listening = there.listener(80, 1);
  EXPECT_EQ(here.at(here.socket(), Opcode::connect, there.address(80)), 0);
  EXPECT_EQ(here.at(here.socket(), Opcode::connect, there.address(80)), -ETIMEDOUT);
  EXPECT_EQ(there.close(listening), 0);
}

TEST_F(SimulatedStreams, WhoIsStillInTheQueueWhenTheListenerClosesIsReset) {
  const Handle listening = there.listener(80);
  const Handle handle = here.socket();
  EXPECT_EQ(here.at(handle, Opcode::connect, there.address(80)), 0);
  EXPECT_EQ(there.close(listening), 0);
  EXPECT_EQ(here.read(handle), "errno " + std::to_string(ECONNRESET));
}

TEST_F(SimulatedStreams, ACallerWhoHasGoneBeforeTheAnswerResetsTheConnection) {
  const Handle listening = there.listener(80);
  Call call(Opcode::connect, here.socket());
  Address to = there.address(80);
  call.address = &to;
  EXPECT_EQ(here.submit(call), Submitted::pending);
  world.run_for(faults().least_latency_ns);
  EXPECT_EQ(here.close(call.handle), 0);
  EXPECT_EQ(here.await(call), -ECANCELED);
  Call accept(Opcode::accept, listening);
  EXPECT_EQ(there.read(Handle{there.run(accept)}), "errno " + std::to_string(ECONNRESET));
}

TEST_F(SimulatedStreams, AnAddressIsTakenOnce) {
  const Handle first = there.bound(80);
  const Handle second = there.socket();
  EXPECT_EQ(there.at(second, Opcode::bind, Address::any(80)), -EADDRINUSE);
  EXPECT_EQ(there.at(second, Opcode::bind, there.address(80)), -EADDRINUSE);
  EXPECT_EQ(there.at(second, Opcode::bind, here.address(81)), -EADDRNOTAVAIL);
  EXPECT_GE(there.bound(80, SocketType::datagram).value, 0) << "of another kind";
  EXPECT_EQ(there.close(first), 0);
  EXPECT_EQ(there.at(second, Opcode::bind, Address::any(80)), 0);
  EXPECT_EQ(there.at(second, Opcode::bind, Address::any(81)), -EINVAL) << "it has one";
}

TEST_F(SimulatedStreams, ThoseWhoShareAPortAreCalledByChoice) {
  Prescribed second_first({1});
  World other_world(second_first);
  Machine& one = other_world.add("one");
  std::vector<Handle> listening;
  for (int i = 0; i < 2; ++i) {
    listening.push_back(one.socket());
    EXPECT_EQ(one.set(listening.back(), Option::reuse_port, 1), 0);
    EXPECT_EQ(one.at(listening.back(), Opcode::bind, Address::any(80)), 0);
    EXPECT_EQ(one.on(listening.back(), Opcode::listen), 0);
  }
  for (const size_t who : {1u, 0u}) {
    EXPECT_EQ(one.at(one.socket(), Opcode::connect, Address::loopback(80)), 0);
    Call accept(Opcode::accept, listening[who]);
    EXPECT_EQ(one.submit(accept), Submitted::done);
  }
}

TEST_F(SimulatedStreams, FreePortsAreGivenOneAfterTheOther) {
  const uint16_t first = here.name_of(here.bound(0)).port;
  EXPECT_EQ(here.name_of(here.bound(0)).port, first + 1);
  EXPECT_EQ(there.name_of(there.bound(0)).port, first) << "each node has its own";
}

TEST_F(SimulatedStreams, AWriterWaitsWhileNobodyReads) {
  faults().send_buffer_bytes = 1000;
  faults().receive_buffer_bytes = 500;
  connect();
  EXPECT_EQ(here.write(client, std::string(3000, 'a')), 1000) << "what there is room for";
  Writing more(client, std::string(700, 'b'));
  EXPECT_EQ(here.submit(more), Submitted::pending);
  world.run_all();
  // All of a segment is taken once there is room for a part of it.
  EXPECT_EQ(more.completions, 1) << more.result;
  Writing last(client, std::string(700, 'c'));
  while (here.submit(last) == Submitted::done) EXPECT_GT(last.result, 0);
  world.run_all();
  EXPECT_EQ(last.completions, 0);
  while (last.completions == 0) EXPECT_FALSE(there.read(server, 100).empty());
  EXPECT_GT(last.result, 0);
}

TEST_F(SimulatedStreams, OneDirectionMayEndBeforeTheOther) {
  connect();
  EXPECT_EQ(here.write(client, "last"), 4);
  EXPECT_EQ(here.on(client, Opcode::shutdown, static_cast<int64_t>(io::Direction::writing)), 0);
  EXPECT_EQ(here.write(client, "x"), -EPIPE);
  EXPECT_EQ(there.read(server), "last");
  EXPECT_EQ(there.read(server), "");
  EXPECT_EQ(there.write(server, "still here"), 10);
  EXPECT_EQ(here.read(client), "still here");
  EXPECT_EQ(there.close(server), 0);
  EXPECT_EQ(here.read(client), "");
}

TEST_F(SimulatedStreams, WhatWasWrittenBeforeACloseArrives) {
  connect();
  EXPECT_EQ(here.write(client, "farewell"), 8);
  EXPECT_EQ(here.close(client), 0);
  EXPECT_EQ(there.read(server), "farewell");
  EXPECT_EQ(there.read(server), "");
}

TEST_F(SimulatedStreams, ACloseWithUnreadBytesResets) {
  connect();
  EXPECT_EQ(there.write(server, "unread"), 6);
  world.run_all();
  EXPECT_EQ(here.close(client), 0);
  EXPECT_EQ(there.read(server), "errno " + std::to_string(ECONNRESET));
  EXPECT_EQ(there.read(server), "") << "it is told once";
  EXPECT_EQ(there.write(server, "x"), -EPIPE);
}

TEST_F(SimulatedStreams, ACloseThatDoesNotLingerResets) {
  connect();
  EXPECT_EQ(here.set(client, Option::linger_s, 0), 0);
  EXPECT_EQ(here.close(client), 0);
  EXPECT_EQ(there.read(server), "errno " + std::to_string(ECONNRESET));
}

TEST_F(SimulatedStreams, WhoWritesToOneThatHasClosedIsReset) {
  connect();
  EXPECT_EQ(there.close(server), 0);
  world.run_all();
  EXPECT_EQ(here.write(client, "into the void"), 13);
  EXPECT_EQ(here.read(client), "") << "the end was there before";
  world.run_all();
  EXPECT_EQ(here.write(client, "x"), -ECONNRESET);
  EXPECT_EQ(here.write(client, "x"), -EPIPE);
}

TEST_F(SimulatedStreams, AProcessThatEndsClosesWhatItHad) {
  connect();
  EXPECT_EQ(there.write(server, "bye"), 3);
  there.exit();
  EXPECT_EQ(here.read(client), "bye");
  EXPECT_EQ(here.read(client), "");
}

TEST_F(SimulatedStreams, WithoutAFreeHandleAnAcceptFailsAndTheNextMaySucceed) {
  const Handle listening = there.listener(80);
  EXPECT_EQ(here.at(here.socket(), Opcode::connect, there.address(80)), 0);
  world.network.limit_handles(there.id, 1);
  Call accept(Opcode::accept, listening);
  EXPECT_EQ(there.run(accept), -EMFILE);
  EXPECT_EQ(there.make_socket(), -EMFILE);
  Handle ends[2];
  Call pipe(Opcode::pipe);
  pipe.buffer = ends;
  EXPECT_EQ(there.run(pipe), -EMFILE);
  world.network.limit_handles(there.id, 2);
  EXPECT_EQ(there.run(pipe), -EMFILE) << "it needs two";
  EXPECT_GE(there.run(accept), 0);
}

}  // namespace
}  // namespace jzx::drivers::sim

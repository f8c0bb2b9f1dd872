// Datagrams between simulated nodes.
#include "sim/world/world_fixture.hpp"

namespace jzx::drivers::sim {
namespace {

class SimulatedDatagrams : public TwoMachines {
 protected:
  void SetUp() override {
    from = here.bound(1000, SocketType::datagram);
    to = there.bound(2000, SocketType::datagram);
  }
  int64_t send(std::string what) { return here.send(from, std::move(what), there.address(2000)); }
  // All that has arrived.
  std::string received() {
    std::string all;
    for (;;) {
      Reading receiving(to);
      receiving.opcode = Opcode::receive_from;
      if (there.submit(receiving) == Submitted::pending) {
        there.reactor->cancel(receiving);
        EXPECT_EQ(there.await(receiving), -ECANCELED);
        return all;
      }
      EXPECT_GE(receiving.result, 0);
      all += receiving.text() + " ";
    }
  }

  Handle from;
  Handle to;
};

TEST_F(SimulatedDatagrams, ArriveInOrderIfNothingElseIsChosen) {
  for (const char* text : {"a", "b", "c"}) EXPECT_EQ(send(text), 1);
  EXPECT_EQ(received(), "") << "they are on the way";
  world.run_all();
  EXPECT_EQ(received(), "a b c ");
}

TEST_F(SimulatedDatagrams, AreNotOvertakenByQuickerOnes) {
  faults().most_latency_ns = 10 * faults().least_latency_ns;
  policy.then({500'000, 0});
  for (const char* text : {"slow", "quick"}) EXPECT_GT(send(text), 0);
  world.run_all();
  EXPECT_EQ(received(), "slow quick ");
}

TEST_F(SimulatedDatagrams, MayBeLost) {
  faults().loss_per_million = 1;
  policy.then({0, kAlways - 1, 0});
  for (const char* text : {"a", "b", "c"}) EXPECT_EQ(send(text), 1);
  world.run_all();
  EXPECT_EQ(received(), "a c ");
}

TEST_F(SimulatedDatagrams, MayComeTwice) {
  faults().duplication_per_million = 1;
  policy.then({0, kAlways - 1, 0});
  for (const char* text : {"a", "b", "c"}) EXPECT_EQ(send(text), 1);
  world.run_all();
  EXPECT_EQ(received(), "a b b c ");
}

TEST_F(SimulatedDatagrams, MayBeOvertaken) {
  faults().reorder_per_million = 1;
  policy.then({kAlways - 1, 100, 0, 0});
  for (const char* text : {"a", "b", "c"}) EXPECT_EQ(send(text), 1);
  world.run_all();
  EXPECT_EQ(received(), "b c a ");
}

TEST_F(SimulatedDatagrams, AreLostInAPartitionAlsoThoseOnTheWay) {
  EXPECT_EQ(send("a"), 1);
  world.network.partition({&here.id, 1}, {&there.id, 1}, Network::Way::one);
  EXPECT_EQ(send("b"), 1);
  EXPECT_EQ(there.send(to, "back", here.address(1000)), 4);
  world.run_all();
  EXPECT_EQ(received(), "");
  EXPECT_EQ(here.read(from), "back") << "the other way is open";
  world.network.heal();
  EXPECT_EQ(send("c"), 1);
  world.run_all();
  EXPECT_EQ(received(), "c ");
}

TEST_F(SimulatedDatagrams, FindNoRoomInAFullQueue) {
  EXPECT_EQ(there.set(to, Option::receive_buffer, 200), 0);
  for (const char* text : {"a", "b", "c", "d", "e"}) EXPECT_EQ(send(text), 1);
  world.run_all();
  EXPECT_EQ(received(), "a b c ");
}

TEST_F(SimulatedDatagrams, AConnectedOneHearsThatNobodyListens) {
  EXPECT_EQ(here.at(from, Opcode::connect, there.address(2001)), 0);
  EXPECT_EQ(here.write(from, "x"), 1);
  world.run_all();
  EXPECT_EQ(here.write(from, "x"), -ECONNREFUSED);
  there.crash();
  world.run_all();
  EXPECT_EQ(here.write(from, "x"), 1);
  world.run_all();
  EXPECT_EQ(here.write(from, "x"), 1) << "a node that is down says nothing";
}

TEST_F(SimulatedDatagrams, AConnectedOneHearsItsPeerOnly) {
  EXPECT_EQ(there.at(to, Opcode::connect, here.address(1001)), 0);
  EXPECT_EQ(send("stranger"), 8);
  const Handle peer = here.bound(1001, SocketType::datagram);
  EXPECT_EQ(here.send(peer, "friend", there.address(2000)), 6);
  world.run_all();
  EXPECT_EQ(received(), "friend ");
}

TEST_F(SimulatedDatagrams, ThoseOfADeadSenderStillArrive) {
  EXPECT_EQ(send("last words"), 10);
  here.crash();
  world.run_all();
  EXPECT_EQ(received(), "last words ");
}

TEST_F(SimulatedDatagrams, AUnixSenderWaitsForRoom) {
  const Handle near{here.make_socket(SocketType::datagram, Family::local)};
  const Handle far{here.make_socket(SocketType::datagram, Family::local)};
  EXPECT_EQ(here.at(near, Opcode::bind, Address::local("/near")), 0);
  EXPECT_EQ(here.set(near, Option::receive_buffer, 100), 0);
  EXPECT_EQ(here.send(far, "one", Address::local("/near")), 3);
  Writing second(far, "second");
  second.opcode = Opcode::send_to;
  Address target = Address::local("/near");
  second.address = &target;
  EXPECT_EQ(here.submit(second), Submitted::pending);
  EXPECT_EQ(here.read(near), "one");
  EXPECT_EQ(here.await(second), 6);
  EXPECT_EQ(here.read(near), "second");
  EXPECT_EQ(here.close(near), 0);
  EXPECT_EQ(here.send(far, "x", Address::local("/near")), -ECONNREFUSED) << "the path stays";
  EXPECT_EQ(here.at(far, Opcode::bind, Address::local("/near")), -EADDRINUSE);
}

TEST_F(SimulatedDatagrams, APathThatWasRemovedIsFreeForAnother) {
  const Handle first{here.make_socket(SocketType::datagram, Family::local)};
  const Handle second{here.make_socket(SocketType::datagram, Family::local)};
  std::string path = "/path";
  EXPECT_EQ(here.at(first, Opcode::bind, Address::local(path)), 0);
  Call remove(Opcode::remove);
  remove.buffer = path.data();
  EXPECT_EQ(here.run(remove), 0);
  EXPECT_EQ(here.at(second, Opcode::bind, Address::local(path)), 0);
  EXPECT_EQ(here.close(first), 0);
  EXPECT_EQ(here.send(second, "me", Address::local(path)), 2) << "it is still found";
  EXPECT_EQ(here.read(second), "me");
}

}  // namespace
}  // namespace jzx::drivers::sim

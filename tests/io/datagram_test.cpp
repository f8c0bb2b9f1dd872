// Datagrams: UDP and Unix.
#include "io/operation_fixture.hpp"

namespace jzx::io {
namespace {

class Datagrams : public OperationTest {
 protected:
  Handle bound(const Address& at) {
    const Handle handle = socket(at.family, SocketType::datagram);
    EXPECT_EQ(with_address(Opcode::bind, handle, at), 0);
    return handle;
  }
  int64_t send(Handle from, std::string what, const Address* to) {
    Writing sending(from, std::move(what));
    sending.opcode = Opcode::send_to;
    Address target = to == nullptr ? Address{} : *to;
    sending.address = to == nullptr ? nullptr : &target;
    return run(sending);
  }
};
JZX_TEST_ALL_REACTORS(Datagrams);

TEST_P(Datagrams, OneArrivesWithItsSender) {
  const Handle here = bound(loopback());
  const Handle there = bound(loopback());
  const Address to = name_of_socket(here);
  Address sender;
  Reading receiving(here);
  receiving.opcode = Opcode::receive_from;
  receiving.address = &sender;
  EXPECT_EQ(submit(receiving), Submitted::pending);
  EXPECT_EQ(send(there, "hello", &to), 5);
  EXPECT_EQ(await(receiving), 5);
  EXPECT_EQ(receiving.text(), "hello");
  EXPECT_EQ(sender, name_of_socket(there));
}

TEST_P(Datagrams, EachKeepsItsBordersAndAnEmptyOneIsNoEnd) {
  const Handle here = bound(loopback());
  const Handle there = bound(loopback());
  const Address to = name_of_socket(here);
  for (const char* text : {"one", "", "three"}) EXPECT_GE(send(there, text, &to), 0);
  for (const char* text : {"one", "", "three"}) {
    Reading receiving(here);
    receiving.opcode = Opcode::receive_from;
    EXPECT_EQ(run(receiving), static_cast<int64_t>(std::string_view(text).size()));
    EXPECT_EQ(receiving.text(), text);
  }
}

TEST_P(Datagrams, OneThatDoesNotFitIsCutOffAndSaysHowLongItWas) {
  const Handle here = bound(loopback());
  const Handle there = bound(loopback());
  const Address to = name_of_socket(here);
  EXPECT_EQ(send(there, "0123456789", &to), 10);
  EXPECT_EQ(send(there, "next", &to), 4);
  Reading receiving(here, 4);
  receiving.opcode = Opcode::receive_from;
  EXPECT_EQ(run(receiving), 10);
  EXPECT_EQ(receiving.bytes, "0123");
  EXPECT_EQ(run(receiving), 4);
  EXPECT_EQ(receiving.bytes, "next") << "the rest is gone";
}

TEST_P(Datagrams, AConnectedOneNeedsNoAddressAndHearsThatNobodyListens) {
  const Handle here = bound(loopback());
  const Handle there = bound(loopback());
  EXPECT_EQ(with_address(Opcode::connect, there, name_of_socket(here)), 0);
  EXPECT_EQ(send(there, "x", nullptr), 1);
  EXPECT_EQ(read(here), "x");
  EXPECT_EQ(close(here), 0);
  Reading receiving(there);
  receiving.opcode = Opcode::receive_from;
  EXPECT_EQ(submit(receiving), Submitted::pending);
  EXPECT_EQ(send(there, "x", nullptr), 1);
  EXPECT_EQ(await(receiving), -ECONNREFUSED);
}

TEST_P(Datagrams, UnixDatagramsHaveNamesToo) {
  const std::string name =
      std::string(1, '\0') + "jzx_datagram_" + name_of(GetParam()) + std::to_string(::getpid());
  const Handle here = bound(Address::local(name));
  const Handle there = bound(Address::local(name + "_there"));
  const Address to = name_of_socket(here);
  EXPECT_EQ(send(there, "local", &to), 5);
  Address sender;
  Reading receiving(here);
  receiving.opcode = Opcode::receive_from;
  receiving.address = &sender;
  EXPECT_EQ(run(receiving), 5);
  EXPECT_EQ(sender.path(), name + "_there");
}

TEST_P(Datagrams, OneTooLongIsRefused) {
  const Handle there = bound(loopback());
  const Address to = name_of_socket(there);
  EXPECT_EQ(send(there, std::string(70'000, 'x'), &to), -EMSGSIZE);
}

}  // namespace
}  // namespace jzx::io

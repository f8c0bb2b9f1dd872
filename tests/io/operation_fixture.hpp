// What the tests of the operations share: an operation that counts its completions, and a reactor
// of each backend that runs one to its end, however it is done.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "io/reactor_fixture.hpp"

namespace jzx::io {

class Call : public Operation {
 public:
  explicit Call(Opcode what, Handle on = {}) : Operation(what, &Call::completed) { handle = on; }
  ~Call() { EXPECT_LE(completions, submissions) << "more completions than submissions"; }

  int submissions = 0;
  int completions = 0;
  std::function<void()> then;  // runs inside the completion

 private:
  static void completed(Operation& operation) {
    auto& self = static_cast<Call&>(operation);
    ++self.completions;
    if (self.then) self.then();
  }
};

// Reads into a buffer of its own.
struct Reading : Call {
  explicit Reading(Handle from, size_t room = 64) : Call(Opcode::read, from), bytes(room, '\0') {
    buffer = bytes.data();
    size = bytes.size();
  }
  [[nodiscard]] std::string text() const {
    return result > 0 ? bytes.substr(0, std::min(bytes.size(), static_cast<size_t>(result))) : "";
  }
  std::string bytes;
};

struct Writing : Call {
  Writing(Handle to, std::string what) : Call(Opcode::write, to), bytes(std::move(what)) {
    buffer = bytes.data();
    size = bytes.size();
  }
  std::string bytes;
};

class OperationTest : public ReactorTest {
 protected:
  void TearDown() override {
    if (reactor != nullptr) {
      for (const Handle handle : handles_) (void)close(handle);
      EXPECT_EQ(reactor->pending_count(), 0u);
    }
    ReactorTest::TearDown();
  }

  Submitted submit(Call& call) {
    ++call.submissions;
    const int before = call.completions;
    const Submitted submitted = reactor->submit(call);
    EXPECT_EQ(call.completions, before) << "completed from inside submit()";
    if (submitted != Submitted::pending) --call.submissions;
    return submitted;
  }
  // The completion of one that is pending.
  int64_t await(Call& call) {
    const int wanted = call.submissions;
    while (call.completions < wanted) {
      if (reactor->wait(base::kNever) != 0) ADD_FAILURE();
    }
    EXPECT_EQ(call.completions, wanted);
    return call.result;
  }
  // Whatever it takes.
  int64_t run(Call& call) {
    switch (submit(call)) {
      case Submitted::done:
        break;
      case Submitted::pending:
        return await(call);
      case Submitted::must_block:
        reactor->perform(call);
        break;
    }
    return call.result;
  }

  // ---- handles, closed at the end ----

  Handle keep(int64_t result) {
    EXPECT_GE(result, 0);
    handles_.push_back(Handle{result});
    return Handle{result};
  }
  int64_t close(Handle handle) {
    std::erase(handles_, handle);
    Call call(Opcode::close, handle);
    return run(call);
  }
  // When there is no reactor any more.
  void close_all_by_hand() {
    for (const Handle handle : std::exchange(handles_, {})) {
      if (is_simulated()) continue;
      ::close(static_cast<int>(handle.value & INT32_MAX));
    }
  }
  std::array<Handle, 2> two(Opcode what) {
    std::array<Handle, 2> ends;
    Call call(what);
    call.buffer = ends.data();
    EXPECT_EQ(run(call), 0);
    for (const Handle end : ends) keep(end.value);
    return ends;
  }
  std::array<Handle, 2> pipe() { return two(Opcode::pipe); }
  std::array<Handle, 2> socket_pair() { return two(Opcode::socket_pair); }

  Handle socket(Family family, SocketType type = SocketType::stream) {
    Address where;
    where.family = family;
    Call call(Opcode::socket);
    call.address = &where;
    call.value = static_cast<int64_t>(type);
    return keep(run(call));
  }
  int64_t with_address(Opcode what, Handle on, Address address) {
    Call call(what, on);
    call.address = &address;
    return run(call);
  }
  Address name_of_socket(Handle handle, Opcode what = Opcode::local_name) {
    Address name;
    Call call(what, handle);
    call.address = &name;
    EXPECT_EQ(run(call), 0);
    return name;
  }
  int64_t with_value(Opcode what, Handle on, int64_t value) {
    Call call(what, on);
    call.value = value;
    return run(call);
  }
  static Address loopback() { return Address::ipv4({127, 0, 0, 1}, 0); }

  // Bound to a free port of the loopback, or to the path.
  Handle listener(const Address& at = loopback()) {
    const Handle handle = socket(at.family);
    EXPECT_EQ(with_address(Opcode::bind, handle, at), 0);
    EXPECT_EQ(with_value(Opcode::listen, handle, 0), 0);
    return handle;
  }
  // Both ends of a connection.
  std::array<Handle, 2> connection(const Address& at = loopback()) {
    const Handle listening = listener(at);
    const Address address = name_of_socket(listening);
    const Handle client = socket(address.family);
    Call connect(Opcode::connect, client);
    Address target = address;
    connect.address = &target;
    const Submitted submitted = submit(connect);
    Call accept(Opcode::accept, listening);
    const Handle server = keep(run(accept));
    if (submitted == Submitted::pending) await(connect);
    EXPECT_EQ(connect.result, 0);
    EXPECT_EQ(close(listening), 0);
    return {client, server};
  }

  int64_t write(Handle to, std::string what) {
    Writing writing(to, std::move(what));
    return run(writing);
  }
  std::string read(Handle from, size_t room = 64) {
    Reading reading(from, room);
    EXPECT_GE(run(reading), 0);
    return reading.text();
  }
  std::string read_exactly(Handle from, size_t size) {
    std::string all;
    while (all.size() < size) {
      const std::string part = read(from, size - all.size());
      if (part.empty()) break;
      all += part;
    }
    return all;
  }

 private:
  std::vector<Handle> handles_;
};

}  // namespace jzx::io

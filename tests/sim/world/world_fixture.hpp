// What the tests of the simulated world share: policies that need no simulator, and a world whose
// machines run operations to their end, moving the virtual time when nothing else can happen.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "base/time/clock.hpp"
#include "drivers/sim/world/sim_reactor.hpp"
#include "io/operation_fixture.hpp"

namespace jzx::drivers::sim {

using io::Address;
using io::Call;
using io::Family;
using io::Handle;
using io::Opcode;
using io::Option;
using io::Reading;
using io::SocketType;
using io::Submitted;
using io::Writing;

// The choices of a list, and then plain ones.
class Prescribed final : public Policy {
 public:
  explicit Prescribed(std::vector<uint32_t> list = {}) : list_(std::move(list)) {}
  // What comes next, whatever is left of the list.
  void then(std::vector<uint32_t> list) {
    list_ = std::move(list);
    next_ = 0;
  }
  uint32_t choose(uint32_t count, ChoiceSite) override {
    const uint32_t wanted = next_ < list_.size() ? list_[next_++] : 0;
    return wanted < count ? wanted : count - 1;
  }
  bool chance(uint32_t, ChoiceSite site) override { return choose(2, site) == 1; }

 private:
  std::vector<uint32_t> list_;
  size_t next_ = 0;
};

// To make a run again.
inline std::vector<uint32_t> taken_of(const std::vector<Choice>& made) {
  std::vector<uint32_t> taken;
  for (const Choice& choice : made) taken.push_back(choice.taken);
  return taken;
}

class Random final : public Policy {
 public:
  explicit Random(uint64_t seed) : prng_(seed) {}
  uint32_t choose(uint32_t count, ChoiceSite) override { return prng_.below(count); }

 private:
  base::Prng prng_;
};

inline constexpr uint32_t kAlways = 1'000'000;
inline constexpr uint32_t kOften = 300'000;

class World;

// A node, its disk, and the process that runs there.
class Machine {
 public:
  Machine(World& world, const std::string& name);

  Submitted submit(Call& call);
  int64_t await(Call& call);
  int64_t run(Call& call) { return submit(call) == Submitted::pending ? await(call) : call.result; }

  int64_t on(Handle handle, Opcode what, int64_t value = 0) {
    Call call(what, handle);
    call.value = value;
    return run(call);
  }
  int64_t at(Handle handle, Opcode what, Address address) {
    Call call(what, handle);
    call.address = &address;
    return run(call);
  }
  int64_t set(Handle handle, Option option, int64_t value) {
    Call call(Opcode::set_option, handle);
    call.option = option;
    call.value = value;
    return run(call);
  }
  int64_t close(Handle handle) { return on(handle, Opcode::close); }
  int64_t make_socket(SocketType type = SocketType::stream, Family family = Family::ipv4) {
    Address where;
    where.family = family;
    Call call(Opcode::socket);
    call.address = &where;
    call.value = static_cast<int64_t>(type);
    return run(call);
  }
  Handle socket(SocketType type = SocketType::stream) {
    const int64_t made = make_socket(type);
    EXPECT_GE(made, 0);
    return Handle{made};
  }
  Handle bound(uint16_t port, SocketType type = SocketType::stream) {
    const Handle handle = socket(type);
    EXPECT_EQ(at(handle, Opcode::bind, Address::any(port)), 0);
    return handle;
  }
  Handle listener(uint16_t port, int64_t backlog = 0) {
    const Handle handle = bound(port);
    EXPECT_EQ(on(handle, Opcode::listen, backlog), 0);
    return handle;
  }
  Address name_of(Handle handle, Opcode what = Opcode::local_name) {
    Address name;
    Call call(what, handle);
    call.address = &name;
    EXPECT_EQ(run(call), 0);
    return name;
  }
  int64_t write(Handle to, std::string what) {
    Writing writing(to, std::move(what));
    return run(writing);
  }
  // What is read, or "errno 104".
  std::string read(Handle from, size_t room = 64) {
    Reading reading(from, room);
    const int64_t result = run(reading);
    return result < 0 ? "errno " + std::to_string(-result) : reading.text();
  }
  int64_t send(Handle from, std::string what, Address to) {
    Writing sending(from, std::move(what));
    sending.opcode = Opcode::send_to;
    sending.address = &to;
    return run(sending);
  }

  [[nodiscard]] Address address(uint16_t port) const;
  void crash();
  void restart();
  // The process ends, and the machine does not.
  void exit() { reactor.reset(); }

  World& world;
  const NodeId id;
  Disk disk;
  std::unique_ptr<SimReactor> reactor;
};

class World {
 public:
  explicit World(Policy& policy) : choices(policy) {}

  Machine& add(const std::string& name) { return machines.emplace_back(*this, name); }

  // What is due, and everybody hears of it. False: nothing was.
  bool step() {
    bool is_news = network.events().run_due(clock.now_ns()) > 0;
    for (Machine& machine : machines) {
      if (machine.reactor == nullptr || !machine.reactor->has_news()) continue;
      EXPECT_EQ(machine.reactor->wait(0), 0);
      is_news = true;
    }
    return is_news;
  }
  // To the next event. False: there is none.
  bool leap() {
    const uint64_t next_ns = network.events().next_ns();
    if (next_ns == base::kNever) return false;
    clock.advance_ns(next_ns - clock.now_ns());
    return true;
  }
  // False: it never is.
  bool run_until(const std::function<bool()>& is_so) {
    while (!is_so()) {
      if (!step() && !leap()) return false;
    }
    return true;
  }
  void run_all() {
    while (step() || leap()) {
    }
  }
  void run_for(uint64_t ns) {
    const uint64_t end_ns = clock.now_ns() + ns;
    for (;;) {
      if (step()) continue;
      if (network.events().next_ns() > end_ns) break;
      (void)leap();
    }
    clock.advance_ns(end_ns - clock.now_ns());
  }

  base::ManualClock clock{false};
  Choices choices;
  Network network{clock, choices};
  std::deque<Machine> machines;  // end before the network
};

inline Machine::Machine(World& the_world, const std::string& name)
    : world(the_world),
      id(world.network.add_node(name)),
      disk(world.choices),
      reactor(std::make_unique<SimReactor>(world.network, id, disk)) {}

inline Submitted Machine::submit(Call& call) {
  const int before = call.completions;
  const Submitted submitted = reactor->submit(call);
  EXPECT_EQ(call.completions, before) << "completed from inside submit()";
  EXPECT_NE(submitted, Submitted::must_block);
  if (submitted == Submitted::pending) ++call.submissions;
  return submitted;
}

inline int64_t Machine::await(Call& call) {
  const int wanted = call.submissions;
  if (!world.run_until([&] { return call.completions >= wanted; })) {
    ADD_FAILURE() << "never completed";
    reactor->cancel(call);
    world.run_all();
    return -EDEADLK;
  }
  EXPECT_EQ(call.completions, wanted);
  return call.result;
}

inline Address Machine::address(uint16_t port) const {
  return world.network.address_of(id, Family::ipv4, port);
}

inline void Machine::crash() {
  world.network.crash(id);
  reactor.reset();
}

inline void Machine::restart() {
  world.network.restart(id);
  reactor = std::make_unique<SimReactor>(world.network, id, disk);
}

// Two machines, and a connection between them.
class TwoMachines : public ::testing::Test {
 protected:
  explicit TwoMachines(std::vector<uint32_t> list = {}) : policy(std::move(list)) {}

  void TearDown() override {
    for (Machine& machine : world.machines) {
      EXPECT_TRUE(machine.reactor == nullptr || machine.reactor->pending_count() == 0);
    }
  }

  void connect(uint16_t port = 80) {
    const Handle listening = there.listener(port);
    client = here.socket();
    EXPECT_EQ(here.at(client, Opcode::connect, there.address(port)), 0);
    Call accept(Opcode::accept, listening);
    server = Handle{there.run(accept)};
    EXPECT_EQ(there.close(listening), 0);
  }
  void partition(Network::Way way = Network::Way::both) {
    world.network.partition({&here.id, 1}, {&there.id, 1}, way);
  }
  NetworkFaults& faults() { return world.network.faults; }

  Prescribed policy;
  World world{policy};
  Machine& here = world.add("here");
  Machine& there = world.add("there");
  Handle client;  // here
  Handle server;  // there
};

}  // namespace jzx::drivers::sim

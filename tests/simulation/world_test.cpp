// The code that serves sockets and files for real, on simulated ones.
#include <gtest/gtest.h>

#include <jzx/jzx.hpp>
#include <jzx/sim/simulation.hpp>

#include <array>
#include <csignal>
#include <string>

namespace jzx {
namespace {

using namespace std::chrono_literals;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

Task<void> echo(net::Stream stream) {
  std::array<std::byte, 64> buffer;
  for (;;) {
    auto reading = stream.read(buffer);
    const size_t count = co_await co_await reading;
    if (count == 0) co_return;
    auto writing = stream.write_all(std::span<const std::byte>(buffer).first(count));
    co_await co_await writing;
  }
}

// Until it is cancelled; each connection is an actor of its own.
Task<void> serve(net::Address address) {
  auto opened = net::Listener::open(address);
  net::Listener listener = co_await opened;
  for (;;) {
    auto accepting = listener.accept();
    net::Stream stream = co_await co_await accepting;
    (void)spawn_async(echo(std::move(stream)));
  }
}

Task<std::string> call(net::Address address, std::string text) {
  auto connecting = net::Stream::connect(address);
  net::Stream stream = co_await co_await connecting;
  auto writing = stream.write_all(bytes_of(text));
  co_await co_await writing;
  std::string answer(text.size(), '\0');
  auto reading = stream.read_exact(std::as_writable_bytes(std::span(answer)));
  co_await co_await reading;
  co_return answer;
}

Task<std::string> call_for_a_while(net::Address address, std::string text) {
  auto calling = with_timeout(10s, call(address, std::move(text)));
  std::string answer = co_await co_await calling;
  co_return answer;
}

SimOptions seeds(const char* name, uint32_t count) {
  SimOptions options;
  options.name = name;
  options.seeds = count;
  options.check_determinism = true;
  return options;
}

constexpr uint16_t kPort = 7;

// Whatever happens to it, there is soon another one.
void start_server(SimNode& node) {
  SupervisorOptions options;
  options.intensity = 1000;
  (void)node.supervise(options,
                       {child_async("server", [] { return serve(net::Address::any(kPort)); })});
}

TEST(SimulatedNetwork, CarriesWhatOneNodeSendsToAnother) {
  const SimReport report = simulate(seeds("x", 20), [](Sim& sim) {
    SimNode& server = sim.node("server");
    server.on_start(start_server);
    SimNode& client = sim.node("client");
    sim.run_for(1ms);
    auto answer = sim.run_until(client.spawn_async(call(server.address(kPort), "hello")));
    sim.check(answer.ok() && *answer == "hello", "the echo comes back");
    sim.check(sim.now() < 1s, "and does not take long");
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(SimulatedNetwork, RefusesWhereNobodyListens) {
  const SimReport report = simulate(seeds("x", 5), [](Sim& sim) {
    SimNode& server = sim.node("server");
    auto answer = sim.run_until(sim.spawn_async(call(server.address(kPort), "hello")));
    sim.check(!answer.ok() && answer.error().system_code() == ECONNREFUSED, "nobody listens");
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(SimulatedNetwork, GivesUpAcrossAPartitionAndGoesOnAfterIt) {
  const SimReport report = simulate(seeds("x", 5), [](Sim& sim) {
    SimNode& server = sim.node("server");
    server.on_start(start_server);
    SimNode& client = sim.node("client");
    sim.run_for(1ms);
    sim.network().partition(server, client);
    auto lost = sim.run_until(client.spawn_async(call(server.address(kPort), "hello")));
    sim.check(!lost.ok() && lost.error().system_code() == ETIMEDOUT, "nobody answers");
    auto late = client.spawn_async(call(server.address(kPort), "hello"));
    sim.run_for(5s);
    sim.network().heal();
    auto answer = sim.run_until(std::move(late));
    sim.check(answer.ok() && *answer == "hello", "it gets through in the end");
  });
  EXPECT_TRUE(report) << report.text();
}

// Every call is answered rightly, or fails: whatever goes wrong, nobody gets another's answer.
TEST(SimulatedNetwork, NeverGivesAWrongAnswerWhateverGoesWrong) {
  SimOptions options = seeds("x", 200);
  options.faults = SimFaults::all();
  options.faults.allocation = 0;
  options.swarm = true;
  uint64_t answered = 0;
  uint64_t failed = 0;
  const SimReport report = simulate(options, [&](Sim& sim) {
    SimNode& server = sim.node("server");
    server.on_start(start_server);
    SimNode& client = sim.node("client");
    sim.run_for(1ms);
    for (int i = 0; i < 5; ++i) {
      const std::string text = "question " + std::to_string(i);
      auto answer =
          sim.run_until(client.spawn_async(call_for_a_while(server.address(kPort), text)));
      answer.ok() ? ++answered : ++failed;
      if (answer.ok()) sim.check(*answer == text, "the answer is the question's");
    }
    sim.heal();
    sim.run_for(60s);
    auto answer = sim.run_until(client.spawn_async(call(server.address(kPort), "last")));
    sim.check(answer.ok() && *answer == "last", "healed, it works");
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_GT(answered, 100u);
  EXPECT_GT(failed, 10u);
}

TEST(SimulatedNetwork, IsAsSlowAsItsFaultsSay) {
  SimOptions options = seeds("x", 3);
  options.faults.network.least_latency_ns = 2 * sim_units::kSecond;
  options.faults.network.most_latency_ns = 2 * sim_units::kSecond;
  const SimReport report = simulate(options, [](Sim& sim) {
    SimNode& server = sim.node("server");
    server.on_start(start_server);
    SimNode& client = sim.node("client");
    auto answer = sim.run_until(client.spawn_async(call(server.address(kPort), "hello")));
    sim.check(answer.ok(), "it comes");
    sim.check(sim.now() >= 8s, "there and back to connect, there and back to ask");
    sim.heal();
    const auto before = sim.now();
    auto again = sim.run_until(client.spawn_async(call(server.address(kPort), "hello")));
    sim.check(again.ok() && sim.now() - before < 1s, "healed, it is quick");
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(SimulatedNetwork, ResetsConnectionsIfItsFaultsSaySo) {
  SimOptions options = seeds("x", 3);
  options.faults.network.reset_per_million = 1'000'000;
  const SimReport report = simulate(options, [](Sim& sim) {
    SimNode& server = sim.node("server");
    server.on_start(start_server);
    SimNode& client = sim.node("client");
    auto answer = sim.run_until(client.spawn_async(call(server.address(kPort), "hello")));
    sim.check(!answer.ok(), "it does not come");
  });
  EXPECT_TRUE(report) << report.text();
}

// ---- disks ----

Task<void> append(std::string path, std::string text, bool is_synced) {
  net::OpenMode mode;
  mode.write = true;
  mode.create = true;
  auto opening = net::File::open(path, mode);
  net::File file = co_await co_await opening;
  auto sizing = file.size();
  const uint64_t end = co_await co_await sizing;
  auto writing = file.write_all_at(end, bytes_of(text));
  co_await co_await writing;
  if (is_synced) {
    auto syncing = file.sync();
    co_await co_await syncing;
  }
}

TEST(SimulatedDisk, KeepsWhatWasSyncedThroughACrash) {
  bool was_lost = false;
  bool was_kept = false;
  const SimReport report = simulate(seeds("x", 100), [&](Sim& sim) {
    SimNode& node = sim.node("node");
    auto safe = sim.run_until(node.spawn_async(append("log", "safe", true)));
    sim.check(safe.ok(), "written and synced");
    auto unsafe = sim.run_until(node.spawn_async(append("log", " unsafe", false)));
    sim.check(unsafe.ok(), "written");
    sim.check(node.file("log") == "safe unsafe", "as it is read");
    node.restart();
    const std::string left = node.file("log").value_or("");
    sim.check(left.starts_with("safe"), "what was synced is there");
    was_lost |= left == "safe";
    was_kept |= left == "safe unsafe";
  });
  EXPECT_TRUE(report) << report.text();
  EXPECT_TRUE(was_lost);
  EXPECT_TRUE(was_kept);
}

TEST(SimulatedDisk, FailsIfItsFaultsSaySo) {
  SimOptions options = seeds("x", 3);
  options.faults.disk.write_error_per_million = 1'000'000;
  const SimReport report = simulate(options, [](Sim& sim) {
    auto written = sim.run_until(sim.spawn_async(append("log", "text", true)));
    sim.check(!written.ok() && written.error().system_code() == EIO, "also on the first node");
    sim.heal();
    auto again = sim.run_until(sim.spawn_async(append("log", "text", true)));
    sim.check(again.ok(), "healed, it works");
  });
  EXPECT_TRUE(report) << report.text();
}

TEST(SimulatedNodes, GetSignals) {
  const SimReport report = simulate(seeds("x", 5), [](Sim& sim) {
    SimNode& node = sim.node("node");
    auto waiting = node.spawn_async([]() -> Task<int> {
      auto opened = net::Signal::open(SIGTERM);
      net::Signal signal = co_await opened;
      auto next = signal.next();
      (void)co_await co_await next;
      co_return 1;
    }());
    sim.run();
    sim.check(node.raise(SIGTERM) == 1, "one listens");
    auto got = sim.run_until(std::move(waiting));
    sim.check(got.ok(), "and hears");
  });
  EXPECT_TRUE(report) << report.text();
}

}  // namespace
}  // namespace jzx

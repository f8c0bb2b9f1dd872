// A log that a small store writes before it says yes, on a disk that is switched off at any moment.
// Three mistakes that people make are planted, and found; without them nothing is.
#include <gtest/gtest.h>

#include <jzx/jzx.hpp>
#include <jzx/sim/simulation.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace jzx {
namespace {

using namespace std::chrono_literals;

struct Mistakes {
  bool says_yes_before_sync = false;
  bool has_no_checksum = false;  // so that a torn record passes for a whole one
  bool syncs_only_once = false;  // and goes on after a sync that failed
};

// A record: size, sum, bytes. Long enough to be torn: a sector of a disk is 512 bytes.
constexpr size_t kRecordBytes = 2000;

uint32_t sum_of(std::string_view bytes) {
  uint32_t sum = 2166136261u;
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619u;
  return sum;
}

std::string record_of(uint32_t number) {
  std::string bytes(kRecordBytes, static_cast<char>('a' + number % 26));
  const uint32_t head[2] = {number, sum_of(bytes)};
  std::string record(reinterpret_cast<const char*>(head), sizeof head);
  return record + bytes;
}

struct Recovered {
  std::vector<uint32_t> numbers;
  bool is_damaged = false;  // a record was taken for good that is not
};

// What a store finds when it starts: records up to the first that is not whole.
Recovered recover(const std::string& log, const Mistakes& mistakes) {
  Recovered found;
  constexpr size_t kWhole = 8 + kRecordBytes;
  for (size_t at = 0; at + kWhole <= log.size(); at += kWhole) {
    uint32_t head[2];
    std::memcpy(head, log.data() + at, sizeof head);
    const std::string_view bytes(log.data() + at + 8, kRecordBytes);
    const bool is_whole = sum_of(bytes) == head[1];
    if (!mistakes.has_no_checksum && !is_whole) break;
    if (mistakes.has_no_checksum && head[0] == 0) break;
    found.is_damaged |= !is_whole;
    found.numbers.push_back(head[0]);
  }
  return found;
}

Task<void> store(Mistakes mistakes, uint32_t first, std::vector<uint32_t>* promised) {
  net::OpenMode mode;
  mode.write = true;
  mode.create = true;
  auto opening = net::File::open("log", mode);
  net::File file = co_await co_await opening;
  uint64_t end = uint64_t{first - 1} * (8 + kRecordBytes);
  auto cutting = file.truncate(end);  // what is behind was not whole
  co_await co_await cutting;
  for (uint32_t number = first; number < first + 5; ++number) {
    const std::string record = record_of(number);
    auto writing = file.write_all_at(end, std::as_bytes(std::span(record)));
    co_await co_await writing;
    end += record.size();
    if (mistakes.says_yes_before_sync) promised->push_back(number);
    auto syncing = file.sync();
    Result<void> synced = co_await syncing;
    if (!synced.ok() && !mistakes.syncs_only_once) co_await synced;  // ends here: trust nothing
    if (!mistakes.says_yes_before_sync) promised->push_back(number);
  }
}

SimReport run_store(const Mistakes& mistakes, uint32_t seeds) {
  SimOptions options;
  options.name = "Wal";
  options.seeds = seeds;
  options.faults.crash = 150'000;
  options.faults.longest_outage = 10ms;
  options.faults.disk.most_latency_ns = 2 * sim_units::kMillisecond;
  options.faults.disk.most_sync_ns = 5 * sim_units::kMillisecond;
  options.faults.disk.sync_error_per_million = 50'000;
  options.faults.disk.short_write_per_million = 50'000;
  return simulate(options, [&](Sim& sim) {
    std::vector<uint32_t> promised;
    bool is_damaged = false;
    bool is_lost = false;
    SimNode& node = sim.node("store");
    node.on_start([&](SimNode& self) {
      const Recovered found = recover(self.file("log").value_or(""), mistakes);
      is_damaged |= found.is_damaged;
      for (const uint32_t number : promised) {
        is_lost |= number > found.numbers.size();
      }
      const auto next = static_cast<uint32_t>(found.numbers.size() + 1);
      promised.resize(std::min(promised.size(), found.numbers.size()));
      (void)self.spawn_async(store(mistakes, next, &promised));
    });
    sim.run_for(200ms);
    sim.heal();
    node.restart();
    sim.check(!is_lost, "what was promised is there after a crash");
    sim.check(!is_damaged, "what is taken for good is good");
  });
}

TEST(WriteAheadLog, KeepsItsPromisesThroughCrashes) {
  const SimReport report = run_store({}, 500);
  EXPECT_TRUE(report) << report.text();
}

void expect_found(const Mistakes& mistakes, const char* failure, uint64_t seeds) {
  const SimReport report = run_store(mistakes, static_cast<uint32_t>(seeds));
  ASSERT_FALSE(report) << "not within " << seeds << " seeds";
  EXPECT_EQ(report.failure, failure);
  EXPECT_LE(report.shrunk, 12u) << report.text();
  std::printf("found with seed %llu, %zu of %zu choices needed\n",
              static_cast<unsigned long long>(report.seed), report.shrunk, report.choices);
}

TEST(WriteAheadLog, ThatSaysYesTooEarlyIsFoundOut) {
  expect_found({.says_yes_before_sync = true}, "what was promised is there after a crash", 100);
}

TEST(WriteAheadLog, ThatTakesATornRecordForAWholeOneIsFoundOut) {
  expect_found({.has_no_checksum = true}, "what is taken for good is good", 100);
}

TEST(WriteAheadLog, ThatGoesOnAfterASyncThatFailedIsFoundOut) {
  expect_found({.syncs_only_once = true}, "what was promised is there after a crash", 300);
}

}  // namespace
}  // namespace jzx

// The disk of a simulated node: what it takes, what fails, and what a crash leaves.
#include "sim/world/world_fixture.hpp"

namespace jzx::drivers::sim {
namespace {

constexpr size_t kSector = kSectorBytes;

class SimulatedDisk : public ::testing::Test {
 protected:
  Handle open(uint32_t flags = io::kRead | io::kWrite | io::kCreate) {
    const int64_t opened = try_open(flags);
    EXPECT_GE(opened, 0);
    return Handle{opened};
  }
  int64_t try_open(uint32_t flags) {
    Call call(Opcode::open);
    call.buffer = path.data();
    call.flags = flags;
    return node.run(call);
  }
  int64_t write_at(Handle file, std::string what, int64_t offset) {
    Writing writing(file, std::move(what));
    writing.opcode = Opcode::write_at;
    writing.offset = offset;
    return node.run(writing);
  }
  int64_t read_at(Handle file, int64_t offset) {
    Reading reading(file);
    reading.opcode = Opcode::read_at;
    reading.offset = offset;
    return node.run(reading);
  }
  int64_t sync(Handle file, Opcode how = Opcode::sync) { return node.on(file, how); }
  // What is in the file after a crash, in which these choices are made.
  std::string after_crash(std::vector<uint32_t> choices) {
    policy.then(std::move(choices));
    node.crash();
    node.restart();
    return node.disk.contents(path).value_or("no file");
  }
  // A file with a name that stays.
  Handle file_with(std::string contents) {
    node.disk.put(path, std::move(contents));
    return open(io::kRead | io::kWrite);
  }
  DiskFaults& faults() { return node.disk.faults; }

  static constexpr uint32_t kYes = kAlways - 1;
  static constexpr uint32_t kNo = 0;

  Prescribed policy;
  World world{policy};
  Machine& node = world.add("node");
  std::string path = "/data/log";
};

TEST_F(SimulatedDisk, TakesItsTime) {
  const Handle file = open();
  const uint64_t start_ns = world.clock.now_ns();
  EXPECT_EQ(write_at(file, "abc", 0), 3);
  EXPECT_EQ(world.clock.now_ns() - start_ns, faults().least_latency_ns);
  EXPECT_EQ(sync(file), 0);
  EXPECT_EQ(world.clock.now_ns() - start_ns, faults().least_latency_ns + faults().least_sync_ns);
  EXPECT_EQ(node.disk.contents(path), "abc");
}

// ---- errors ----

TEST_F(SimulatedDisk, MayFailInEveryOperation) {
  const Handle file = open();
  EXPECT_EQ(write_at(file, "abc", 0), 3);
  faults().read_error_per_million = faults().write_error_per_million = kAlways;
  faults().sync_error_per_million = faults().open_error_per_million = kAlways;
  EXPECT_EQ(read_at(file, 0), -EIO);
  EXPECT_EQ(write_at(file, "xyz", 0), -EIO);
  EXPECT_EQ(node.on(file, Opcode::truncate, 1), -EIO);
  EXPECT_EQ(sync(file), -EIO);
  EXPECT_EQ(sync(file, Opcode::sync_data), -EIO);
  EXPECT_EQ(try_open(io::kRead), -EIO);
  faults() = {};
  EXPECT_EQ(node.disk.contents(path), "abc");
}

TEST_F(SimulatedDisk, MayBeFull) {
  node.disk.put("/other", std::string(60, 'o'));
  faults().capacity_bytes = 100;
  const Handle file = open();
  EXPECT_EQ(write_at(file, std::string(50, 'x'), 0), 40) << "as much as fits";
  EXPECT_EQ(write_at(file, "x", 40), -ENOSPC);
  EXPECT_EQ(node.on(file, Opcode::truncate, 41), -ENOSPC);
  EXPECT_EQ(write_at(file, "y", 39), 1) << "what is there can be written over";
  EXPECT_EQ(node.disk.used_bytes(), 100u);
  Call remove(Opcode::remove);
  std::string other = "/other";
  remove.buffer = other.data();
  EXPECT_EQ(node.run(remove), 0);
  EXPECT_EQ(write_at(file, "x", 40), 1);
}

TEST_F(SimulatedDisk, MayDoLessThanItWasAskedFor) {
  const Handle file = file_with("abcdef");
  faults().short_write_per_million = faults().short_read_per_million = 1;
  policy.then({kYes, 2});
  EXPECT_EQ(write_at(file, "xyz", 0), 1);
  policy.then({kYes, 1});
  EXPECT_EQ(read_at(file, 0), 5);
  EXPECT_EQ(node.disk.contents(path), "xbcdef");
}

TEST_F(SimulatedDisk, MayHaveDoneWhatWasCancelled) {
  const Handle file = file_with("");
  for (const bool is_late : {false, true}) {
    faults().late_cancel_per_million = is_late ? kAlways : 0;
    Writing writing(file, "abc");
    writing.opcode = Opcode::write_at;
    EXPECT_EQ(node.submit(writing), Submitted::pending);
    node.reactor->cancel(writing);
    EXPECT_EQ(node.await(writing), is_late ? 3 : -ECANCELED);
    EXPECT_EQ(node.disk.contents(path), is_late ? "abc" : "");
  }
}

// ---- crashes ----

TEST_F(SimulatedDisk, KeepsInACrashWhatWasSynced) {
  const Handle file = open();
  EXPECT_EQ(write_at(file, "safe", 0), 4);
  EXPECT_EQ(sync(file), 0);
  EXPECT_EQ(node.on(file, Opcode::truncate, 3), 0);
  EXPECT_EQ(sync(file, Opcode::sync_data), 0);
  faults().lost_per_million = faults().torn_per_million = kAlways;
  EXPECT_EQ(after_crash({}), "saf");
}

TEST_F(SimulatedDisk, KeepsEverythingIfThatIsChosen) {
  const Handle file = open();
  EXPECT_EQ(write_at(file, "abc", 0), 3);
  EXPECT_EQ(write_at(file, "def", 3), 3);
  EXPECT_EQ(after_crash({}), "abcdef");
}

TEST_F(SimulatedDisk, LosesInACrashAnyOfTheWritesThatWereNotSynced) {
  for (uint32_t lost = 0; lost < 4; ++lost) {
    const Handle file = file_with("......");
    EXPECT_EQ(write_at(file, "abc", 0), 3);
    EXPECT_EQ(write_at(file, "def", 3), 3);
    std::vector<uint32_t> choices;
    std::string expected;
    for (const uint32_t one : {0u, 1u}) {
      const bool is_lost = (lost >> one & 1) != 0;
      choices.push_back(is_lost ? kYes : kNo);
      if (!is_lost) choices.push_back(kNo);  // and whole
      expected += is_lost ? "..." : one == 0 ? "abc" : "def";
    }
    EXPECT_EQ(after_crash(choices), expected) << lost;
  }
}

TEST_F(SimulatedDisk, MayKeepALaterWriteWithoutAnEarlierOne) {
  const Handle file = file_with("");
  EXPECT_EQ(write_at(file, "abc", 0), 3);
  EXPECT_EQ(write_at(file, "def", 3), 3);
  EXPECT_EQ(after_crash({kYes, 0, kNo, kNo}), std::string(3, '\0') + "def");
}

TEST_F(SimulatedDisk, TearsAWriteBetweenSectors) {
  const Handle file = file_with("");
  EXPECT_EQ(write_at(file, std::string(100, 'a'), 0), 100);
  EXPECT_EQ(sync(file), 0);
  const std::string record(3 * kSector, 'b');
  EXPECT_EQ(write_at(file, record, 100), static_cast<int64_t>(record.size()));
  // Not lost, torn, and of its four sectors all but the last two are there.
  EXPECT_EQ(after_crash({kNo, kYes, 1, 0}),
            std::string(100, 'a') + std::string(2 * kSector - 100, 'b'));
}

TEST_F(SimulatedDisk, MayKeepTheLengthOfAWriteWithoutItsBytes) {
  const Handle file = file_with("old");
  EXPECT_EQ(write_at(file, "new", 3), 3);
  EXPECT_EQ(after_crash({kYes, 1}), std::string("old") + std::string(3, '\0'));
}

TEST_F(SimulatedDisk, MayLoseATruncation) {
  const Handle file = file_with("abc");
  EXPECT_EQ(node.on(file, Opcode::truncate, 1), 0);
  EXPECT_EQ(after_crash({kYes}), "abc");
  EXPECT_EQ(node.on(open(), Opcode::truncate, 1), 0);
  EXPECT_EQ(after_crash({kNo}), "a");
}

TEST_F(SimulatedDisk, MayLoseAFileThatWasNeverSynced) {
  EXPECT_EQ(write_at(open(), "abc", 0), 3);
  EXPECT_EQ(after_crash({kYes}), "no file");
}

TEST_F(SimulatedDisk, ASyncSavesNothingThatCameAfterItBegan) {
  const Handle file = file_with("......");
  EXPECT_EQ(write_at(file, "abc", 0), 3);
  Call syncing(Opcode::sync, file);
  EXPECT_EQ(node.submit(syncing), Submitted::pending);
  EXPECT_EQ(write_at(file, "def", 3), 3);
  EXPECT_EQ(syncing.completions, 0);
  EXPECT_EQ(node.await(syncing), 0);
  EXPECT_EQ(after_crash({kYes}), "abc...");
}

TEST_F(SimulatedDisk, AFailedSyncHasLostWhatTheNextOneDoesNotSave) {
  const Handle file = file_with("......");
  EXPECT_EQ(write_at(file, "abc", 0), 3);
  faults().sync_error_per_million = kAlways;
  EXPECT_EQ(sync(file), -EIO);
  faults().sync_error_per_million = 0;
  EXPECT_EQ(write_at(file, "def", 3), 3);
  EXPECT_EQ(sync(file), 0);
  EXPECT_EQ(node.disk.contents(path), "abcdef") << "it can still be read";
  EXPECT_EQ(after_crash({kYes}), "...def");
}

TEST_F(SimulatedDisk, AWriteThatACrashInterruptsMayHaveHappenedInPart) {
  const std::string old(2 * kSector, '.');
  for (const uint32_t what : {0u, 1u, 2u}) {
    const Handle file = file_with(old);
    Writing writing(file, std::string(2 * kSector, 'x'));
    writing.opcode = Opcode::write_at;
    EXPECT_EQ(node.submit(writing), Submitted::pending);
    const std::string there = after_crash(what == 0   ? std::vector{kNo, kNo}
                                          : what == 1 ? std::vector{kNo, kYes, 0u}
                                                      : std::vector{kYes});
    const size_t sectors = 2 - what;
    EXPECT_EQ(there, std::string(sectors * kSector, 'x') + std::string(what * kSector, '.'));
    EXPECT_EQ(writing.completions, 0);
  }
}

TEST_F(SimulatedDisk, WhatAProcessWroteOutlivesIt) {
  EXPECT_EQ(write_at(open(), "abc", 0), 3);
  node.exit();
  EXPECT_EQ(node.disk.contents(path), "abc") << "only the machine's crash takes it";
}

TEST_F(SimulatedDisk, ARemovedFileLivesWhileItIsOpen) {
  const Handle file = file_with("abc");
  Call remove(Opcode::remove);
  remove.buffer = path.data();
  EXPECT_EQ(node.run(remove), 0);
  EXPECT_EQ(read_at(file, 0), 3);
  EXPECT_EQ(node.disk.contents(path), std::nullopt);
  EXPECT_EQ(try_open(io::kRead), -ENOENT);
}

}  // namespace
}  // namespace jzx::drivers::sim

// Files, and descriptors that come from elsewhere.
#include <fcntl.h>

#include "io/operation_fixture.hpp"

namespace jzx::io {
namespace {

class Files : public OperationTest {
 protected:
  void SetUp() override {
    OperationTest::SetUp();
    path =
        ::testing::TempDir() + "jzx_file_" + name_of(GetParam()) + "_" + std::to_string(::getpid());
  }
  void TearDown() override {
    OperationTest::TearDown();
    ::unlink(path.c_str());
  }

  int64_t open(uint32_t flags, int64_t mode = 0600) {
    Call call(Opcode::open);
    call.buffer = path.data();
    call.flags = flags;
    call.value = mode;
    return run(call);
  }
  int64_t write_at(Handle file, std::string what, int64_t offset) {
    Writing writing(file, std::move(what));
    writing.opcode = Opcode::write_at;
    writing.offset = offset;
    return run(writing);
  }
  std::string read_at(Handle file, int64_t offset, size_t room = 64) {
    Reading reading(file, room);
    reading.opcode = Opcode::read_at;
    reading.offset = offset;
    EXPECT_GE(run(reading), 0);
    return reading.text();
  }
  int64_t simple(Opcode what, Handle on) {
    Call call(what, on);
    return run(call);
  }

  std::string path;
};
JZX_TEST_ALL_REACTORS(Files);

class FilesOfOthers : public Files {};
JZX_TEST_BOTH_REACTORS(FilesOfOthers);

TEST_P(Files, AreReadAndWrittenAtOffsets) {
  const Handle file = keep(open(kRead | kWrite | kCreate));
  EXPECT_EQ(write_at(file, "world", 6), 5);
  EXPECT_EQ(write_at(file, "hello ", 0), 6);
  EXPECT_EQ(read_at(file, 0), "hello world");
  EXPECT_EQ(read_at(file, 6), "world");
  EXPECT_EQ(read_at(file, 3, 4), "lo w");
  EXPECT_EQ(read_at(file, 11), "") << "the end";
  EXPECT_EQ(read_at(file, 1000), "");
}

TEST_P(Files, SeveralOperationsOfOneFileMayBeUnderWay) {
  const Handle file = keep(open(kRead | kWrite | kCreate));
  std::vector<std::unique_ptr<Writing>> writes;
  for (int i = 0; i < 20; ++i) {
    writes.push_back(
        std::make_unique<Writing>(file, std::string(1000, static_cast<char>('a' + i))));
    writes.back()->opcode = Opcode::write_at;
    writes.back()->offset = 1000 * i;
    if (submit(*writes.back()) == Submitted::must_block) reactor->perform(*writes.back());
  }
  while (reactor->pending_count() > 0) ASSERT_EQ(reactor->wait(base::kNever), 0);
  for (const auto& one : writes) EXPECT_EQ(one->result, 1000);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(read_at(file, 1000 * i, 1000), std::string(1000, static_cast<char>('a' + i)));
  }
}

TEST_P(Files, HaveASizeThatCanBeChanged) {
  const Handle file = keep(open(kRead | kWrite | kCreate));
  EXPECT_EQ(simple(Opcode::file_size, file), 0);
  EXPECT_EQ(write_at(file, "0123456789", 0), 10);
  EXPECT_EQ(simple(Opcode::file_size, file), 10);
  EXPECT_EQ(with_value(Opcode::truncate, file, 4), 0);
  EXPECT_EQ(simple(Opcode::file_size, file), 4);
  EXPECT_EQ(simple(Opcode::sync, file), 0);
  EXPECT_EQ(simple(Opcode::sync_data, file), 0);
}

TEST_P(Files, FlagsSayWhatMayAndMustBeThere) {
  EXPECT_EQ(open(kRead), -ENOENT);
  EXPECT_EQ(open(0), -EINVAL) << "neither to read nor to write";
  EXPECT_EQ(open(1u << 20), -EINVAL);
  const Handle file = keep(open(kWrite | kCreate | kExclusive));
  EXPECT_EQ(open(kWrite | kCreate | kExclusive), -EEXIST);
  EXPECT_EQ(write_at(file, "old", 0), 3);
  Reading reading(file);
  reading.opcode = Opcode::read_at;
  EXPECT_EQ(run(reading), -EBADF) << "it was opened to write";
  const Handle appended = keep(open(kWrite | kAppend));
  EXPECT_EQ(write(appended, "er"), 2);
  EXPECT_EQ(read_at(keep(open(kRead)), 0), "older");
  keep(open(kWrite | kTruncate));
  EXPECT_EQ(simple(Opcode::file_size, file), 0);
}

TEST_P(Files, AreReadFromWhereTheyStandToo) {
  const Handle file = keep(open(kRead | kWrite | kCreate));
  EXPECT_EQ(write(file, "abc"), 3);
  EXPECT_EQ(write(file, "def"), 3);
  EXPECT_EQ(read_at(file, 0), "abcdef");
  const Handle again = keep(open(kRead));
  EXPECT_EQ(read(again, 4), "abcd");
  EXPECT_EQ(read(again, 4), "ef");
  EXPECT_EQ(read(again, 4), "");
}

TEST_P(Files, ACloseWaitsForWhatIsUnderWay) {
  const Handle file = keep(open(kRead | kWrite | kCreate));
  Writing writing(file, std::string(1 << 20, 'x'));
  writing.opcode = Opcode::write_at;
  const Submitted submitted = submit(writing);
  if (submitted == Submitted::must_block) reactor->perform(writing);
  EXPECT_EQ(close(file), 0);
  EXPECT_EQ(writing.completions, submitted == Submitted::pending ? 1 : 0);
  EXPECT_TRUE(writing.result == 1 << 20 || writing.result == -ECANCELED) << writing.result;
}

TEST_P(FilesOfOthers, AnAdoptedDescriptorIsWhateverItIs) {
  const Pipe ends;
  const Handle reader = Handle{with_value(Opcode::adopt, Handle{}, ::dup(ends.reader.get()))};
  keep(reader.value);
  Reading reading(reader);
  EXPECT_EQ(submit(reading), Submitted::pending);
  put(ends.writer);
  EXPECT_EQ(await(reading), 1);

  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
  const Handle file = keep(with_value(Opcode::adopt, Handle{}, fd));
  EXPECT_EQ(write(file, "file"), 4);
  EXPECT_EQ(read_at(file, 0), "file");

  const Handle null = keep(with_value(Opcode::adopt, Handle{}, ::open("/dev/null", O_RDWR)));
  EXPECT_EQ(write(null, "gone"), 4);
  EXPECT_EQ(read(null), "");
  EXPECT_EQ(with_value(Opcode::adopt, Handle{}, -1), -EBADF);
  EXPECT_EQ(with_value(Opcode::adopt, Handle{}, 1 << 20), -EBADF);
}

}  // namespace
}  // namespace jzx::io

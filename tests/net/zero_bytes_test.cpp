// Names with a zero byte. The system would take them for what stands before it.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <jzx/jzx.hpp>
#include <jzx/net/net.hpp>
#include <jzx/sim/recorder.hpp>

namespace jzx {
namespace {

using net::Address;
using net::File;
using net::Process;
using net::ProcessSpec;

// A folder with a file `x` in it. Both are gone when the test ends.
class ZeroBytes : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_), nullptr);
    kept_ = std::string(folder_) + "/x";
    std::FILE* file = std::fopen(kept_.c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fclose(file);
  }
  void TearDown() override {
    ::unlink(kept_.c_str());
    ::unlink((std::string(folder_) + "/new").c_str());
    ::rmdir(folder_);
  }

  [[nodiscard]] static bool exists(const std::string& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0;
  }
  [[nodiscard]] std::string in_folder(const char* name) const {
    return std::string(folder_) + '/' + name;
  }
  // The path of the file, and more behind a zero byte.
  [[nodiscard]] std::string longer_name() const { return kept_ + std::string("\0.txt", 5); }

  template <class T>
  static void expect_refused(const Result<T>& result, const char* text) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code(), Errc::invalid_arg);
    EXPECT_STREQ(result.error().message(), text);
  }
  static ProcessSpec a_program() {
    ProcessSpec spec;
    spec.program = "true";
    return spec;
  }

  char folder_[32] = "/tmp/jzx-test-XXXXXX";
  std::string kept_;
  Runtime runtime_{RuntimeOptions{.workers = 1}};
};

constexpr const char* kInPath = "the path has a zero byte, where the system would cut it off";

TEST_F(ZeroBytes, InAPathRemoveNothing) {
  expect_refused(File::remove(longer_name(), runtime_).get(), kInPath);
  EXPECT_TRUE(exists(kept_));
}

TEST_F(ZeroBytes, InAPathOpenNothing) {
  expect_refused(File::open(longer_name(), {}, runtime_).get(), kInPath);
  expect_refused(File::read_all(longer_name(), 100, runtime_).get(), kInPath);
  const net::OpenMode making{.write = true, .create = true};
  expect_refused(File::open(in_folder("new") + '\0', making, runtime_).get(), kInPath);
  EXPECT_FALSE(exists(in_folder("new")));
}

TEST_F(ZeroBytes, InTheNameOfAHostResolveNothing) {
  expect_refused(net::resolve(std::string("localhost\0.example", 18), 80, runtime_).get(),
                 "the host has a zero byte, where the system would cut it off");
}

TEST_F(ZeroBytes, InAnyPartOfAProcessStartNothing) {
  ProcessSpec spec = a_program();
  spec.program += std::string("\0x", 2);
  expect_refused(Process::start(spec, runtime_).get(),
                 "the program has a zero byte, where the system would cut it off");

  spec = a_program();
  spec.arguments = {"whole", std::string("a\0b", 3)};
  expect_refused(Process::start(spec, runtime_).get(),
                 "an argument has a zero byte, where the system would cut it off");

  spec = a_program();
  spec.environment = {std::string("A=b\0c", 5)};
  expect_refused(Process::start(spec, runtime_).get(),
                 "the environment has a zero byte, where the system would cut it off");

  spec = a_program();
  spec.directory = std::string("/\0tmp", 5);
  expect_refused(Process::start(spec, runtime_).get(),
                 "the directory has a zero byte, where the system would cut it off");
}

TEST_F(ZeroBytes, InThePathOfASocketMakeNoAddress) {
  const std::string path = in_folder("new") + std::string("\0.sock", 6);
  EXPECT_EQ(Address::local(path).family, net::Family::none);
  EXPECT_FALSE(Address::parse("unix:" + path).ok());
  // One that was put together by hand.
  Address address = Address::local(in_folder("new") + "_.sock");
  address.bytes[in_folder("new").size()] = 0;
  EXPECT_FALSE(net::Listener::open(address, {}, runtime_).ok());
  EXPECT_FALSE(net::Stream::connect(address, runtime_).get().ok());
  EXPECT_FALSE(exists(in_folder("new")));
}

TEST_F(ZeroBytes, AreFineInAnAbstractName) {
  const std::string name("\0jzx\0zero", 9);
  const Address address = Address::local(name + std::to_string(::getpid()));
  Result<net::Listener> listener = net::Listener::open(address, {}, runtime_);
  ASSERT_TRUE(listener.ok()) << listener.error().message();
  EXPECT_EQ(*listener->address(), address);
}

TEST_F(ZeroBytes, InTheNameOfARecordMakeAndReadNone) {
  const std::string path = in_folder("new") + std::string("\0.rec", 5);
  const Recorder recorder({.file = path});
  EXPECT_FALSE(static_cast<bool>(recorder));
  EXPECT_EQ(recorder.error(), kInPath);
  EXPECT_EQ(Recording().save(path), Errc::invalid_arg);
  EXPECT_FALSE(exists(in_folder("new")));
  expect_refused(Recording::load(kept_ + '\0'), kInPath);
}

}  // namespace
}  // namespace jzx

// Datagrams, files, processes, signals and names.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "net/streams.hpp"

namespace jzx {
namespace {

using net::Address;
using testing::bytes_of;

class Others : public testing::Place {};
JZX_IN_ALL_PLACES(Others);

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A file's name that ends with the test.
class TemporaryFile {
 public:
  TemporaryFile() {
    const int fd = ::mkstemp(path_);
    if (fd >= 0) ::close(fd);
  }
  ~TemporaryFile() { ::unlink(path_); }
  [[nodiscard]] std::string path() const { return path_; }

 private:
  char path_[32] = "/tmp/jzx-test-XXXXXX";
};

// ---- datagrams ----

TEST_P(Others, ADatagramComesWholeWithItsSender) {
  auto a = net::UdpSocket::open(Address::loopback(), system());
  auto b = net::UdpSocket::open(Address::loopback(), system());
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_TRUE(run(a->send_to(*b->address(), bytes_of("datagram"))).ok());
  std::array<std::byte, 64> buffer;
  Result<net::Datagram> got = run(b->receive(buffer));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(text_of(std::span(buffer).first(got->size)), "datagram");
  EXPECT_FALSE(got->is_cut);
  EXPECT_EQ(got->from, *a->address());
}

TEST_P(Others, ADatagramThatDoesNotFitIsCutAndSaysSo) {
  auto a = net::UdpSocket::open(Address::loopback(), system());
  auto b = net::UdpSocket::open(Address::loopback(), system());
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_TRUE(run(a->send_to(*b->address(), bytes_of("datagram"))).ok());
  std::array<std::byte, 4> buffer;
  Result<net::Datagram> got = run(b->receive(buffer));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(text_of(std::span(buffer).first(got->size)), "data");
  EXPECT_TRUE(got->is_cut);
}

// ---- files ----

Task<std::string> write_and_read(std::string path, net::Home home) {
  auto opening = net::File::open(
      path, net::OpenMode{.read = true, .write = true, .create = true, .truncate = true}, home);
  Result<net::File> opened = co_await opening;
  net::File file = co_await opened;
  auto writing = file.write_all_at(0, bytes_of("hello, file"));
  Result<void> written = co_await writing;
  co_await written;
  auto overwriting = file.write_all_at(7, bytes_of("disk"));
  Result<void> overwritten = co_await overwriting;
  co_await overwritten;
  auto syncing = file.sync();
  Result<void> synced = co_await syncing;
  co_await synced;
  auto asking = file.size();
  Result<uint64_t> size = co_await asking;
  if (!size) co_return size.error();
  if (*size != 11) co_return Error(Errc::unknown, "a wrong size");
  auto cutting = file.truncate(9);
  Result<void> cut = co_await cutting;
  co_await cut;
  std::array<std::byte, 64> buffer;
  auto reading = file.read_at(2, buffer);
  Result<size_t> count = co_await reading;
  if (!count) co_return count.error();
  co_return text_of(std::span(buffer).first(*count));
}

TEST_P(Others, AFileIsWrittenAndReadAtItsPositions) {
  const TemporaryFile file;
  Result<std::string> text = run(write_and_read(file.path(), system()));
  ASSERT_TRUE(text.ok()) << text.error().message();
  EXPECT_EQ(*text, "llo, di");
}

TEST_P(Others, AFileThatIsNotThereSaysSo) {
  Result<net::File> file = run(net::File::open("/nowhere/at/all", {}, system()));
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().system_code(), ENOENT);
  EXPECT_STREQ(file.error().source(), "open");
}

TEST_P(Others, AFullDiskIsAnErrorToTheOwner) {
  Result<net::File> file =
      run(net::File::open("/dev/full", net::OpenMode{.read = false, .write = true}, system()));
  ASSERT_TRUE(file.ok()) << file.error().message();
  Result<void> written = run(file->write_all_at(0, bytes_of("anything")));
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().system_code(), ENOSPC);
}

TEST_P(Others, AllOfAFileIsReadUpToALimit) {
  const TemporaryFile file;
  std::FILE* out = std::fopen(file.path().c_str(), "w");
  for (int i = 0; i < 200'000; ++i) std::fputc('a' + i % 26, out);
  std::fclose(out);
  Result<std::vector<std::byte>> all = run(net::File::read_all(file.path(), 1 << 20, system()));
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->size(), 200'000u);
  EXPECT_EQ(run(net::File::read_all(file.path(), 1000, system())).error().code(), Errc::too_long);
}

// ---- processes ----

Task<std::string> run_program(net::ProcessSpec spec, std::string input, net::Home home) {
  auto starting = net::Process::start(std::move(spec), home);
  Result<net::Process> started = co_await starting;
  net::Process process = co_await started;
  auto writing = process.input().write_all(input);
  Result<void> written = co_await writing;
  co_await written;
  process.input().close();
  net::BufferedReader reader(process.output());
  auto reading = reader.read_to_end();
  Result<std::string> output = co_await reading;
  auto waiting = process.wait();
  Result<net::ProcessEnd> end = co_await waiting;
  if (!end) co_return end.error();
  if (!end->is_success()) co_return Error(Errc::unknown, "it failed");
  co_return output;
}

TEST_P(Others, AProcessIsSpokenWithThroughPipes) {
  net::ProcessSpec spec;
  spec.program = "sort";
  spec.arguments = {"-r"};
  spec.input = net::ChildStream::piped;
  spec.output = net::ChildStream::piped;
  Result<std::string> output = run(run_program(std::move(spec), "a\nc\nb\n", system()));
  ASSERT_TRUE(output.ok()) << output.error().message();
  EXPECT_EQ(*output, "c\nb\na\n");
}

TEST_P(Others, AProcessEndsWithItsCodeOrASignal) {
  net::ProcessSpec spec;
  spec.program = "sh";
  spec.arguments = {"-c", "exit 7"};
  Result<net::Process> process = run(net::Process::start(spec, system()));
  ASSERT_TRUE(process.ok()) << process.error().message();
  EXPECT_EQ(run(process->wait())->code, 7);

  spec.program = "sleep";
  spec.arguments = {"1000"};
  process = run(net::Process::start(spec, system()));
  ASSERT_TRUE(process.ok());
  EXPECT_TRUE(process->kill(SIGTERM).ok());
  Result<net::ProcessEnd> end = run(process->wait());
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->signal, SIGTERM);
  EXPECT_EQ(end->code, -1);
}

TEST_P(Others, AProgramThatIsNotThereSaysSo) {
  net::ProcessSpec spec;
  spec.program = "no-such-program-anywhere";
  Result<net::Process> process = run(net::Process::start(spec, system()));
  ASSERT_FALSE(process.ok());
  EXPECT_EQ(process.error().system_code(), ENOENT);
}

// ---- signals ----

TEST_P(Others, ASignalIsAwaited) {
  auto signal = net::Signal::open(SIGUSR2, system());
  ASSERT_TRUE(signal.ok());
  ASSERT_EQ(::raise(SIGUSR2), 0);
  EXPECT_EQ(*run(signal->next()), 1u);
  auto cancelled = system().spawn_async(signal->next());
  cancelled.cancel();
  EXPECT_EQ(finish(std::move(cancelled)).error().code(), Errc::cancelled);
  EXPECT_EQ(net::Signal::open(SIGKILL, system()).error().system_code(), EINVAL);
}

// ---- names ----

TEST_P(Others, ANameIsLookedUp) {
  Result<std::vector<Address>> found = run(net::resolve("localhost", 80, system()));
  ASSERT_TRUE(found.ok()) << found.error().message();
  ASSERT_FALSE(found->empty());
  EXPECT_EQ(found->front().port, 80);
  Result<std::vector<Address>> numbers = run(net::resolve("127.0.0.1", 81, system()));
  ASSERT_TRUE(numbers.ok());
  EXPECT_EQ(numbers->front(), Address::loopback(81));
}

}  // namespace
}  // namespace jzx

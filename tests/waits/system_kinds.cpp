// What the system has besides sockets: files, names, signals, processes.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>

#include "support/fds.hpp"
#include "waits/scene.hpp"

namespace jzx::testing {
namespace {

constexpr std::string_view kText = "text";
constexpr auto kIsAll = [](size_t count) { return count == kText.size(); };

// What a scene needs is made before it, by a task of the system.
template <class T>
T made(Stage& stage, Task<T> task) {
  Result<T> result = stage.finish(stage.system().spawn_async(std::move(task)));
  EXPECT_TRUE(result.ok()) << result.error().message();
  return result ? std::move(*result) : T();
}

// ---- files ----

// A file with the text in it, whose name is gone at once but for open().
struct OnDisk {
  OnDisk() {
    raw = Fd(::mkstemp(path));
    EXPECT_EQ(::write(raw.get(), kText.data(), kText.size()), 4);
  }
  ~OnDisk() { ::unlink(path); }
  OnDisk(const OnDisk&) = delete;
  OnDisk& operator=(const OnDisk&) = delete;
  [[nodiscard]] std::string content() const {
    char bytes[64];
    const ssize_t count = ::pread(raw.get(), bytes, sizeof(bytes), 0);
    return count > 0 ? std::string(bytes, static_cast<size_t>(count)) : std::string();
  }

  char path[32] = "/tmp/jzx-waits-XXXXXX";
  Fd raw;
  net::File file;
  std::array<std::byte, 64> buffer{};
};
std::shared_ptr<OnDisk> on_disk(Stage& stage) {
  auto it = std::make_shared<OnDisk>();
  const net::OpenMode both{.read = true, .write = true};
  it->file = made(stage, net::File::open(it->path, both, stage.system()));
  return it;
}

Scene file_open(Stage& stage) {
  auto it = std::make_shared<OnDisk>();
  return scene(
      stage, [it, &stage] { return net::File::open(it->path, {}, stage.system()); }, [] {},
      Always{}, [](const net::File& file) { return file.is_open(); });
}
Scene file_read(Stage& stage) {
  auto it = on_disk(stage);
  return scene(
      stage, [it] { return it->file.read_at(0, it->buffer); }, [] {},
      [it] { return std::memcmp(it->buffer.data(), kText.data(), kText.size()) == 0; }, kIsAll);
}
Scene file_write(Stage& stage) {
  auto it = on_disk(stage);
  return scene(
      stage, [it] { return it->file.write_at(4, std::as_bytes(std::span(kText))); }, [] {},
      [it] { return it->content() == "texttext"; }, kIsAll);
}
Scene file_sync(Stage& stage) {
  auto it = on_disk(stage);
  return scene(
      stage, [it] { return it->file.sync(); }, [] {});
}
Scene file_size(Stage& stage) {
  auto it = on_disk(stage);
  return scene(
      stage, [it] { return it->file.size(); }, [] {}, Always{},
      [](uint64_t size) { return size == kText.size(); });
}

// ---- names ----

Scene resolve(Stage& stage) {
  return scene(
      stage, [&stage] { return net::resolve("localhost", 80, stage.system()); }, [] {}, Always{},
      [](const std::vector<net::Address>& found) { return !found.empty(); });
}

// ---- signals ----

Scene signal(Stage& stage) {
  auto it = std::make_shared<net::Signal>();
  Result<net::Signal> opened = net::Signal::open(SIGUSR2, stage.system());
  EXPECT_TRUE(opened.ok());
  *it = std::move(*opened);
  return scene(
      stage, [it] { return it->next(); }, [] { EXPECT_EQ(::raise(SIGUSR2), 0); }, Always{},
      [](uint32_t count) { return count == 1; });
}

// ---- processes ----

Scene process_wait(Stage& stage) {
  auto it = std::make_shared<net::Process>();
  net::ProcessSpec spec;
  spec.program = "sleep";
  spec.arguments = {"1000"};
  *it = made(stage, net::Process::start(spec, stage.system()));
  return scene(
      stage, [it] { return it->wait(); }, [it] { EXPECT_TRUE(it->kill(SIGKILL).ok()); }, Always{},
      [](const net::ProcessEnd& end) { return end.signal == SIGKILL; });
}
Task<int> start_and_wait(net::Home home) {
  net::ProcessSpec spec;
  spec.program = "true";
  auto starting = net::Process::start(spec, home);
  Result<net::Process> started = co_await starting;
  net::Process process = co_await started;
  auto waiting = process.wait();
  Result<net::ProcessEnd> end = co_await waiting;
  co_return (co_await end).code;
}
Scene process_start(Stage& stage) {
  return scene(
      stage, [&stage] { return start_and_wait(stage.system()); }, [] {}, Always{},
      [](int code) { return code == 0; });
}

}  // namespace

std::vector<Kind> system_kinds() {
  return {{"file_open", &file_open, Trait::ends_by_itself},
          {"file_read", &file_read, Trait::ends_by_itself},
          {"file_write", &file_write, Trait::ends_by_itself},
          {"file_sync", &file_sync, Trait::ends_by_itself},
          {"file_size", &file_size, Trait::ends_by_itself},
          {"resolve", &resolve, Trait::ends_by_itself},
          {"signal_next", &signal, Trait::takes},
          {"process_wait", &process_wait, Trait::takes},
          {"process_start", &process_start, Trait::ends_by_itself}};
}

}  // namespace jzx::testing

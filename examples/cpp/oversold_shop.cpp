// oversold_shop: a program that crashes leaves a record of what it did, and the simulator does it
// again.
//
// The shop has one thing to sell. If customers come one after the other all is well. In a rush, in
// a process of its own, it crashes; the record that is left behind is told, and replayed, and the
// replay finds the same mistake, every time. tests/record/example_test.cpp is the test that the
// crash was turned into.
#include "oversold_shop.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

[[noreturn]] void crash(const char* what) {
  std::fprintf(stderr, "oversold_shop: %s\n", what);
  std::abort();
}

void a_quiet_day() {
  jzx::Loop loop;
  if (!loop) return;
  const auto shop = shop::build(loop, crash);
  for (int customer = 1; customer <= 2; ++customer) {
    shop << shop::Order{customer};
    for (int i = 0; i < 10; ++i) loop.run_once(std::chrono::milliseconds(0));
  }
  std::printf("a quiet day: the second customer is told that nothing is left\n");
}

// True: the process was killed by a signal.
bool dies_in_a_rush(const std::string& record) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    shop::rush(record, crash);
    std::_Exit(0);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}

}  // namespace

int main() {
  a_quiet_day();

  char record[] = "/tmp/oversold_shop_XXXXXX";
  const int fd = ::mkstemp(record);
  if (fd < 0) return 1;
  ::close(fd);
  if (!dies_in_a_rush(record)) return 2;
  std::printf("a rush: the shop has crashed\n");

  const jzx::Result<jzx::Recording> recording = jzx::Recording::load(record);
  std::remove(record);
  if (!recording) return 3;
  std::printf("%s", recording->dump().c_str());

  jzx::ReplayOptions options;
  options.codecs = shop::codecs();
  const jzx::ReplayReport report = jzx::replay(*recording, options, [](jzx::Sim& sim) {
    (void)shop::build(sim, [&sim](const char* what) { sim.fail(what); });
  });
  std::printf("replayed %d of %d turns: %s\n", static_cast<int>(report.turns),
              static_cast<int>(report.of), report.failure.c_str());
  return report.end == jzx::ReplayEnd::failed ? 0 : 4;
}

// How late things are: beside actors that always have work, and when everybody sleeps.
//
//   tick_latency/cost_us:C/workers:W   four actors that always have work, C microseconds a message.
//       How late a timer of 5 ms is, how long a byte takes to a TCP echo and back, and how late a
//       message from a thread outside is handled. A tick ends by time, so each should be about a
//       millisecond late at most, and a message and a turn of each of the four on top. 0 workers:
//       a loop, without the echo.
//   timers_at_once/loop   one handler sets 1,000,000 timers of 100 ms. How late each is, counted
//   from
//       the call that set it: they are due faster than anybody can handle them.
//   wake_latency/workers:W   a request from a thread outside to an idle runtime, and its answer.
//   ask_blocking/workers:W   the same without a pause in between.
//   burst_million/loop       a million messages into one mailbox, and what memory they take.
//
// The counters are microseconds: the median, and what 1 in 100 (and in 1000) exceeds.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "echo.hpp"
#include "workers_support.hpp"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

double since_us(Clock::time_point then) {
  return std::chrono::duration<double, std::micro>(Clock::now() - then).count();
}

class Times {
 public:
  explicit Times(const char* name) : name_(name) {}
  void add(double us) { times_.push_back(us); }
  [[nodiscard]] size_t count() const { return times_.size(); }

  void report(benchmark::State& state) {
    BENCH_CHECK(!times_.empty());
    std::sort(times_.begin(), times_.end());
    show(state, "_p50", 0.5);
    show(state, "_p99", 0.99);
    if (times_.size() >= 1000) show(state, "_p999", 0.999);
  }

 private:
  void show(benchmark::State& state, const char* suffix, double part) {
    const auto last = static_cast<double>(times_.size() - 1);
    state.counters[name_ + suffix] = times_[static_cast<size_t>(last * part)];
  }
  std::string name_;
  std::vector<double> times_;
};

// ---- beside busy actors ----

struct Again {};

struct Busy {
  std::chrono::nanoseconds cost;
  std::atomic<uint64_t>* handled;

  void on(Again, jzx::Context& context) {
    for (const auto begun = Clock::now(); Clock::now() - begun < cost;) {
    }
    handled->fetch_add(1, std::memory_order_relaxed);
    bench::must(context.self(*this).send(Again{}), "go on");
  }
};

struct Hello {
  Clock::time_point sent;
};
struct ArmTimer {
  jzx::Promise<double> late;
};
struct Rang {
  Clock::time_point due;
};

struct Listener {
  using Messages = jzx::Messages<Rang>;
  jzx::Promise<double> late{};

  double on(Hello hello) { return since_us(hello.sent); }
  void on(ArmTimer arm, jzx::Context& context) {
    late = std::move(arm.late);
    bench::must(context.send_after(5ms, context.self(*this), Rang{Clock::now() + 5ms}), "set");
  }
  void on(Rang rang) { late.resolve(since_us(rang.due)); }
};

jzx::Task<void> serve(jzx::net::Listener& listener, jzx::Runtime& runtime) {
  auto accepting = listener.accept();
  jzx::Result<jzx::net::Stream> stream = co_await accepting;
  if (!stream) co_return;
  (void)stream->set_no_delay(true);
  (void)runtime.spawn_async(bench::echo(std::move(*stream)));
}

class Peer {
 public:
  explicit Peer(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    BENCH_CHECK_COUNT(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const int on = 1;
    BENCH_CHECK_COUNT(::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
  }
  ~Peer() { ::close(fd_); }
  Peer(const Peer&) = delete;

  double round_trip_us() const {
    char byte = 'x';
    const auto begun = Clock::now();
    BENCH_CHECK_COUNT(::send(fd_, &byte, 1, MSG_NOSIGNAL), 1);
    BENCH_CHECK_COUNT(::recv(fd_, &byte, 1, 0), 1);
    return since_us(begun);
  }

 private:
  int fd_;
};

template <class System>
void fill_with_busy(System& system, std::chrono::nanoseconds cost, std::atomic<uint64_t>& handled) {
  for (int i = 0; i < 4; ++i) {
    const auto busy = bench::must_spawn<Busy>(system, {}, cost, &handled);
    // Always with more in its mailbox than a turn handles.
    for (int queued = 0; queued < 100; ++queued) bench::must(busy.send(Again{}), "begin");
  }
}

// Timers and messages, from this thread.
void measure_listener(jzx::ActorRef<Listener> listener, size_t samples, Times& timer,
                      Times& foreign) {
  for (size_t i = 0; i < samples; ++i) {
    auto [late, promise] = jzx::promise<double>();
    bench::must(listener.send(ArmTimer{std::move(promise)}), "arm");
    timer.add(bench::await(std::move(late)));
    foreign.add(bench::await(listener.ask(Hello{Clock::now()})));
  }
}

void tick_latency(benchmark::State& state) {
  constexpr size_t kSamples = 100;
  const std::chrono::nanoseconds cost = std::chrono::microseconds(state.range(0));
  const auto workers = static_cast<uint32_t>(state.range(1));
  std::atomic<uint64_t> handled{0};
  Times timer("timer");
  Times foreign("foreign");
  Times round_trip("echo");
  for (auto _ : state) {
    const bench::Patience patience;
    if (workers == 0) {
      jzx::Loop loop;
      const auto listener = bench::must_spawn<Listener>(loop, {});
      fill_with_busy(loop, cost, handled);
      std::thread outside([&] {
        measure_listener(listener, kSamples, timer, foreign);
        loop.request_stop();
      });
      bench::must(loop.run(), "run");
      outside.join();
    } else {
      jzx::Runtime runtime(jzx::RuntimeOptions{.workers = workers});
      auto door = jzx::net::Listener::open(jzx::net::Address::loopback(), {}, runtime);
      BENCH_CHECK(door.ok());
      auto serving = runtime.spawn_async(serve(*door, runtime));
      const Peer peer(door->address()->port);
      (void)peer.round_trip_us();
      const auto listener = bench::must_spawn<Listener>(runtime, {});
      fill_with_busy(runtime, cost, handled);
      measure_listener(listener, kSamples, timer, foreign);
      for (size_t i = 0; i < kSamples; ++i) round_trip.add(peer.round_trip_us());
      (void)serving.get();
    }
  }
  BENCH_CHECK(handled.load() > 0);
  timer.report(state);
  foreign.report(state);
  if (workers != 0) round_trip.report(state);
  state.counters["items_per_second"] =
      benchmark::Counter(static_cast<double>(timer.count()), benchmark::Counter::kIsRate);
}
BENCHMARK(tick_latency)
    ->ArgNames({"cost_us", "workers"})
    ->ArgsProduct({{1, 10, 100}, {0, 1, 2}})
    ->Iterations(1)
    ->Repetitions(1);

// ---- many timers ----

constexpr uint64_t kTimers = 1'000'000;

struct SetAll {};

struct Clockmaker {
  using Messages = jzx::Messages<Rang>;
  Times* times;
  uint64_t left = 0;

  void on(SetAll, jzx::Context& context) {
    for (left = 0; left < kTimers; ++left) {
      bench::must(context.send_after(100ms, context.self(*this), Rang{Clock::now() + 100ms}),
                  "set");
    }
  }
  void on(Rang rang) {
    times->add(since_us(rang.due));
    --left;
  }
};

void timers_at_once(benchmark::State& state) {
  Times times("late");
  jzx::Loop loop;
  jzx::SpawnOptions roomy;
  roomy.mailbox_cap = kTimers + 8;
  const auto clockmaker = bench::must_spawn<Clockmaker>(loop, roomy, &times);
  for (auto _ : state) {
    const bench::Patience patience;
    bench::must(clockmaker.send(SetAll{}), "begin");
    const size_t before = times.count();
    while (times.count() < before + kTimers) (void)loop.run_once(1s);
  }
  times.report(state);
  state.counters["items_per_second"] =
      benchmark::Counter(static_cast<double>(times.count()), benchmark::Counter::kIsRate);
}
BENCHMARK(timers_at_once)->Name("timers_at_once/loop")->Iterations(1);

// ---- when everybody sleeps ----

struct Question {
  uint64_t number;
};
struct Answerer {
  uint64_t on(Question question) { return question.number + 1; }
};

void ask_from_outside(benchmark::State& state, const char* name, uint64_t asks,
                      std::chrono::microseconds pause) {
  jzx::Runtime runtime(bench::options_of(state));
  const auto answerer = bench::must_spawn<Answerer>(runtime, {});
  Times times(name);
  for (auto _ : state) {
    const bench::Patience patience;
    for (uint64_t i = 0; i < asks; ++i) {
      if (pause.count() != 0) std::this_thread::sleep_for(pause);
      const auto begun = Clock::now();
      BENCH_CHECK_COUNT(bench::await(answerer.ask(Question{i})), i + 1);
      times.add(since_us(begun));
    }
  }
  times.report(state);
  state.counters["items_per_second"] =
      benchmark::Counter(static_cast<double>(times.count()), benchmark::Counter::kIsRate);
}

void wake_latency(benchmark::State& state) { ask_from_outside(state, "wake", 2'000, 1ms); }
BENCHMARK(wake_latency)->ArgName("workers")->Arg(1)->Arg(2)->Iterations(1);

void ask_blocking(benchmark::State& state) { ask_from_outside(state, "ask", 50'000, 0us); }
BENCHMARK(ask_blocking)->ArgName("workers")->Arg(1)->Arg(2)->Iterations(1);

// ---- a burst ----

constexpr uint64_t kBurst = 1'000'000;

struct Number {
  uint64_t value;
};
struct Adder {
  uint64_t* sum;
  uint64_t* count;
  void on(Number number) {
    *sum += number.value;
    ++*count;
  }
};

void burst_million(benchmark::State& state) {
  jzx::Loop loop;
  uint64_t sum = 0;
  uint64_t count = 0;
  jzx::SpawnOptions roomy;
  roomy.mailbox_cap = kBurst + 8;
  const auto adder = bench::must_spawn<Adder>(loop, roomy, &sum, &count);
  bench::Stopwatch watch;
  uint64_t items = 0;
  double peak_bytes = 0;
  double kept_bytes = 0;
  for (auto _ : state) {
    const auto before = static_cast<double>(bench::resident_bytes());
    count = sum = 0;
    watch.start();
    for (uint64_t i = 0; i < kBurst; ++i) bench::must(adder.send(Number{i}), "burst");
    watch.stop();
    const auto peak = static_cast<double>(bench::resident_bytes());
    watch.start();
    while (count < kBurst) (void)loop.run_once(0ms);
    watch.stop();
    for (int i = 0; i < 10; ++i) (void)loop.run_once(0ms);  // it has nothing else to do
    BENCH_CHECK_COUNT(sum, kBurst * (kBurst - 1) / 2);
    if (items == 0) peak_bytes = (peak - before) / static_cast<double>(kBurst);
    if (items == 0) {
      kept_bytes =
          (static_cast<double>(bench::resident_bytes()) - before) / static_cast<double>(kBurst);
    }
    items += kBurst;
  }
  bench::report(state, items, watch);
  state.counters["bytes_per_item"] = peak_bytes;
  state.counters["kept_bytes_per_item"] = kept_bytes;
}
BENCHMARK(burst_million)->Name("burst_million/loop")->Iterations(5);

}  // namespace

// Questions and answers between actors of the multi-core runtime.
//
// Promise guarded: ask/workers:1, request and future reply, at most 35 ns a round trip. The asker
// is an actor, which must not wait: the answer comes as a message to itself, sent by the `then`
// of the future, as anybody would write it. So a round trip is an ask, a future and a message.
#include <cstdint>

#include "workers_support.hpp"

namespace {

constexpr std::uint64_t kRoundTrips = 200'000;

struct Question {
  std::uint64_t number;
};
struct Count {};

struct Answerer {
  std::uint64_t answered = 0;

  std::uint64_t on(Question question) {
    ++answered;
    return question.number * 2;
  }
  std::uint64_t on(Count) { return answered; }
};

struct Asker {
  struct Start {
    jzx::Promise<std::uint64_t> done;  // with the sum of all answers
  };
  struct Answer {
    std::uint64_t number;
  };

  jzx::ActorRef<Answerer> answerer;
  jzx::Promise<std::uint64_t> done{};
  std::uint64_t asked = 0;
  std::uint64_t sum = 0;

  void on(Start start, jzx::Context& context) {
    done = std::move(start.done);
    asked = sum = 0;
    ask_next(context);
  }
  void on(Answer answer, jzx::Context& context) {
    sum += answer.number;
    if (asked == kRoundTrips) return done.resolve(sum);
    ask_next(context);
  }
  void ask_next(jzx::Context& context) {
    answerer.ask(Question{asked++})
        .then([self = context.self(*this)](jzx::Result<std::uint64_t> answer) {
          bench::must(answer.error().code(), "ask");
          bench::must(self.send(Answer{answer.value()}), "pass the answer on");
        });
  }
};

void ask(benchmark::State& state) {
  jzx::Runtime runtime(bench::options_of(state));
  BENCH_CHECK(runtime);
  const auto answerer = bench::must_spawn<Answerer>(runtime, {});
  const auto asker = bench::must_spawn<Asker>(runtime, {}, answerer);

  std::uint64_t asked = 0;
  bench::measure_warm(state, [&](bench::WorkersWatch& watch) {
    const auto sum = bench::timed<std::uint64_t>(watch, [&](auto promise) {
      bench::must(asker.send(Asker::Start{std::move(promise)}), "start");
    });
    BENCH_CHECK_COUNT(sum, kRoundTrips * (kRoundTrips - 1));
    asked += kRoundTrips;
    BENCH_CHECK_COUNT(bench::await(answerer.ask(Count{})), asked);
    return kRoundTrips;
  });
}
BENCHMARK(ask)->ArgName("workers")->Arg(1);

}  // namespace

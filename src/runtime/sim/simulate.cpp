// jzx::simulate(): one run per seed; of the first that fails, the whole story.
#include <jzx/sim/simulation.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/prng.hpp"
#include "drivers/sim/policies.hpp"
#include "runtime/sim/pattern.hpp"
#include "runtime/sim/shrink.hpp"
#include "runtime/sim/sim_run.hpp"
#include "runtime/sim/sim_times.hpp"

namespace jzx {

namespace {

namespace sim = drivers::sim;
using detail::SimRun;
using runtime::Taken;
using Scenario = std::function<void(Sim&)>;

constexpr size_t kMostTraceLines = 200;
constexpr size_t kFewTraceLines = 20;     // where two are put side by side
constexpr uint64_t kExpectedSteps = 200;  // over which pct spreads its changes
constexpr uint32_t kMostDepth = 10'000;   // of pct: there are no more steps than that to change at

// Empty: it is not set. Something that is no number is a mistake worth telling.
std::optional<uint64_t> number_from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  uint64_t number = 0;
  const char* end = text + std::char_traits<char>::length(text);
  const auto parsed = std::from_chars(text, end, number);
  if (parsed.ec == std::errc() && parsed.ptr == end) return number;
  std::fprintf(stderr, "jzx: %s=%s is not a number, and ignored\n", name, text);
  return std::nullopt;
}

// Each fault is on for half of the seeds, each rate may be smaller than asked for.
SimFaults swarm_of(const SimFaults& all, uint64_t seed) {
  base::Prng prng(seed ^ 0x5a17);
  const auto some = [&](uint32_t rate) { return prng.below(2) == 0 ? 0 : rate >> prng.below(4); };
  SimFaults faults = all;
  faults.kill = some(all.kill);
  faults.throws = some(all.throws);
  faults.throw_within = some(all.throw_within);
  faults.delay = some(all.delay);
  faults.full_mailbox = some(all.full_mailbox);
  faults.no_memory = some(all.no_memory);
  faults.allocation = some(all.allocation);
  faults.clock_jump = some(all.clock_jump);
  faults.clock_skew = some(all.clock_skew);
  faults.storm = some(all.storm);
  faults.crash = some(all.crash);
  faults.partition = some(all.partition);
  SimNetworkFaults& network = faults.network;
  for (uint32_t* rate : {&network.loss_per_million, &network.duplication_per_million,
                         &network.reorder_per_million, &network.reset_per_million,
                         &network.resolve_failure_per_million, &network.short_read_per_million,
                         &network.short_write_per_million, &network.not_ready_per_million}) {
    *rate = some(*rate);
  }
  SimDiskFaults& disk = faults.disk;
  for (uint32_t* rate :
       {&disk.open_error_per_million, &disk.read_error_per_million, &disk.write_error_per_million,
        &disk.sync_error_per_million, &disk.short_read_per_million, &disk.short_write_per_million,
        &disk.late_cancel_per_million}) {
    *rate = some(*rate);
  }
  return faults;
}

std::unique_ptr<sim::Policy> policy_for(const SimOptions& options, uint64_t seed) {
  switch (options.policy) {
    case SimPolicy::fifo:
    case SimPolicy::dfs:
      return std::make_unique<sim::Fifo>();
    case SimPolicy::random:
      return std::make_unique<sim::Random>(seed);
    case SimPolicy::pct:
      return std::make_unique<sim::Pct>(seed, options.depth, kExpectedSteps);
  }
  return nullptr;
}

// The same kind of failure is told in the same words, but about others: without what comes after a
// colon, and without the names of actors, which have a # in them.
std::string kind_of(std::string_view failure) {
  std::string kind;
  failure = failure.substr(0, failure.find(':'));
  while (!failure.empty()) {
    const std::string_view word = failure.substr(0, failure.find(' '));
    if (word.find('#') == std::string_view::npos) kind.append(word).push_back(' ');
    failure.remove_prefix(std::min(failure.size(), word.size() + 1));
  }
  return kind;
}

class Campaign {
 public:
  Campaign(const SimOptions& options, const Scenario& scenario)
      : options_(options), scenario_(scenario) {}

  SimReport run() {
    if (std::string wrong = runtime::wrong_times(options_); !wrong.empty()) {
      return refuse(std::move(wrong));
    }
    if (options_.policy == SimPolicy::pct && options_.depth > kMostDepth) {
      return refuse("SimOptions::depth of SimPolicy::pct is at most " + std::to_string(kMostDepth));
    }
    const char* choices = std::getenv("JZX_CHOICES");
    if (choices != nullptr && *choices != '\0') return repeat(choices, "JZX_CHOICES=");
    if (!options_.choices.empty()) return repeat(options_.choices, "SimOptions::choices = ");
    const auto wanted = number_from_environment("JZX_SEED_COUNT");
    uint64_t count = wanted.value_or(options_.seeds);
    uint64_t first = options_.first_seed;
    const auto only = number_from_environment("JZX_SEED");
    if (only && options_.policy != SimPolicy::dfs) {
      first = *only;
      count = 1;
    }
    // What was never run has not passed.
    if (count == 0) {
      return refuse(std::string(wanted ? "JZX_SEED_COUNT" : "SimOptions::seeds") +
                    " is 0: nothing would be run");
    }
    if (options_.policy == SimPolicy::dfs) return explore(count);
    for (uint64_t seed = first; seed - first < count && report_.passed; ++seed) try_seed(seed);
    return std::move(report_);
  }

 private:
  // Nothing is run.
  SimReport refuse(std::string why) {
    report_.passed = false;
    report_.failure = std::move(why);
    return std::move(report_);
  }

  // One run; counts it.
  std::unique_ptr<SimRun> play(sim::Policy& policy, uint64_t seed, bool told) {
    auto run = std::make_unique<SimRun>(options_, policy, seed, told);
    run->set_faults(options_.swarm ? swarm_of(options_.faults, seed) : options_.faults);
    run->play(scenario_);
    return run;
  }

  void count(SimRun& run) {
    ++report_.runs;
    report_.steps += run.simulator.steps();
    // Three runs to the end of time are more than fits.
    const std::chrono::nanoseconds time(run.simulator.time().now_ns() - sim::VirtualTime::kStart);
    report_.simulated += std::min(time, std::chrono::nanoseconds::max() - report_.simulated);
    report_.hash = report_.hash * 0x100000001b3u ^ run.trace().hash();
  }

  void try_seed(uint64_t seed) {
    const auto policy = policy_for(options_, seed);
    const auto run = play(*policy, seed, options_.check_determinism);
    count(*run);
    if (run->has_failed())
      return tell_failure(seed, run->failure(), run->simulator.choices().made());
    if (options_.check_determinism) compare_with(*run, seed);
  }

  void compare_with(SimRun& first, uint64_t seed) {
    const auto policy = policy_for(options_, seed);
    const auto second = play(*policy, seed, true);
    if (first.trace().hash() == second->trace().hash()) return;
    const auto& a = first.trace().hashes();
    const auto& b = second->trace().hashes();
    size_t step = 0;
    while (step < a.size() && step < b.size() && a[step] == b[step]) ++step;
    report_.passed = false;
    report_.seed = seed;
    report_.repeat = line_to_repeat(seed);
    report_.failure = "the same seed ran differently the second time, ";
    if (step < a.size() || step < b.size()) {
      report_.failure += "from step " + std::to_string(step + 1) + " on";
      report_.trace =
          "first:\n" + line_or_end(first, step + 1) + "second:\n" + line_or_end(*second, step + 1);
    } else {
      report_.failure += "after its last step";
      report_.trace = "first:\n" + first.trace().text(kFewTraceLines) + "second:\n" +
                      second->trace().text(kFewTraceLines);
    }
    if (second->has_failed()) report_.failure += "; then it failed: " + second->failure();
  }

  static std::string line_or_end(const SimRun& run, uint64_t step) {
    const std::string line = run.trace().line_of(step);
    return "  " + (line.empty() ? std::string("(it has no such step)") : line) + '\n';
  }

  SimReport explore(uint64_t most) {
    if (options_.swarm) {
      return refuse(
          "SimPolicy::dfs tries all faults itself: it does not go with SimOptions::swarm");
    }
    sim::Dfs policy(options_.depth);
    uint64_t number = 0;
    do {
      const auto run = play(policy, ++number, false);
      count(*run);
      if (run->has_failed()) {
        tell_failure(number, run->failure(), run->simulator.choices().made());
      } else if (policy.has_diverged()) {
        report_.passed = false;
        report_.seed = number;
        report_.failure =
            "run " + std::to_string(number) +
            " had other choices than those before it: the scenario is not deterministic";
      }
    } while (report_.passed && report_.runs < most && policy.next());
    return std::move(report_);
  }

  // `origin`: who gave the list, for what is said of it.
  SimReport repeat(const std::string& text, const std::string& origin) {
    Taken taken;
    const uint64_t seed = number_from_environment("JZX_SEED").value_or(options_.first_seed);
    if (!runtime::from_text(text, taken)) {
      return refuse(origin + text + " is not a list of choices");
    }
    sim::Replay policy(taken);
    const auto run = play(policy, seed, true);
    count(*run);
    report_.choices = runtime::count_of_choices(taken);
    if (run->has_failed()) describe(*run, seed, taken);
    tell_misfit(policy, origin + text);
    return std::move(report_);
  }

  // A list that does not fit may pass for the wrong reason, and nobody reads what passes.
  void tell_misfit(const sim::Replay& policy, const std::string& list) {
    const auto misfit = policy.misfit();
    if (!misfit) return;
    const bool is_unused = misfit->count == 0;
    if (is_unused && !report_.passed) return;  // it failed before that
    const std::string choice = runtime::to_text(misfit->site, misfit->place, misfit->wanted);
    report_.misfit = choice + (is_unused ? " was never asked for"
                                         : " is none of " + std::to_string(misfit->count) +
                                               " alternatives, counted from 0");
    std::fprintf(stderr, "jzx: %s does not fit this scenario: %s\n", list.c_str(),
                 report_.misfit.c_str());
  }

  void tell_failure(uint64_t seed, const std::string& failure, Taken taken) {
    report_.choices = runtime::count_of_choices(taken);
    if (options_.shrink) {
      runtime::ShrinkBudget budget;
      const auto fails = [&](const Taken& candidate) {
        sim::Replay policy(candidate);
        const auto run = play(policy, seed, false);
        budget.spend(run->simulator.steps());
        return run->has_failed() && kind_of(run->failure()) == kind_of(failure);
      };
      taken = runtime::shrink(std::move(taken), fails, budget);
    }
    sim::Replay policy(taken);
    const auto run = play(policy, seed, true);
    if (run->has_failed()) {
      describe(*run, seed, taken);
    } else {
      report_.trace = "  (it did not fail again: the scenario is not deterministic)\n";
    }
    report_.passed = false;
    report_.failure = run->has_failed() ? run->failure() : failure;
    report_.seed = seed;
    report_.repeat = line_to_repeat(seed);
  }

  void describe(SimRun& run, uint64_t seed, const Taken& taken) {
    report_.passed = false;
    report_.failure = run.failure();
    report_.seed = seed;
    report_.shrunk = runtime::count_of_choices(taken);
    report_.repeat_shrunk = line_to_repeat(seed, " JZX_CHOICES=" + runtime::to_text(taken));
    report_.repeat = line_to_repeat(seed);
    report_.trace = run.trace().text(kMostTraceLines) + "because:\n" +
                    run.trace().causes_of(run.trace().last_step());
  }

  [[nodiscard]] std::string line_to_repeat(uint64_t seed, const std::string& choices = {}) const {
    return "JZX_SEED=" + std::to_string(seed) + choices + " ctest -R " +
           runtime::pattern_of(options_.name);
  }

  const SimOptions& options_;
  const Scenario& scenario_;
  SimReport report_;
};

}  // namespace

std::string SimReport::text() const {
  char counts[160];
  std::snprintf(counts, sizeof counts, "%llu runs, %llu steps, %.1f simulated hours",
                static_cast<unsigned long long>(runs), static_cast<unsigned long long>(steps),
                std::chrono::duration<double, std::ratio<3600>>(simulated).count());
  const std::string but =
      misfit.empty() ? std::string() : "\n  but the list of choices does not fit: " + misfit;
  if (passed) return std::string("simulation passed: ") + counts + but;
  std::string text = "simulation FAILED with seed " + std::to_string(seed) + ": " + failure + '\n';
  text += "  repeat it:  " + repeat + '\n';
  if (!repeat_shrunk.empty()) text += "  shrunk:     " + repeat_shrunk + '\n';
  text += "  " + std::to_string(choices) + " choices, of which " + std::to_string(shrunk) +
          " were needed; " + counts + but + '\n';
  return text + "what happened:\n" + trace;
}

SimReport simulate(const SimOptions& options, const std::function<void(Sim&)>& scenario) {
  return Campaign(options, scenario).run();
}

}  // namespace jzx

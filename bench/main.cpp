// jazz-bench: every benchmark in this folder, in one binary on Google Benchmark.
//
// Without flags each benchmark is repeated and its median and spread are shown. A flag
// given on the command line replaces the default of the same name, so
// `--benchmark_repetitions=1` shows one plain run.
#include <jzx/jzx.h>

#include <string>
#include <string_view>
#include <vector>

#include "support.hpp"

namespace {

constexpr std::string_view kDefaults[] = {
    "--benchmark_repetitions=5",
    "--benchmark_min_time=0.3",
    "--benchmark_display_aggregates_only=true",
    "--benchmark_counters_tabular=true",
};

std::string_view flag_name(std::string_view flag) { return flag.substr(0, flag.find('=')); }

bool was_given(std::string_view name, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (flag_name(argv[i]) == name) return true;
  }
  return false;
}

// One repetition has no median: showing aggregates only would then show nothing.
bool is_wanted(std::string_view name, int argc, char** argv) {
  if (was_given(name, argc, argv)) return false;
  return name != "--benchmark_display_aggregates_only" ||
         !was_given("--benchmark_repetitions", argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words;
  words.emplace_back(argv[0]);
  for (const std::string_view flag : kDefaults) {
    if (is_wanted(flag_name(flag), argc, argv)) words.emplace_back(flag);
  }
  for (int i = 1; i < argc; ++i) words.emplace_back(argv[i]);

  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);

  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
  benchmark::AddCustomContext("jzx_version", jzx_version());
#ifdef NDEBUG
  benchmark::AddCustomContext("jzx_bench_assertions", "off");
#else
  benchmark::AddCustomContext("jzx_bench_assertions", "on: figures of this build do not count");
#endif

  const bool only_listing = was_given("--benchmark_list_tests", argc, argv);
  const std::size_t ran = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (ran > 0 && !only_listing && bench::g_checks_passed == 0) {
    std::fprintf(stderr, "jazz-bench: nothing was checked, so nothing was measured\n");
    return 1;
  }
  return 0;
}

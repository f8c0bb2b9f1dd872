#include "model/explore.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace jzx::base::model {

namespace {

std::string with_commas(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

void print(const Options& options, const Result& result) {
  const std::string bound =
      options.preemptions == kUnbounded ? "none" : std::to_string(options.preemptions);
  std::printf("[model] %s: %s executions, preemption bound %s%s\n", options.name,
              with_commas(result.executions).c_str(), bound.c_str(),
              result.failed ? ", the last one failed" : "");
}

}  // namespace

void fail(const std::string& message) { current_execution()->fail(message); }

Result explore(const Options& options, const Body& body) {
  Execution execution(options.preemptions, options.max_steps);
  const std::function<void()> main = [&] {
    Scene scene(execution);
    body(scene);
  };
  Result result;
  do {
    if (result.executions == options.max_executions) {
      result.failed = true;
      result.message = "not all executions were seen: there are too many";
      return result;
    }
    ++result.executions;
    if (!execution.run(main)) {
      result.failed = true;
      result.message = execution.message();
      result.trace = execution.trace();
      return result;
    }
  } while (execution.advance());
  return result;
}

void expect_always(const Options& options, const Body& body) {
  const Result result = explore(options, body);
  print(options, result);
  EXPECT_FALSE(result.failed) << result.message << "\nin this execution:\n" << result.trace;
}

void expect_sometimes_fails(const Options& options, const char* part, const Body& body) {
  const Result result = explore(options, body);
  print(options, result);
  ASSERT_TRUE(result.failed);
  EXPECT_NE(result.message.find(part), std::string::npos) << result.message << "\n" << result.trace;
}

}  // namespace jzx::base::model

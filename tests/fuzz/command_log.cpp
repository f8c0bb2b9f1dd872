// Logs of commands: what is read is written as lines that are read as the same log. (But for the
// name of a type that is no UTF-8, which no type has.)
#include <string>

#include <jzx/sim/command_log.hpp>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const jzx::Result<jzx::CommandLog> log = jzx::CommandLog::parse(jzx::fuzz::text_of(data, size));
  if (!log) return 0;
  (void)log->to_text();
  const std::string lines = log->to_json_lines();
  const jzx::Result<jzx::CommandLog> again = jzx::CommandLog::parse(lines);
  FUZZ_CHECK(again.ok());
  FUZZ_CHECK(again->to_json_lines() == lines);
  FUZZ_CHECK(again->records.size() == log->records.size());
  for (size_t i = 0; i < log->records.size(); ++i) {
    FUZZ_CHECK(again->records[i].payload == log->records[i].payload);
    FUZZ_CHECK(again->records[i].rewritten == log->records[i].rewritten);
  }
  return 0;
}

// Records: whatever the file holds, it is a record or none; one is told, and read again as the
// same.
#include <string>

#include <jzx/sim/recorder.hpp>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const jzx::Result<jzx::Recording> recording =
      jzx::Recording::parse(jzx::fuzz::text_of(data, size));
  if (!recording) return 0;
  const std::string told = recording->dump();
  const jzx::Result<jzx::Recording> again = jzx::Recording::parse(recording->text());
  FUZZ_CHECK(again.ok());
  FUZZ_CHECK(again->text() == recording->text());
  FUZZ_CHECK(again->dump() == told);
  FUZZ_CHECK(again->turns() == recording->turns());
  FUZZ_CHECK(again->lost() == recording->lost());
  return 0;
}

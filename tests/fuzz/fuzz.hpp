// What the fuzz targets share: a check that ends the program, and bytes that are taken one by one.
//
// A target is a file here, tests/fuzz/<name>.cpp, with a function LLVMFuzzerTestOneInput; its
// stored inputs are tests/fuzz/corpus/<name>/. `make check-fuzz` runs each over them and a little
// further.
//
// Threads: libFuzzer's one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

// An expression.
#define FUZZ_CHECK(condition) \
  ((condition) ? void() : jzx::fuzz::does_not_hold(__FILE__, __LINE__, #condition))

namespace jzx::fuzz {

[[noreturn]] inline void does_not_hold(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, condition);
  std::abort();
}

// The input as a list of choices; zeros when it is used up.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : data_(data), left_(size) {}

  [[nodiscard]] bool is_empty() const { return left_ == 0; }
  uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  // `bound` is at most 256 and not 0.
  size_t below(size_t bound) { return byte() % bound; }
  [[nodiscard]] std::string_view rest() const {
    return {reinterpret_cast<const char*>(data_), left_};
  }

 private:
  const uint8_t* data_;
  size_t left_;
};

[[nodiscard]] inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace jzx::fuzz

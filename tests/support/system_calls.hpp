// Counts what a test's process asks the system for: memory (malloc and its family,
// which operator new ends in) and writes (how a sleeping loop is woken).
//
// It works by defining those functions in the test executable. Under a sanitizer,
// which brings its own, nothing is counted: can_count() says so, and tests that need
// the figures skip themselves there.
#pragma once

#include <cstdint>

namespace jzx::testing {

[[nodiscard]] bool can_count_system_calls();

// Of all threads, since the process began, without what an UncountedScope covers.
[[nodiscard]] uint64_t system_allocations();

// write() and eventfd_write(), of the calling thread, since it began.
[[nodiscard]] uint64_t writes_of_this_thread();

// Allocations of this thread are not counted while it lives.
class UncountedScope {
 public:
  UncountedScope();
  ~UncountedScope();
  UncountedScope(const UncountedScope&) = delete;
  UncountedScope& operator=(const UncountedScope&) = delete;
};

}  // namespace jzx::testing

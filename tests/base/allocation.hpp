// The tests' counting allocator, as the pair of functions that src/base takes.
#pragma once

#include "base/allocator.hpp"
#include "support/counting_allocator.hpp"

namespace jzx::base {

[[nodiscard]] inline Allocator allocator_of(testing::CountingAllocator& counting) {
  const jzx_allocator functions = counting.c_allocator();
  return Allocator{functions.alloc, functions.free, functions.ctx};
}

}  // namespace jzx::base

// What the tests of pools fill them with.
#pragma once

#include <stdexcept>

#include <jzx/handle_pool.hpp>

#include "cpp/census.hpp"
#include "support/counting_allocator.hpp"

namespace jzx::testing {

// Global in name, since its name appears in messages.
struct Enemy {
  int hp = 0;
  int x = 0;
};

// Cannot move, is counted, and may refuse to be.
class Tracked {
 public:
  explicit Tracked(Census& census, int the_value = 0, bool throws = false)
      : value(the_value), census_(&census) {
    if (throws) throw std::runtime_error("does not want to be");
    census_->made(this);
  }
  Tracked(const Tracked&) = delete;
  Tracked& operator=(const Tracked&) = delete;
  ~Tracked() { census_->destroyed(this, true); }

  [[nodiscard]] Census& census() const { return *census_; }

  int value;

 private:
  Census* census_;
};

[[nodiscard]] inline PoolMemory memory_of(CountingAllocator& counting) {
  const jzx_allocator functions = counting.c_allocator();
  return PoolMemory{functions.alloc, functions.free, functions.ctx};
}

}  // namespace jzx::testing

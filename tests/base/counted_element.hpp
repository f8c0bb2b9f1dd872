// An element of the arrays under test that counts how often it is made and ended.
#pragma once

#include <cstdint>

namespace jzx::base {

struct CountedElement {
  static constexpr uint32_t kMade = 0x600dda7a;

  CountedElement() { ++constructed; }
  ~CountedElement() { ++destroyed; }
  uint32_t value = kMade;
  static inline int constructed = 0;
  static inline int destroyed = 0;
};

}  // namespace jzx::base

// The seeds of a randomized test: a fixed list, or the one in JZX_SEED.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace jzx::testing {

inline std::vector<uint64_t> seeds(std::initializer_list<uint64_t> usual) {
  const char* chosen = std::getenv("JZX_SEED");
  if (chosen != nullptr) return {std::strtoull(chosen, nullptr, 10)};
  return usual;
}

}  // namespace jzx::testing

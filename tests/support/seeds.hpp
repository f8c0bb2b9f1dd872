// The seeds of a randomized test: a fixed list, the one in JZX_SEED, or as many as JZX_SEED_COUNT
// says (for `make soak`).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace jzx::testing {

inline std::vector<uint64_t> seeds(std::initializer_list<uint64_t> usual) {
  const char* chosen = std::getenv("JZX_SEED");
  if (chosen != nullptr) return {std::strtoull(chosen, nullptr, 10)};
  if (const char* count = std::getenv("JZX_SEED_COUNT")) {
    std::vector<uint64_t> many(std::strtoull(count, nullptr, 10));
    for (size_t i = 0; i < many.size(); ++i) many[i] = i + 1;
    return many;
  }
  return usual;
}

}  // namespace jzx::testing

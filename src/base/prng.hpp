// A small, fast, seedable generator (xoshiro256**, seeded by splitmix64). Not for
// secrets. One per owner; not thread-safe.
#pragma once

#include <cstdint>

namespace jzx::base {

[[nodiscard]] constexpr uint64_t splitmix64(uint64_t& state) noexcept {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

class Prng {
 public:
  explicit constexpr Prng(uint64_t seed) noexcept {
    for (uint64_t& word : state_) word = splitmix64(seed);
  }

  [[nodiscard]] constexpr uint64_t next() noexcept {
    const uint64_t result = rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound); bound is not 0. Multiply-shift on the high half: the bias is
  // below bound / 2^32, far under what scheduling or jitter could notice.
  [[nodiscard]] constexpr uint32_t below(uint32_t bound) noexcept {
    return static_cast<uint32_t>(((next() >> 32) * bound) >> 32);
  }

 private:
  static constexpr uint64_t rotl(uint64_t x, int k) noexcept { return (x << k) | (x >> (64 - k)); }

  uint64_t state_[4]{};
};

}  // namespace jzx::base

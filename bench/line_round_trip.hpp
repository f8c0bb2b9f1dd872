// What it takes to bring a cache line to another core and back, with nothing else around it: the
// floor of all that goes between two cores. On a virtual machine it differs by a factor of four,
// and changes within seconds, as the host moves its cores about; so a figure between cores means
// little without it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "base/atomic.hpp"

namespace bench {

// The median of a few blocks of `trips` each: in one of them, somebody else may have run.
inline double line_round_trip_ns(std::uint64_t trips) {
  using Clock = std::chrono::steady_clock;
  constexpr std::uint64_t kEnd = ~std::uint64_t{0};
  std::array<double, 5> blocks{};
  alignas(128) std::atomic<std::uint64_t> there{0};
  alignas(128) std::atomic<std::uint64_t> back{0};

  // The line, once it is there. Where the two share a core, one must let the other have it.
  const auto wait_for = [](const std::atomic<std::uint64_t>& line, std::uint64_t trip) {
    for (std::uint32_t spins = 1;; ++spins) {
      const std::uint64_t seen = line.load(std::memory_order_acquire);
      if (seen >= trip) return seen;
      spins % 4096 == 0 ? std::this_thread::yield() : jzx::base::spin_hint();
    }
  };

  std::thread other([&] {
    for (std::uint64_t trip = 1; wait_for(there, trip) != kEnd; ++trip) {
      back.store(trip, std::memory_order_release);
    }
  });
  std::uint64_t trip = 0;
  const auto make_trip = [&] {
    there.store(++trip, std::memory_order_release);
    (void)wait_for(back, trip);
  };
  make_trip();  // the other thread has started
  for (double& block_ns : blocks) {
    const auto began = Clock::now();
    for (std::uint64_t i = 0; i < trips; ++i) make_trip();
    const auto took = std::chrono::duration<double, std::nano>(Clock::now() - began);
    block_ns = took.count() / static_cast<double>(trips);
  }
  there.store(kEnd, std::memory_order_release);
  other.join();
  std::sort(blocks.begin(), blocks.end());
  return blocks[blocks.size() / 2];
}

}  // namespace bench

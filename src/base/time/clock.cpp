#include "base/time/clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>

#include <algorithm>
#include <iterator>
#endif

namespace jzx::base {

#if defined(__x86_64__)

namespace {

// A fixed-point number of nanoseconds: cycles * rate >> kShift.
constexpr unsigned kShift = 24;
__extension__ using Wide = unsigned __int128;

// Does the processor's counter tick at one rate, whatever the processor does?
bool has_steady_counter() noexcept {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned kPowerManagement = 0x80000007;
  constexpr unsigned kInvariantCounter = 1u << 8;
  return __get_cpuid(kPowerManagement, &eax, &ebx, &ecx, &edx) != 0 &&
         (edx & kInvariantCounter) != 0;
}

// Measures the counter against the clock for some 20 us. 0: there is no counter to be used.
uint64_t measure_rate() noexcept {
  if (!has_steady_counter()) return 0;
  SteadyClock clock;
  constexpr uint64_t kLength = 20'000;
  constexpr int kTries = 3;
  // The thread may lose its core between the two readings; the middle one of three is not hit.
  uint64_t rates[kTries] = {};
  for (uint64_t& rate : rates) {
    const uint64_t from_ns = clock.now_ns();
    const uint64_t from = __rdtsc();
    uint64_t to_ns = 0;
    do {
      to_ns = clock.now_ns();
    } while (to_ns - from_ns < kLength);
    const uint64_t cycles = __rdtsc() - from;
    if (cycles != 0) rate = ((to_ns - from_ns) << kShift) / cycles;
  }
  std::sort(std::begin(rates), std::end(rates));
  return rates[1];
}

}  // namespace

uint64_t SteadyClock::quick_ns() noexcept {
  static const uint64_t rate = measure_rate();
  if (rate == 0) [[unlikely]]
    return now_ns();
  return static_cast<uint64_t>(static_cast<Wide>(__rdtsc()) * rate >> kShift);
}

#else

uint64_t SteadyClock::quick_ns() noexcept { return now_ns(); }

#endif

}  // namespace jzx::base

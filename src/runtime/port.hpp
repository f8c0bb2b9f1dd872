// A Port is a LoopSystem seen through the typed edge.
#pragma once

#include "runtime/loop_system.hpp"

namespace jzx::runtime {

[[nodiscard]] inline LoopSystem& system_of(detail::Port& port) noexcept {
  return reinterpret_cast<LoopSystem&>(port);
}
[[nodiscard]] inline detail::Port* port_of(LoopSystem* system) noexcept {
  return reinterpret_cast<detail::Port*>(system);
}

// A hundred years. Longer times, which users may write down in milliseconds, are cut to this, since
// nanoseconds cannot hold them.
inline constexpr uint64_t kLongestTimeMs = 100ull * 365 * 24 * 3600 * 1000;

// For the length of a call on the loop's thread: on the way out an embedded loop's fd is made true.
class Outside {
 public:
  explicit Outside(detail::Port& port) noexcept : system_(system_of(port)) {
    system_.loop.enter_call();
  }
  ~Outside() { system_.loop.leave_call(); }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

  [[nodiscard]] core::Host& host() noexcept { return system_.worker; }
  [[nodiscard]] drivers::Worker& worker() noexcept { return system_.worker; }

 private:
  LoopSystem& system_;
};

}  // namespace jzx::runtime

// The ledger: every accepted user message has exactly one fate, so at any quiet moment
//
//   accepted == handled + dead_lettered + queued
//
// `queued` is counted by walking the actors, not derived, so that a lost message shows.
#pragma once

#include <cstdint>

namespace jzx::core {

struct Ledger {
  uint64_t accepted = 0;
  uint64_t handled = 0;
  uint64_t dead_lettered = 0;
  uint64_t queued = 0;

  [[nodiscard]] bool balanced() const noexcept {
    return accepted == handled + dead_lettered + queued;
  }
};

}  // namespace jzx::core

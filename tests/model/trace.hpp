// What the threads of a run did, step by step; kept always, printed when the run fails.
//
//   thread 1  push (mpsc_stack.hpp:27)       a3.load = null (relaxed)
//   thread 2  take_all (mpsc_stack.hpp:43)   a3.exchange n1 -> null (acquire)
//
// Atomics are a1, a2 …, plain words p1, p2 … and the things pointed to n1, n2 …, in the order in
// which the run met them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/atomic.hpp"

namespace jzx::base::model {

struct Step {
  enum class Kind : uint8_t { load, store, modify, failed_exchange, plain, words };

  uint32_t thread = 0;
  Kind kind = Kind::words;
  Look look = Look::number;
  std::memory_order order = std::memory_order_relaxed;
  uint32_t cell = 0;
  uint32_t stores_behind = 0;  // a load's: how many newer stores there were
  uint64_t before = 0;         // what was read
  uint64_t after = 0;          // what was stored
  const char* name = "";       // of the operation
  std::source_location where{};
};

[[nodiscard]] std::string describe(const std::vector<Step>& steps);

}  // namespace jzx::base::model

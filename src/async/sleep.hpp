// Futures of time, for whoever knows an executor.
#pragma once

#include <cstdint>

#include <jzx/future.hpp>

#include "base/executor.hpp"

namespace jzx::async {

// Rejected with Errc::no_memory without memory.
[[nodiscard]] Future<void> sleep(base::Executor& executor, uint64_t time_ms) noexcept;

}  // namespace jzx::async

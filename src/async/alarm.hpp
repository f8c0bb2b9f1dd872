// Starts an alarm from a host; see jzx/detail/timed_ask.hpp.
#pragma once

#include <jzx/detail/timed_ask.hpp>

#include "base/executor.hpp"

namespace jzx::async {

// nullptr: no memory.
[[nodiscard]] detail::Alarm* start_alarm(base::Executor& executor, uint64_t time_ms,
                                         detail::AlarmFn ring, void* owner) noexcept;

}  // namespace jzx::async

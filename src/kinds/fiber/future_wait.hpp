// How a fiber waits for a future: as a continuation that wakes it, and that it can take back. What
// happens when a result and a kill come at the same time: wait_word.hpp, which lies in the
// continuation's slot.
//
// Threads: the fiber's; the promise's end on any.
#pragma once

#include <cstdint>

#include <jzx/detail/task_root.hpp>
#include <jzx/future.hpp>

#include "kinds/fiber/fiber.hpp"

namespace jzx::kinds {

// How long a wait without end is.
inline constexpr uint64_t kNoLimit = UINT64_MAX;

// When the time is up the future is cancelled; one that cannot be is left. `edge`, if there is one,
// is ended by who settles the future; see detail::end_wait().
[[nodiscard]] detail::WaitEnd wait_for_future(Fiber& fiber, detail::FutureCore& core,
                                              detail::FutureCore::Resume discard, uint64_t limit_ms,
                                              void* edge) noexcept;

}  // namespace jzx::kinds

// How a fiber waits for a future: as a continuation that wakes it, and that it can take back. What
// happens when a result and a kill come at the same time: wait_word.hpp, which lies in the
// continuation's slot.
//
// Threads: the fiber's; the promise's end on any.
#pragma once

#include <jzx/detail/task_root.hpp>

#include "kinds/fiber/fiber.hpp"

namespace jzx::kinds {

// False: the fiber is to end, and the state is no longer the caller's. `edge`, if there is one, is
// ended by who settles the future; see detail::end_wait().
[[nodiscard]] bool wait_for_future(Fiber& fiber, detail::FutureCore& core,
                                   detail::FutureCore::Resume discard, void* edge) noexcept;

}  // namespace jzx::kinds

// How a fiber waits for a future: as a continuation that wakes it, and that it can take back.
//
// Both ends of the future and a kill meet in one word, in the continuation's slot:
//
//   waiting ──▶ waking ──▶ delivered    the promise's end; the state is the fiber's then
//      └──────▶ abandoned               the fiber, asked to end; the promise's end discards the
//                                       state when the result comes
//
// While it says `waking`, the promise's end uses the actor and its host. The fiber cannot leave the
// wait before that is over, however it was woken: it looks again until it reads `delivered`, which
// is a few instructions of another thread away. So neither the fiber's stack nor its system ends
// under a promise that is being resolved.
//
// Threads: the fiber's; the promise's end on any.
#pragma once

#include <jzx/detail/future_state.hpp>

#include "kinds/fiber/fiber.hpp"

namespace jzx::kinds {

// False: the fiber is to end, and the state is no longer the caller's.
[[nodiscard]] bool wait_for_future(Fiber& fiber, detail::FutureCore& core,
                                   detail::FutureCore::Resume discard) noexcept;

}  // namespace jzx::kinds

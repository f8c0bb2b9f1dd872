// Who may block on this thread.
#pragma once

#include "async/waits_for.hpp"

namespace jzx::kinds {
class Fiber;
}

namespace jzx::runtime {

// Does this thread run actors that must not wait: a loop, a worker, or whoever runs one by hand?
[[nodiscard]] bool must_not_block() noexcept;
// Does it, and is it not its user's own, as that of a loop is?
[[nodiscard]] bool must_not_block_worker() noexcept;

// The wait that this fiber is about to begin.
[[nodiscard]] async::WaitEdge edge_of(const kinds::Fiber& fiber) noexcept;

}  // namespace jzx::runtime

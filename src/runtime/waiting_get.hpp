// Who may block on this thread.
#pragma once

namespace jzx::runtime {

// Does this thread run actors that must not wait: a loop, or a worker?
[[nodiscard]] bool must_not_block() noexcept;

}  // namespace jzx::runtime

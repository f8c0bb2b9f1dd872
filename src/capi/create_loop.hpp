// Making a loop with more than the C interface offers: for tests, and for the C++ face.
#pragma once

#include <jzx/jzx.h>

#include "base/time/clock.hpp"
#include "core/ledger.hpp"

namespace jzx::capi {

struct LoopHooks {
  base::Clock* clock = nullptr;  // nullptr: the real one
};

[[nodiscard]] jzx_loop* create_loop(const jzx_config* config, const LoopHooks& hooks) noexcept;

[[nodiscard]] core::Ledger ledger(jzx_loop* loop) noexcept;

}  // namespace jzx::capi

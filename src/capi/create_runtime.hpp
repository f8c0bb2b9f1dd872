// Making a runtime with more than the C interface offers: for tests.
#pragma once

#include "capi/create_loop.hpp"

namespace jzx::capi {

[[nodiscard]] jzx_runtime* create_runtime(const jzx_runtime_config* config,
                                          const LoopHooks& hooks) noexcept;

}  // namespace jzx::capi

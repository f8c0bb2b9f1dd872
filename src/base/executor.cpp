#include "base/executor.hpp"

namespace jzx::base {

namespace {
thread_local Executor* current_executor = nullptr;
}

[[gnu::noinline]] Executor* Executor::current() noexcept { return current_executor; }

[[gnu::noinline]] void Executor::set_current(Executor* executor) noexcept {
  current_executor = executor;
}

}  // namespace jzx::base

#include "base/executor.hpp"

namespace jzx::base {

constinit thread_local Executor* Executor::current_ = nullptr;

[[gnu::noinline]] Executor* Executor::current() noexcept { return current_; }

[[gnu::noinline]] void Executor::set_current(Executor* executor) noexcept { current_ = executor; }

}  // namespace jzx::base

// The body that is a coroutine: an actor whose code is a Task. It runs until it awaits something
// that is not there yet, is suspended, and is woken when that has come. When the task has ended the
// actor ends: well, or with the task's error.
//
// One that is asked to end asks its task to stop, and ends when that has. See jzx/async/task.hpp.
//
// Threads: as core::Kind.
#pragma once

#include <jzx/detail/spawned_task.hpp>

#include "core/lifecycle.hpp"

namespace jzx::kinds {

void describe_task(detail::SpawnedTask& task, core::SpawnOptions& options) noexcept;

}  // namespace jzx::kinds

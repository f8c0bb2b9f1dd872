// Waiting for time to pass, as a future.
//
//   co_await jzx::sleep(10ms);                    in a task; a named future with g++ 12
//   runtime.sleep(10ms).get();                    on a thread that is not the runtime's
//
// Never early. Dropping the future takes the timer back; so does cancelling it, which rejects it
// with Errc::cancelled. A loop's timers are taken back on the loop's thread only; elsewhere that
// takes effect when the time is up. When the system ends, Errc::loop_closed.
#pragma once

#include <chrono>

#include <jzx/future.hpp>

namespace jzx {

// In the system whose code calls: in a task, a fiber or a handler. Rejected elsewhere.
[[nodiscard]] JZX_API Future<void> sleep(std::chrono::milliseconds time);

}  // namespace jzx

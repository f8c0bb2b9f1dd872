// What a call can answer. The values down to start_failed are those of jzx_err in the C header; the
// others are for waits, which C has not.
#pragma once

#include <jzx/detail/export.hpp>

namespace jzx {

enum class [[nodiscard]] Errc : int{
    ok = 0,
    unknown = -1,
    no_memory = -2,
    invalid_arg = -3,
    loop_closed = -4,
    no_such_actor = -5,
    actor_not_local = -6,
    mailbox_full = -7,
    timer_invalid = -8,
    io_reg_failed = -9,
    io_not_watched = -10,
    max_actors = -11,
    start_failed = -12,
    killed = -101,          // the fiber that waited was asked to end
    cancelled = -102,       // somebody asked for an early end
    timed_out = -103,       // the time was up
    broken_promise = -104,  // the promise was dropped
    exception = -105,       // one was thrown; the error carries it
    closed = -106,          // the other side is gone, and nothing more will come
    all_failed = -107,      // of several, none succeeded; the error carries theirs
    lagged = -108,          // too slow: something was missed
    io_failed = -109,       // of the operating system: see Error::system_code()
    end_of_stream = -110,   // the peer will send no more
    too_long = -111,        // more than the limit without an end
    deadlock = -112,        // those who wait wait for one another
    empty = -113,           // nothing is there now
};

[[nodiscard]] constexpr bool ok(Errc code) noexcept { return code == Errc::ok; }

// A sentence for people; never null.
[[nodiscard]] JZX_API const char* to_string(Errc code) noexcept;

}  // namespace jzx

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
    killed = -101,  // the fiber that waited was asked to end
};

[[nodiscard]] constexpr bool ok(Errc code) noexcept { return code == Errc::ok; }

// A sentence for people; never null.
[[nodiscard]] JZX_API const char* to_string(Errc code) noexcept;

}  // namespace jzx

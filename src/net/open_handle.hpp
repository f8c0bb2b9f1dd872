// What is behind a detail::Handle: the handle, who keeps it, and all that closing it needs.
//
// It is in the list of its keeper, and closed by whoever takes it out: its owner, or the end of the
// keeper. One that outlives its keeper is empty.
#pragma once

#include <jzx/net/handle.hpp>

#include "base/text.hpp"
#include "net/operate.hpp"

namespace jzx::detail {

struct KeptBy {
  explicit KeptBy(base::Executor& executor) noexcept : keeper(&executor) {}

  // Who keeps it; nullptr: that has ended.
  base::Atomic<base::Executor*> keeper;
  bool is_owned = true;  // under way to be closed otherwise
};

// Beginning with what every operation on the handle looks at: the keeper and the handle.
struct OpenHandle final : KeptBy, io::Operation, base::AtEnd, base::Runnable {
  OpenHandle(base::Executor& executor, io::Handle the_handle) noexcept;
};

}  // namespace jzx::detail

namespace jzx::net {

using base::has_zero_byte;

// What was opened there; it is closed if there is no memory for the record.
[[nodiscard]] Result<detail::Handle> keep(base::Executor& executor, io::Handle handle) noexcept;
// The result of an operation that opens something.
[[nodiscard]] Result<detail::Handle> keep_opened(base::Executor& executor,
                                                 const Result<int64_t>& opened,
                                                 const char* source) noexcept;

// An operation on it; nullptr and why not.
[[nodiscard]] Begun* begin_on(const detail::Handle& handle, io::Opcode opcode,
                              Error& error) noexcept;
[[nodiscard]] Future<int64_t> rejected(const Error& error) noexcept;

// For what ends at once: its result, -errno, or kNotOpen.
[[nodiscard]] int64_t operate_now(const detail::Handle& handle, io::Operation& operation) noexcept;
// For what may have to wait: true, it did not, and has its result. Else begin_on() it, which also
// says what is wrong.
[[nodiscard]] bool try_now(const detail::Handle& handle, io::Operation& operation) noexcept;
void nothing_to_do(io::Operation& operation) noexcept;

// ---- what several have in common ----

[[nodiscard]] Error no_home(const char* source) noexcept;
// `what` has a zero byte: "the path".
[[nodiscard]] Error zero_byte_in(const char* what, const char* source) noexcept;
[[nodiscard]] Result<detail::Handle> open_socket(base::Executor& executor, const Address& address,
                                                 io::SocketType type) noexcept;
[[nodiscard]] Result<void> bind_to(const detail::Handle& handle, const Address& address) noexcept;
[[nodiscard]] Result<void> set_option(const detail::Handle& handle, io::Option option,
                                      int64_t value, const char* source) noexcept;
[[nodiscard]] Result<Address> name_of(const detail::Handle& handle, io::Opcode opcode,
                                      const char* source) noexcept;

}  // namespace jzx::net

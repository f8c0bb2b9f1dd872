// Waiting for the first of several. The waits are futures of nothing, which take nothing: ready()
// and closed() of a channel, changed() of a watch, wait() of a Latch or Notify, sleep(). What there
// is to take is taken afterwards, from the one that won; the others have lost nothing.
//
//   auto first = jzx::select(jobs.ready(), orders.ready(), jzx::sleep(1s));
//   jzx::Selection selection = co_await co_await first;
//   switch (selection.index) {
//     case 0: handle(jobs.try_recv()); break;
//     case 1: handle(orders.try_recv()); break;
//     …
//   }
//
// Errc::closed counts as having come: trying then tells. Any other error of the one that comes
// first is the error of the whole. When several are there at the call, the first of them in the
// order of the arguments wins: who wants them to take turns changes the order.
//
// The others are cancelled, and have ended when the selection is there. One that came all the same,
// in that moment, says has_come(): that matters for Notify, where it is a notification.
//
// A select() that is cancelled or dropped cancels them all; if one has come, the selection stands.
//
// Threads: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <jzx/future.hpp>

namespace jzx {

struct Selection {
  size_t index = 0;   // which came first
  uint64_t came = 0;  // a bit for each that came

  [[nodiscard]] bool has_come(size_t which) const noexcept {
    return which < 64 && ((came >> which) & 1) != 0;
  }
};

// Takes the futures. At least one, at most 64: else Errc::invalid_arg. Refused, also without
// memory, it leaves them to the caller.
[[nodiscard]] JZX_API Future<Selection> select(std::span<Future<void>> waits) noexcept;

template <class... Waits>
requires(std::is_same_v<Waits, Future<void>>&&...)  //
    [[nodiscard]] Future<Selection> select(Waits... waits) noexcept {
  static_assert(sizeof...(waits) >= 1 && sizeof...(waits) <= 64,
                "jzx: select() is for at least one and at most 64 futures");
  std::array<Future<void>, sizeof...(waits)> all{std::move(waits)...};
  return select(std::span<Future<void>>(all));
}

}  // namespace jzx

// The crowd of an exploration: actors of every kind of body that do at random, when they are told
// to, whatever an actor can do to itself and to others.
//
//   Member      handlers            Patient   coroutine handlers, one message at a time
//   fiber       spawn_fiber()       Juggler   the same, interleaved
//   task        toil()
//
// Threads: one.
#pragma once

#include <memory>

#include "explore/books.hpp"

namespace jzx::explore {

using BooksPtr = std::shared_ptr<Books>;

// Do something; and have others do something, this many times over.
struct Do {
  uint32_t energy = 0;
  uint64_t number = 0;  // of all that are sent; 0: out of order, on purpose
};
struct Tick {
  int timer = 0;
};
struct Query {
  int number = 0;
};

// What whoever acts has to do itself.
enum class Then : uint8_t { go_on, ask, sleep, stash, stop, fail, throws };

// One random deed of `me`, which may be empty: then it is the scenario's.
[[nodiscard]] Then act(Books& books, SystemFace& system, Pid me, uint32_t energy);

[[nodiscard]] std::chrono::milliseconds some_time(Books& books);

// Somebody of a random kind. `supervisor`, `link` and `monitor` of the options may be set.
Pid spawn_somebody(const BooksPtr& books, SystemFace& system, const SpawnOptions& options);

// A child of a random kind.
[[nodiscard]] ChildSpec some_child(const BooksPtr& books, const Seat& seat);

// A supervisor with children, some of them supervisors, down to this depth.
[[nodiscard]] SupervisorOptions some_options(Books& books);
[[nodiscard]] std::vector<ChildSpec> some_children(const BooksPtr& books,
                                                   const SupervisorOptions& options,
                                                   uint32_t depth);

}  // namespace jzx::explore

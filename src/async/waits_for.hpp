// Who waits for whose answer: the edges of a graph in which a cycle is a deadlock. Off unless the
// system is told to look; then every wait for an answer in the middle of a body is an edge.
//
// A body waits for one thing at a time, so an actor has one edge at most, and looking for a cycle
// is following a line. An edge is in the graph from before the wait until the answer is there: who
// answers takes it out before going on, so that it does not look as if both waited. One whose
// answer came just before the wait is seen to be over by asking.
//
// While an edge is in the graph its waiter is there, and so is its name: it cannot go on without
// taking the edge out, under the lock.
//
// Threads: any.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include <jzx/detail/future_state.hpp>

namespace jzx::async {

struct WaitEdge {
  detail::Port* port = nullptr;  // the system of both
  ActorId waiter = 0;
  const char* name = "";  // of the waiter, for people
  ActorId target = 0;
  bool (*is_over)(const void* what) noexcept = nullptr;  // has the answer come?
  const void* what = nullptr;
  WaitEdge* next = nullptr;
  bool is_listed = false;  // under the lock
};

class WaitsFor {
 public:
  // False: it would close a cycle, and is no edge; `text` says which.
  [[nodiscard]] bool begin(WaitEdge& edge, ExitText& text) noexcept;
  // Whether it is one or not.
  void end(WaitEdge& edge) noexcept;

 private:
  [[nodiscard]] WaitEdge*& bucket_of(ActorId waiter) noexcept {
    return buckets_[static_cast<uint32_t>(waiter) % kBuckets];
  }
  // The edge of this actor; nullptr: it waits for no answer.
  [[nodiscard]] WaitEdge* find(ActorId waiter) noexcept;
  // False: it is no cycle any more.
  [[nodiscard]] bool describe(const WaitEdge& last, ExitText& out) noexcept;
  void list(WaitEdge& edge) noexcept;

  static constexpr size_t kBuckets = 128;
  std::mutex lock_;
  std::array<WaitEdge*, kBuckets> buckets_{};
};

}  // namespace jzx::async

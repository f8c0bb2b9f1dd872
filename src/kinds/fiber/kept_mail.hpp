// The messages that a fiber has seen and not wanted yet, by type, so that a receive finds the
// oldest of its type without walking past the others.
//
//   queues_  ┌ Ping ─▶ e ─▶ e ─▶ e      each in order of arrival
//            ├ Down ─▶ e
//            └ any type ─▶ e ─▶ e       those for whom there was no memory for a queue of their own
//
// A number in the envelope says which of two messages came first; it counts around, and is compared
// by difference, so it is good for 2^31 messages kept at once.
//
// The table is made when the first message is kept, and grows. If there is no memory for it, types
// share a queue, and finding them takes longer: nothing is lost.
//
// Threads: the fiber's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <jzx/detail/receive.hpp>
#include <jzx/envelope.hpp>

#include "base/allocator.hpp"

namespace jzx::kinds {

class KeptMail {
 public:
  using Pattern = detail::ReceivePattern;

  KeptMail() noexcept = default;
  KeptMail(const KeptMail&) = delete;
  KeptMail& operator=(const KeptMail&) = delete;
  // Before it ends. It is empty.
  void end(const base::Allocator& allocator) noexcept {
    allocator.release(std::exchange(queues_, nullptr));
    capacity_ = 0;
  }

  [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
  [[nodiscard]] bool has_memory() const noexcept { return queues_ != nullptr || count_ != 0; }

  void keep(const base::Allocator& allocator, Envelope& envelope) noexcept;

  // Takes out the oldest message that one of the patterns fits, and says which, the first of them;
  // nullptr: none does.
  [[nodiscard]] Envelope* take(const Pattern* patterns, size_t pattern_count, size_t& which);
  // Takes out the oldest; nullptr: it is empty.
  [[nodiscard]] Envelope* take_oldest() noexcept;
  // All of them, the oldest first. For tests: it takes memory of its own.
  [[nodiscard]] std::vector<const Envelope*> list() const;

 private:
  static constexpr uint32_t kFewTypes = 4;

  struct Queue {
    const MessageType* key = nullptr;
    Envelope* first = nullptr;
    Envelope* last = nullptr;
  };
  // A message in a queue, and what points to it.
  struct Found {
    Queue* queue = nullptr;
    Envelope* before = nullptr;
    Envelope* envelope = nullptr;
  };

  [[nodiscard]] Queue& queue_for(const base::Allocator& allocator, const MessageType* key) noexcept;
  [[nodiscard]] Queue* grow(const base::Allocator& allocator) noexcept;
  void look_for(const Pattern& pattern, Queue& queue, Found& best);
  Envelope* take_out(const Found& found) noexcept;

  Queue* queues_ = nullptr;
  uint32_t capacity_ = 0;
  uint32_t count_ = 0;
  uint32_t next_number_ = 0;
  Queue mixed_;
};

}  // namespace jzx::kinds

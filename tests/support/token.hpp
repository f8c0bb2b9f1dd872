// A value for messages that counts itself: it moves, and must be destroyed once, wherever it has
// got to.
//
// Threads: any; the count is the test's.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace jzx::testing {

class Token {
 public:
  explicit Token(std::atomic<int64_t>& alive) : alive_(&alive) { alive_->fetch_add(1); }
  Token(Token&& other) noexcept : alive_(std::exchange(other.alive_, nullptr)) {}
  Token& operator=(Token&&) = delete;
  ~Token() {
    if (alive_ != nullptr) alive_->fetch_sub(1);
  }

 private:
  std::atomic<int64_t>* alive_;
};

}  // namespace jzx::testing

// Heap-allocated message payloads, each of which must be freed exactly once: by the
// handler that got the message or by on_dead_letter.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace jzx::testing {

struct Payload {
  uint64_t number = 0;         // since addresses come back
  uint64_t not_before_ns = 0;  // of a timer that has not fired
};

class PayloadBank {
 public:
  [[nodiscard]] Payload* make() {
    auto made = std::make_unique<Payload>();
    Payload* raw = made.get();
    raw->number = ++made_count_;
    live_.emplace(raw, std::move(made));
    return raw;
  }
  void free(Payload* payload) {
    EXPECT_EQ(live_.erase(payload), 1u) << "freed twice, or never ours";
  }
  [[nodiscard]] bool is_live(Payload* payload) const { return live_.count(payload) == 1; }
  [[nodiscard]] bool is_live(Payload* payload, uint64_t number) const {
    return is_live(payload) && payload->number == number;
  }
  [[nodiscard]] size_t live_count() const { return live_.size(); }

 private:
  uint64_t made_count_ = 0;
  std::unordered_map<Payload*, std::unique_ptr<Payload>> live_;
};

}  // namespace jzx::testing

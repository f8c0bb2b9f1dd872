// How deep the stacks of each type of fiber have been, so that a user can choose a size.
//
// Looking is two system calls, so not every fiber is measured: of each type the first few that a
// host makes, and then one in many. One that is begins on a stack without pages but the top one,
// so that the pages it has at its end are its own.
//
// Threads: StackMarks by any; a Sampler by its host's.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include <jzx/detail/fiber.hpp>

#include "base/allocator.hpp"
#include "kinds/fiber/stack_memory.hpp"

namespace jzx::kinds {

// What a host remembers: how many of each type it has made, as far as its few places go.
class Sampler {
 public:
  // Shall the fiber of this type that is made now be measured?
  [[nodiscard]] bool is_next(const detail::FiberType& type) noexcept {
    Place& place = places_[(reinterpret_cast<uintptr_t>(&type) >> 4) % kPlaces];
    if (place.type != &type) place = {&type, 0};
    const uint32_t made = place.made++;
    return made < kFirst || made % kEvery == 0;
  }

 private:
  static constexpr size_t kPlaces = 32;
  static constexpr uint32_t kFirst = 4;
  static constexpr uint32_t kEvery = 1024;

  struct Place {
    const detail::FiberType* type = nullptr;
    uint32_t made = 0;
  };
  Place places_[kPlaces];
};

struct StackMark {
  const char* type = nullptr;
  size_t stack_size = 0;
  size_t deepest = 0;
  uint64_t measured = 0;
};

class StackMarks {
 public:
  enum class Life : uint8_t { goes_on, has_ended };
  // A fiber of this type has been so deep. What finds no place is not listed.
  void note(const detail::FiberType& type, const Stack& stack, uint32_t depth, Life life) noexcept;
  [[nodiscard]] std::vector<StackMark> list() const;

 private:
  static constexpr size_t kPlaces = 256;

  mutable std::mutex mutex_;  // innermost
  size_t count_ = 0;
  StackMark marks_[kPlaces];
};

}  // namespace jzx::kinds

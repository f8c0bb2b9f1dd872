// The types of actors that a system has seen. A small open-addressing table of pointers, read
// without a lock; what does not fit is not listed. It does not count the actors: that would be one
// contended instruction per spawn.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include <jzx/system.hpp>

#include "base/atomic.hpp"

namespace jzx {

class TypeRegistry {
 public:
  // An actor of this type was spawned.
  void note(const detail::ActorType& type) noexcept {
    const auto start = static_cast<size_t>(reinterpret_cast<uintptr_t>(&type) >> 4);
    for (size_t i = 0; i < kPlaces; ++i) {
      auto& place = places_[(start + i) % kPlaces];
      // relaxed, here and below: the types are constants.
      const detail::ActorType* there = place.load(std::memory_order_relaxed);
      if (there == &type) return;
      if (there == nullptr &&
          place.compare_exchange_strong(there, &type, std::memory_order_relaxed)) {
        return;
      }
      if (there == &type) return;  // another thread's note of the same
    }
  }

  [[nodiscard]] std::vector<ActorTypeInfo> list() const;

 private:
  static constexpr size_t kPlaces = 512;

  base::Atomic<const detail::ActorType*> places_[kPlaces]{};
};

}  // namespace jzx

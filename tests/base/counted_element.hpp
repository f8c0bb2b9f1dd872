// An element of the arrays under test that counts how often it is made and ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace jzx::base {

struct CountedElement {
  static constexpr uint32_t kMade = 0x600dda7a;

  CountedElement() { ++constructed; }
  ~CountedElement() { ++destroyed; }
  uint32_t value = kMade;
  static inline int constructed = 0;
  static inline int destroyed = 0;
};

// Lets one thread grow an array while another looks for each of its `size` elements: how many were
// found unfinished. `grow()` is false when there are all, `find(index)` null if there is none yet.
template <class Grow, class Find>
[[nodiscard]] uint32_t unfinished_while_growing(uint32_t size, Grow&& grow, Find&& find) {
  std::atomic<uint32_t> unfinished{0};
  std::atomic<bool> began{false};
  std::thread reader([&] {
    for (uint32_t index = 0; index < size;) {
      began.store(true);
      const CountedElement* element = find(index);
      if (element == nullptr) {
        std::this_thread::yield();
        continue;
      }
      if (element->value != CountedElement::kMade) unfinished.fetch_add(1);
      ++index;
    }
  });
  while (!began.load()) std::this_thread::yield();
  while (grow()) {
  }
  reader.join();
  return unfinished.load();
}

}  // namespace jzx::base

// Messages that are counted: a Census knows which objects exist and how often a value, which moves
// from object to object, came to its end.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>

namespace jzx::testing {

// Threads: any.
class Census {
 public:
  ~Census() { EXPECT_TRUE(objects_.empty()) << "every object made was destroyed"; }

  void made(const void* object) {
    const std::lock_guard hold(lock_);
    EXPECT_TRUE(objects_.insert(object).second) << "made in a place that is taken";
  }
  void destroyed(const void* object, bool had_value) {
    const std::lock_guard hold(lock_);
    EXPECT_EQ(objects_.erase(object), 1u) << "destroyed twice, or never made";
    if (had_value) ++ended_;
  }

  // Values that were destroyed, wherever they had moved to.
  [[nodiscard]] int ended() const {
    const std::lock_guard hold(lock_);
    return ended_;
  }
  [[nodiscard]] size_t objects() const {
    const std::lock_guard hold(lock_);
    return objects_.size();
  }

 private:
  mutable std::mutex lock_;
  std::set<const void*> objects_;
  int ended_ = 0;
};

// Move-only. `kPadding` makes it as large as a test wants.
template <size_t kPadding, bool kMoveMayThrow = false>
class Counted {
 public:
  explicit Counted(Census& census, int the_value = 0) : value(the_value), census_(&census) {
    census_->made(this);
  }
  Counted(Counted&& other) noexcept(!kMoveMayThrow) : value(other.value), census_(other.census_) {
    if constexpr (kMoveMayThrow) {
      if (other.throws_when_moved) throw std::runtime_error("does not want to move");
    }
    has_value_ = std::exchange(other.has_value_, false);
    census_->made(this);
  }
  Counted& operator=(Counted&&) = delete;
  ~Counted() { census_->destroyed(this, has_value_); }

  int value;
  bool throws_when_moved = false;

 private:
  bool has_value_ = true;
  Census* census_;
  [[maybe_unused]] std::array<std::byte, kPadding> padding_{};
};

using Small = Counted<1>;               // travels inside the envelope
using Big = Counted<500>;               // in a box
using ThrowingMove = Counted<1, true>;  // in a box, so that it need not move again

}  // namespace jzx::testing

// The choices of one run as a list, and the next run from it: depth first through the tree of all
// runs. A run repeats the list as far as it goes and then takes the first of everything; advance()
// changes the last choice that has something left.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace jzx::base::model {

class Choices {
 public:
  // A number below `count`.
  [[nodiscard]] uint32_t pick(uint32_t count) {
    if (count <= 1) return 0;
    if (next_ == made_.size()) made_.push_back({0, count});
    if (made_[next_].count != count) {
      std::fprintf(stderr,
                   "model: the same choices led to another place: the body of a test must "
                   "depend on nothing but the model\n");
      std::abort();
    }
    return made_[next_++].taken;
  }

  // False: all runs were made.
  [[nodiscard]] bool advance() noexcept {
    next_ = 0;
    while (!made_.empty() && made_.back().taken + 1 == made_.back().count) made_.pop_back();
    if (made_.empty()) return false;
    ++made_.back().taken;
    return true;
  }

 private:
  struct Choice {
    uint32_t taken;
    uint32_t count;
  };
  std::vector<Choice> made_;
  size_t next_ = 0;
};

}  // namespace jzx::base::model

#include "kinds/fiber/stack_marks.hpp"

#include <algorithm>

namespace jzx::kinds {

void StackMarks::note(const detail::FiberType& type, const Stack& stack, uint32_t depth,
                      Life life) noexcept {
  const std::lock_guard hold(mutex_);
  StackMark* end = marks_ + count_;
  StackMark* mark =
      std::find_if(marks_, end, [&](const StackMark& one) { return one.type == type.name; });
  if (mark == end) {
    if (count_ == kPlaces) return;
    ++count_;
    *mark = {type.name, 0, 0, 0};
  }
  if (life == Life::has_ended) ++mark->measured;
  mark->deepest = std::max<size_t>(mark->deepest, depth);
  mark->stack_size = std::max(mark->stack_size, stack.size());
}

std::vector<StackMark> StackMarks::list() const {
  const std::lock_guard hold(mutex_);
  return {marks_, marks_ + count_};
}

}  // namespace jzx::kinds

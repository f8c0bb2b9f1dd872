#include "async/waits_for.hpp"

#include <cstdio>

namespace jzx::async {

WaitEdge* WaitsFor::find(ActorId waiter) noexcept {
  for (WaitEdge* one = bucket_of(waiter); one != nullptr; one = one->next) {
    if (one->waiter == waiter) return one->is_over(one->what) ? nullptr : one;
  }
  return nullptr;
}

bool WaitsFor::begin(WaitEdge& edge, ExitText& text) noexcept {
  const std::lock_guard hold(lock_);
  for (ActorId next = edge.target; next != edge.waiter;) {
    const WaitEdge* found = find(next);
    if (found == nullptr) {
      edge.next = bucket_of(edge.waiter);
      bucket_of(edge.waiter) = &edge;
      edge.is_listed = true;
      return true;
    }
    next = found->target;
  }
  text = describe(edge);
  return false;
}

void WaitsFor::end(WaitEdge& edge) noexcept {
  const std::lock_guard hold(lock_);
  if (!edge.is_listed) return;
  edge.is_listed = false;
  WaitEdge** place = &bucket_of(edge.waiter);
  while (*place != &edge) place = &(*place)->next;
  *place = edge.next;
}

// "A waits for B waits for A", as far as it fits.
ExitText WaitsFor::describe(const WaitEdge& last) noexcept {
  char text[sizeof(ExitText)];
  size_t used = 0;
  const auto add = [&](const char* before, const WaitEdge& who) {
    const int written = std::snprintf(text + used, sizeof(text) - used, "%s%s", before, who.name);
    used += static_cast<size_t>(written);
    if (used >= sizeof(text)) used = sizeof(text) - 1;
  };
  add("", last);
  for (ActorId next = last.target; next != last.waiter;) {
    const WaitEdge& edge = *find(next);
    add(" waits for ", edge);
    next = edge.target;
  }
  add(" waits for ", last);
  return ExitText(std::string_view(text, used));
}

}  // namespace jzx::async

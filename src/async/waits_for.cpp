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
    if (found == nullptr) return list(edge), true;
    next = found->target;
  }
  // An answer may come while the cycle is walked again: then it is none.
  if (describe(edge, text)) return false;
  list(edge);
  return true;
}

void WaitsFor::list(WaitEdge& edge) noexcept {
  edge.next = bucket_of(edge.waiter);
  bucket_of(edge.waiter) = &edge;
  edge.is_listed = true;
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
bool WaitsFor::describe(const WaitEdge& last, ExitText& out) noexcept {
  char text[sizeof(ExitText)];
  size_t used = 0;
  const auto add = [&](const char* before, const WaitEdge& who) {
    const int written = std::snprintf(text + used, sizeof(text) - used, "%s%s", before, who.name);
    used += static_cast<size_t>(written);
    if (used >= sizeof(text)) used = sizeof(text) - 1;
  };
  add("", last);
  for (ActorId next = last.target; next != last.waiter;) {
    const WaitEdge* edge = find(next);
    if (edge == nullptr) return false;
    add(" waits for ", *edge);
    next = edge->target;
  }
  add(" waits for ", last);
  out = ExitText(std::string_view(text, used));
  return true;
}

}  // namespace jzx::async

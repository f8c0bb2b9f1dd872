#include "core/deadlock/waits_for.hpp"

#include <cstdio>

#include "core/system.hpp"

namespace jzx::core {

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
  const auto name_of = [&](ActorId id) {
    const Actor& actor = *last.system->actors.find(id);
    return actor.label != nullptr ? actor.label : actor.kind->type_name(actor);
  };
  char text[sizeof(ExitText)];
  size_t used = 0;
  const auto add = [&](const char* before, ActorId who) {
    const int written =
        std::snprintf(text + used, sizeof(text) - used, "%s%s", before, name_of(who));
    used += static_cast<size_t>(written);
    if (used >= sizeof(text)) used = sizeof(text) - 1;
  };
  add("", last.waiter);
  for (ActorId next = last.target; next != last.waiter; next = find(next)->target) {
    add(" waits for ", next);
  }
  add(" waits for ", last.waiter);
  return ExitText(std::string_view(text, used));
}

}  // namespace jzx::core

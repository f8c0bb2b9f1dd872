#include "kinds/fiber/kept_mail.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace jzx::kinds {

namespace {

using detail::key_of;

bool came_before(const Envelope& a, const Envelope& b) noexcept {
  return static_cast<int32_t>(a.trace - b.trace) < 0;
}

}  // namespace

void KeptMail::keep(const base::Allocator& allocator, Envelope& envelope) noexcept {
  envelope.trace = next_number_++;
  envelope.next = nullptr;
  Queue& queue = queue_for(allocator, key_of(envelope));
  if (queue.first == nullptr) {
    queue.first = &envelope;
  } else {
    queue.last->next = &envelope;
  }
  queue.last = &envelope;
  ++count_;
}

// A queue that has run empty is anybody's.
KeptMail::Queue& KeptMail::queue_for(const base::Allocator& allocator,
                                     const MessageType* key) noexcept {
  Queue* free = nullptr;
  for (uint32_t i = 0; i < capacity_; ++i) {
    Queue& queue = queues_[i];
    if (queue.first == nullptr) {
      if (free == nullptr) free = &queue;
    } else if (queue.key == key) {
      return queue;
    }
  }
  if (free == nullptr) free = grow(allocator);
  if (free == nullptr) return mixed_;
  free->key = key;
  return *free;
}

KeptMail::Queue* KeptMail::grow(const base::Allocator& allocator) noexcept {
  const uint32_t capacity = capacity_ == 0 ? kFewTypes : 2 * capacity_;
  auto* larger = static_cast<Queue*>(allocator.allocate(capacity * sizeof(Queue)));
  if (larger == nullptr) return nullptr;
  for (uint32_t i = 0; i < capacity_; ++i) new (&larger[i]) Queue(queues_[i]);
  for (uint32_t i = capacity_; i < capacity; ++i) new (&larger[i]) Queue();
  allocator.release(queues_);
  queues_ = larger;
  return &queues_[std::exchange(capacity_, capacity)];
}

void KeptMail::look_for(const Pattern& pattern, Queue& queue, Found& best) {
  Envelope* before = nullptr;
  for (Envelope* one = queue.first; one != nullptr; before = one, one = one->next) {
    // The rest of the queue is younger still.
    if (best.envelope != nullptr && !came_before(*one, *best.envelope)) return;
    if (!pattern.fits(*one)) continue;
    best = {&queue, before, one};
    return;
  }
}

Envelope* KeptMail::take(const Pattern* patterns, size_t pattern_count, size_t& which) {
  Found best;
  for (size_t p = 0; p < pattern_count; ++p) {
    const Envelope* best_before = best.envelope;
    for (uint32_t i = 0; i < capacity_; ++i) {
      if (queues_[i].first == nullptr) continue;
      if (patterns[p].key != nullptr && queues_[i].key != patterns[p].key) continue;
      look_for(patterns[p], queues_[i], best);
    }
    if (mixed_.first != nullptr) look_for(patterns[p], mixed_, best);
    if (best.envelope != best_before) which = p;
  }
  return best.envelope != nullptr ? take_out(best) : nullptr;
}

Envelope* KeptMail::take_oldest() noexcept {
  Queue* oldest = mixed_.first != nullptr ? &mixed_ : nullptr;
  for (uint32_t i = 0; i < capacity_; ++i) {
    Queue& queue = queues_[i];
    if (queue.first == nullptr) continue;
    if (oldest == nullptr || came_before(*queue.first, *oldest->first)) oldest = &queue;
  }
  return oldest != nullptr ? take_out({oldest, nullptr, oldest->first}) : nullptr;
}

std::vector<const Envelope*> KeptMail::list() const {
  std::vector<const Envelope*> all;
  const auto add = [&](const Queue& queue) {
    for (const Envelope* one = queue.first; one != nullptr; one = one->next) all.push_back(one);
  };
  for (uint32_t i = 0; i < capacity_; ++i) add(queues_[i]);
  add(mixed_);
  std::sort(all.begin(), all.end(),
            [](const Envelope* a, const Envelope* b) { return came_before(*a, *b); });
  return all;
}

Envelope* KeptMail::take_out(const Found& found) noexcept {
  Envelope& envelope = *found.envelope;
  if (found.before == nullptr) {
    found.queue->first = envelope.next;
  } else {
    found.before->next = envelope.next;
  }
  if (found.queue->last == &envelope) found.queue->last = found.before;
  envelope.next = nullptr;
  --count_;
  return &envelope;
}

}  // namespace jzx::kinds

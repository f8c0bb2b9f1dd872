#include "core/envelope_pool.hpp"

#include <utility>

namespace jzx::core {

EnvelopeDepot::~EnvelopeDepot() {
#ifndef NDEBUG
  uint64_t free = loose_.count;
  while (batches_ != nullptr) free += unstore().count;
  JZX_ASSERT(free == made_);
#endif
  while (chunks_ != nullptr) {
    Chunk* next = chunks_->next;
    allocator_.release(chunks_);
    chunks_ = next;
  }
}

// ---- chunks and batches ----

void* EnvelopeDepot::allocate_chunk() const noexcept {
  return allocator_.allocate(sizeof(Chunk) + alignof(Envelope) + sizeof(Envelope) * kPerChunk);
}

EnvelopeBatch EnvelopeDepot::adopt_chunk(void* memory) noexcept {
  chunks_ = new (memory) Chunk{chunks_};
  auto* first = static_cast<Envelope*>(base::align_up(chunks_ + 1, alignof(Envelope)));
  EnvelopeBatch batch;
  // Back to front, so that they are first taken in the order of their addresses.
  for (uint32_t i = kPerChunk; i-- > 0;) batch.push(*new (first + i) Envelope);
  made_ += kPerChunk;
  return batch;
}

// The storage of a free envelope is free too.
void EnvelopeDepot::store(const EnvelopeBatch& batch) noexcept {
  if (batch.first == nullptr) return;
  batch.first->sender = batch.count;
  new (batch.first->storage) Envelope*(batches_);
  batches_ = batch.first;
}

EnvelopeBatch EnvelopeDepot::unstore() noexcept {
  Envelope* first = batches_;
  if (first == nullptr) return {};
  batches_ = first->as<Envelope*>();
  return {first, static_cast<uint32_t>(first->sender)};
}

// ---- pools ----

EnvelopeBatch EnvelopeDepot::take_batch() noexcept {
  {
    std::lock_guard hold(lock_);
    if (batches_ != nullptr) return unstore();
  }
  // The user's allocator may be slow, or block: not while others wait for the lock.
  void* chunk = allocate_chunk();
  if (chunk == nullptr) return {};
  std::lock_guard hold(lock_);
  return adopt_chunk(chunk);
}

void EnvelopeDepot::give_batch(const EnvelopeBatch& batch) noexcept {
  std::lock_guard hold(lock_);
  store(batch);
}

bool EnvelopePool::refill() noexcept {
  in_use_ = spare_.first != nullptr ? std::exchange(spare_, {}) : depot_.take_batch();
  return in_use_.first != nullptr;
}

void EnvelopePool::make_room() noexcept {
  if (spare_.first != nullptr) depot_.give_batch(spare_);
  spare_ = std::exchange(in_use_, {});
}

// ---- foreign threads ----

Envelope* EnvelopeDepot::take_foreign(const MessageType* type) noexcept {
  lock_.lock();
  while (loose_.first == nullptr) {
    if (batches_ != nullptr) {
      loose_ = unstore();
      break;
    }
    lock_.unlock();
    void* chunk = allocate_chunk();
    if (chunk == nullptr) return nullptr;
    lock_.lock();
    store(adopt_chunk(chunk));
  }
  Envelope* envelope = loose_.pop();
  ++foreign_accepted_;
  // Another core wrote the next one last: fetch it while this one is filled.
  __builtin_prefetch(loose_.first, 1);
  lock_.unlock();
  return new (envelope) Envelope(type, 0, 0);
}

void EnvelopeDepot::give_back(Envelope& envelope) noexcept {
  std::lock_guard hold(lock_);
  --foreign_accepted_;
  loose_.push(envelope);
}

void EnvelopeDepot::give_dropped(Envelope& envelope) noexcept {
  std::lock_guard hold(lock_);
  ++foreign_dropped_;
  loose_.push(envelope);
}

uint64_t EnvelopeDepot::foreign_dropped() noexcept {
  std::lock_guard hold(lock_);
  return foreign_dropped_;
}

uint64_t EnvelopeDepot::foreign_accepted() noexcept {
  std::lock_guard hold(lock_);
  return foreign_accepted_;
}

}  // namespace jzx::core

// Envelopes for one worker: a private pool for its own thread, and one that foreign threads share
// under a lock. An envelope remembers which pool it is from (Envelope::kForeign); both kinds end
// on the worker's thread, which gives foreign ones back in batches, so that the lock is met once
// per message by a sender and once per batch by the worker.
//
// Threads: take() and give() on the worker's thread; the *_foreign functions on any.
#pragma once

#include <mutex>
#include <new>

#include <jzx/envelope.hpp>

#include "base/slab.hpp"
#include "base/spin_lock.hpp"

namespace jzx::core {

class EnvelopePool {
 public:
  explicit EnvelopePool(const base::Allocator& allocator) noexcept
      : own_(allocator, sizeof(Envelope), alignof(Envelope), kPerChunk),
        foreign_(allocator, sizeof(Envelope), alignof(Envelope), kPerChunk) {}

  // nullptr: no memory. The storage is not initialised.
  [[nodiscard]] Envelope* take(const MessageType* type, ActorId sender) noexcept {
    void* memory = own_.take();
    if (memory == nullptr) [[unlikely]]
      return nullptr;
    return new (memory) Envelope(type, sender, 0);
  }

  // Will take() succeed without asking the allocator?
  [[nodiscard]] bool has_own() const noexcept { return own_.has_free(); }

  // One that is known to be of the private pool.
  void give_own(Envelope& envelope) noexcept { own_.give(&envelope); }

  void give(Envelope& envelope) noexcept {
    if ((envelope.flags & Envelope::kForeign) == 0) {
      give_own(envelope);
    } else {
      envelope.next = returning_;
      returning_ = &envelope;
      if (++returning_count_ >= kBatch) return_foreign();
    }
  }

  // Counts the message as accepted; give_back_foreign() takes that back.
  [[nodiscard]] Envelope* take_foreign(const MessageType* type) noexcept {
    lock_.lock();
    while (!foreign_.has_free()) {
      // The user's allocator may be slow, or block: not while others wait for the lock.
      lock_.unlock();
      void* chunk = foreign_.allocate_chunk();
      if (chunk == nullptr) return nullptr;
      lock_.lock();
      foreign_.adopt_chunk(chunk);
    }
    void* memory = foreign_.take();
    ++foreign_accepted_;
    foreign_.prefetch_next();  // the worker wrote it last: fetch it while this one is filled
    lock_.unlock();
    return new (memory) Envelope(type, 0, Envelope::kForeign);
  }

  // The send was refused.
  void give_back_foreign(Envelope& envelope) noexcept {
    std::lock_guard hold(lock_);
    --foreign_accepted_;
    foreign_.give(&envelope);
  }

  // The worker has nothing better to do: foreign senders get theirs back.
  void return_foreign() noexcept {
    if (returning_ == nullptr) return;
    std::lock_guard hold(lock_);
    while (returning_ != nullptr) {
      Envelope* envelope = returning_;
      returning_ = envelope->next;
      foreign_.give(envelope);
    }
    returning_count_ = 0;
  }

  [[nodiscard]] uint64_t foreign_accepted() noexcept {
    std::lock_guard hold(lock_);
    return foreign_accepted_;
  }

 private:
  static constexpr size_t kPerChunk = 63;  // with its header a chunk stays just above 4 KiB
  static constexpr uint32_t kBatch = 64;

  base::Slab own_;
  Envelope* returning_ = nullptr;
  uint32_t returning_count_ = 0;

  alignas(64) base::SpinLock lock_;
  base::Slab foreign_;
  uint64_t foreign_accepted_ = 0;
};

}  // namespace jzx::core

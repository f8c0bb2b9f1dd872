// Envelopes. Each host has a pool of free ones that only its own thread touches; what is too much
// there, and what is too little, goes through the depot of the system, a batch at a time. So where
// one worker sends and another handles, the envelopes come back, at one lock per batch; and a pool
// never keeps more than two batches from the others.
//
//   host's pool: the batch in use (LIFO, warm) + at most one full spare
//        ▲ │ 64 at a time, under the depot's lock
//   depot: full batches; one loose batch for foreign threads, which have no pool of their own
//        ▲ │ 63 at a time
//   the user's allocator; memory goes back when the system ends
//
// Threads: EnvelopePool by its host's own; EnvelopeDepot by any.
#pragma once

#include <mutex>
#include <new>

#include <jzx/envelope.hpp>

#include "base/allocator.hpp"
#include "base/assert.hpp"
#include "base/spin_lock.hpp"

namespace jzx::core {

// Free envelopes in a chain; what is linked at its front is the last that was given.
struct EnvelopeBatch {
  Envelope* first = nullptr;
  uint32_t count = 0;

  void push(Envelope& envelope) noexcept {
    envelope.next = first;
    first = &envelope;
    ++count;
  }
  [[nodiscard]] Envelope* pop() noexcept {
    Envelope* envelope = first;
    first = envelope->next;
    --count;
    return envelope;
  }
};

class EnvelopeDepot {
 public:
  static constexpr uint32_t kBatch = 64;

  explicit EnvelopeDepot(const base::Allocator& allocator) noexcept : allocator_(allocator) {}
  EnvelopeDepot(const EnvelopeDepot&) = delete;
  EnvelopeDepot& operator=(const EnvelopeDepot&) = delete;
  ~EnvelopeDepot();

  // ---- pools ----

  // Empty: no memory.
  [[nodiscard]] EnvelopeBatch take_batch() noexcept;
  void give_batch(const EnvelopeBatch& batch) noexcept;

  // ---- foreign threads, one envelope at a time ----

  // Counts the message as accepted; give_back() takes that back. nullptr: no memory.
  [[nodiscard]] Envelope* take_foreign(const MessageType* type) noexcept;
  // The send was refused.
  void give_back(Envelope& envelope) noexcept;
  // The message was accepted and dropped at once.
  void give_dropped(Envelope& envelope) noexcept;
  [[nodiscard]] uint64_t foreign_accepted() noexcept;
  [[nodiscard]] uint64_t foreign_dropped() noexcept;

 private:
  static constexpr uint32_t kPerChunk = 63;  // with its header a chunk stays just above 4 KiB

  struct Chunk {
    Chunk* next;
  };

  [[nodiscard]] void* allocate_chunk() const noexcept;
  // Under the lock.
  [[nodiscard]] EnvelopeBatch adopt_chunk(void* memory) noexcept;
  void store(const EnvelopeBatch& batch) noexcept;
  [[nodiscard]] EnvelopeBatch unstore() noexcept;

  base::Allocator allocator_;
  alignas(64) base::SpinLock lock_;
  Chunk* chunks_ = nullptr;
  Envelope* batches_ = nullptr;  // the first of each batch, which holds the link to the next batch
  EnvelopeBatch loose_;
  uint64_t foreign_accepted_ = 0;
  uint64_t foreign_dropped_ = 0;
  uint64_t made_ = 0;  // envelopes, ever
};

class EnvelopePool {
 public:
  explicit EnvelopePool(EnvelopeDepot& depot) noexcept : depot_(depot) {}
  EnvelopePool(const EnvelopePool&) = delete;
  EnvelopePool& operator=(const EnvelopePool&) = delete;
  ~EnvelopePool() {
    depot_.give_batch(in_use_);
    depot_.give_batch(spare_);
  }

  // nullptr: no memory. The storage is not initialised.
  [[nodiscard]] Envelope* take(const MessageType* type, ActorId sender) noexcept {
    if (in_use_.first == nullptr && !refill()) [[unlikely]]
      return nullptr;
    return new (in_use_.pop()) Envelope(type, sender, 0);
  }

  // Will take() succeed without asking anybody?
  [[nodiscard]] bool has_own() const noexcept { return in_use_.first != nullptr; }

  void give(Envelope& envelope) noexcept {
    if (in_use_.count == EnvelopeDepot::kBatch) [[unlikely]]
      make_room();
    in_use_.push(envelope);
  }

 private:
  // Out of line, so that take() and give() stay a handful of instructions where they are inlined.
  [[nodiscard]] bool refill() noexcept;
  void make_room() noexcept;

  EnvelopeBatch in_use_;
  EnvelopeBatch spare_;  // full, or empty
  EnvelopeDepot& depot_;
};

}  // namespace jzx::core

#include "base/blocks/block_depot.hpp"

#include <algorithm>

namespace jzx::base {

namespace {

// Small, since one block in use keeps the whole span; large enough that the page for the alignment
// is 3 % of it, and that malloc, as glibc sets it up, maps it and unmaps it.
constexpr uint32_t kMaxChunks = 32;

constexpr size_t kChunkHeader = BlockDepot::kMaxAlignment;

}  // namespace

// At the start of a span's memory.
struct BlockDepot::Span : ListNode<> {
  Span(std::byte* the_first, uint32_t the_chunks) noexcept : first(the_first), chunks(the_chunks) {}

  [[nodiscard]] bool is_open() const noexcept { return with_away != nullptr || carved < chunks; }

  std::byte* const first;      // chunk
  Chunk* with_away = nullptr;  // the chunks that have blocks put away
  uint64_t away = 0;           // blocks of all its chunks
  const uint32_t chunks;
  uint32_t carved = 0;
};

struct BlockDepot::Chunk {
  explicit Chunk(Span& the_span) noexcept : span(the_span) {}

  Span& span;
  BlockBatch away;
  Chunk* next = nullptr;  // in the span's list
};

BlockDepot::Chunk* BlockDepot::chunk_of(FreeBlock* block) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(block);
  return reinterpret_cast<Chunk*>(address & ~uintptr_t{kChunkBytes - 1});
}

BlockDepot::BlockDepot(const Allocator& allocator, size_t size) noexcept
    : allocator_(allocator),
      size_(size),
      per_chunk_(static_cast<uint32_t>((kChunkBytes - kChunkHeader) / size)),
      kept_(kKeptBytes / size) {
  static_assert(sizeof(Chunk) <= kChunkHeader);
  JZX_ASSERT(size >= sizeof(StoredBatch) && size % alignof(StoredBatch) == 0);
  JZX_ASSERT(per_chunk_ > 0);
}

BlockDepot::~BlockDepot() {
  check_all_given();
  open_.splice_back(used_up_);
  while (Span* span = open_.pop_front()) allocator_.release(span);
}

BlockBatch BlockDepot::take_batch() noexcept {
  lock_.lock();
  if (batches_ == nullptr && open_.empty()) {
    const uint32_t chunks = next_chunks_;
    lock_.unlock();
    // The user's allocator may be slow, or block: not while others wait for the lock.
    void* memory = allocator_.allocate(sizeof(Span) + kChunkBytes + chunks * kChunkBytes);
    if (memory == nullptr) return {};
    lock_.lock();
    adopt(memory, chunks);
  }
  if (batches_ != nullptr || open_.front()->with_away != nullptr) {
    const BlockBatch batch = batches_ != nullptr ? unstore() : take_away();
    lock_.unlock();
    return batch;
  }
  Span& span = *open_.front();
  void* chunk = carve(span);
  lock_.unlock();
  return make_blocks(chunk, span);  // its page is touched for the first time: not under the lock
}

// ---- spans and chunks ----

void BlockDepot::adopt(void* memory, uint32_t chunks) noexcept {
  void* first = align_up(static_cast<Span*>(memory) + 1, kChunkBytes);
  open_.push_front(*new (memory) Span(static_cast<std::byte*>(first), chunks));
  next_chunks_ = std::min(next_chunks_ * 2, kMaxChunks);
}

// From here on the span stays: not all of its blocks are put away.
void* BlockDepot::carve(Span& span) noexcept {
  void* chunk = span.first + span.carved++ * kChunkBytes;
  made_ += per_chunk_;
  note_given_out(span);
  return chunk;
}

BlockBatch BlockDepot::make_blocks(void* chunk, Span& span) const noexcept {
  new (chunk) Chunk(span);
  std::byte* first = static_cast<std::byte*>(chunk) + kChunkHeader;
  BlockBatch batch;
  // Back to front, so that they are first taken in the order of their addresses.
  for (uint32_t i = per_chunk_; i-- > 0;) batch.push(first + i * size_);
  return batch;
}

// A chunk was carved, or its blocks taken.
void BlockDepot::note_given_out(Span& span) noexcept {
  if (span.is_open()) return;
  span.unlink();
  used_up_.push_front(span);
}

// ---- blocks that are put away ----

// The batch that was given. If there is still far too much afterwards, the free blocks are strewn
// over all spans, and those that are stored may keep them: then one stored batch goes, too.
BlockDepot::Span* BlockDepot::shrink() noexcept {
  Span* dead = nullptr;
  put_away(unstore(), dead);
  if (free_ > kept_ + kept_ / 8 && batches_ != nullptr) put_away(unstore(), dead);
  return dead;
}

void BlockDepot::put_away(BlockBatch batch, Span*& dead) noexcept {
  free_ += batch.count();
  while (batch.first != nullptr) {
    Chunk& chunk = *chunk_of(batch.first);
    Span& span = chunk.span;
    if (!span.is_open()) {
      span.unlink();
      open_.push_front(span);
    }
    if (chunk.away.first == nullptr) chunk.next = std::exchange(span.with_away, &chunk);
    // Mostly neighbours come one after the other.
    const uint64_t before = chunk.away.count();
    BlockBatch away = chunk.away;
    uint64_t count = before;
    do {
      FreeBlock* block = batch.first;
      batch.first = block->next;
      *block = {away.first, ++count};
      away.first = block;
    } while (batch.first != nullptr && chunk_of(batch.first) == &chunk);
    chunk.away = away;
    span.away += count - before;
    if (span.away < uint64_t{span.carved} * per_chunk_ || free_ <= kept_) continue;
    free_ -= span.away;
    made_ -= span.away;
    span.unlink();
    span.next = std::exchange(dead, &span);
  }
}

// As many as are worth a lock: the chain of one chunk, and of others if that is short.
BlockBatch BlockDepot::take_away() noexcept {
  BlockBatch batch;
  for (Span* span = open_.front(); span != nullptr && span->with_away != nullptr;
       span = open_.front()) {
    Chunk& chunk = *span->with_away;
    BlockBatch chain = std::exchange(chunk.away, {});
    span->with_away = chunk.next;
    span->away -= chain.count();
    free_ -= chain.count();
    note_given_out(*span);
    if (batch.first == nullptr) batch = std::exchange(chain, {});
    while (chain.first != nullptr) batch.push(chain.pop());
    if (batch.count() >= kBatch / 2) break;
  }
  return batch;
}

void BlockDepot::release(Span* dead) const noexcept {
  while (dead != nullptr) {
    Span* next = static_cast<Span*>(dead->next);
    allocator_.release(dead);
    dead = next;
  }
}

void BlockDepot::check_all_given() noexcept {
#ifndef NDEBUG
  uint64_t free = loose_.count() + loose_spare_.count();
  while (batches_ != nullptr) free += unstore().count();
  for (Span* span = open_.front(); span != nullptr; span = open_.after(*span)) free += span->away;
  JZX_ASSERT(free == made_);
#endif
}

}  // namespace jzx::base

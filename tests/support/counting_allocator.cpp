#include "support/counting_allocator.hpp"

#include <cstdlib>
#include <cstring>

#include "support/system_calls.hpp"

namespace jzx::testing {
namespace {

// In front of every block; as wide as malloc's alignment so that the block keeps it.
struct alignas(std::max_align_t) Header {
  size_t size;
  uint64_t guard;
};

constexpr uint64_t kAlive = 0x6a7a782d616c6976;
constexpr uint64_t kFreed = 0x6a7a782d64656164;

}  // namespace

jzx_allocator CountingAllocator::c_allocator() {
  jzx_allocator allocator{};
  allocator.alloc = &CountingAllocator::allocate;
  allocator.free = &CountingAllocator::release;
  allocator.ctx = this;
  return allocator;
}

void CountingAllocator::refuse_nth(uint64_t n) {
  refuse_after_too_.store(false);
  refuse_at_.store(n == 0 ? 0 : allocations_.load() + n);
}

void CountingAllocator::refuse_from_nth(uint64_t n) {
  refuse_nth(n);
  refuse_after_too_.store(n != 0);
}

bool CountingAllocator::must_refuse(uint64_t number) const {
  const uint64_t at = refuse_at_.load();
  if (at != 0 && (number == at || (number > at && refuse_after_too_.load()))) return true;
  return refuse_all_.load();
}

void* CountingAllocator::allocate(void* ctx, size_t size) {
  auto& self = *static_cast<CountingAllocator*>(ctx);
  const uint64_t number = self.allocations_.fetch_add(1) + 1;
  if (self.must_refuse(number)) {
    self.refused_.fetch_add(1);
    return nullptr;
  }
  const UncountedScope ours;
  auto* header = static_cast<Header*>(std::malloc(sizeof(Header) + size));
  if (header == nullptr) return nullptr;
  header->size = size;
  header->guard = kAlive;
  self.live_bytes_.fetch_add(static_cast<int64_t>(size));
  self.live_blocks_.fetch_add(1);
  // Memory from a user's allocator is not zeroed; make relying on it visible.
  std::memset(header + 1, 0xa5, size);
  return header + 1;
}

void CountingAllocator::release(void* ctx, void* ptr) {
  if (ptr == nullptr) return;
  auto& self = *static_cast<CountingAllocator*>(ctx);
  auto* header = static_cast<Header*>(ptr) - 1;
  if (header->guard != kAlive) std::abort();  // freed twice, or not ours
  header->guard = kFreed;
  self.live_bytes_.fetch_sub(static_cast<int64_t>(header->size));
  self.live_blocks_.fetch_sub(1);
  std::free(header);
}

}  // namespace jzx::testing

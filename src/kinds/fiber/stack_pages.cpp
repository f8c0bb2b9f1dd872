#include "kinds/fiber/stack_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>

#include "base/atomic.hpp"

namespace jzx::kinds {
namespace {

// MADV_GUARD_INSTALL, which the C library of 2022 does not name.
constexpr int kInstallGuard = 102;

constexpr uint64_t kUsualMaxMaps = 65530;  // for where the limit cannot be read

base::Atomic<uint64_t> reserved{0};

[[nodiscard]] std::byte* map(size_t size) noexcept {
  // MAP_NORESERVE: what is never touched counts nowhere. MAP_STACK: newer kernels then keep huge
  // pages out.
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

[[nodiscard]] size_t above_slab_boundary(const std::byte* memory) noexcept {
  return reinterpret_cast<uintptr_t>(memory) & (kSlabSize - 1);
}

}  // namespace

std::byte* map_slab() noexcept {
  std::byte* memory = map(kSlabSize);
  if (memory == nullptr) return nullptr;
  // Beside an older slab it is aligned as it comes.
  if (above_slab_boundary(memory) != 0) {
    munmap(memory, kSlabSize);
    memory = map(2 * kSlabSize);
    if (memory == nullptr) return nullptr;
    const size_t before = (kSlabSize - above_slab_boundary(memory)) & (kSlabSize - 1);
    if (before > 0) munmap(memory, before);
    memory += before;
    munmap(memory + kSlabSize, kSlabSize - before);
  }
  // For older kernels: a huge page would commit many stacks at the first touch of one.
  madvise(memory, kSlabSize, MADV_NOHUGEPAGE);
  return memory;
}

void unmap_slab(void* slab) noexcept { munmap(slab, kSlabSize); }

bool install_guard(Guard guard, std::byte* page) noexcept {
  switch (guard) {
    case Guard::marked:
      return madvise(page, kStackPage, kInstallGuard) == 0;
    case Guard::protected_page:
      return mprotect(page, kStackPage, PROT_NONE) == 0;
    case Guard::canary:
      break;
  }
  auto* words = reinterpret_cast<uint64_t*>(page + kStackPage) - kCanaryWords;
  std::fill_n(words, kCanaryWords, kCanary);
  return true;
}

Guard probe_guard(Guard wanted) noexcept {
  if (wanted == Guard::canary) return wanted;
  std::byte* memory = map(2 * kStackPage);
  if (memory == nullptr) return wanted;  // then no slab will be mapped either
  Guard found = Guard::canary;
  // Not at the start of the mapping: where pages are larger, a guard must be found impossible.
  for (Guard guard : {Guard::marked, Guard::protected_page}) {
    if (guard < wanted || !install_guard(guard, memory + kStackPage)) continue;
    found = guard;
    break;
  }
  munmap(memory, 2 * kStackPage);
  return found;
}

uint64_t mappings_for_guards() noexcept {
  unsigned long long limit = kUsualMaxMaps;
  if (std::FILE* file = std::fopen("/proc/sys/vm/max_map_count", "re")) {
    if (std::fscanf(file, "%llu", &limit) != 1) limit = kUsualMaxMaps;
    std::fclose(file);
  }
  return limit / 2;
}

// relaxed, in all three: the number is all there is; nothing is published with it.
bool reserve_mappings(uint64_t count, uint64_t allowed) noexcept {
  uint64_t now = reserved.load(std::memory_order_relaxed);
  do {
    if (count > allowed || now > allowed - count) return false;
  } while (!reserved.compare_exchange_weak(now, now + count, std::memory_order_relaxed));
  return true;
}
void release_mappings(uint64_t count) noexcept {
  reserved.fetch_sub(count, std::memory_order_relaxed);
}
uint64_t reserved_mappings() noexcept { return reserved.load(std::memory_order_relaxed); }

}  // namespace jzx::kinds

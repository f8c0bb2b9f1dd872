#include "support/system_calls.hpp"

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "support/scale.hpp"

namespace {

std::atomic<uint64_t> allocation_count{0};
thread_local uint64_t uncounted_depth = 0;
thread_local uint64_t write_count = 0;

[[maybe_unused]] void note_allocation() {
  // Relaxed: a number on its own, read after the threads concerned were joined.
  if (uncounted_depth == 0) allocation_count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

#if defined(__GLIBC__)
#define JZX_TEST_INTERPOSE 1
#else
#define JZX_TEST_INTERPOSE 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#undef JZX_TEST_INTERPOSE
#define JZX_TEST_INTERPOSE 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#undef JZX_TEST_INTERPOSE
#define JZX_TEST_INTERPOSE 0
#endif
#endif

#if JZX_TEST_INTERPOSE

extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* ptr, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  note_allocation();
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  note_allocation();
  return __libc_calloc(count, size);
}

void* realloc(void* ptr, size_t size) {
  note_allocation();
  return __libc_realloc(ptr, size);
}

void* memalign(size_t alignment, size_t size) {
  note_allocation();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  note_allocation();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** out, size_t alignment, size_t size) {
  note_allocation();
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}

ssize_t write(int fd, const void* data, size_t len) {
  ++write_count;
  return syscall(SYS_write, fd, data, len);
}

int eventfd_write(int fd, eventfd_t value) {
  return write(fd, &value, sizeof(value)) == sizeof(value) ? 0 : -1;
}

}  // extern "C"

#endif

namespace jzx::testing {

bool can_count_system_calls() { return JZX_TEST_INTERPOSE != 0; }
uint64_t system_allocations() { return allocation_count.load(std::memory_order_relaxed); }
uint64_t writes_of_this_thread() { return write_count; }

UncountedScope::UncountedScope() { ++uncounted_depth; }
UncountedScope::~UncountedScope() { --uncounted_depth; }

}  // namespace jzx::testing

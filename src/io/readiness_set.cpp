#include "io/readiness_set.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <ctime>

#include "base/assert.hpp"
#include "base/time/clock.hpp"

namespace jzx::io {
namespace {

// No generation is 0, so no registration has these ids.
constexpr uint64_t kWakerId = 0;
constexpr uint64_t kAttachedId = 1;

constexpr uint64_t make_id(int fd, uint32_t generation) {
  return (static_cast<uint64_t>(generation) << 32) | static_cast<uint32_t>(fd);
}
constexpr int fd_of(uint64_t id) { return static_cast<int>(static_cast<uint32_t>(id)); }
constexpr uint32_t generation_of(uint64_t id) { return static_cast<uint32_t>(id >> 32); }

constexpr uint32_t epoll_events(uint32_t interest) {
  uint32_t events = EPOLLET;
  if (interest & kReadable) events |= EPOLLIN | EPOLLRDHUP;
  if (interest & kWritable) events |= EPOLLOUT;
  return events;
}

constexpr uint32_t readiness(uint32_t events) {
  uint32_t bits = 0;
  if (events & EPOLLIN) bits |= kReadable;
  if (events & EPOLLOUT) bits |= kWritable;
  if (events & EPOLLERR) bits |= kError;
  if (events & (EPOLLHUP | EPOLLRDHUP)) bits |= kHangup;
  return bits;
}

// Rounded up: to come back early, again and again, would be to spin until the deadline. What
// does not fit comes back early once every 24 days.
int to_milliseconds(uint64_t ns) {
  const uint64_t ms = ns / base::kNanosPerMilli + (ns % base::kNanosPerMilli != 0 ? 1 : 0);
  return static_cast<int>(std::min<uint64_t>(ms, INT_MAX));
}

}  // namespace

ReadinessSet::~ReadinessSet() {
  for (size_t page = 0; page < directory_size_; ++page) allocator_.destroy(directory_[page]);
  allocator_.release(directory_);
  if (epoll_fd_ >= 0) ::close(epoll_fd_);
}

int ReadinessSet::open() noexcept {
  epoll_fd_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_fd_ < 0) return -errno;
  if (const int error = waker_.open(); error != 0) return error;
  return control(EPOLL_CTL_ADD, waker_.fd(), EPOLLIN | EPOLLET, kWakerId);
}

int ReadinessSet::attach(int fd) noexcept {
  JZX_ASSERT(attached_fd_ < 0);
  attached_fd_ = fd;
  return control(EPOLL_CTL_ADD, fd, EPOLLIN, kAttachedId);
}

int ReadinessSet::watch(Watch& watch) noexcept {
  // A stale number of the caller's may have become ours, and taking it would make us deaf.
  if (watch.fd >= 0 && (watch.fd == waker_.fd() || watch.fd == attached_fd_)) return -EINVAL;
  Entry* entry = nullptr;
  if (const int error = entry_for(watch.fd, entry); error != 0) return error;

  const uint32_t generation = entry->generation == UINT32_MAX ? 1 : entry->generation + 1;
  const uint64_t id = make_id(watch.fd, generation);
  const bool known = entry->watch != nullptr;
  const uint32_t events = epoll_events(watch.interest);
  int error = control(known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, watch.fd, events, id);
  // The number was closed behind our back, and now means another file, …
  if (known && error == -ENOENT) error = control(EPOLL_CTL_ADD, watch.fd, events, id);
  // … or it was closed, forgotten by us, and now means a file that the kernel has not forgotten.
  if (!known && error == -EEXIST) error = control(EPOLL_CTL_MOD, watch.fd, events, id);
  if (error != 0) {
    entry->watch = nullptr;  // whoever it was, the kernel has no registration of theirs left
    return error;
  }

  entry->generation = generation;
  entry->watch = &watch;
  if (watch.registration != 0 && fd_of(watch.registration) != watch.fd) unwatch(watch);
  watch.registration = id;
  return 0;
}

int ReadinessSet::unwatch(Watch& watch) noexcept {
  const uint64_t id = watch.registration;
  watch.registration = 0;
  Entry* entry = find(id);
  if (entry == nullptr || entry->watch != &watch) return -ENOENT;
  entry->watch = nullptr;
  return control(EPOLL_CTL_DEL, fd_of(id), 0, id);
}

void ReadinessSet::forget(Watch& watch) noexcept {
  Entry* entry = find(watch.registration);
  watch.registration = 0;
  if (entry != nullptr && entry->watch == &watch) entry->watch = nullptr;
}

int ReadinessSet::tell(uint64_t timeout_ns) {
  JZX_ASSERT(!telling_);
  const int count = take_events(timeout_ns);
  if (count < 0) return count == -EINTR ? 0 : count;

  std::unique_lock<std::mutex> hold;
  if (shared_ != nullptr && count > 0) hold = std::unique_lock(*shared_);
  telling_ = true;
  expect(count);
  for (int i = 0; i < count; ++i) {
    const uint64_t id = batch_[i].data.u64;
    if (id == kWakerId) {
      waker_.take();
    } else if (Entry* entry = find(id)) {  // else the attached fd, or a registration that is over
      entry->watch->ready(readiness(batch_[i].events));
    }
  }
  telling_ = false;
  return 0;
}

void ReadinessSet::expect(int count) noexcept {
  if (count < kWorthExpecting) return;
  for (int i = 0; i < count; ++i) {
    if (const Entry* entry = find(batch_[i].data.u64)) prefetch<2>(entry->watch);
  }
  for (int i = 0; i < count; ++i) {
    if (const Entry* entry = find(batch_[i].data.u64)) entry->watch->expect();
  }
}

int ReadinessSet::control(int operation, int fd, uint32_t events, uint64_t id) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  return ::epoll_ctl(epoll_fd_, operation, fd, &event) == 0 ? 0 : -errno;
}

int ReadinessSet::take_events(uint64_t timeout_ns) noexcept {
  const bool exact = timeout_ns != 0 && timeout_ns != base::kNever;
  if (exact && has_nanosecond_wait_) {
    timespec timeout{};
    timeout.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000u);
    timeout.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000u);
    const int count = ::epoll_pwait2(epoll_fd_, batch_, kBatch, &timeout, nullptr);
    if (count >= 0) return count;
    // EPERM: how some sandboxes refuse a system call they have not heard of.
    if (errno != ENOSYS && errno != EPERM) return -errno;
    has_nanosecond_wait_ = false;
  }
  const int timeout_ms = timeout_ns == base::kNever ? -1 : to_milliseconds(timeout_ns);
  const int count = ::epoll_wait(epoll_fd_, batch_, kBatch, timeout_ms);
  return count >= 0 ? count : -errno;
}

ReadinessSet::Entry* ReadinessSet::find(uint64_t id) noexcept {
  const auto fd = static_cast<uint32_t>(id);
  const size_t page = fd / kEntriesPerPage;
  if (page >= directory_size_ || directory_[page] == nullptr) return nullptr;
  Entry& entry = directory_[page]->entries[fd % kEntriesPerPage];
  return entry.watch != nullptr && entry.generation == generation_of(id) ? &entry : nullptr;
}

int ReadinessSet::entry_for(int fd, Entry*& out) noexcept {
  if (fd < 0) return -EBADF;
  const size_t page = static_cast<uint32_t>(fd) / kEntriesPerPage;
  if (page >= directory_size_ || directory_[page] == nullptr) {
    // A number that is no fd must not make the directory as long as it is high.
    if (::fcntl(fd, F_GETFD) < 0) return -errno;
    if (!reach_page(page)) return -ENOMEM;
  }
  out = &directory_[page]->entries[static_cast<uint32_t>(fd) % kEntriesPerPage];
  return 0;
}

bool ReadinessSet::reach_page(size_t page) noexcept {
  if (page >= directory_size_) {
    const size_t size = std::max<size_t>(16, std::bit_ceil(page + 1));
    auto* grown = static_cast<Page**>(allocator_.allocate(size * sizeof(Page*)));
    if (grown == nullptr) return false;
    std::copy_n(directory_, directory_size_, grown);
    std::fill(grown + directory_size_, grown + size, nullptr);
    allocator_.release(directory_);
    directory_ = grown;
    directory_size_ = size;
  }
  directory_[page] = allocator_.create<Page>();
  return directory_[page] != nullptr;
}

}  // namespace jzx::io

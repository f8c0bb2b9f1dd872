// The watches of one reactor and the epoll instance that knows when they are ready. Both reactors
// are built on it, so that a watch means exactly the same on either.
//
// Registrations are edge-triggered: one readiness, one call; watching again re-arms, since the
// kernel then looks at the fd anew. What is ready together is told together: the kernel keeps one
// event per fd and reads the readiness when the event is taken.
//
//   asked for              told
//   kReadable: EPOLLIN     EPOLLIN                 kReadable
//              EPOLLRDHUP  EPOLLRDHUP, EPOLLHUP    kHangup (the other end will send no more)
//   kWritable: EPOLLOUT    EPOLLOUT                kWritable
//                          EPOLLERR                kError
//
// An epoll event carries a registration id, never a pointer:
//
//   id:  generation (high 32, never 0) | fd (low 32)
//
//   directory (grows)     pages of 256 (made on demand, never moved)
//   [fd / 256] ─────────▶ [fd % 256]: the Watch, or null, and the generation of its registration
//
// Each watch() moves the generation on, and unwatch() clears the Watch. So an event that was
// taken from the kernel before a callback unwatched, re-watched or destroyed its Watch finds
// nobody, and an unwatch() by the owner of a closed fd cannot hurt the one who watches a new file
// under the same number. A re-watch loses nothing by that: the kernel raises the event again.
//
// Closing an fd ends its registration in the kernel, silently; the next unwatch() or watch() of
// that number learns it. (If the same open file lives on under another number, the kernel keeps
// the registration: its events then only cost a look-up.)
//
// Threads: as in the contract. `ready` is called only
// from tell(), and may call watch() and unwatch(), but not tell().
#pragma once

#include <sys/epoll.h>

#include <cstddef>
#include <cstdint>

#include "base/allocator.hpp"
#include "io/contract.hpp"
#include "io/waker.hpp"

namespace jzx::io {

class ReadinessSet {
 public:
  explicit ReadinessSet(const base::Allocator& allocator) noexcept : allocator_(allocator) {}
  ReadinessSet(const ReadinessSet&) = delete;
  ReadinessSet& operator=(const ReadinessSet&) = delete;
  ~ReadinessSet();

  // Once, before anything else. 0 or -errno.
  [[nodiscard]] int open() noexcept;

  // From now on tell() also returns while `fd` is readable, but tells nobody. One fd at most, which
  // then cannot be watched. 0 or -errno.
  [[nodiscard]] int attach(int fd) noexcept;

  // As in the contract. A watch() that fails leaves a working registration of the Watch under
  // another fd as it was. A Watch that takes the fd of another one replaces it.
  [[nodiscard]] int watch(Watch& watch) noexcept;
  int unwatch(Watch& watch) noexcept;
  // Instead of unwatch(), by whoever is about to close the fd.
  void forget(Watch& watch) noexcept;

  // As in the contract.
  void share(std::mutex& mutex) noexcept { shared_ = &mutex; }

  // Waits at most `timeout_ns`, then calls `ready` of what is. 0 or -errno.
  [[nodiscard]] int tell(uint64_t timeout_ns);

  // Ends the tell() under way, or the next one.
  void wake() noexcept { waker_.wake(); }

  // Readable when tell(0) would find an event.
  [[nodiscard]] int fd() const noexcept { return epoll_fd_; }

 private:
  struct Entry {
    Watch* watch = nullptr;
    uint32_t generation = 0;
  };
  static constexpr uint32_t kEntriesPerPage = 256;
  struct Page {
    Entry entries[kEntriesPerPage];
  };
  // More that is ready at once is told by the next tell(). Not many more than share a cache: who is
  // told goes on before the next batch, and finds what the telling has brought there.
  static constexpr int kBatch = 32;

  static constexpr int kWorthExpecting = 4;

  // What telling the batch will look at is brought to the cache, all of it at once instead of one
  // after the other. With many connections, little of one is still there when it is told again.
  void expect(int count) noexcept;
  [[nodiscard]] int control(int operation, int fd, uint32_t events, uint64_t id) noexcept;
  [[nodiscard]] int take_events(uint64_t timeout_ns) noexcept;
  // nullptr: the registration is over.
  [[nodiscard]] Entry* find(uint64_t id) noexcept;
  // Makes the entry where there is none. 0 or -errno.
  [[nodiscard]] int entry_for(int fd, Entry*& out) noexcept;
  [[nodiscard]] bool reach_page(size_t page) noexcept;

  base::Allocator allocator_;
  Page** directory_ = nullptr;
  size_t directory_size_ = 0;
  int epoll_fd_ = -1;
  int attached_fd_ = -1;
  bool has_nanosecond_wait_ = true;  // until the kernel says otherwise
  bool telling_ = false;
  std::mutex* shared_ = nullptr;  // held while telling, if there is one
  Waker waker_;
  epoll_event batch_[kBatch];
};

}  // namespace jzx::io

#include "io/signal_source.hpp"

#include <sys/eventfd.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <mutex>

#include "base/atomic.hpp"
#include "io/signals.hpp"

namespace jzx::io {

namespace {

class Listener final : public SignalSource {
 public:
  Listener(int fd, int signal, const base::Allocator& allocator) noexcept
      : SignalSource(fd, signal), process(::getpid()), allocator_(allocator) {}

  uint32_t take() noexcept override {
    eventfd_t count = 0;
    if (::eventfd_read(fd_, &count) != 0) return 0;
    return static_cast<uint32_t>(std::min<eventfd_t>(count, std::numeric_limits<uint32_t>::max()));
  }
  void end() noexcept override;

  const pid_t process;
  base::Atomic<Listener*> next{nullptr};

 private:
  friend base::Allocator;
  ~Listener() = default;

  const base::Allocator allocator_;
};

// What there is for one signal.
struct Line {
  base::Atomic<Listener*> first{nullptr};
  base::Atomic<uint32_t> inside{0};  // handlers that may be reading the list
  struct sigaction before {};        // the disposition that was there; under the mutex
};
static_assert(base::Atomic<Listener*>::is_always_lock_free, "they are used in a signal handler");
static_assert(base::Atomic<uint32_t>::is_always_lock_free, "they are used in a signal handler");

constinit Line lines[NSIG];
constinit std::mutex lines_mutex;  // changes of lists and dispositions; never in the handler

void on_signal(int signal) {
  const int outer_errno = errno;  // of the code that was interrupted
  Line& line = lines[signal];
  const pid_t process = ::getpid();
  // seq_cst, also of the loads below: counted in before the list is read; pairs with end(), which
  // changes the list and then reads the count.
  line.inside.fetch_add(1, std::memory_order_seq_cst);
  for (Listener* one = line.first.load(std::memory_order_seq_cst); one != nullptr;
       one = one->next.load(std::memory_order_seq_cst)) {
    // Cannot block: the fd is non-blocking. It fails only at 2^64 - 2 that nobody took.
    if (one->process == process) (void)::eventfd_write(one->fd(), 1);
  }
  // release: the writes are done; pairs with the load in end().
  line.inside.fetch_sub(1, std::memory_order_release);
  errno = outer_errno;
}

bool is_ours(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == &on_signal;
}

// 0 or -errno. Each time anew: somebody may have put in a handler of his own since.
int take_over(int signal) noexcept {
  struct sigaction ours {};
  ours.sa_handler = &on_signal;
  ours.sa_flags = SA_RESTART | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  struct sigaction before {};
  if (::sigaction(signal, &ours, &before) != 0) return -errno;
  if (!is_ours(before)) lines[signal].before = before;
  return 0;
}

void give_back(int signal) noexcept {
  struct sigaction now {};
  if (::sigaction(signal, nullptr, &now) != 0 || !is_ours(now)) return;
  (void)::sigaction(signal, &lines[signal].before, nullptr);
}

// seq_cst, in both: see on_signal().
void add(Line& line, Listener& listener) noexcept {
  listener.next.store(line.first.load(std::memory_order_seq_cst), std::memory_order_seq_cst);
  line.first.store(&listener, std::memory_order_seq_cst);
}
void remove(Line& line, Listener& listener) noexcept {
  base::Atomic<Listener*>* place = &line.first;
  Listener* one = place->load(std::memory_order_seq_cst);
  while (one != &listener) {
    place = &one->next;
    one = place->load(std::memory_order_seq_cst);
  }
  place->store(listener.next.load(std::memory_order_seq_cst), std::memory_order_seq_cst);
}

void Listener::end() noexcept {
  Line& line = lines[signal_];
  {
    const std::lock_guard hold(lines_mutex);
    // relaxed, both: they change under the mutex. The disposition first: what comes in between is
    // told to us, and not to nobody.
    const bool is_only_one = line.first.load(std::memory_order_relaxed) == this &&
                             next.load(std::memory_order_relaxed) == nullptr;
    if (is_only_one) give_back(signal_);
    remove(line, *this);
  }
  // seq_cst: pairs with on_signal(), whose writes are done when it is no longer counted.
  while (line.inside.load(std::memory_order_seq_cst) != 0) base::yield_thread();
  ::close(fd_);
  const base::Allocator allocator = allocator_;
  allocator.destroy(this);
}

}  // namespace

SignalSource* listen_to_signal(int signal, const base::Allocator& allocator, int& error) noexcept {
  if (!can_be_heard(signal)) return error = -EINVAL, nullptr;
  const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (fd < 0) return error = -errno, nullptr;
  auto* listener = allocator.create<Listener>(fd, signal, allocator);
  if (listener == nullptr) return ::close(fd), error = -ENOMEM, nullptr;
  {
    const std::lock_guard hold(lines_mutex);
    add(lines[signal], *listener);
    error = take_over(signal);
  }
  if (error == 0) return listener;
  listener->end();
  return nullptr;
}

}  // namespace jzx::io

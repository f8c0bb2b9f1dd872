#include "io/reactor.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "io/reactor_epoll.hpp"
#include "io/reactor_uring.hpp"

namespace jzx::io {
namespace {

template <class T>
ReactorPtr make(const base::Allocator& allocator) noexcept {
  const ReactorDeleter deleter{allocator.free_fn, allocator.ctx};
  T* reactor = allocator.create<T>(allocator);
  if (reactor == nullptr) {
    errno = ENOMEM;
    return ReactorPtr(nullptr, deleter);
  }
  ReactorPtr owner(reactor, deleter);
  if (const int error = reactor->open(); error != 0) {
    owner.reset();
    errno = -error;
  }
  return owner;
}

Backend from_environment() noexcept {
  const char* wish = std::getenv("JZX_REACTOR");
  if (wish == nullptr || *wish == '\0') return Backend::automatic;
  if (std::strcmp(wish, "io_uring") == 0) return Backend::io_uring;
  if (std::strcmp(wish, "epoll") == 0) return Backend::epoll;
  std::fprintf(stderr, "jzx: JZX_REACTOR is \"%s\", but can be io_uring or epoll; choosing one\n",
               wish);
  return Backend::automatic;
}

// Without memory or fds the next backend would fare no better; any other errno is some kernel's,
// administrator's or sandbox's way to say that there is no io_uring here.
bool is_refusal(int error) noexcept {
  return error != ENOMEM && error != EMFILE && error != ENFILE;
}

}  // namespace

ReactorPtr make_reactor(Backend backend, const base::Allocator& allocator) noexcept {
  if (backend == Backend::automatic) backend = from_environment();
  switch (backend) {
    case Backend::epoll:
      return make<EpollReactor>(allocator);
    case Backend::io_uring:
      return make<UringReactor>(allocator);
    case Backend::automatic:
      break;
  }
  ReactorPtr reactor = make<UringReactor>(allocator);
  if (reactor == nullptr && is_refusal(errno)) reactor = make<EpollReactor>(allocator);
  return reactor;
}

}  // namespace jzx::io

#include "io/reactor_epoll.hpp"

namespace jzx::io {

int EpollReactor::open() noexcept { return readiness_.open(); }

int EpollReactor::watch(Watch& watch) { return readiness_.watch(watch); }

int EpollReactor::unwatch(Watch& watch) { return readiness_.unwatch(watch); }

Submitted EpollReactor::submit(Operation& operation) {
  perform(operation);
  return Submitted::done;
}

void EpollReactor::cancel(Operation&) {}

void EpollReactor::perform(Operation& operation) noexcept { operation.result = -ENOSYS; }

int EpollReactor::wait(uint64_t timeout_ns) { return readiness_.tell(timeout_ns); }

void EpollReactor::wake() noexcept { readiness_.wake(); }

int EpollReactor::pollable_fd() const noexcept { return readiness_.fd(); }

const char* EpollReactor::name() const noexcept { return "epoll"; }

}  // namespace jzx::io

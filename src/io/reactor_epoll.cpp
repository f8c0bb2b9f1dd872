#include "io/reactor_epoll.hpp"

namespace jzx::io {

int EpollReactor::open() noexcept { return readiness_.open(); }

int EpollReactor::watch(Watch& watch) { return readiness_.watch(watch); }

int EpollReactor::unwatch(Watch& watch) { return readiness_.unwatch(watch); }

void EpollReactor::submit(Operation& operation) {
  unsupported_.add(operation);
  readiness_.wake();  // the next wait() has something to tell, and pollable_fd() shows it
}

void EpollReactor::cancel(Operation&) {}

int EpollReactor::wait(uint64_t timeout_ns) {
  const int error = readiness_.tell(timeout_ns);
  unsupported_.complete_all();
  return error;
}

void EpollReactor::wake() noexcept { readiness_.wake(); }

int EpollReactor::pollable_fd() const noexcept { return readiness_.fd(); }

const char* EpollReactor::name() const noexcept { return "epoll"; }

}  // namespace jzx::io

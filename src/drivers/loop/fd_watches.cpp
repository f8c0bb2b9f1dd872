#include "drivers/loop/fd_watches.hpp"

#include <cstring>

#include "core/send.hpp"

namespace jzx::drivers {

FdWatches::FdWatches(core::Host& host, io::Reactor& reactor, uint32_t max_watches) noexcept
    : host_(host),
      reactor_(reactor),
      records_(host.system.allocator, sizeof(FdWatch), alignof(FdWatch), 16),
      max_watches_(max_watches) {}

FdWatches::~FdWatches() {
  JZX_ASSERT(count_ == 0);
  host_.system.allocator.release(by_fd_);
}

Errc FdWatches::watch(int fd, core::ActorId owner, uint32_t interest) noexcept {
  if (fd < 0 || interest == 0 || (interest & ~(io::kReadable | io::kWritable)) != 0) {
    return Errc::invalid_arg;
  }
  core::Actor* actor = host_.system.find_open(owner);
  if (actor == nullptr) return Errc::no_such_actor;
  FdWatch* old = find(fd);
  if (old == nullptr && count_ >= max_watches_) return Errc::io_reg_failed;
  if (host_.system.relations_of(*actor) == nullptr) return Errc::no_memory;
  FdWatch* fresh = make_record(fd, *actor, interest);
  if (fresh == nullptr) return Errc::no_memory;

  const int error = old != nullptr ? replace(*old, *fresh) : reactor_.watch(*fresh);
  // The reactor knows whether the fd is one; only then may its number size our table.
  const bool has_place = error == 0 && make_place(fd);
  if (!has_place) {
    if (error == 0) reactor_.unwatch(*fresh);
    free_record(*fresh);
    return error == 0 || error == -ENOMEM ? Errc::no_memory : Errc::io_reg_failed;
  }
  by_fd_[fd] = fresh;
  ++count_;
  actor->relations->watches.push_back(*fresh);
  return Errc::ok;
}

// If the fresh registration is refused the old one goes on, unless its fd is closed.
int FdWatches::replace(FdWatch& old, FdWatch& fresh) noexcept {
  reactor_.unwatch(old);
  const int error = reactor_.watch(fresh);
  if (error != 0 && reactor_.watch(old) == 0) return error;
  withdraw(old);
  return error;
}

Errc FdWatches::unwatch(int fd) noexcept {
  FdWatch* watch = fd < 0 ? nullptr : find(fd);
  if (watch == nullptr) return Errc::io_not_watched;
  const int error = reactor_.unwatch(*watch);
  withdraw(*watch);
  return error == 0 ? Errc::ok : Errc::io_not_watched;
}

void FdWatches::release_all(core::Actor& owner) noexcept {
  while (core::OwnedWatch* owned = owner.relations->watches.front()) {
    auto& watch = static_cast<FdWatch&>(*owned);
    reactor_.unwatch(watch);
    withdraw(watch);
  }
}

void FdWatches::became_ready(io::Watch& io_watch, uint32_t readiness) {
  auto& watch = static_cast<FdWatch&>(io_watch);
  if (watch.is_queued) {
    watch.event.readiness |= readiness;
    return;
  }
  watch.event = IoEvent{watch.fd, readiness};
  watch.is_queued = true;
  watch.address(core::SystemTag::io, core::kNobody, &watch.event, sizeof(IoEvent),
                [](core::Notice& notice, core::Host& host) { host.reclaim_watch(notice); });
  core::send_notice(watch.watches->host_, *watch.owner, watch);
}

void FdWatches::reclaim(core::Notice& notice) noexcept {
  auto& watch = static_cast<FdWatch&>(notice);
  watch.is_queued = false;
  if (watch.is_withdrawn) free_record(watch);
}

// ---- records ----

bool FdWatches::make_place(int fd) noexcept {
  const auto index = static_cast<size_t>(fd);
  if (index < capacity_) return true;
  size_t capacity = capacity_ == 0 ? 64 : capacity_;
  while (capacity <= index) capacity *= 2;
  auto** places =
      static_cast<FdWatch**>(host_.system.allocator.allocate(capacity * sizeof(FdWatch*)));
  if (places == nullptr) return false;
  std::memset(places, 0, capacity * sizeof(FdWatch*));
  if (capacity_ > 0) std::memcpy(places, by_fd_, capacity_ * sizeof(FdWatch*));
  host_.system.allocator.release(by_fd_);
  by_fd_ = places;
  capacity_ = capacity;
  return true;
}

FdWatches::FdWatch* FdWatches::make_record(int fd, core::Actor& owner, uint32_t interest) noexcept {
  void* memory = records_.take();
  if (memory == nullptr) return nullptr;
  auto* watch = new (memory) FdWatch;
  watch->watches = this;
  watch->owner = &owner;
  watch->fd = fd;
  watch->interest = interest;
  return watch;
}

void FdWatches::free_record(FdWatch& watch) noexcept {
  watch.~FdWatch();
  records_.give(&watch);
}

// The reactor no longer knows it.
void FdWatches::withdraw(FdWatch& watch) noexcept {
  by_fd_[watch.fd] = nullptr;
  --count_;
  static_cast<base::ListNode<core::InOwnerWatches>&>(watch).unlink();
  if (watch.is_queued) {
    watch.flags |= Envelope::kVoid;
    watch.is_withdrawn = true;
  } else {
    free_record(watch);
  }
}

}  // namespace jzx::drivers

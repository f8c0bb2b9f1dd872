#include "drivers/loop/fd_watches.hpp"

#include <cstring>
#include <utility>

#include "core/send.hpp"

namespace jzx::drivers {

FdWatches::FdWatches(core::Host& host, io::Reactor& reactor, uint32_t max_watches,
                     WatchLimit* limit) noexcept
    : host_(host),
      reactor_(reactor),
      records_(host.system.allocator, sizeof(FdWatch), alignof(FdWatch), 16),
      own_limit_{max_watches, {}},
      limit_(limit != nullptr ? *limit : own_limit_),
      is_shared_(host.has_siblings) {
  if (is_shared_) reactor.share(mutex_);
}

FdWatches::~FdWatches() {
  JZX_ASSERT(empty());
  host_.system.allocator.release(by_fd_);
}

Errc FdWatches::watch(int fd, core::ActorId owner, uint32_t interest) noexcept {
  if (fd < 0 || interest == 0 || (interest & ~(io::kReadable | io::kWritable)) != 0) {
    return Errc::invalid_arg;
  }
  return watch(fd, owner, interest, nullptr);
}

Errc FdWatches::watch_signal(io::SignalSource& source, core::ActorId owner) noexcept {
  return watch(source.fd(), owner, io::kReadable, &source);
}

Errc FdWatches::watch(int fd, core::ActorId owner, uint32_t interest,
                      io::SignalSource* source) noexcept {
  core::Actor* actor = host_.system.find_open(owner);
  if (actor == nullptr) return Errc::no_such_actor;
  if (const Errc error = host_.system.make_relations(*actor, owner); !ok(error)) return error;
  const auto held = hold();
  FdWatch* old = find(fd);
  if (old == nullptr && !take_permit()) return Errc::io_reg_failed;
  FdWatch* fresh = make_record(fd, *actor, interest);
  if (fresh == nullptr) {
    if (old == nullptr) give_permit();
    return Errc::no_memory;
  }

  const int error = old != nullptr ? replace(*old, *fresh) : reactor_.watch(*fresh);
  // The reactor knows whether the fd is one; only then may its number size our table.
  const bool has_place = error == 0 && make_place(fd);
  Errc result = has_place                        ? Errc::ok
                : error == 0 || error == -ENOMEM ? Errc::no_memory
                                                 : Errc::io_reg_failed;
  if (has_place && !add_to_owner(*fresh, *actor, owner)) result = Errc::no_such_actor;
  if (!ok(result)) {
    if (error == 0) reactor_.unwatch(*fresh);
    free_record(*fresh);
    if (old == nullptr || error == 0) give_permit();
    return result;
  }
  fresh->source = source;
  by_fd_[fd] = fresh;
  count_.fetch_add(1, std::memory_order_relaxed);  // a number on its own
  return Errc::ok;
}

bool FdWatches::take_permit() noexcept {
  // relaxed: a number on its own.
  uint32_t used = limit_.used.load(std::memory_order_relaxed);
  while (used < limit_.max) {
    if (limit_.used.compare_exchange_weak(used, used + 1, std::memory_order_relaxed)) return true;
  }
  return false;
}

void FdWatches::give_permit() noexcept { limit_.used.fetch_sub(1, std::memory_order_relaxed); }

// False: the owner has ended.
bool FdWatches::add_to_owner(FdWatch& watch, core::Actor& owner, core::ActorId id) noexcept {
  core::Bonds hold_owner(is_shared_, owner);
  if (!host_.system.is_live(owner, id)) return false;
  owner.relations->watches.push_back(watch);
  return true;
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
  const auto held = hold();
  FdWatch* watch = fd < 0 ? nullptr : find(fd);
  if (watch == nullptr) return Errc::io_not_watched;
  const int error = reactor_.unwatch(*watch);
  withdraw(*watch);
  give_permit();
  return error == 0 ? Errc::ok : Errc::io_not_watched;
}

void FdWatches::release_all(core::System& system, core::Actor& owner) noexcept {
  for (;;) {
    FdWatches* group = nullptr;
    {
      core::Bonds hold_owner(system.is_shared, owner);
      core::OwnedWatch* owned = owner.relations->watches.front();
      if (owned == nullptr) return;
      group = static_cast<FdWatch&>(*owned).watches;
    }
    // Again, with the lock of its group, which comes first: it may have gone meanwhile.
    const auto held = group->hold();
    FdWatch* watch = nullptr;
    {
      core::Bonds hold_owner(system.is_shared, owner);
      auto* owned = owner.relations->watches.front();
      if (owned != nullptr && static_cast<FdWatch&>(*owned).watches == group) {
        watch = static_cast<FdWatch*>(owned);
      }
    }
    if (watch == nullptr) continue;
    group->reactor_.unwatch(*watch);
    group->withdraw(*watch);
    group->give_permit();
  }
}

void FdWatches::became_ready(io::Watch& io_watch, uint32_t readiness) {
  auto& watch = static_cast<FdWatch&>(io_watch);
  FdWatches& group = *watch.watches;
  if (!watch.is_queued) {
    group.send(group.host_, watch, readiness);
  } else if (group.is_shared_) {
    watch.more |= readiness;
  } else if (watch.source != nullptr) {
    watch.signal.count += watch.source->take();
  } else {
    watch.event.readiness |= readiness;
  }
}

void FdWatches::send(core::Host& host, FdWatch& watch, uint32_t readiness) noexcept {
  if (watch.source != nullptr) {
    watch.signal = SignalEvent{watch.source->signal(), watch.source->take()};
    if (watch.signal.count == 0) return;  // told with the one before
    watch.address(core::SystemTag::signal, core::kNobody, &watch.signal, sizeof(SignalEvent),
                  &reclaim);
  } else {
    watch.event = IoEvent{watch.fd, readiness};
    watch.address(core::SystemTag::io, core::kNobody, &watch.event, sizeof(IoEvent), &reclaim);
  }
  watch.is_queued = true;
  core::send_notice(host, *watch.owner, watch);
}

void FdWatches::reclaim(core::Notice& notice, core::Host& host) {
  auto& watch = static_cast<FdWatch&>(notice);
  FdWatches& group = *watch.watches;
  const auto held = group.hold();
  watch.is_queued = false;
  if (watch.is_withdrawn) return group.free_record(watch);
  // Whoever has ended has withdrawn its watches, so the owner is there.
  if (watch.more != 0) group.send(host, watch, std::exchange(watch.more, 0));
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
  count_.fetch_sub(1, std::memory_order_relaxed);  // a number on its own
  {
    core::Bonds hold_owner(is_shared_, *watch.owner);
    static_cast<base::ListNode<core::InOwnerWatches>&>(watch).unlink();
  }
  if (watch.source != nullptr) watch.source->end();
  if (watch.is_queued) {
    watch.make_void();
    watch.is_withdrawn = true;
  } else {
    free_record(watch);
  }
}

}  // namespace jzx::drivers

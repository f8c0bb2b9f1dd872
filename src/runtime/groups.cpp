#include "runtime/groups.hpp"

#include <algorithm>
#include <utility>

#include "base/prng.hpp"
#include "core/mailbox.hpp"
#include "runtime/port.hpp"

namespace jzx::detail {

namespace {

constexpr base::Allocator heap;  // see the header

void let_go_of(Roster* roster) noexcept {
  if (roster == nullptr) return;
  // release: this reader is done; acquire: the last one frees after all. Pairs with itself, and
  // with the look in own_copy().
  if (roster->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) heap.destroy(roster);
}

}  // namespace

static uint64_t hash_of(std::string_view name) noexcept {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// ---- life ----

Members::Members(Port& port, const MessageType* kind, std::string_view name) noexcept
    : port_(port),
      kind_(kind),
      seed_(port.groups.next_seed()),
      hash_(hash_of(name)),
      name_length_(name.size()) {
  std::copy(name.begin(), name.end(), reinterpret_cast<char*>(this + 1));
}

Members::~Members() { let_go_of(roster_); }

Members* Members::create(Port& port, const MessageType* kind, std::string_view name) noexcept {
  void* memory = heap.allocate(sizeof(Members) + name.size());
  return memory == nullptr ? nullptr : new (memory) Members(port, kind, name);
}

void Members::let_go() noexcept {
  // release: this holder is done; acquire: the last one ends it after all. Pairs with itself, and
  // with the look in Groups::drop_unused().
  if (holders_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  this->~Members();
  heap.release(this);
}

// The caller is inside a call, or on a thread of the system.
bool Members::is_alive(ActorId id) const noexcept { return port_.system.find_open(id) != nullptr; }

// ---- the roster ----

Member* Members::find(ActorId id) noexcept {
  if (roster_ == nullptr) return nullptr;
  Member* const end = roster_->members() + count_;
  Member* const found =
      std::find_if(roster_->members(), end, [&](const Member& one) { return one.id == id; });
  return found == end ? nullptr : found;
}

// A roster that may be changed at will: the one there is, if nobody else holds it and it is large
// enough, else a copy. nullptr: no memory.
Roster* Members::own_copy(size_t capacity) noexcept {
  // acquire: who held it has done reading; pairs with let_go_of(). Nobody can begin to hold it,
  // since that needs the lock.
  if (roster_->capacity >= capacity && roster_->holders.load(std::memory_order_acquire) == 1) {
    return roster_;
  }
  void* memory = heap.allocate(sizeof(Roster) + capacity * sizeof(Member));
  if (memory == nullptr) return nullptr;
  auto* copy = new (memory) Roster;
  copy->capacity = capacity;
  std::copy_n(roster_->members(), count_, copy->members());
  let_go_of(std::exchange(roster_, copy));
  return copy;
}

// False: no memory for a copy, and all stay.
template <class Keep>
bool Members::keep_only(Keep&& keep) noexcept {
  if (roster_ == nullptr) return true;
  Member* first = roster_->members();
  if (std::all_of(first, first + count_, keep)) return true;
  Roster* roster = own_copy(roster_->capacity);
  if (roster == nullptr) return false;
  first = roster->members();
  const auto unwanted = [&](const Member& one) { return !keep(one); };
  count_ = static_cast<size_t>(std::remove_if(first, first + count_, unwanted) - first);
  return true;
}

bool Members::keep_living() noexcept {
  return keep_only([&](const Member& one) { return is_alive(one.id); });
}

// For one more member.
bool Members::make_room() noexcept {
  constexpr size_t kFirst = 4;
  if (roster_ == nullptr) {
    void* memory = heap.allocate(sizeof(Roster) + kFirst * sizeof(Member));
    if (memory == nullptr) return false;
    roster_ = new (memory) Roster;
    roster_->capacity = kFirst;
  }
  if (count_ < roster_->capacity) return true;
  (void)keep_living();  // else there is less room, and it grows
  // Unless half is free now: else, if they come and go, this search would be made each time.
  if (count_ <= roster_->capacity / 2) return true;
  return own_copy(roster_->capacity * 2) != nullptr || count_ < roster_->capacity;
}

Errc Members::add(ActorId id, const MessageType* type) noexcept {
  std::lock_guard hold_set(mutex_);
  if (!is_alive(id)) return Errc::no_such_actor;
  if (Member* known = find(id)) {
    if (known->type == type) return Errc::ok;
    if (own_copy(roster_->capacity) == nullptr) return Errc::no_memory;
    find(id)->type = type;
    return Errc::ok;
  }
  if (!make_room()) return Errc::no_memory;
  // Behind what any snapshot can see.
  roster_->members()[count_++] = Member{id, type};
  return Errc::ok;
}

Errc Members::remove(ActorId id) noexcept {
  std::lock_guard hold_set(mutex_);
  if (find(id) == nullptr) return Errc::no_such_actor;
  const bool removed = keep_only([id](const Member& one) { return one.id != id; });
  return removed ? Errc::ok : Errc::no_memory;
}

bool Members::contains(ActorId id) noexcept {
  std::lock_guard hold_set(mutex_);
  return find(id) != nullptr && is_alive(id);
}

size_t Members::forget_dead() noexcept {
  std::lock_guard hold_set(mutex_);
  if (keep_living()) return count_;
  return static_cast<size_t>(std::count_if(roster_->members(), roster_->members() + count_,
                                           [&](const Member& one) { return is_alive(one.id); }));
}

RosterView Members::take_roster() noexcept {
  std::lock_guard hold_set(mutex_);
  if (count_ == 0) return {nullptr, nullptr, 0};
  roster_->holders.fetch_add(1, std::memory_order_relaxed);  // the set holds it
  return {roster_, roster_->members(), count_};
}

// ---- routing ----

size_t Members::least_loaded() noexcept {
  const size_t start = turn_++ % count_;
  size_t best = start;  // if all are dead: the route finds that out
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < count_ && least > 0; ++i) {
    const size_t place = (start + i) % count_;
    const core::Actor* actor = port_.system.find_open(roster_->members()[place].id);
    if (actor == nullptr) continue;
    // Among equals one that does not run.
    const uint64_t load = 2ull * core::queued_count(*actor) + (actor->is_scheduled() ? 1 : 0);
    if (load < least) {
      least = load;
      best = place;
    }
  }
  return best;
}

// Choosing may call a driver, so not under the lock.
uint64_t Members::draw() noexcept {
  size_t count = 0;
  {
    std::lock_guard hold_set(mutex_);
    count = count_;
  }
  core::Host* here = port_.host_here();
  if (here != nullptr && count > 0) {
    return here->choose(static_cast<uint32_t>(count), base::ChoiceSite::user);
  }
  std::lock_guard hold_set(mutex_);
  return base::splitmix64(seed_);
}

ActorId Members::pick(Routing routing, size_t& place) noexcept {
  const uint64_t drawn = routing == Routing::random ? draw() : 0;
  std::lock_guard hold_set(mutex_);
  if (count_ == 0) return 0;
  switch (routing) {
    case Routing::round_robin:
      place = turn_++ % count_;
      break;
    case Routing::random:
      place = drawn % count_;
      break;
    case Routing::smallest_mailbox:
      place = least_loaded();
      break;
  }
  return roster_->members()[place].id;
}

Errc Members::route(Routing routing, Envelope& envelope) noexcept {
  size_t place = 0;
  const ActorId first = pick(routing, place);
  if (first == 0) return Errc::no_such_actor;
  Errc result = try_send(port_, first, envelope);
  if (ok(result)) [[likely]]
    return result;
  // A foreign thread's message keeps it inside the system until it is sent.
  const Stay stay(port_);
  bool somebody_left = result == Errc::no_such_actor;
  {
    const Snapshot members(*this);
    for (size_t i = 1; i <= members.size() && !ok(result); ++i) {
      const ActorId next = members.begin()[(place + i) % members.size()].id;
      if (next == first) continue;
      const Errc sent = try_send(port_, next, envelope);
      somebody_left |= sent == Errc::no_such_actor;
      // That one is full says more than that another is gone.
      if (ok(sent) || result == Errc::no_such_actor) result = sent;
    }
  }
  if (somebody_left && stay) (void)forget_dead();
  return result;
}

// ---- the functions of jzx/group.hpp and jzx/router.hpp ----

using Entered = runtime::Entered<Port>;

Members* make_members(Port& port) noexcept { return Members::create(port, nullptr, {}); }
Members* find_members(Port& port, const MessageType* kind, std::string_view name) noexcept {
  Entered call(&port);
  return call ? port.groups.find_or_make(port, kind, name) : nullptr;
}
void hold(Members& set) noexcept { set.hold(); }
void let_go(Members& set) noexcept { set.let_go(); }
Port& port_of(const Members& set) noexcept { return set.port(); }

Errc add_member(Members& set, Pid actor, const MessageType* type) noexcept {
  if (!actor) return Errc::no_such_actor;
  if (actor.port() != &set.port()) return Errc::actor_not_local;
  Entered call(&set.port());
  return call ? set.add(actor.id(), type) : Errc::loop_closed;
}
Errc remove_member(Members& set, Pid actor) noexcept {
  return actor.port() == &set.port() ? set.remove(actor.id()) : Errc::no_such_actor;
}
size_t forget_dead(Members& set) noexcept {
  Entered call(&set.port());
  return call ? set.forget_dead() : 0;
}
bool has_member(Members& set, Pid actor) noexcept {
  Entered call(&set.port());
  return call && actor.port() == &set.port() && set.contains(actor.id());
}
// On a thread of the system its end waits anyway, and the count is a line that all would share.
StayKind begin_stay(Port& port) noexcept {
  if (port.host_here() != nullptr) return StayKind::at_home;
  return port.enter() ? StayKind::counted : StayKind::refused;
}
void end_stay(Port& port) noexcept { port.leave(); }

RosterView take_roster(Members& set) noexcept { return set.take_roster(); }
void drop_roster(Roster* roster) noexcept { let_go_of(roster); }

uint32_t queue_length(Port& port, ActorId id) noexcept {
  Entered call(&port);
  const core::Actor* actor = call ? port.system.find_open(id) : nullptr;
  return actor == nullptr ? 0 : core::queued_count(*actor);
}

Errc finish_routed(Members& set, Routing routing, Envelope& envelope) noexcept {
  const Errc result = set.route(routing, envelope);
  if (!ok(result)) (void)finish_send(set.port(), 0, envelope);  // ends it
  return result;
}

}  // namespace jzx::detail

namespace jzx::runtime {

using detail::Members;

Groups::~Groups() {
  for (size_t i = 0; i < chain_count_; ++i) {
    while (Members* set = chains_[i]) {
      chains_[i] = set->next_named_;
      set->let_go();
    }
  }
  allocator_.release(chains_);
}

uint64_t Groups::next_seed() noexcept {
  uint64_t seed = seed_ + made_.fetch_add(1, std::memory_order_relaxed);  // a number on its own
  return base::splitmix64(seed);
}

size_t Groups::size() noexcept {
  std::lock_guard hold(mutex_);
  return count_;
}

Members* Groups::find_or_make(detail::Port& port, const MessageType* kind,
                              std::string_view name) noexcept {
  if (name.empty() || name.size() > core::kMaxNameLength) return nullptr;
  const uint64_t hash = detail::hash_of(name);
  std::lock_guard hold(mutex_);
  if (count_ > 0) {
    for (Members* set = chain_of(hash); set != nullptr; set = set->next_named_) {
      if (set->hash_ == hash && set->kind_ == kind && set->name() == name) {
        set->hold();
        return set;
      }
    }
  }
  if (count_ >= chain_count_ && !make_room()) return nullptr;
  Members* made = Members::create(port, kind, name);
  if (made == nullptr) return nullptr;
  made->hold();  // the table, and the caller
  made->next_named_ = std::exchange(chain_of(hash), made);
  ++count_;
  return made;
}

// With the lock held, as the next: who is held by the table alone can be found by nobody else.
void Groups::drop_unused() noexcept {
  for (size_t i = 0; i < chain_count_; ++i) {
    for (Members** place = &chains_[i]; *place != nullptr;) {
      Members* set = *place;
      // acquire: pairs with the release in let_go().
      const bool is_used = set->holders_.load(std::memory_order_acquire) > 1;
      if (is_used || set->forget_dead() > 0) {
        place = &set->next_named_;
      } else {
        *place = set->next_named_;
        --count_;
        set->let_go();
      }
    }
  }
}

bool Groups::make_room() noexcept {
  drop_unused();
  if (count_ < chain_count_ / 2) return true;
  const size_t wanted = chain_count_ == 0 ? 16 : chain_count_ * 2;
  auto** chains = static_cast<Members**>(allocator_.allocate(wanted * sizeof(Members*)));
  if (chains == nullptr) return chain_count_ > 0;  // longer chains will do
  std::fill_n(chains, wanted, nullptr);
  Members** const old = std::exchange(chains_, chains);
  const size_t old_count = std::exchange(chain_count_, wanted);
  for (size_t i = 0; i < old_count; ++i) {
    while (Members* set = old[i]) {
      old[i] = set->next_named_;
      set->next_named_ = std::exchange(chain_of(set->hash_), set);
    }
  }
  allocator_.release(old);
  return true;
}

}  // namespace jzx::runtime

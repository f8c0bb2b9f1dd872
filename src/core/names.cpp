#include "core/names.hpp"

#include <cstring>
#include <mutex>
#include <utility>

#include "core/host.hpp"

namespace jzx::core {

namespace {

// Marks a place whose entry was removed: searches go on past it.
NameEntry tombstone{nullptr, 0, 0};

uint64_t hash_of(std::string_view name) noexcept {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

Names::~Names() {
  for (size_t i = 0; i < capacity_; ++i) {
    if (places_[i] != nullptr && places_[i] != &tombstone) allocator_.release(places_[i]);
  }
  allocator_.release(places_);
}

// The place of the entry with this name, or the free place where it would go.
NameEntry** Names::place_of(uint64_t hash, std::string_view name) const noexcept {
  NameEntry** reusable = nullptr;
  for (size_t i = hash & (capacity_ - 1);; i = (i + 1) & (capacity_ - 1)) {
    NameEntry* entry = places_[i];
    if (entry == nullptr) return reusable != nullptr ? reusable : &places_[i];
    if (entry == &tombstone) {
      if (reusable == nullptr) reusable = &places_[i];
    } else if (entry->hash == hash && entry->text() == name) {
      return &places_[i];
    }
  }
}

Errc Names::add(Actor& actor, std::string_view name, NameEntry*& out) noexcept {
  if (name.empty() || name.size() > kMaxNameLength) return Errc::invalid_arg;
  if (find(name) != nullptr) return Errc::invalid_arg;
  if ((used_ + 1) * 2 > capacity_ && !grow()) return Errc::no_memory;
  void* memory = allocator_.allocate(sizeof(NameEntry) + name.size());
  if (memory == nullptr) return Errc::no_memory;
  const uint64_t hash = hash_of(name);
  auto* entry = new (memory) NameEntry{&actor, hash, name.size()};
  std::memcpy(entry + 1, name.data(), name.size());
  NameEntry** place = place_of(hash, name);
  if (*place == nullptr) ++used_;
  *place = entry;
  ++live_;
  out = entry;
  return Errc::ok;
}

void Names::remove(NameEntry& entry) noexcept {
  NameEntry** place = place_of(entry.hash, entry.text());
  JZX_ASSERT(*place == &entry);
  *place = &tombstone;
  --live_;
  allocator_.release(&entry);
}

Actor* Names::find(std::string_view name) const noexcept {
  if (live_ == 0) return nullptr;
  NameEntry* entry = *place_of(hash_of(name), name);
  return entry == nullptr || entry == &tombstone ? nullptr : entry->actor;
}

// A table twice as large as its live entries need; tombstones are left behind.
bool Names::grow() noexcept {
  size_t capacity = 16;
  while (capacity < (live_ + 1) * 4) capacity *= 2;
  auto** places = static_cast<NameEntry**>(allocator_.allocate(capacity * sizeof(NameEntry*)));
  if (places == nullptr) return false;
  std::memset(places, 0, capacity * sizeof(NameEntry*));
  NameEntry** old = places_;
  const size_t old_capacity = capacity_;
  places_ = places;
  capacity_ = capacity;
  used_ = live_;
  for (size_t i = 0; i < old_capacity; ++i) {
    if (old[i] == nullptr || old[i] == &tombstone) continue;
    *place_of(old[i]->hash, old[i]->text()) = old[i];
  }
  allocator_.release(old);
  return true;
}

Errc register_name(Host& host, ActorId id, std::string_view name) noexcept {
  System& system = host.system;
  Actor* actor = system.find_open(id);
  if (actor == nullptr) return Errc::no_such_actor;
  if (const Errc error = system.make_relations(*actor, id); !ok(error)) return error;
  std::lock_guard hold_names(system.names_mutex);
  NameEntry* entry = nullptr;
  if (const Errc error = system.names.add(*actor, name, entry); !ok(error)) return error;
  Errc result = Errc::ok;
  {
    Bonds hold(system.is_shared, *actor);
    if (!system.is_live(*actor, id)) {
      result = Errc::no_such_actor;
    } else if (actor->relations->name != nullptr) {
      result = Errc::invalid_arg;
    } else {
      actor->relations->name = std::exchange(entry, nullptr);
    }
  }
  if (entry != nullptr) system.names.remove(*entry);
  return result;
}

Errc whereis(Host& host, std::string_view name, ActorId& out) noexcept {
  std::lock_guard hold(host.system.names_mutex);
  const Actor* actor = host.system.names.find(name);
  if (actor == nullptr) return Errc::no_such_actor;
  out = actor->id();  // it cannot retire before its name is gone
  return Errc::ok;
}

void drop_name(Host& host, Actor& actor) noexcept {
  NameEntry* entry = nullptr;
  {
    Bonds hold(host.system.is_shared, actor);
    entry = std::exchange(actor.relations->name, nullptr);
  }
  if (entry == nullptr) return;
  std::lock_guard hold(host.system.names_mutex);
  host.system.names.remove(*entry);
}

}  // namespace jzx::core

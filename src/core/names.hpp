// The names of a system: at most one per actor, unique, free again when the actor ends. An
// open-addressing table of pointers to entries, doubled when half full, so that a lookup touches
// one or two lines.
//
// Threads: the owner only; the system's lock is held around every use in a shared one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <jzx/errc.hpp>

#include "base/allocator.hpp"
#include "core/actor.hpp"

namespace jzx::core {

inline constexpr size_t kMaxNameLength = 255;

// Followed in memory by the characters of the name.
struct NameEntry {
  Actor* actor;
  uint64_t hash;
  size_t length;

  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(this + 1), length};
  }
};

class Names {
 public:
  explicit Names(const base::Allocator& allocator) noexcept : allocator_(allocator) {}
  ~Names();
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  // invalid_arg: empty, too long, or taken.
  [[nodiscard]] Errc add(Actor& actor, std::string_view name, NameEntry*& out) noexcept;
  void remove(NameEntry& entry) noexcept;
  [[nodiscard]] Actor* find(std::string_view name) const noexcept;

 private:
  [[nodiscard]] NameEntry** place_of(uint64_t hash, std::string_view name) const noexcept;
  [[nodiscard]] bool grow() noexcept;

  base::Allocator allocator_;
  NameEntry** places_ = nullptr;  // capacity is a power of two
  size_t capacity_ = 0;
  size_t used_ = 0;  // entries and tombstones
  size_t live_ = 0;
};

// ---- as the API offers them ----

class Host;

// invalid_arg: the name is empty, too long or taken, or the actor has one.
[[nodiscard]] Errc register_name(Host& host, ActorId id, std::string_view name) noexcept;
[[nodiscard]] Errc whereis(Host& host, std::string_view name, ActorId& out) noexcept;
// The actor ended.
void drop_name(Host& host, Actor& actor) noexcept;

}  // namespace jzx::core

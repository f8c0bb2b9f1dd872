// HandlePool: objects of one type, up to a capacity, named by handles that go stale. A handle is
// a number: it may be stored, sent and kept too long. Looking it up finds the value it was made
// for, or nothing.
//
//   Handle    generation (high 32, never 0) | slot (low 32)
//   pool      directory ──▶ chunks, made as the pool fills and kept to its end ──▶ nodes
//   node      word | value
//
// The word makes a lookup one comparison. It equals the handle of the value that lives in the
// node; in a node without one the low half is never the node's own slot, so not even a made-up
// handle equals it:
//
//   never used
//       │ take
//       ▼                                 publish
//   {generation, none}: taken ◀─────────────────────────────▶ {generation, slot}: live
//       ▲ take    │ give_back      withdraw: the next generation
//       │         ▼
//   {generation, next free}: free
//
// A slot whose generations are spent is not given back but left behind, and a slot that was never
// used takes its place: no handle is ever given twice, and the capacity stays what it was.
//
// Values never move. Making, finding and freeing take constant time; walking over the pool looks
// at 64 slots at a time, up to the highest that was ever used.
//
// Threads: one owner at a time, such as the actor whose state the pool is. Handles are plain values
// and may be anywhere. A handle does not say which pool it is from: keep one pool per type (see
// handle_pools.hpp), or keep their handles apart.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <jzx/detail/export.hpp>
#include <jzx/detail/message.hpp>
#include <jzx/result.hpp>

namespace jzx {

// Names one value of one HandlePool<T>, once. The default is null, which names nothing.
template <class T>
class Handle {
 public:
  constexpr Handle() noexcept = default;

  // The handle as a number, for storing, and back. Any number is safe to look up.
  [[nodiscard]] static constexpr Handle from_value(uint64_t value) noexcept {
    Handle handle;
    handle.value_ = value;
    return handle;
  }
  [[nodiscard]] constexpr uint64_t value() const noexcept { return value_; }

  [[nodiscard]] constexpr uint32_t slot() const noexcept { return static_cast<uint32_t>(value_); }
  [[nodiscard]] constexpr uint32_t generation() const noexcept {
    return static_cast<uint32_t>(value_ >> 32);
  }

  // Not null. Whether it still names a value, the pool knows.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return value_ != 0; }
  [[nodiscard]] friend constexpr auto operator<=>(const Handle&, const Handle&) noexcept = default;

 private:
  uint64_t value_ = 0;
};

// Where a pool's memory comes from: aligned as malloc's; nullptr is answered with no_memory.
struct PoolMemory {
  void* (*alloc_fn)(void* ctx, size_t size) = [](void*, size_t size) { return std::malloc(size); };
  void (*free_fn)(void* ctx, void* ptr) = [](void*, void* ptr) { std::free(ptr); };
  void* ctx = nullptr;

  [[nodiscard]] void* allocate(size_t size) const noexcept { return alloc_fn(ctx, size); }
  void release(void* ptr) const noexcept {
    if (ptr != nullptr) free_fn(ctx, ptr);
  }
};

struct PoolOptions {
  PoolMemory memory{};
  // What slots that were never used begin with. Tests begin near the end.
  uint32_t first_generation = 1;
};

namespace detail {

// The slots of a pool, whatever lies in them. A node begins with its word.
class JZX_API SlotTable {
 public:
  static constexpr uint32_t kNoSlot = UINT32_MAX;

  struct Content {
    const char* name;  // for people
    size_t node_size;
    size_t node_alignment;
  };

  SlotTable(uint32_t capacity, const Content& content, const PoolOptions& options) noexcept;
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;
  ~SlotTable();

  // A slot to build a value in; kNoSlot: see refusal().
  [[nodiscard]] uint32_t take() noexcept;
  // The value is there: its handle.
  [[nodiscard]] uint64_t publish(uint32_t slot) noexcept;
  // The handle of this live slot is stale from now on; the value is still there.
  void withdraw(uint32_t slot) noexcept;
  // The value is gone, or was never built.
  void give_back(uint32_t slot) noexcept;
  // Why take() has no slot to give.
  [[nodiscard]] Error refusal() const noexcept;
  // From now on there is no slot to take.
  void close() noexcept { capacity_ = 0; }

  // The node of the live value; nullptr for any other number.
  [[nodiscard]] std::byte* find(uint64_t handle) const noexcept {
    const auto slot = static_cast<uint32_t>(handle);
    if (slot >= used_slots_) return nullptr;
    std::byte* const found = node(slot);
    return word_of(found) == handle ? found : nullptr;
  }

  // Of a slot below used_slots().
  [[nodiscard]] std::byte* node(uint32_t slot) const noexcept {
    return chunks_[slot >> chunk_shift_].nodes + (slot & chunk_mask_) * node_size_;
  }

  // The first live slot from `from` on; `end` if there is none below it.
  [[nodiscard]] uint32_t next_live(uint64_t from, uint32_t end) const noexcept {
    while (from < end) {
      const auto index = static_cast<uint32_t>(from) & chunk_mask_;
      const uint64_t* live = chunks_[from >> chunk_shift_].live();
      const uint64_t bits = live[index / 64] >> (index % 64);
      if (bits != 0) {
        from += static_cast<uint64_t>(std::countr_zero(bits));
        return from < end ? static_cast<uint32_t>(from) : end;
      }
      const uint32_t rest_of_word = 64 - index % 64;
      const uint32_t rest_of_chunk = chunk_mask_ + 1 - index;
      from += rest_of_word < rest_of_chunk ? rest_of_word : rest_of_chunk;
    }
    return end;
  }

  [[nodiscard]] uint32_t taken() const noexcept { return taken_; }
  [[nodiscard]] uint32_t capacity() const noexcept { return capacity_; }
  // Those below were in use at some time; the others have no node yet.
  [[nodiscard]] uint32_t used_slots() const noexcept { return used_slots_; }

  [[nodiscard]] static uint64_t& word_of(std::byte* node) noexcept {
    return *reinterpret_cast<uint64_t*>(node);
  }

 private:
  // One piece of memory: a bit for each slot, set while it is live, and then the nodes.
  struct Chunk {
    std::byte* nodes;
    void* memory;

    [[nodiscard]] uint64_t* live() const noexcept { return static_cast<uint64_t*>(memory); }
  };

  [[nodiscard]] bool add_chunk() noexcept;
  [[nodiscard]] bool grow_directory() noexcept;
  [[nodiscard]] uint64_t& live_word(uint32_t slot) const noexcept {
    return chunks_[slot >> chunk_shift_].live()[(slot & chunk_mask_) / 64];
  }

  Chunk* chunks_ = nullptr;
  size_t node_size_;
  uint32_t chunk_shift_;
  uint32_t chunk_mask_;
  uint32_t used_slots_ = 0;
  uint32_t free_ = kNoSlot;
  uint32_t taken_ = 0;
  uint32_t capacity_;
  uint32_t chunk_count_ = 0;
  uint32_t chunk_room_ = 0;  // of the directory
  Content content_;
  PoolOptions options_;
};

}  // namespace detail

template <class T>
class HandlePool {
  static_assert(std::is_object_v<T> && !std::is_array_v<T> && !std::is_const_v<T>,
                "jzx: a pool holds objects; no references, arrays or const types");
  static_assert(std::is_nothrow_destructible_v<T>,
                "jzx: the destructor of a pool's type may not throw");

  struct Node {
    uint64_t word;
    alignas(T) std::byte storage[sizeof(T)];

    [[nodiscard]] T* value() noexcept { return std::launder(reinterpret_cast<T*>(storage)); }
  };
  struct End {};

 public:
  // Takes no memory yet.
  explicit HandlePool(uint32_t capacity, const PoolOptions& options = {}) noexcept
      : table_(capacity, {detail::type_name<T>.data(), sizeof(Node), alignof(Node)}, options) {}
  HandlePool(const HandlePool&) = delete;
  HandlePool& operator=(const HandlePool&) = delete;

  // Destroys all values; a destructor that makes another one now is refused.
  ~HandlePool() {
    table_.close();
    if constexpr (!std::is_trivially_destructible_v<T>) clear();
  }

  // A new value, T(args...). Refused with no_memory if the pool is full, as the text then says, or
  // the memory is. Throws what the constructor throws; then nothing has changed.
  template <class... Args>
  Result<Handle<T>> make(Args&&... args) {
    static_assert(
        std::is_constructible_v<T, Args...> || requires { T{std::declval<Args>()...}; },
        "jzx: the pool's type cannot be constructed from these arguments");
    const uint32_t slot = table_.take();
    if (slot == detail::SlotTable::kNoSlot) return table_.refusal();
    struct Undo {
      ~Undo() {
        if (table != nullptr) table->give_back(slot);
      }
      detail::SlotTable* table;
      uint32_t slot;
    } undo{&table_, slot};
    void* const place = node(slot).storage;
    if constexpr (std::is_constructible_v<T, Args...>) {
      new (place) T(std::forward<Args>(args)...);
    } else {
      new (place) T{std::forward<Args>(args)...};  // a struct without constructors
    }
    undo.table = nullptr;
    return Handle<T>::from_value(table_.publish(slot));
  }

  // The value; nullptr if it was freed, and for a handle that this pool never gave. The pointer is
  // good until the value is freed.
  [[nodiscard]] const T* get(Handle<T> handle) const noexcept { return find(handle); }
  [[nodiscard]] T* get_mut(Handle<T> handle) noexcept { return find(handle); }
  [[nodiscard]] bool valid(Handle<T> handle) const noexcept { return find(handle) != nullptr; }

  // Destroys the value. False: there is none by that handle. The handle is stale before the
  // destructor begins.
  bool free(Handle<T> handle) noexcept {
    T* const value = find(handle);
    if (value == nullptr) return false;
    table_.withdraw(handle.slot());
    value->~T();
    table_.give_back(handle.slot());
    return true;
  }

  // Frees all values that are there now; what their destructors make meanwhile may stay.
  void clear() noexcept {
    for (auto [handle, value] : *this) free(handle);
  }

  // The handle of a value of this pool; null while it is being constructed or destroyed. Not for
  // other objects: nothing in them tells that they are no value of a pool.
  [[nodiscard]] Handle<T> handle_of(const T& value) const noexcept {
    const auto* bytes = reinterpret_cast<const std::byte*>(std::addressof(value));
    const auto* node = reinterpret_cast<const Node*>(bytes - offsetof(Node, storage));
    const auto handle = Handle<T>::from_value(node->word);
    return valid(handle) ? handle : Handle<T>();
  }

  // How many values there are, with those that are being constructed or destroyed.
  [[nodiscard]] uint32_t size() const noexcept { return table_.taken(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] uint32_t capacity() const noexcept { return table_.capacity(); }

  // ---- walking over the values, by slot ----
  //
  //   for (auto [handle, enemy] : enemies)
  //     if (enemy.hp <= 0) enemies.free(handle);
  //
  // Any value may be freed meanwhile, the current one too (whose reference is then dead); one that
  // is freed before its turn is not visited. A value made meanwhile is visited if it came into a
  // freed slot that is still ahead, and otherwise not: a walk that makes values ends.

  template <class Value>
  struct Entry {
    Handle<T> handle;
    Value& value;
  };

  template <class Value>
  class Iterator {
   public:
    using value_type = Entry<Value>;
    using difference_type = std::ptrdiff_t;

    Iterator() noexcept = default;
    explicit Iterator(const HandlePool& pool) noexcept
        : pool_(&pool), end_(pool.table_.used_slots()), slot_(pool.table_.next_live(0, end_)) {}

    [[nodiscard]] Entry<Value> operator*() const noexcept {
      Node& node = pool_->node(slot_);
      return {Handle<T>::from_value(node.word), *node.value()};
    }
    Iterator& operator++() noexcept {
      slot_ = pool_->table_.next_live(uint64_t{slot_} + 1, end_);
      return *this;
    }
    void operator++(int) noexcept { ++*this; }
    [[nodiscard]] friend bool operator==(const Iterator& one, End) noexcept {
      return one.slot_ == one.end_;
    }

   private:
    const HandlePool* pool_ = nullptr;
    uint32_t end_ = 0;
    uint32_t slot_ = 0;
  };

  [[nodiscard]] Iterator<T> begin() noexcept { return Iterator<T>(*this); }
  [[nodiscard]] Iterator<const T> begin() const noexcept { return Iterator<const T>(*this); }
  [[nodiscard]] End end() const noexcept { return {}; }

  // fn(Handle<T>, T&) for each value, by the same rules.
  template <class Fn>
  void for_each(Fn&& fn) {
    for (auto [handle, value] : *this) fn(handle, value);
  }
  template <class Fn>
  void for_each(Fn&& fn) const {
    for (auto [handle, value] : *this) fn(handle, value);
  }

 private:
  [[nodiscard]] Node& node(uint32_t slot) const noexcept {
    return *reinterpret_cast<Node*>(table_.node(slot));
  }
  [[nodiscard]] T* find(Handle<T> handle) const noexcept {
    std::byte* const found = table_.find(handle.value());
    return found == nullptr ? nullptr : reinterpret_cast<Node*>(found)->value();
  }

  detail::SlotTable table_;
};

}  // namespace jzx

template <class T>
struct std::hash<jzx::Handle<T>> {
  size_t operator()(const jzx::Handle<T>& handle) const noexcept {
    return std::hash<uint64_t>()(handle.value());
  }
};

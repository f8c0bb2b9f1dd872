// HandlePools: the handle pools of one system, found by the type they hold. There is at most one
// pool per type, and it stays until the registry ends.
//
// Types are compared by name, not by address, so that shared objects find one another's pools.
// Types of an anonymous namespace belong to their source file alone. Do not give pools to types
// that are local to a function: some compilers spell two of them alike.
// A shared object that created a pool must stay loaded until the registry ends.
//
// Threads: create, find and of from any thread. The pool itself is for one owner at a time, which
// the registry neither knows nor checks: look a pool up once and keep the reference.
#pragma once

#include <mutex>
#include <typeinfo>

#include <jzx/handle_pool.hpp>

namespace jzx {

namespace detail {

struct PoolEntry;

// One constant per type.
struct PoolType {
  const char* name;
  const std::type_info* info;  // null without run-time type information
  size_t size;
  void (*destroy)(PoolEntry& entry) noexcept;
};

struct PoolEntry {
  const PoolType* type;
  PoolEntry* older = nullptr;
};

template <class T>
struct TypedPoolEntry : PoolEntry {
  TypedPoolEntry(const PoolType& the_type, uint32_t capacity, const PoolMemory& memory) noexcept
      : PoolEntry{&the_type}, pool(capacity, PoolOptions{memory}) {}

  HandlePool<T> pool;
};

template <class T>
void destroy_pool(PoolEntry& entry) noexcept {
  static_cast<TypedPoolEntry<T>&>(entry).~TypedPoolEntry<T>();
}

template <class T>
inline constexpr PoolType pool_type{type_name<T>.data(),
#ifdef __cpp_rtti
                                    &typeid(T),
#else
                                    nullptr,
#endif
                                    sizeof(T), &destroy_pool<T>};

// Ends the program and says that there is no pool of that name.
[[noreturn]] JZX_API void no_such_pool(const char* name) noexcept;

}  // namespace detail

class JZX_API HandlePools {
 public:
  explicit HandlePools(const PoolMemory& memory = {}) noexcept : memory_(memory) {}
  HandlePools(const HandlePools&) = delete;
  HandlePools& operator=(const HandlePools&) = delete;
  // Ends the pools, the newest first; a destructor still finds those that are older than its own.
  ~HandlePools();

  // Refused with invalid_arg if there is a pool of this type already.
  template <class T>
  Result<HandlePool<T>*> create(uint32_t capacity) {
    constexpr const detail::PoolType& type = detail::pool_type<T>;
    void* const memory = memory_.allocate(sizeof(detail::TypedPoolEntry<T>));
    if (memory == nullptr) return Error(Errc::no_memory);
    auto* const entry = new (memory) detail::TypedPoolEntry<T>(type, capacity, memory_);
    if (add(*entry)) return &entry->pool;
    end(*entry);
    return exists_already(type);
  }

  // nullptr: there is none.
  template <class T>
  [[nodiscard]] HandlePool<T>* find() noexcept {
    detail::PoolEntry* const entry = find(detail::pool_type<T>);
    return entry == nullptr ? nullptr : &static_cast<detail::TypedPoolEntry<T>*>(entry)->pool;
  }

  // For those who know that it was created; otherwise the program ends here and says so.
  template <class T>
  [[nodiscard]] HandlePool<T>& of() noexcept {
    HandlePool<T>* const pool = find<T>();
    if (pool == nullptr) detail::no_such_pool(detail::type_name<T>.data());
    return *pool;
  }

 private:
  [[nodiscard]] detail::PoolEntry* find(const detail::PoolType& type) noexcept;
  // With the lock held.
  [[nodiscard]] detail::PoolEntry* search(const detail::PoolType& type) const noexcept;
  // False: there is one of its type.
  [[nodiscard]] bool add(detail::PoolEntry& entry) noexcept;
  void end(detail::PoolEntry& entry) noexcept;
  [[nodiscard]] static Error exists_already(const detail::PoolType& type) noexcept;

  const PoolMemory memory_;
  std::mutex lock_;
  detail::PoolEntry* newest_ = nullptr;  // guarded by lock_
};

}  // namespace jzx

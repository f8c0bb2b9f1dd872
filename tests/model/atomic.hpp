// What base/atomic.hpp takes in a model build: Atomic<T>, Seen<T> and Shared<T>, whose every access
// is told to the checker. The checker decides what a load returns and who runs next; see
// execution.hpp and, for what the memory model covers, memory.hpp.
//
// All are exactly as large as a T, so that the layouts of the library are those of a normal build:
// the checker finds what it knows about an object by its address. Outside a model run they are
// plain values.
//
// Threads: inside a run, the model's threads; outside, one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <source_location>
#include <type_traits>

namespace jzx::base::model {

enum class Look : uint8_t { boolean, signed_number, number, pointer };  // how to print a value

struct Access {
  const void* at;
  const char* name;  // of the operation
  std::memory_order order;
  Look look;
  std::source_location where;
};

// ---- the checker's side ----

[[nodiscard]] bool is_running() noexcept;  // is this a thread of a model run?

void atomic_created(const void* at, uint64_t value) noexcept;
void atomic_destroyed(const void* at) noexcept;
// `initial`: its value, should the checker not know it yet.
[[nodiscard]] uint64_t atomic_load(const Access& access, uint64_t initial) noexcept;
void atomic_store(const Access& access, uint64_t initial, uint64_t value) noexcept;
// A read-modify-write is the two in one step: nobody runs in between.
[[nodiscard]] uint64_t begin_modify(const Access& access, uint64_t initial) noexcept;
void end_modify(const Access& access, uint64_t value) noexcept;
[[nodiscard]] bool compare_exchange(const Access& access, uint64_t initial, uint64_t& expected,
                                    uint64_t desired, std::memory_order failure) noexcept;

void plain_created(const void* at) noexcept;
void plain_destroyed(const void* at) noexcept;
void plain_read(const void* at) noexcept;
void plain_written(const void* at) noexcept;

// The caller waits for another thread in a loop: it goes on when one has stored something since its
// last call.
void yield() noexcept;

// See base/atomic.hpp: what any thread has stored is what all of them load from now on.
void light_barrier() noexcept;
// False: it was refused.
[[nodiscard]] bool heavy_barrier() noexcept;

// ---- atomics ----

template <class T>
class Atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(uint64_t));
  using Where = std::source_location;
  using Order = std::memory_order;

 public:
  using value_type = T;

  Atomic() noexcept : Atomic(T{}) {}
  Atomic(T value) noexcept : value_(value) {  // NOLINT: as std::atomic
    if (is_running()) atomic_created(this, bits(value));
  }
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;
  ~Atomic() {
    if (is_running()) atomic_destroyed(this);
  }

  [[nodiscard]] T load(Order order = std::memory_order_seq_cst,
                       Where where = Where::current()) const noexcept {
    if (!is_running()) return value_;
    return value(atomic_load(access("load", order, where), bits(value_)));
  }
  void store(T desired, Order order = std::memory_order_seq_cst,
             Where where = Where::current()) noexcept {
    if (is_running()) atomic_store(access("store", order, where), bits(value_), bits(desired));
    value_ = desired;
  }
  T exchange(T desired, Order order = std::memory_order_seq_cst,
             Where where = Where::current()) noexcept {
    return modify([&](T) { return desired; }, access("exchange", order, where));
  }
  bool compare_exchange_strong(T& expected, T desired, Order success, Order failure,
                               Where where = Where::current()) noexcept {
    if (!is_running()) {
      const bool same = bits(value_) == bits(expected);
      (same ? value_ : expected) = same ? desired : value_;
      return same;
    }
    uint64_t wanted = bits(expected);
    if (compare_exchange(access("compare_exchange", success, where), bits(value_), wanted,
                         bits(desired), failure)) {
      value_ = desired;
      return true;
    }
    expected = value(wanted);
    return false;
  }
  bool compare_exchange_strong(T& expected, T desired, Order order = std::memory_order_seq_cst,
                               Where where = Where::current()) noexcept {
    return compare_exchange_strong(expected, desired, order, failure_order(order), where);
  }
  // Does not fail for no reason here.
  bool compare_exchange_weak(T& expected, T desired, Order success, Order failure,
                             Where where = Where::current()) noexcept {
    return compare_exchange_strong(expected, desired, success, failure, where);
  }
  bool compare_exchange_weak(T& expected, T desired, Order order = std::memory_order_seq_cst,
                             Where where = Where::current()) noexcept {
    return compare_exchange_strong(expected, desired, order, where);
  }

  T fetch_add(T by, Order order = std::memory_order_seq_cst,
              Where where = Where::current()) noexcept {
    return modify([&](T old) { return static_cast<T>(old + by); },
                  access("fetch_add", order, where));
  }
  T fetch_sub(T by, Order order = std::memory_order_seq_cst,
              Where where = Where::current()) noexcept {
    return modify([&](T old) { return static_cast<T>(old - by); },
                  access("fetch_sub", order, where));
  }
  T fetch_or(T by, Order order = std::memory_order_seq_cst,
             Where where = Where::current()) noexcept {
    return modify([&](T old) { return static_cast<T>(old | by); },
                  access("fetch_or", order, where));
  }
  T fetch_and(T by, Order order = std::memory_order_seq_cst,
              Where where = Where::current()) noexcept {
    return modify([&](T old) { return static_cast<T>(old & by); },
                  access("fetch_and", order, where));
  }
  T fetch_xor(T by, Order order = std::memory_order_seq_cst,
              Where where = Where::current()) noexcept {
    return modify([&](T old) { return static_cast<T>(old ^ by); },
                  access("fetch_xor", order, where));
  }

 private:
  static constexpr Look kLook = std::is_pointer_v<T>      ? Look::pointer
                                : std::is_same_v<T, bool> ? Look::boolean
                                : std::is_signed_v<T>     ? Look::signed_number
                                                          : Look::number;

  static uint64_t bits(T value) noexcept {
    uint64_t result = 0;
    std::memcpy(&result, &value, sizeof(T));
    return result;
  }
  static T value(uint64_t bits) noexcept {
    T result;
    std::memcpy(static_cast<void*>(&result), &bits, sizeof(T));
    return result;
  }
  static constexpr Order failure_order(Order order) noexcept {
    if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
    if (order == std::memory_order_release) return std::memory_order_relaxed;
    return order;
  }
  Access access(const char* name, Order order, Where where) const noexcept {
    return Access{this, name, order, kLook, where};
  }
  template <class Change>
  T modify(Change&& change, const Access& access) noexcept {
    const T old = is_running() ? value(begin_modify(access, bits(value_))) : value_;
    value_ = change(old);
    if (is_running()) end_modify(access, bits(value_));
    return old;
  }

 protected:
  T value_;  // the newest
};

// ---- a word of one thread at which others look ----

// The owner's own reads are no steps; what it writes while others cannot look begins a new history.
template <class T>
class Seen : private Atomic<T> {
  using Where = std::source_location;
  using Order = std::memory_order;

 public:
  Seen(T value) noexcept : Atomic<T>(value) {}  // NOLINT: as a T
  Seen(const Seen& other) noexcept : Atomic<T>(other.own()) {}
  Seen& operator=(const Seen& other) noexcept {
    const T value = other.own();
    if (is_running()) atomic_destroyed(this);
    return *new (this) Seen(value);
  }

  [[nodiscard]] T own() const noexcept { return this->value_; }
  [[nodiscard]] T look(Order order, Where where = Where::current()) const noexcept {
    return this->load(order, where);
  }
  void show(T value, Order order, Where where = Where::current()) noexcept {
    this->store(value, order, where);
  }
};

// ---- plain data that changes hands ----

template <class T>
class Shared {
 public:
  Shared() noexcept : value_{} { created(); }
  Shared(T value) noexcept : value_(value) { created(); }  // NOLINT: as a T
  Shared(const Shared& other) noexcept : value_(other.read()) { created(); }
  ~Shared() {
    if (is_running()) plain_destroyed(this);
  }

  Shared& operator=(const Shared& other) noexcept { return *this = other.read(); }
  Shared& operator=(T value) noexcept {
    written();
    value_ = value;
    return *this;
  }
  operator T() const noexcept { return read(); }  // NOLINT: as a T
  T operator->() const noexcept requires std::is_pointer_v<T> { return read(); }

  T operator++() noexcept { return *this = static_cast<T>(read() + 1); }
  T operator--() noexcept { return *this = static_cast<T>(read() - 1); }
  T operator++(int) noexcept {
    const T old = read();
    *this = static_cast<T>(old + 1);
    return old;
  }
  T operator--(int) noexcept {
    const T old = read();
    *this = static_cast<T>(old - 1);
    return old;
  }
  Shared& operator+=(T by) noexcept { return *this = static_cast<T>(read() + by); }
  Shared& operator-=(T by) noexcept { return *this = static_cast<T>(read() - by); }
  Shared& operator|=(T by) noexcept { return *this = static_cast<T>(read() | by); }
  Shared& operator&=(T by) noexcept { return *this = static_cast<T>(read() & by); }

 private:
  void created() const noexcept {
    if (is_running()) plain_created(this);
  }
  void written() const noexcept {
    if (is_running()) plain_written(this);
  }
  [[nodiscard]] T read() const noexcept {
    if (is_running()) plain_read(this);
    return value_;
  }

  T value_;
};

}  // namespace jzx::base::model

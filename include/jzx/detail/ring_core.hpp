// The narrow place between the templates of broadcast and watch channels and the library. Not for
// users.
//
// Every message is in a node of its own, counted by the ring and by those who are just copying it;
// so it is copied outside of the lock, and by several at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <jzx/detail/sync_wait.hpp>

namespace jzx {

namespace sync {
class RingCore;
}

namespace detail {

struct SharedNode {
  using End = void (*)(SharedNode& node) noexcept;
  explicit SharedNode(End the_end) noexcept : end(the_end) {}

  // relaxed: whoever shares it knows it, and knows it longer than this call.
  void share() noexcept { known_by.fetch_add(1, std::memory_order_relaxed); }
  void drop() noexcept {
    // release: what was done with the message is done; acquire: the last one sees that of all the
    // others before it ends the message. Pairs with itself.
    if (known_by.fetch_sub(1, std::memory_order_acq_rel) == 1) end(*this);
  }

  const End end;
  std::atomic<uint32_t> known_by{1};
};

template <class T>
struct TypedSharedNode final : SharedNode {
  static_assert(std::is_object_v<T> && std::is_copy_constructible_v<T>,
                "jzx: every receiver gets a copy, so the message must be copyable");
  static_assert(alignof(T) <= kFutureAlignment,
                "jzx: a message of a channel may not be aligned to more than 64 bytes");

  explicit TypedSharedNode(T&& message) : SharedNode(&end_typed), value(std::move(message)) {}
  // nullptr: no memory.
  [[nodiscard]] static TypedSharedNode* try_make(T&& message) {
    struct Undo {
      ~Undo() {
        if (block != nullptr) give_future_block(block, sizeof(TypedSharedNode));
      }
      void* block;
    } undo{take_future_block(sizeof(TypedSharedNode))};
    if (undo.block == nullptr) return nullptr;
    auto* made = ::new (undo.block) TypedSharedNode(std::move(message));
    undo.block = nullptr;
    return made;
  }
  T value;

 private:
  static void end_typed(SharedNode& node) noexcept {
    auto& typed = static_cast<TypedSharedNode&>(node);
    typed.~TypedSharedNode();
    give_future_block(&typed, sizeof(TypedSharedNode));
  }
};

// One who copies it.
template <class T>
class SharedMessage {
 public:
  explicit SharedMessage(SharedNode& node) noexcept : node_(node) {}
  SharedMessage(const SharedMessage&) = delete;
  SharedMessage& operator=(const SharedMessage&) = delete;
  ~SharedMessage() { node_.drop(); }
  [[nodiscard]] const T& value() const noexcept {
    return static_cast<TypedSharedNode<T>&>(node_).value;
  }

 private:
  SharedNode& node_;
};

// ---- the ring; a null one answers Errc::invalid_arg ----

// Where a receiver is: the number of the next message that it wants.
using RingPosition = uint64_t;

// Known by one sender. Throws std::bad_alloc.
[[nodiscard]] JZX_API sync::RingCore& make_ring(size_t capacity);
JZX_API void add_ring_sender(sync::RingCore& core) noexcept;
JZX_API void drop_ring_sender(sync::RingCore& core) noexcept;
// A receiver that wants what comes from now on.
[[nodiscard]] JZX_API RingPosition add_ring_receiver(sync::RingCore& core) noexcept;
JZX_API void share_ring_receiver(sync::RingCore& core) noexcept;
JZX_API void drop_ring_receiver(sync::RingCore& core) noexcept;
[[nodiscard]] JZX_API size_t count_ring_receivers(sync::RingCore* core) noexcept;

// Takes the node, and the oldest one's place.
JZX_API void put_in_ring(sync::RingCore& core, SharedNode& node) noexcept;
// nullptr: `why` not. Errc::lagged: so many were `missed`, and the position is that of the oldest
// now.
[[nodiscard]] JZX_API SharedNode* take_from_ring(sync::RingCore* core, RingPosition& position,
                                                 Errc& why, uint64_t& missed) noexcept;
// The newest, whatever the position was; it is seen then.
[[nodiscard]] JZX_API SharedNode* take_newest(sync::RingCore* core,
                                              RingPosition& position) noexcept;
// Settles when something is there that the position has not seen.
[[nodiscard]] JZX_API Future<void> ring_ready(sync::RingCore* core, RingPosition position,
                                              const char* source) noexcept;
// Has everybody who could receive gone? Settles then.
[[nodiscard]] JZX_API Future<void> ring_unheard(sync::RingCore* core) noexcept;

// ---- its ends ----

class RingSender {
 public:
  RingSender() noexcept = default;
  explicit RingSender(sync::RingCore& core) noexcept : core_(&core) {}
  RingSender(const RingSender& other) noexcept : core_(other.core_) {
    if (core_ != nullptr) add_ring_sender(*core_);
  }
  RingSender(RingSender&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  RingSender& operator=(RingSender other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~RingSender() {
    if (core_ != nullptr) drop_ring_sender(*core_);
  }
  [[nodiscard]] sync::RingCore* core() const noexcept { return core_; }

  template <class T>
  [[nodiscard]] Errc put(T&& message) const {
    if (core_ == nullptr) return Errc::invalid_arg;
    auto* node = TypedSharedNode<T>::try_make(std::move(message));
    if (node == nullptr) return Errc::no_memory;
    put_in_ring(*core_, *node);
    return Errc::ok;
  }

 private:
  sync::RingCore* core_ = nullptr;
};

class RingReceiver {
 public:
  RingReceiver() noexcept = default;
  explicit RingReceiver(sync::RingCore& core) noexcept
      : position(add_ring_receiver(core)), core_(&core) {}
  // It goes on where the other one is.
  RingReceiver(const RingReceiver& other) noexcept : position(other.position), core_(other.core_) {
    if (core_ != nullptr) share_ring_receiver(*core_);
  }
  RingReceiver(RingReceiver&& other) noexcept
      : position(other.position), core_(std::exchange(other.core_, nullptr)) {}
  RingReceiver& operator=(RingReceiver other) noexcept {
    std::swap(core_, other.core_);
    std::swap(position, other.position);
    return *this;
  }
  ~RingReceiver() {
    if (core_ != nullptr) drop_ring_receiver(*core_);
  }
  [[nodiscard]] sync::RingCore* core() const noexcept { return core_; }

  RingPosition position = 0;

 private:
  sync::RingCore* core_ = nullptr;
};

}  // namespace detail
}  // namespace jzx

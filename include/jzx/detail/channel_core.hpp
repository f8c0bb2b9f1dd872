// The narrow place between the templates of channels and the library. Not for users.
//
// A message is made in a node of its own, outside of the channel's lock, and linked under it; it is
// taken and moved out in the same way. So no code of users runs under the lock.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <jzx/detail/sync_wait.hpp>

namespace jzx {

namespace sync {
class ChannelCore;
}

namespace detail {

// ---- messages ----

struct MessageNode {
  MessageNode* next = nullptr;
};

template <class T>
struct TypedNode : MessageNode {
  static_assert(std::is_object_v<T> && std::is_nothrow_move_constructible_v<T>,
                "jzx: a message of a channel must have a move constructor that is noexcept");
  static_assert(alignof(T) <= kFutureAlignment,
                "jzx: a message of a channel may not be aligned to more than 64 bytes");
  explicit TypedNode(T&& message) noexcept : value(std::move(message)) {}
  T value;
};

using EndNode = void (*)(MessageNode& node) noexcept;
template <class T>
void end_node(MessageNode& node) noexcept {
  auto& typed = static_cast<TypedNode<T>&>(node);
  typed.~TypedNode();
  give_future_block(&typed, sizeof(typed));
}

// nullptr: no memory, and the message was not moved from.
template <class T>
[[nodiscard]] TypedNode<T>* try_make_node(T& message) noexcept {
  void* block = take_future_block(sizeof(TypedNode<T>));
  return block != nullptr ? ::new (block) TypedNode<T>(std::move(message)) : nullptr;
}
// The message goes back to where it came from.
template <class T>
void undo_node(TypedNode<T>& node, T& message) noexcept {
  std::destroy_at(std::addressof(message));
  std::construct_at(std::addressof(message), std::move(node.value));
  end_node<T>(node);
}

template <class T>
class NodeOf {
 public:
  explicit NodeOf(MessageNode* node) noexcept : node_(static_cast<TypedNode<T>*>(node)) {}
  NodeOf(const NodeOf&) = delete;
  NodeOf& operator=(const NodeOf&) = delete;
  ~NodeOf() { end_node<T>(*node_); }
  TypedNode<T>* operator->() const noexcept { return node_; }

 private:
  TypedNode<T>* node_;
};

// ---- the channel; a null one answers Errc::invalid_arg ----

inline constexpr size_t kUnbounded = ~size_t{0};

// Known by one sender and one receiver. Throws std::bad_alloc.
[[nodiscard]] JZX_API sync::ChannelCore& make_channel(size_t capacity, EndNode end);
JZX_API void add_sender(sync::ChannelCore& core) noexcept;
JZX_API void drop_sender(sync::ChannelCore& core) noexcept;
JZX_API void drop_receiver(sync::ChannelCore& core) noexcept;

enum class Place : uint8_t { wanted, reserved };
// Not ok: the node is the caller's still, and so is the reserved place.
[[nodiscard]] JZX_API Errc put_message(sync::ChannelCore& core, MessageNode& node,
                                       Place place) noexcept;
JZX_API void wait_for_place(sync::ChannelCore& core, Waiter& waiter) noexcept;
JZX_API void give_place(sync::ChannelCore& core) noexcept;
[[nodiscard]] JZX_API sync::ChannelCore& channel_of(Waiter& waiter) noexcept;

// nullptr: `why` not.
[[nodiscard]] JZX_API MessageNode* take_message(sync::ChannelCore* core, Errc& why) noexcept;
[[nodiscard]] JZX_API Future<void> message_ready(sync::ChannelCore* core) noexcept;
[[nodiscard]] JZX_API size_t count_messages(sync::ChannelCore* core) noexcept;

JZX_API void close_channel(sync::ChannelCore* core) noexcept;
[[nodiscard]] JZX_API bool is_channel_closed(sync::ChannelCore* core) noexcept;
[[nodiscard]] JZX_API Future<void> channel_closed(sync::ChannelCore* core) noexcept;

template <class T>
[[nodiscard]] Errc put_as(sync::ChannelCore& core, T& message, Place place) noexcept {
  TypedNode<T>* node = try_make_node(message);
  if (node == nullptr) return Errc::no_memory;
  const Errc error = put_message(core, *node, place);
  if (!ok(error)) undo_node(*node, message);
  return error;
}
template <class T>
[[nodiscard]] Errc try_put(sync::ChannelCore* core, T& message) noexcept {
  return core != nullptr ? put_as(*core, message, Place::wanted) : Errc::invalid_arg;
}
// `permit`: whose place it is; emptied if the answer is ok.
template <class T>
[[nodiscard]] Errc put_in_place(sync::ChannelCore*& permit, T& message) noexcept {
  const Errc error = put_as(*permit, message, Place::reserved);
  if (ok(error)) permit = nullptr;
  return error;
}

// ---- its ends ----

class SenderEnd {
 public:
  SenderEnd() noexcept = default;
  explicit SenderEnd(sync::ChannelCore& core) noexcept : core_(&core) {}
  SenderEnd(const SenderEnd& other) noexcept : core_(other.core_) {
    if (core_ != nullptr) add_sender(*core_);
  }
  SenderEnd(SenderEnd&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  SenderEnd& operator=(SenderEnd other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~SenderEnd() {
    if (core_ != nullptr) drop_sender(*core_);
  }
  [[nodiscard]] sync::ChannelCore* core() const noexcept { return core_; }

 private:
  sync::ChannelCore* core_ = nullptr;
};

class ReceiverEnd {
 public:
  ReceiverEnd() noexcept = default;
  explicit ReceiverEnd(sync::ChannelCore& core) noexcept : core_(&core) {}
  ReceiverEnd(ReceiverEnd&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  ReceiverEnd& operator=(ReceiverEnd&& other) noexcept {
    ReceiverEnd taken(std::move(other));
    std::swap(core_, taken.core_);
    return *this;
  }
  ~ReceiverEnd() {
    if (core_ != nullptr) drop_receiver(*core_);
  }
  [[nodiscard]] sync::ChannelCore* core() const noexcept { return core_; }

 private:
  sync::ChannelCore* core_ = nullptr;
};

}  // namespace detail
}  // namespace jzx

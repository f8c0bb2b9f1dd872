// An intrusive doubly linked list: O(1) push and O(1) unlink of a node that does not know
// its list. A node is in at most one list per base; `Tag` lets one object be in several.
//
//   ┌─▶ sentinel ⇄ first ⇄ … ⇄ last ─┐
//   └────────────────────────────────┘
//
// Threads: the owner only.
#pragma once

#include <cstddef>

#include "base/assert.hpp"

namespace jzx::base {

template <class Tag = void>
class ListNode {
 public:
  ListNode() noexcept = default;
  ListNode(const ListNode&) = delete;
  ListNode& operator=(const ListNode&) = delete;

  [[nodiscard]] bool is_linked() const noexcept { return next != nullptr; }

  void unlink() noexcept {
    JZX_ASSERT(is_linked());
    prev->next = next;
    next->prev = prev;
    next = prev = nullptr;
  }

  void insert_before(ListNode& other) noexcept {
    JZX_ASSERT(!is_linked());
    prev = other.prev;
    next = &other;
    prev->next = this;
    other.prev = this;
  }

  ListNode* next = nullptr;
  ListNode* prev = nullptr;
};

template <class T, class Tag = void>
class List {
 public:
  using Node = ListNode<Tag>;

  List() noexcept { sentinel_.next = sentinel_.prev = &sentinel_; }
  ~List() { JZX_ASSERT(empty()); }

  [[nodiscard]] bool empty() const noexcept { return sentinel_.next == &sentinel_; }
  [[nodiscard]] T* front() const noexcept { return empty() ? nullptr : as_object(sentinel_.next); }
  [[nodiscard]] T* back() const noexcept { return empty() ? nullptr : as_object(sentinel_.prev); }
  [[nodiscard]] T* before(T& object) const noexcept {
    Node* node = static_cast<Node&>(object).prev;
    return node == &sentinel_ ? nullptr : as_object(node);
  }
  [[nodiscard]] T* after(T& object) const noexcept {
    Node* node = static_cast<Node&>(object).next;
    return node == &sentinel_ ? nullptr : as_object(node);
  }

  void push_back(T& object) noexcept { static_cast<Node&>(object).insert_before(sentinel_); }
  void push_front(T& object) noexcept { static_cast<Node&>(object).insert_before(*sentinel_.next); }

  T* pop_front() noexcept {
    T* object = front();
    if (object != nullptr) static_cast<Node*>(object)->unlink();
    return object;
  }

  // Moves all of `other` to the end of this list, in order.
  void splice_back(List& other) noexcept {
    if (other.empty()) return;
    other.sentinel_.next->prev = sentinel_.prev;
    sentinel_.prev->next = other.sentinel_.next;
    other.sentinel_.prev->next = &sentinel_;
    sentinel_.prev = other.sentinel_.prev;
    other.sentinel_.next = other.sentinel_.prev = &other.sentinel_;
  }

 private:
  static T* as_object(Node* node) noexcept { return static_cast<T*>(node); }

  Node sentinel_;
};

}  // namespace jzx::base

// Many producers, one consumer: producers push one node each, the consumer takes everything
// at once and gets it in the order of the pushes. Intrusive, never full, needs no memory.
//
// push() is a compare-exchange loop on the head; take_all() is one exchange and a reversal of
// the private chain. There is no ABA: a consumer never pops a single node, and a producer only
// links its own node in front of whatever the head is at the moment its exchange succeeds.
//
// Order: if push(a) returned before push(b) began, a comes out before b. A producer's own pushes
// therefore keep their order.
#pragma once

#include "base/atomic.hpp"

namespace jzx::base {

// `next` is the member of Node that links the chain, a Node* or a Shared<Node*>.
template <class Node, auto next>
class MpscStack {
 public:
  // Any thread. True if it was empty.
  bool push(Node& node) noexcept {
    // relaxed: only a first guess, the exchange below decides.
    Node* head = head_.load(std::memory_order_relaxed);
    do {
      node.*next = head;
      // release: publishes the node; pairs with the acquire in take_all(). seq_cst on top: a
      // producer goes on to read whether the consumer sleeps, and that read must not come before
      // this push in the single order that the consumer's own check is part of.
    } while (!head_.compare_exchange_weak(head, &node, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
    return head == nullptr;
  }

  // The consumer. The oldest first.
  [[nodiscard]] Node* take_all() noexcept {
    Node* newest = nullptr;
    return take_all(newest);
  }
  // The same; says which one is the last of them, if there is any.
  [[nodiscard]] Node* take_all(Node*& newest) noexcept {
    // seq_cst: a consumer that was told of a push sees it; see drivers/loop/news.hpp. Who sleeps on
    // an empty stack looks with empty_before_sleep().
    if (empty_before_sleep()) return nullptr;
    // acquire: pairs with the release in push().
    newest = head_.exchange(nullptr, std::memory_order_acquire);
    return reversed(newest);
  }

  // The consumer. relaxed: a push that is missed here is seen by the next look.
  [[nodiscard]] bool looks_empty() const noexcept {
    return head_.load(std::memory_order_relaxed) == nullptr;
  }

  // The consumer, after it announced that it is about to sleep. seq_cst: part of the single
  // order in which a producer pushes and then reads the announcement.
  [[nodiscard]] bool empty_before_sleep() const noexcept {
    return head_.load(std::memory_order_seq_cst) == nullptr;
  }

 private:
  static Node* reversed(Node* node) noexcept {
    Node* result = nullptr;
    while (node != nullptr) {
      Node* after = node->*next;
      node->*next = result;
      result = node;
      node = after;
    }
    return result;
  }

  Atomic<Node*> head_{nullptr};
};

}  // namespace jzx::base

#include "base/mpsc_stack.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <latch>
#include <thread>
#include <vector>

#include "base/prng.hpp"
#include "support/scale.hpp"

namespace jzx::base {
namespace {

struct Node {
  uint32_t producer = 0;
  uint32_t number = 0;
  Node* next_node = nullptr;
};

using Stack = MpscStack<Node, &Node::next_node>;

TEST(MpscStack, GivesNothingWhenEmpty) {
  Stack stack;
  EXPECT_TRUE(stack.empty_before_sleep());
  EXPECT_EQ(stack.take_all(), nullptr);
}

TEST(MpscStack, TellsTheProducerThatFoundItEmpty) {
  Stack stack;
  Node a, b, c;
  EXPECT_TRUE(stack.push(a));
  EXPECT_FALSE(stack.empty_before_sleep());
  EXPECT_FALSE(stack.push(b));
  EXPECT_EQ(stack.take_all(), &a);
  EXPECT_TRUE(stack.empty_before_sleep());
  EXPECT_TRUE(stack.push(c));
  EXPECT_EQ(stack.take_all(), &c);
}

TEST(MpscStack, BehavesLikeAQueueThatIsTakenWhole) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Prng random(seed);
    std::vector<Node> nodes(200);
    Stack stack;
    std::deque<Node*> model;
    for (Node& node : nodes) {
      ASSERT_EQ(stack.push(node), model.empty());
      model.push_back(&node);
      if (random.below(8) != 0) continue;
      for (Node* taken = stack.take_all(); taken != nullptr; taken = taken->next_node) {
        ASSERT_FALSE(model.empty());
        ASSERT_EQ(taken, model.front());
        model.pop_front();
      }
      ASSERT_TRUE(model.empty());
    }
    (void)stack.take_all();
  }
}

TEST(MpscStack, LosesNothingAndKeepsEachProducersOrder) {
  constexpr uint32_t kProducers = 3;
  const auto per_producer = static_cast<uint32_t>(testing::scaled(100'000));
  std::vector<std::vector<Node>> nodes(kProducers);
  for (uint32_t producer = 0; producer < kProducers; ++producer) {
    for (uint32_t number = 0; number < per_producer; ++number) {
      nodes[producer].push_back(Node{producer, number});
    }
  }

  Stack stack;
  std::atomic<uint32_t> found_empty{0};
  std::latch all_began(kProducers);  // or the first would be done before the last begins
  std::vector<std::thread> producers;
  for (uint32_t producer = 0; producer < kProducers; ++producer) {
    producers.emplace_back([&, producer] {
      uint32_t count = 0;
      all_began.arrive_and_wait();
      for (Node& node : nodes[producer]) count += stack.push(node) ? 1 : 0;
      found_empty.fetch_add(count);
    });
  }

  std::vector<uint32_t> expected(kProducers, 0);
  uint32_t out_of_order = 0;
  uint32_t batches = 0;
  for (uint32_t received = 0; received < kProducers * per_producer;) {
    Node* taken = stack.take_all();
    if (taken == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ++batches;
    for (; taken != nullptr; taken = taken->next_node) {
      if (taken->number != expected[taken->producer]++) ++out_of_order;
      ++received;
    }
  }
  for (std::thread& producer : producers) producer.join();

  EXPECT_EQ(out_of_order, 0u);
  EXPECT_EQ(stack.take_all(), nullptr);
  for (uint32_t count : expected) EXPECT_EQ(count, per_producer);
  // Each batch began with the one push that found the stack empty.
  EXPECT_EQ(found_empty.load(), batches);
}

}  // namespace
}  // namespace jzx::base

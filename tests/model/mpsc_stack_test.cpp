// base/mpsc_stack.hpp: producers that push while the consumer takes.
#include "base/mpsc_stack.hpp"

#include <gtest/gtest.h>

#include "model/explore.hpp"

namespace jzx::base::model {
namespace {

struct Node {
  int producer = 0;
  int number = 0;
  base::Shared<int> payload{0};
  base::Shared<Node*> next = nullptr;
};
using Stack = MpscStack<Node, &Node::next>;

// What the consumer got, and the checks of it: each producer's nodes in order, with their payload.
struct Consumer {
  int taken = 0;
  int batches = 0;
  int last[3] = {};

  void take(Stack& stack) {
    Node* node = stack.take_all();
    batches += node != nullptr ? 1 : 0;
    for (; node != nullptr; node = node->next) {
      MODEL_ASSERT(node->number == last[node->producer] + 1);
      MODEL_ASSERT(node->payload == node->number);
      last[node->producer] = node->number;
      ++taken;
    }
  }
};

void push_and_take(const char* name, uint32_t bound, int producers, int per_producer) {
  expect_always({.name = name, .preemptions = bound}, [=](Scene& scene) {
    auto& stack = scene.make<Stack>();
    Consumer consumer;
    int found_empty = 0;
    for (int producer = 0; producer < producers; ++producer) {
      scene.thread([&, producer] {
        for (int i = 1; i <= per_producer; ++i) {
          Node& node = scene.make<Node>();
          node.producer = producer;
          node.number = i;
          node.payload = i;
          if (stack.push(node)) ++found_empty;
        }
      });
    }
    scene.thread([&] {
      consumer.take(stack);
      consumer.take(stack);
    });
    scene.join();
    consumer.take(stack);
    MODEL_ASSERT(consumer.taken == producers * per_producer);
    MODEL_ASSERT(found_empty == consumer.batches);
  });
}

TEST(MpscStack, LosesNothingOfOneProducer) {
  push_and_take("mpsc_stack, 1 producer of 3", kUnbounded, 1, 3);
}
TEST(MpscStack, LosesNothingOfTwoProducers) {
  push_and_take("mpsc_stack, 2 producers of 2", 4, 2, 2);
}

// As drivers/loop/worker: the consumer announces its sleep and looks once more; a producer pushes
// and then looks for the announcement.
void sleep_and_wake(const char* name, uint32_t bound, int producers) {
  expect_always({.name = name, .preemptions = bound}, [=](Scene& scene) {
    auto& stack = scene.make<Stack>();
    auto& asleep = scene.make<base::Atomic<bool>>(false);
    auto& sleep = scene.make<Sleep>();
    Consumer consumer;
    for (int producer = 0; producer < producers; ++producer) {
      scene.thread([&, producer] {
        Node& node = scene.make<Node>();
        node.producer = producer;
        node.number = 1;
        node.payload = 1;
        stack.push(node);
        if (asleep.load(std::memory_order_seq_cst) &&
            asleep.exchange(false, std::memory_order_relaxed)) {
          sleep.wake();
        }
      });
    }
    scene.thread([&] {
      for (;;) {
        consumer.take(stack);
        asleep.store(true, std::memory_order_seq_cst);
        if (stack.empty_before_sleep() && !sleep.until_woken()) return;
        asleep.store(false, std::memory_order_relaxed);
      }
    });
    scene.join();
    MODEL_ASSERT(consumer.taken == producers);
  });
}

TEST(MpscStack, AConsumerThatSleepsIsWokenByOneProducer) {
  sleep_and_wake("mpsc_stack, sleep, 1 producer", kUnbounded, 1);
}
TEST(MpscStack, AConsumerThatSleepsIsWokenByEitherOfTwoProducers) {
  sleep_and_wake("mpsc_stack, sleep, 2 producers", 3, 2);
}

}  // namespace
}  // namespace jzx::base::model

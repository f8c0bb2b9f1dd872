// jzx/detail/ready_list.hpp: chains that become ready while the nursery looks, and falls asleep.
#include <gtest/gtest.h>

#include <jzx/detail/ready_list.hpp>

#include "base/atomic.hpp"
#include "model/explore.hpp"

namespace jzx::base::model {
namespace {

struct Node : detail::ReadyNode {
  base::Shared<int> work{0};
};

struct Play {
  detail::ReadyList<base::Atomic> list;
  base::Shared<int> bell{0};  // what the runner prepares before it waits
  Sleep sleep;                // the bell, a future that is settled, orders as well
  Node nodes[2];
  int done = 0;

  void put(Node& node) {
    node.work = 1;
    if (!list.put(node)) return;
    MODEL_ASSERT(bell == 1);
    sleep.wake();
  }
  void run(int wanted) {
    for (;;) {
      detail::ReadyNode* node = list.take_all();
      while (node != nullptr) {
        auto& now = static_cast<Node&>(*node);
        node = node->next_ready;
        MODEL_ASSERT(now.work == 1);
        now.work = 2;
        ++done;
      }
      if (done == wanted) return;
      bell = 1;
      if (list.begin_wait()) MODEL_ASSERT(sleep.until_woken());
    }
  }
};

TEST(ReadyList, LosesNothingAndRingsForEveryWait) {
  expect_always({.name = "ready list, 2 chains", .preemptions = 4}, [](Scene& scene) {
    auto& play = scene.make<Play>();
    scene.thread([&] { play.run(2); });
    scene.thread([&] { play.put(play.nodes[0]); });
    scene.thread([&] { play.put(play.nodes[1]); });
    scene.join();
    MODEL_ASSERT(play.done == 2);
  });
}

}  // namespace
}  // namespace jzx::base::model

// drivers/loop/news.hpp: what was left for a busy worker is never left unseen.
#include "drivers/loop/news.hpp"

#include <gtest/gtest.h>

#include "base/mpsc_stack.hpp"
#include "drivers/loop/call_list.hpp"
#include "model/explore.hpp"

namespace jzx::base::model {
namespace {

struct Item {
  Item* next = nullptr;
};
using Items = base::MpscStack<Item, &Item::next>;

// Two threads leave something each, and the worker looks as it does after each turn. In the end
// all has been taken, or the flag is set, and the worker will look again.
TEST(News, OfTwoThreadsAreTakenOrStillTold) {
  expect_always({.name = "news, two threads and a busy worker", .preemptions = 4},
                [](Scene& scene) {
                  auto& news = scene.make<drivers::News>();
                  auto& items = scene.make<Items>();
                  auto* left = &scene.make<std::array<Item, 2>>();
                  for (size_t i = 0; i < 2; ++i) {
                    scene.thread([&news, &items, left, i] {
                      items.push((*left)[i]);
                      news.tell();
                    });
                  }
                  scene.thread([&] {
                    for (int turns = 0; turns < 2; ++turns) {
                      if (!news.is_there()) continue;
                      news.clear();
                      (void)items.take_all();
                    }
                  });
                  scene.join();
                  MODEL_ASSERT(items.looks_empty() || news.is_there());
                });
}

// The same of calls for a turn, which are taken in another way.
TEST(News, OfTwoCallsAreTakenOrStillTold) {
  expect_always({.name = "news, two calls and a busy worker", .preemptions = 4}, [](Scene& scene) {
    auto& news = scene.make<drivers::News>();
    auto& calls = scene.make<drivers::CallList>();
    auto* actors = &scene.make<std::array<core::Actor, 2>>();
    for (uint32_t i = 0; i < 2; ++i) {
      (*actors)[i].own_id = core::make_id(i, 1);
      scene.thread([&news, &calls, actors, i] {
        calls.push((*actors)[i]);
        news.tell();
      });
    }
    scene.thread([&] {
      for (int turns = 0; turns < 2; ++turns) {
        if (!news.is_there()) continue;
        news.clear();
        calls.take_all([&](uint32_t slot) -> core::Actor& { return (*actors)[slot]; },
                       [](uint32_t) {}, [](core::Actor&) {});
      }
    });
    scene.join();
    MODEL_ASSERT(calls.size() == 0 || news.is_there());
  });
}

}  // namespace
}  // namespace jzx::base::model

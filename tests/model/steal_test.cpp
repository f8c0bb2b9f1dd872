// base/steal/steal_queue.hpp, base/steal/steal_deque.hpp and base/steal/lifo_slot.hpp: an owner
// against thieves, at capacities so small that every slot is used again.
#include <gtest/gtest.h>

#include <utility>

#include <vector>

#include "base/steal/lifo_slot.hpp"
#include "base/steal/steal_deque.hpp"
#include "base/steal/steal_queue.hpp"
#include "model/explore.hpp"

namespace jzx::base::model {
namespace {

struct Item {
  int number = 0;
  base::Shared<int> payload{0};  // the pusher writes it, the taker reads and changes it
};

// All items of an execution, and who took which.
struct Goods {
  explicit Goods(Scene& scene, int count) {
    for (int i = 1; i <= count; ++i) {
      items.push_back(&scene.make<Item>());
      items.back()->number = i;
    }
  }
  Item& next() {
    Item& item = *items[made++];
    item.payload = item.number;
    return item;
  }
  void took(Item& item) {
    MODEL_ASSERT(item.payload == item.number);  // not seen by two, and what its pusher wrote
    item.payload = -1;
    ++taken;
  }

  std::vector<Item*> items;
  size_t made = 0;
  size_t taken = 0;
};

// One taker of a FIFO: what it gets is ever newer.
struct Fifo {
  explicit Fifo(Goods& the_goods) : goods(the_goods) {}
  void operator()(Item* item) {
    if (item == nullptr) return;
    MODEL_ASSERT(item->number > last);
    last = item->number;
    goods.took(*item);
  }
  Goods& goods;
  int last = 0;
};

// The owner: '+' pushes (what finds no room stays with the owner, in order), '-' pops.
template <class Queue>
void work(Queue& queue, Goods& goods, Fifo& mine, const char* script) {
  for (; *script != 0; ++script) {
    if (*script == '-') {
      mine(queue.pop());
    } else if (goods.made < goods.items.size()) {
      Item& item = goods.next();
      while (!queue.push(&item)) mine(queue.pop());
    }
  }
}

struct QueueCase {
  const char* name;
  uint32_t bound;
  const char* owner;
  int thieves;
  int steals;  // of each
  uint32_t at_most = 64;
};

template <uint32_t capacity>
void steal_from_queue(const QueueCase& its) {
  size_t stolen = 0;
  expect_always({.name = its.name, .preemptions = its.bound}, [&](Scene& scene) {
    auto& queue = scene.make<StealQueue<Item, capacity>>();
    int pushes = 0;
    for (const char* step = its.owner; *step != 0; ++step) pushes += *step == '+' ? 1 : 0;
    Goods goods(scene, pushes);
    Fifo mine(goods);
    std::vector<Fifo> theirs(static_cast<size_t>(its.thieves), Fifo(goods));
    scene.thread([&] { work(queue, goods, mine, its.owner); });
    for (Fifo& thief : theirs) {
      scene.thread([&] {
        for (int i = 0; i < its.steals; ++i) {
          uint32_t got = 0;
          const uint32_t said = queue.steal(its.at_most, [&](Item* item) {
            ++got;
            thief(item);
          });
          MODEL_ASSERT(got == said);
          stolen += got;
        }
      });
    }
    scene.join();
    while (Item* item = queue.pop()) mine(item);
    MODEL_ASSERT(goods.taken == goods.items.size());
    MODEL_ASSERT(queue.empty());
  });
  EXPECT_GT(stolen, 0u);
}

TEST(StealQueue, AnOwnerAndAThiefShareTheLastItem) {
  steal_from_queue<2>({"steal_queue of 2, push pop / steal", kUnbounded, "+-", 1, 1});
}
TEST(StealQueue, AThiefTakesWhileSlotsAreUsedAgain) {
  steal_from_queue<2>({"steal_queue of 2, 4 pushes / 2 steals", 3, "++-++-", 1, 2});
}
TEST(StealQueue, AFullQueueIsEmptiedByOwnerAndThief) {
  steal_from_queue<2>({"steal_queue of 2, 4 pushes without a pop / 2 steals", 3, "++++", 1, 2});
}
TEST(StealQueue, AThiefTakesHalfOfFour) {
  steal_from_queue<4>({"steal_queue of 4, 4 pushes, 2 pops / 2 steals", 3, "++++--", 1, 2});
}
TEST(StealQueue, TwoThievesAndAnOwner) {
  steal_from_queue<2>({"steal_queue of 2, 3 pushes, pop / 2 thieves", 3, "++-+", 2, 1});
}
TEST(StealQueue, TwoThievesThatTakeOneEach) {
  steal_from_queue<4>({"steal_queue of 4, 3 pushes, pop / 2 thieves of 1", 3, "+++-", 2, 1, 1});
}

// ---- the deque ----

struct DequeCase {
  const char* name;
  uint32_t bound;
  const char* owner;
  int thieves;
  int steals;
};

template <uint32_t capacity>
void steal_from_deque(const DequeCase& its) {
  size_t stolen = 0;
  expect_always({.name = its.name, .preemptions = its.bound}, [&](Scene& scene) {
    auto& deque = scene.make<StealDeque<Item, capacity>>();
    int pushes = 0;
    for (const char* step = its.owner; *step != 0; ++step) pushes += *step == '+' ? 1 : 0;
    Goods goods(scene, pushes);
    const auto take = [&](Item* item) {
      if (item != nullptr) goods.took(*item);
    };
    scene.thread([&] {
      for (const char* step = its.owner; *step != 0; ++step) {
        if (*step == '-') {
          take(deque.pop());
          continue;
        }
        Item& item = goods.next();
        while (!deque.push(&item)) take(deque.pop());
      }
    });
    std::vector<int> last(static_cast<size_t>(its.thieves), 0);
    for (int& newest : last) {
      scene.thread([&] {
        for (int i = 0; i < its.steals; ++i) {
          Item* item = deque.steal();
          if (item == nullptr) continue;
          MODEL_ASSERT(item->number > newest);  // the oldest first
          newest = item->number;
          take(item);
          ++stolen;
        }
      });
    }
    scene.join();
    while (Item* item = deque.pop()) take(item);
    MODEL_ASSERT(goods.taken == goods.items.size());
    MODEL_ASSERT(deque.empty());
  });
  EXPECT_GT(stolen, 0u);
}

TEST(StealDeque, AnOwnerAndAThiefShareTheLastItem) {
  steal_from_deque<2>({"steal_deque of 2, push pop / steal", kUnbounded, "+-", 1, 1});
}
TEST(StealDeque, AThiefTakesTwiceWhileTheOwnerPops) {
  steal_from_deque<2>({"steal_deque of 2, push push pop pop / 2 steals", kUnbounded, "++--", 1, 2});
}
TEST(StealDeque, AThiefTakesWhileSlotsAreUsedAgain) {
  steal_from_deque<2>({"steal_deque of 2, 4 pushes / 2 steals", 5, "++-++-", 1, 2});
}
TEST(StealDeque, TwoThievesAndAnOwner) {
  steal_from_deque<2>({"steal_deque of 2, push push pop / 2 thieves", 5, "++-", 2, 1});
}
TEST(StealDeque, TwoThievesAndAnOwnerThatPushesAgain) {
  steal_from_deque<4>({"steal_deque of 4, 3 pushes, 2 pops / 2 thieves", 4, "++-+-", 2, 1});
}

// ---- the slot of one ----

struct Job : Runnable {
  Job() : Runnable([](Runnable&, Executor&) {}) {}
  base::Shared<int> payload{0};
};

void an_owner_and_two_thieves(const char* name, bool barriers) {
  expect_always({.name = name, .preemptions = 3}, [=](Scene& scene) {
    auto& slot = scene.make<LifoSlot>(true, barriers);
    auto& first = scene.make<Job>();
    auto& second = scene.make<Job>();
    int taken = 0;
    const auto took = [&taken](Runnable* work) {
      if (work == nullptr) return;
      Job& job = *static_cast<Job*>(work);
      MODEL_ASSERT(job.payload == 1);  // not seen by two, and what its owner wrote
      job.payload = -1;
      ++taken;
    };
    scene.thread([&] {
      first.payload = 1;
      slot.put(first);
      second.payload = 1;
      took(slot.swap(second));
      took(slot.take());
    });
    for (int thief = 0; thief < 2; ++thief) scene.thread([&] { took(slot.steal()); });
    scene.join();
    MODEL_ASSERT(taken == 2);
    MODEL_ASSERT(slot.is_empty());
  });
}

TEST(LifoSlot, GivesEveryJobToExactlyOne) {
  an_owner_and_two_thieves("lifo slot, an owner and 2 thieves", true);
}
TEST(LifoSlot, GivesEveryJobToExactlyOneWithoutBarriers) {
  an_owner_and_two_thieves("lifo slot, an owner and 2 thieves, no barriers", false);
}

// The owner writes to what is in the slot, as a sender does to an inbox, while thieves come.
TEST(LifoSlot, LetsItsOwnerWriteToWhatIsInIt) {
  int written_and_stolen = 0, kept_from_writing = 0;
  expect_always({.name = "lifo slot, an owner that writes and 2 thieves", .preemptions = 3},
                [&](Scene& scene) {
                  auto& slot = scene.make<LifoSlot>(true);
                  auto& job = scene.make<Job>();
                  int written = 0;
                  int taken = 0;
                  const auto took = [&](Runnable* work) {
                    if (work == nullptr) return;
                    MODEL_ASSERT(work == &job);
                    MODEL_ASSERT(job.payload == 1 + written);
                    job.payload = -1;
                    ++taken;
                  };
                  scene.thread([&] {
                    job.payload = 1;
                    slot.put(job);
                    for (int i = 0; i < 2; ++i) {
                      if (!slot.begin_writing(job)) {
                        ++kept_from_writing;
                        continue;
                      }
                      job.payload = job.payload + 1;
                      ++written;
                      slot.end_writing();
                    }
                    took(slot.take());
                  });
                  for (int thief = 0; thief < 2; ++thief) {
                    scene.thread([&] {
                      Runnable* work = slot.steal();
                      if (work != nullptr && written > 0) ++written_and_stolen;
                      took(work);
                    });
                  }
                  scene.join();
                  MODEL_ASSERT(taken == 1);
                  MODEL_ASSERT(!slot.begin_writing(job));  // it is not in here
                });
  EXPECT_GT(written_and_stolen, 0);
  EXPECT_GT(kept_from_writing, 0);
}

// While the owner is in a long turn, say.
TEST(LifoSlot, LetsWhatIsPutAfterATheftBeStolenToo) {
  expect_always({.name = "lifo slot, another job after a theft", .preemptions = 3},
                [](Scene& scene) {
                  auto& slot = scene.make<LifoSlot>(true);
                  auto& first = scene.make<Job>();
                  auto& second = scene.make<Job>();
                  slot.put(first);
                  Runnable* stolen = nullptr;
                  scene.thread([&] { (void)slot.swap(second); });
                  scene.thread([&] { stolen = slot.steal(); });
                  scene.join();
                  MODEL_ASSERT(stolen == &second || slot.steal() == &second);
                });
}

// What was stolen comes back to its owner, who puts it into the slot once more: that is no theft.
TEST(LifoSlot, KeepsWhatComesBackAfterATheft) {
  int came_back = 0;
  expect_always({.name = "lifo slot, stolen and put again", .preemptions = 4}, [&](Scene& scene) {
    auto& slot = scene.make<LifoSlot>(true);
    auto& job = scene.make<Job>();
    auto& is_done = scene.make<base::Atomic<bool>>(false);
    int taken = 0;
    scene.thread([&] {
      job.payload = 1;
      slot.put(job);
      if (slot.take() == nullptr) {
        while (!is_done.load(std::memory_order_acquire)) base::yield_thread();
        ++came_back;
        job.payload = 1;
        slot.put(job);
        if (slot.take() == nullptr) return;  // stolen again
      }
      MODEL_ASSERT(std::exchange(job.payload, -1) == 1);
      ++taken;
    });
    scene.thread([&] {
      if (slot.steal() == nullptr) return;
      MODEL_ASSERT(std::exchange(job.payload, -1) == 1);
      is_done.store(true, std::memory_order_release);
      if (slot.steal() == nullptr) return;
      MODEL_ASSERT(std::exchange(job.payload, -1) == 1);
      ++taken;
    });
    scene.join();
    MODEL_ASSERT(taken == 1);
    MODEL_ASSERT(slot.is_empty());
    // Whatever was stolen: what is put there now can be.
    slot.put(job);
    MODEL_ASSERT(slot.steal() == &job);
  });
  EXPECT_GT(came_back, 0);
}

}  // namespace
}  // namespace jzx::base::model

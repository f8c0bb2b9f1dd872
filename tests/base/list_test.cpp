#include "base/list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "base/prng.hpp"
#include "support/scale.hpp"

namespace jzx::base {
namespace {

struct Red {};
struct Blue {};

struct Item : ListNode<Red>, ListNode<Blue> {
  int number = 0;
};

using RedList = List<Item, Red>;
using BlueList = List<Item, Blue>;
using RedNode = ListNode<Red>;

template <class AnyList>
void drain(AnyList& list) {
  while (list.pop_front() != nullptr) {
  }
}

TEST(List, IsEmptyAtFirst) {
  RedList list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.front(), nullptr);
  EXPECT_EQ(list.back(), nullptr);
  EXPECT_EQ(list.pop_front(), nullptr);
}

TEST(List, KnowsTheNeighboursOfANode) {
  Item a, b, c;
  RedList list;
  list.push_back(b);
  list.push_back(c);
  list.push_front(a);
  EXPECT_EQ(list.before(a), nullptr);
  EXPECT_EQ(list.after(a), &b);
  EXPECT_EQ(list.before(c), &b);
  EXPECT_EQ(list.after(c), nullptr);
  drain(list);
}

TEST(List, HoldsOneObjectOncePerTag) {
  Item a, b;
  RedList red;
  BlueList blue;
  red.push_back(a);
  red.push_back(b);
  blue.push_back(b);
  blue.push_back(a);
  static_cast<RedNode&>(a).unlink();
  EXPECT_FALSE(static_cast<RedNode&>(a).is_linked());
  EXPECT_TRUE(static_cast<ListNode<Blue>&>(a).is_linked());
  EXPECT_EQ(red.front(), &b);
  EXPECT_EQ(blue.back(), &a);
  drain(red);
  drain(blue);
}

TEST(List, SplicesAnEmptyListWithoutAChange) {
  Item a;
  RedList list, other;
  list.push_back(a);
  list.splice_back(other);
  EXPECT_EQ(list.front(), &a);
  EXPECT_EQ(list.back(), &a);
  other.splice_back(list);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(other.front(), &a);
  drain(other);
}

// Two lists over a set of items, beside two plain deques that say what they should hold.
class ListAndModel {
 public:
  explicit ListAndModel(uint64_t seed) : random_(seed), items_(40) {
    for (Item& item : items_) item.number = static_cast<int>(&item - items_.data());
  }
  ~ListAndModel() {
    drain(lists_[0]);
    drain(lists_[1]);
  }

  void step() {
    Item& item = items_[random_.below(40)];
    const uint32_t which = random_.below(2);
    RedList& list = lists_[which];
    std::deque<Item*>& model = models_[which];
    const bool linked = static_cast<RedNode&>(item).is_linked();
    switch (random_.below(6)) {
      case 0:
        if (linked) break;
        list.push_back(item);
        model.push_back(&item);
        break;
      case 1:
        if (linked) break;
        list.push_front(item);
        model.push_front(&item);
        break;
      case 2:
        if (linked) unlink(item);
        break;
      case 3: {
        Item* expected = model.empty() ? nullptr : model.front();
        if (!model.empty()) model.pop_front();
        ASSERT_EQ(list.pop_front(), expected);
        break;
      }
      case 4: {
        if (linked || model.empty()) break;
        const auto place = model.begin() + random_.below(static_cast<uint32_t>(model.size()));
        static_cast<RedNode&>(item).insert_before(**place);
        model.insert(place, &item);
        break;
      }
      default: {
        if (random_.below(10) != 0) break;
        std::deque<Item*>& other = models_[1 - which];
        list.splice_back(lists_[1 - which]);
        model.insert(model.end(), other.begin(), other.end());
        other.clear();
      }
    }
  }

  void expect_equal() const {
    for (const size_t which : {size_t{0}, size_t{1}}) {
      const RedList& list = lists_[which];
      std::deque<Item*> forward, backward;
      for (Item* item = list.front(); item != nullptr; item = list.after(*item)) {
        forward.push_back(item);
      }
      for (Item* item = list.back(); item != nullptr; item = list.before(*item)) {
        backward.push_front(item);
      }
      ASSERT_EQ(forward, models_[which]);
      ASSERT_EQ(backward, models_[which]);
      ASSERT_EQ(list.empty(), models_[which].empty());
    }
    const size_t linked = models_[0].size() + models_[1].size();
    ASSERT_EQ(std::count_if(items_.begin(), items_.end(),
                            [](const Item& item) { return item.RedNode::is_linked(); }),
              static_cast<std::ptrdiff_t>(linked));
  }

 private:
  void unlink(Item& item) {
    static_cast<RedNode&>(item).unlink();
    for (std::deque<Item*>& model : models_) std::erase(model, &item);
  }

  Prng random_;
  std::vector<Item> items_;
  RedList lists_[2];
  std::deque<Item*> models_[2];
};

TEST(List, BehavesLikeADequeUnderRandomOperations) {
  for (uint64_t seed = 1; seed <= testing::scaled(40); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    ListAndModel both(seed);
    for (int step = 0; step < 500; ++step) {
      ASSERT_NO_FATAL_FAILURE(both.step());
      ASSERT_NO_FATAL_FAILURE(both.expect_equal());
    }
  }
}

}  // namespace
}  // namespace jzx::base

// Topics: publish and subscribe by name and type.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <jzx/topic.hpp>
#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Price {
  int value;
};
struct Big {
  std::array<int, 100> values{};
};
struct Finish {};

struct Reader {
  void on(Price price, Context& context) {
    prices.push_back(price.value);
    last_sender = context.sender();
  }
  void on(std::string text) { texts.push_back(std::move(text)); }
  void on(Big big) {
    big.values[0] += 1;  // a copy of its own
    first_values.push_back(big.values[0]);
  }
  void on(Finish, Context& context) { context.stop(); }
  std::vector<int> on(char) { return prices; }

  std::vector<int> prices;
  std::vector<std::string> texts;
  std::vector<int> first_values;
  Pid last_sender;
};

// Can be reached by a Pid.
struct Listed {
  using Messages = jzx::Messages<Price>;
  void on(Price price) { sum += price.value; }
  int& sum;
};

struct Start {
  int from;
  int to;
};
struct Publisher {
  void on(Start start, Context& context) {
    const auto prices = topic<Price>(context, "prices");
    for (int i = start.from; i < start.to; ++i) {
      EXPECT_EQ(prices.publish({i}).refused, 0u);
    }
  }
};

class TopicTest : public OnAnyDriver {
 protected:
  std::vector<int> prices_of(ActorRef<Reader> reader) {
    loop.settle();
    return loop.run_until(reader.ask('?')).value();
  }

  int sum = 0;
  ClockedLoop loop;
  Topic<Price> prices = topic<Price>(loop, "prices");
  ActorRef<Reader> a = loop.spawn<Reader>();
  ActorRef<Reader> b = loop.spawn<Reader>();
};
JZX_ON_ALL_DRIVERS(TopicTest);

TEST_P(TopicTest, ReachesTypedAndUntypedSubscribers) {
  const auto listed = loop.spawn<Listed>(std::ref(sum));
  EXPECT_EQ(prices.subscribe(a), Errc::ok);
  EXPECT_EQ(prices.subscribe(listed.pid()), Errc::ok);
  EXPECT_EQ(prices.publish({7}), (Delivery{2, 0}));
  EXPECT_EQ(prices_of(a), (std::vector<int>{7}));
  EXPECT_TRUE(prices_of(b).empty());
  EXPECT_EQ(sum, 7);
  EXPECT_EQ(prices.subscribers(), (std::vector<Pid>{a, listed}));
}

TEST_P(TopicTest, IsFoundByNameFromInsideAHandlerAndKeepsThePublishersOrder) {
  EXPECT_EQ(prices.subscribe(a), Errc::ok);
  EXPECT_EQ(prices.subscribe(b), Errc::ok);
  const auto publisher = loop.spawn<Publisher>();
  publisher << Start{0, 100} << Start{100, 200};
  loop.settle();
  std::vector<int> wanted;
  for (int i = 0; i < 200; ++i) wanted.push_back(i);
  EXPECT_EQ(prices_of(a), wanted);
  EXPECT_EQ(prices_of(b), wanted);
}

TEST_P(TopicTest, TellsWhoPublished) {
  Pid seen;
  struct Asker {
    void on(Price, Context& context) { seen = context.sender(); }
    Pid& seen;
  };
  EXPECT_EQ(prices.subscribe(loop.spawn<Asker>(std::ref(seen))), Errc::ok);
  const auto publisher = loop.spawn<Publisher>();
  publisher << Start{0, 1};
  loop.settle();
  EXPECT_EQ(seen, publisher.pid());
}

TEST_P(TopicTest, OfTwoTypesWithOneNameAreTwo) {
  const auto texts = topic<std::string>(loop, "prices");
  EXPECT_EQ(prices.subscribe(a), Errc::ok);
  EXPECT_EQ(texts.subscriber_count(), 0u);
  EXPECT_EQ(texts.publish("nobody hears this"), Delivery{});
  EXPECT_EQ(topic<Price>(loop, "prices"), prices);
  EXPECT_NE(topic<Price>(loop, "Prices"), prices);
  EXPECT_FALSE(topic<Price>(loop, ""));
}

TEST_P(TopicTest, IsNoGroupOfTheSameName) {
  EXPECT_EQ(prices.subscribe(a), Errc::ok);
  EXPECT_EQ(Group(loop, "prices").size(), 0u);
}

TEST_P(TopicTest, EverySubscriberGetsACopyOfItsOwn) {
  std::vector<int> first_values;
  struct Changer {
    void on(Big big) { values.push_back(++big.values[0]); }
    std::vector<int>& values;
  };
  const auto bigs = topic<Big>(loop, "bigs");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bigs.subscribe(loop.spawn<Changer>(std::ref(first_values))), Errc::ok);
  }
  const Big message;
  EXPECT_EQ(bigs.publish(message), (Delivery{3, 0}));
  loop.settle();
  EXPECT_EQ(first_values, (std::vector<int>{1, 1, 1}));
}

TEST_P(TopicTest, WhoSubscribesInTwoWaysGetsEachMessageOnce) {
  EXPECT_EQ(prices.subscribe(a.pid()), Errc::ok);
  EXPECT_EQ(prices.subscribe(a), Errc::ok) << "from now on with its handler";
  EXPECT_EQ(prices.subscriber_count(), 1u);
  EXPECT_EQ(prices.publish({3}), (Delivery{1, 0}));
  EXPECT_EQ(prices_of(a), (std::vector<int>{3}));
}

TEST_P(TopicTest, WhoUnsubscribesOrEndsHearsNoMore) {
  EXPECT_EQ(prices.subscribe(a), Errc::ok);
  EXPECT_EQ(prices.subscribe(b), Errc::ok);
  EXPECT_EQ(prices.unsubscribe(a), Errc::ok);
  EXPECT_EQ(prices.unsubscribe(a), Errc::no_such_actor);
  EXPECT_FALSE(prices.has_subscriber(a));
  EXPECT_TRUE(prices.has_subscriber(b));
  b << Finish{};
  loop.settle();
  EXPECT_EQ(prices.subscriber_count(), 0u);
  EXPECT_EQ(prices.publish({1}), Delivery{});
  EXPECT_EQ(prices.subscribe(b), Errc::no_such_actor);
  EXPECT_TRUE(loop.seen().dead.empty());
}

TEST_P(TopicTest, AFullSubscriberIsCountedAndDoesNotStopTheOthers) {
  SpawnOptions narrow;
  narrow.mailbox_cap = 6;  // two of the user's
  const auto slow = loop.spawn_with<Reader>(narrow);
  EXPECT_EQ(prices.subscribe(slow), Errc::ok);
  EXPECT_EQ(prices.subscribe(a), Errc::ok);
  Delivery total;
  for (int i = 0; i < 5; ++i) {
    const Delivery one = prices.publish({i});
    total.delivered += one.delivered;
    total.refused += one.refused;
  }
  EXPECT_EQ(total, (Delivery{7, 3}));
  EXPECT_EQ(prices_of(a).size(), 5u);
  EXPECT_EQ(prices_of(slow), (std::vector<int>{0, 1}));
}

TEST_P(TopicTest, AnEmptyTopicAnswersForItself) {
  const Topic<Price> none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.subscribe(a), Errc::invalid_arg);
  EXPECT_EQ(none.publish({1}), Delivery{});
  EXPECT_EQ(none.subscriber_count(), 0u);
}

}  // namespace
}  // namespace jzx::testing

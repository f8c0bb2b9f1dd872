// Order and bound across workers: what one sender sends to one receiver arrives in that order,
// wherever either of them runs; a mailbox takes no more than its share; what it refuses is the
// sender's.
#include <jzx/jzx.h>

#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

constexpr uint32_t kReceivers = 8;
constexpr uint32_t kActors = 16;  // that send
constexpr uint32_t kThreads = 3;  // foreign ones that send
constexpr uint32_t kSenders = kActors + kThreads;

struct Numbered {
  uint32_t sender;
  uint64_t number;
};

struct Receiver {
  using Messages = jzx::Messages<Numbered>;
  Tally& arrived;
  std::vector<uint64_t> next = std::vector<uint64_t>(kSenders, 0);
  uint64_t wrong = 0;
  uint64_t counted = 0;
  void on(Numbered message) {
    if (next[message.sender]++ != message.number) ++wrong;
    if (++counted % 1000 == 0) arrived.add(1000);
  }
  struct Wrong {};
  uint64_t on(Wrong) const { return wrong; }
};

struct GoOn {};

// Sends one message to each receiver for every message to itself. What is refused is tried again,
// so that the numbers have no gaps.
struct Sender {
  using Messages = jzx::Messages<GoOn>;
  uint32_t number;
  uint64_t count;
  std::vector<ActorRef<Receiver>> to;
  std::vector<uint64_t> sent = std::vector<uint64_t>(kReceivers, 0);
  void on(GoOn, Context& context) {
    bool is_done = true;
    for (uint32_t i = 0; i < kReceivers; ++i) {
      if (sent[i] < count && to[i].send(Numbered{number, sent[i]}) == Errc::ok) ++sent[i];
      is_done &= sent[i] == count;
    }
    if (is_done) return context.stop();
    (void)context.self(*this).send(GoOn{});
  }
};

class Order : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, Order, ::testing::Values(1u, 2u, 4u));

TEST_P(Order, IsKeptBetweenEverySenderAndEveryReceiver) {
  const uint64_t count = scaled(4, 4) * 1000;
  Tally arrived;
  Runtime runtime(RuntimeOptions{.workers = GetParam(), .steal_batch = 4});
  std::vector<ActorRef<Receiver>> receivers;
  SpawnOptions small;
  small.mailbox_cap = 20;
  for (uint32_t i = 0; i < kReceivers; ++i) {
    receivers.push_back(runtime.spawn_with<Receiver>(i % 2 == 0 ? small : SpawnOptions{}, arrived));
  }
  for (uint32_t i = 0; i < kActors; ++i) {
    ASSERT_EQ(runtime.spawn<Sender>(i, count, receivers).send(GoOn{}), Errc::ok);
  }
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < count; ++i) {
        for (const ActorRef<Receiver>& to : receivers) {
          while (to.send(Numbered{kActors + t, i}) == Errc::mailbox_full) {
            std::this_thread::yield();
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(arrived.reaches(kReceivers * kSenders * count)) << arrived.value() << " arrived";
  for (const ActorRef<Receiver>& receiver : receivers) {
    const Result<uint64_t> wrong = runtime.block_on(receiver.ask(Receiver::Wrong{}));
    ASSERT_TRUE(wrong.ok());
    EXPECT_EQ(*wrong, 0u) << "messages arrived out of order";
  }
}

// ---- the bound ----

struct Block {};
struct Item {};

struct Stuffed {
  using Messages = jzx::Messages<Block, Item>;
  Gate& is_blocked;
  Gate& release;
  std::atomic<uint64_t>& handled;
  Tally& done;
  void on(Block) {
    is_blocked.open();
    EXPECT_TRUE(release.wait());
  }
  void on(Item) { handled.fetch_add(1); }
  struct Last {};
  void on(Last) { done.add(); }
};

TEST(Bound, AMailboxTakesItsShareAndNoMoreThanOneForEverySendInFlight) {
  constexpr uint32_t kSlots = 20;  // 4 of them are the system's
  constexpr uint64_t kShare = kSlots - 4;
  constexpr uint64_t kPushers = 4;
  for (int round = 0; round < static_cast<int>(scaled(50, 10)); ++round) {
    Gate is_blocked;
    Gate release;
    std::atomic<uint64_t> handled{0};
    Tally done;
    Runtime runtime(RuntimeOptions{.workers = 2});
    SpawnOptions options;
    options.mailbox_cap = kSlots;
    const auto stuffed = runtime.spawn_with<Stuffed>(options, is_blocked, release, handled, done);
    ASSERT_EQ(stuffed.send(Block{}), Errc::ok);
    ASSERT_TRUE(is_blocked.wait());
    std::atomic<uint64_t> accepted{0};
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < kPushers; ++t) {
      threads.emplace_back([&] {
        for (int tries = 0; tries < 100; ++tries) {
          const Errc result = stuffed.send(Item{});
          EXPECT_TRUE(result == Errc::ok || result == Errc::mailbox_full) << to_string(result);
          if (result == Errc::ok) accepted.fetch_add(1);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_GE(accepted.load(), kShare);
    EXPECT_LE(accepted.load(), kShare + kPushers);
    release.open();
    while (stuffed.send(Stuffed::Last{}) == Errc::mailbox_full) std::this_thread::yield();
    ASSERT_TRUE(done.reaches(1));
    EXPECT_EQ(handled.load(), accepted.load()) << "what was accepted was handled, and nothing else";
  }
}

// ---- refused messages, in C ----

struct Parcel {
  std::atomic<int> fates{0};  // handled, dead-lettered, or still its sender's: one of them
};

struct CShop {
  Gate is_blocked;
  Gate release;
  std::atomic<uint64_t> handled{0};
};

constexpr uint32_t kBlockTag = 1;
constexpr uint32_t kItemTag = 2;
constexpr uint32_t kStopTag = 3;

jzx_behavior_result keep_shop(jzx_context* context, const jzx_message* message) {
  auto& shop = *static_cast<CShop*>(context->state);
  switch (message->tag) {
    case kBlockTag:
      shop.is_blocked.open();
      EXPECT_TRUE(shop.release.wait());
      return JZX_BEHAVIOR_OK;
    case kItemTag:
      static_cast<Parcel*>(message->data)->fates.fetch_add(1);
      shop.handled.fetch_add(1);
      return JZX_BEHAVIOR_OK;
    default:
      return JZX_BEHAVIOR_STOP;
  }
}

TEST(Bound, ARefusedPayloadOfCIsStillItsSenders) {
  jzx_runtime_config config;
  jzx_runtime_config_init(&config);
  config.workers = 2;
  jzx_runtime* runtime = jzx_runtime_create(&config);
  ASSERT_NE(runtime, nullptr);
  jzx_loop* loop = jzx_runtime_loop(runtime);
  CShop shop;
  jzx_spawn_opts options{};
  options.behavior = &keep_shop;
  options.state = &shop;
  options.mailbox_cap = 10;
  jzx_actor_id id = 0;
  ASSERT_EQ(jzx_spawn(loop, &options, &id), JZX_OK);
  std::thread runner([&] { EXPECT_EQ(jzx_runtime_run(runtime), 0); });
  ASSERT_EQ(jzx_send(loop, id, nullptr, 0, kBlockTag), JZX_OK);
  ASSERT_TRUE(shop.is_blocked.wait());

  constexpr size_t kPerThread = 200;
  constexpr size_t kPushers = 4;
  std::vector<Parcel> parcels(kPushers * kPerThread);
  std::atomic<uint64_t> refused{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kPushers; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < kPerThread; ++i) {
        Parcel& parcel = parcels[t * kPerThread + i];
        const jzx_err result = jzx_send(loop, id, &parcel, sizeof parcel, kItemTag);
        if (result == JZX_OK) continue;
        EXPECT_EQ(result, JZX_ERR_MAILBOX_FULL);
        parcel.fates.fetch_add(1);
        refused.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(refused.load(), parcels.size() - 6 - kPushers);
  shop.release.open();
  while (jzx_send(loop, id, nullptr, 0, kStopTag) == JZX_ERR_MAILBOX_FULL) {
    std::this_thread::yield();
  }
  runner.join();  // nobody is left
  EXPECT_EQ(shop.handled.load() + refused.load(), parcels.size());
  for (const Parcel& parcel : parcels) EXPECT_EQ(parcel.fates.load(), 1);
  jzx_runtime_destroy(runtime);
}

}  // namespace
}  // namespace jzx::testing

// What actors of handlers can do besides handling, on two workers and with foreign threads that
// send: become, stash, event sources, the names of types, the high-water mark of a mailbox.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "fiber/checked_runtime.hpp"
#include "support/fds.hpp"
#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t kThreads = 4;  // foreign ones

// Joins them when it ends.
struct Threads {
  explicit Threads(const std::function<void(uint32_t)>& body) {
    for (uint32_t t = 0; t < kThreads; ++t) list.emplace_back(body, t);
  }
  std::vector<std::jthread> list;
};

// Room for all that a test sends, so that nobody is refused.
SpawnOptions room_for(uint32_t messages) { return {.mailbox_cap = messages + 16}; }

// ---- become ----

struct Say {
  uint32_t at_least;  // the level that its sender knows of
};
struct Switch {};

// Each behaviour knows its own level, and notices a message that is another's.
struct Chameleon {
  Tally& heard;
  uint32_t level = 0;
  void hear(uint32_t mine, Say say) {
    EXPECT_EQ(mine, level) << "not the current behaviour";
    EXPECT_GE(mine, say.at_least) << "one from before a switch that the sender knows of";
    heard.add();
  }
  void on(Say say) { hear(0, say); }
  uint32_t on(Switch, Context& context) {
    const uint32_t next = ++level;
    EXPECT_EQ(context.become(*this, [this, next](Say say) { hear(next, say); }), Errc::ok);
    return next;
  }
};

TEST(BecomeOnWorkers, WhatIsSentAfterASwitchReachesTheNewBehaviourWhicheverThreadSendsIt) {
  constexpr uint32_t kSwitches = 10;
  const auto each = static_cast<uint32_t>(scaled(1000, 10));
  const uint32_t total = kThreads * (each + 1);
  Tally heard;
  Gate is_last;
  std::atomic<uint32_t> known{0};
  CheckedRuntime runtime(2);
  const auto chameleon = runtime.spawn_with<Chameleon>(room_for(total), heard);
  Threads threads([&](uint32_t) {
    for (uint32_t i = 0; i < each; ++i) EXPECT_EQ(chameleon.send(Say{known.load()}), Errc::ok);
    EXPECT_TRUE(is_last.wait());
    EXPECT_EQ(chameleon.send(Say{kSwitches}), Errc::ok);
  });
  for (uint32_t i = 1; i <= kSwitches; ++i) {
    EXPECT_TRUE(heard.reaches(i * (kThreads * each / (kSwitches + 1))));
    const Result<uint32_t> level = runtime.block_on(chameleon.ask(Switch{}));
    EXPECT_TRUE(level.ok() && *level == i);
    known.store(i);
  }
  is_last.open();
  threads.list.clear();
  EXPECT_TRUE(heard.reaches(total)) << heard.value();
  runtime.close();
  EXPECT_EQ(heard.value(), total);
}

// ---- stash ----

struct Work {
  uint32_t sender;
  std::unique_ptr<uint32_t> number;
};
struct Turn {};  // opens what is shut, and shuts what is open

struct Turnstile {
  Tally& aside;
  Tally& through;
  bool is_open = false;
  uint64_t waiting = 0;    // put aside
  uint64_t returning = 0;  // brought back, and to be handled before all else
  std::array<uint32_t, kThreads> next{};
  void on(Work work, Context& context) {
    if (!is_open) {
      EXPECT_EQ(context.stash(std::move(work)), Errc::ok);
      ++waiting;
      return aside.add();
    }
    if (returning > 0) --returning;
    EXPECT_EQ(*work.number, next[work.sender]++);
    through.add();
  }
  void on(Turn, Context& context) {
    EXPECT_EQ(returning, 0u) << "what was put aside comes before all other mail";
    is_open = !is_open;
    if (!is_open) return;
    returning = std::exchange(waiting, 0);
    context.unstash_all();
  }
};

TEST(StashOnWorkers, KeepsTheOrderOfEverySenderWhileItOpensAndShuts) {
  const auto each = static_cast<uint32_t>(scaled(1000, 10));
  Tally aside, through;
  CheckedRuntime runtime(2);
  const auto stile = runtime.spawn_with<Turnstile>(room_for(2 * kThreads * each), aside, through);
  Threads([&](uint32_t t) {
    for (uint32_t i = 0; i < each; ++i) {
      EXPECT_EQ(stile.send(Work{t, std::make_unique<uint32_t>(i)}), Errc::ok);
      if (i % 20 == 19) stile << Turn{} << Turn{};
    }
  });
  ASSERT_EQ(stile.send(Turn{}), Errc::ok);  // an odd number of them: it is open
  EXPECT_TRUE(through.reaches(uint64_t{kThreads} * each)) << through.value() << " came through";
  EXPECT_GT(aside.value(), 0u);
}

// ---- event sources ----

struct Heart {
  Tally& beats;
  uint64_t last;
  uint64_t expected = 1;
  void on(const TimerEvent& event, Context& context) {
    EXPECT_EQ(event.beat, expected++);
    beats.add();
    if (event.beat >= last) context.stop();
  }
};

TEST(EventSourceOnWorkers, ClocksBeatInOrderUntilTheirActorsEnd) {
  constexpr uint64_t kHearts = 8, kBeats = 5;
  Tally beats;
  CheckedRuntime runtime(2);
  for (uint64_t i = 0; i < kHearts; ++i) {
    ASSERT_TRUE(spawn_on<Heart>(runtime, EventSource::every(1ms), beats, kBeats));
  }
  const auto slow = spawn_on<Heart>(runtime, EventSource::every(1h), beats, kBeats);
  ASSERT_TRUE(slow);
  EXPECT_EQ(runtime.kill(*slow), Errc::ok);  // its timer is not left: the runtime looks
  EXPECT_EQ(runtime.run(), Errc::ok);        // nobody is left
  runtime.close();
  EXPECT_EQ(beats.value(), kHearts * kBeats);
}

// Reads to the end of the file.
struct Reader {
  Tally& bytes;
  void on(const IoEvent& event, Context& context) {
    char buffer[256];
    ssize_t count = 0;
    while ((count = ::read(event.fd, buffer, sizeof buffer)) > 0) {
      bytes.add(static_cast<uint64_t>(count));
    }
    if (count == 0) context.stop();
  }
};

TEST(EventSourceOnWorkers, WhatForeignThreadsWriteToPipesReachesTheirReaders) {
  constexpr size_t kPipes = 6;
  const auto each = static_cast<uint32_t>(scaled(200, 10));
  std::array<Pipe, kPipes> pipes;
  Tally bytes;
  CheckedRuntime runtime(2);
  for (const Pipe& pipe : pipes) {
    ASSERT_TRUE(spawn_on<Reader>(runtime, EventSource::fd(pipe.reader.get(), kIoRead), bytes));
  }
  Threads([&](uint32_t) {
    for (uint32_t i = 0; i < each; ++i) {
      for (const Pipe& pipe : pipes) put(pipe.writer);
    }
  });
  EXPECT_TRUE(bytes.reaches(kPipes * kThreads * each)) << bytes.value();
  for (Pipe& pipe : pipes) pipe.writer.close();
  EXPECT_EQ(runtime.run(), Errc::ok);  // nobody is left
  for (const Pipe& pipe : pipes) {
    EXPECT_EQ(runtime.unwatch_fd(pipe.reader.get()), Errc::io_not_watched);
  }
}

// ---- names of types ----

struct Ping {};
struct Small {
  using Messages = jzx::Messages<Ping>;
  void on(Ping) {}
};
struct Large {
  std::array<uint64_t, 20> data{};
  void on(Ping) {}
};

TEST(ActorTypesOnWorkers, AreListedOnceAndNamedWhileTheirActorsLiveWhicheverThreadSpawnsThem) {
  CheckedRuntime runtime(2);
  EXPECT_TRUE(runtime.actor_types().empty());
  std::array<std::vector<Pid>, kThreads> ended;
  Threads([&](uint32_t t) {
    for (uint32_t i = 0; i < 100; ++i) {
      const bool is_small = (i + t) % 2 == 0;
      const Pid actor = is_small ? runtime.spawn<Small>().pid() : runtime.spawn<Large>().pid();
      EXPECT_TRUE(runtime.type_name(actor).ends_with(is_small ? "Small" : "Large"));
      EXPECT_LE(runtime.actor_types().size(), 2u);
      if (i % 3 != 0) continue;
      EXPECT_EQ(runtime.kill(actor), Errc::ok);
      while (!runtime.type_name(actor).empty()) std::this_thread::yield();
      ended[t].push_back(actor);
    }
  });
  for (const std::vector<Pid>& list : ended) {  // where others live now
    for (const Pid actor : list) EXPECT_EQ(runtime.type_name(actor), "");
  }
  const std::vector<ActorTypeInfo> types = runtime.actor_types();  // by name
  ASSERT_EQ(types.size(), 2u);
  EXPECT_TRUE(types[0].name.ends_with("Large")) << types[0].name;
  EXPECT_EQ(types[0].state_size, sizeof(Large));
  EXPECT_TRUE(types[1].name.ends_with("Small")) << types[1].name;
  EXPECT_EQ(types[1].state_size, sizeof(Small));
  ASSERT_EQ(types[1].messages.size(), 1u);
  EXPECT_TRUE(types[1].messages[0].ends_with("Ping")) << types[1].messages[0];
}

// ---- the high-water mark ----

constexpr uint32_t kMark = 10;

struct Marks final : Observer {
  void mailbox_high(ActorId id, uint32_t queued) override {
    EXPECT_GE(queued, kMark);
    last.store(id);
    count.fetch_add(1);
  }
  std::atomic<ActorId> last{0};
  std::atomic<uint32_t> count{0};
};
struct Item {};

// Lets its mailbox fill beyond the mark, and keeps it there until the last messages of a flood.
struct Sluggish {
  Tally& sent;
  Tally& handled;
  uint64_t flood;
  uint64_t count = 0;
  void on(Item) {
    const uint64_t end = (count / flood + 1) * flood;
    EXPECT_TRUE(sent.reaches(std::min(end, ++count + 2 * kMark)));
    handled.add();
  }
};

TEST(HighWaterOnWorkers, IsToldOnceForEveryFloodOfForeignThreadsAndAgainAfterItWasLow) {
  constexpr uint32_t kFloods = 5;
  const auto each = static_cast<uint32_t>(scaled(200, 10));
  const uint64_t flood = uint64_t{kThreads} * each;
  Tally sent, handled;
  Marks marks;
  CheckedRuntime runtime({.workers = 2, .max_msgs_per_actor = 4, .observer = &marks});
  SpawnOptions options = room_for(kThreads * each);
  options.high_water = kMark;
  const auto sluggish = runtime.spawn_with<Sluggish>(options, sent, handled, flood);
  for (uint32_t i = 1; i <= kFloods; ++i) {
    Threads([&](uint32_t) {
      for (uint32_t k = 0; k < each; ++k) {
        EXPECT_EQ(sluggish.send(Item{}), Errc::ok);
        sent.add();
      }
    });
    EXPECT_TRUE(handled.reaches(i * flood)) << handled.value();
    EXPECT_EQ(marks.count.load(), i);
    EXPECT_EQ(marks.last.load(), sluggish.id());
  }
}

}  // namespace
}  // namespace jzx::testing

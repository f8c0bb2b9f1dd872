// The table of names against a std::map, and when memory runs out.
#include "core/names.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "core/rig.hpp"
#include "support/scale.hpp"

namespace jzx::core {
namespace {

using jzx::testing::allocator_of;
using jzx::testing::CountingAllocator;
using jzx::testing::Rig;

TEST(Names, AreFoundUntilTheyAreRemoved) {
  Names names{base::Allocator{}};
  Actor actor;
  NameEntry* entry = nullptr;
  EXPECT_EQ(names.find("db"), nullptr);
  ASSERT_EQ(names.add(actor, "db", entry), Errc::ok);
  EXPECT_EQ(names.find("db"), &actor);
  EXPECT_EQ(names.find("d"), nullptr);
  EXPECT_EQ(names.find("dbx"), nullptr);
  names.remove(*entry);
  EXPECT_EQ(names.find("db"), nullptr);
}

TEST(Names, AreRefusedWhenEmptyTooLongOrTaken) {
  Names names{base::Allocator{}};
  Actor actor;
  NameEntry* entry = nullptr;
  EXPECT_EQ(names.add(actor, "", entry), Errc::invalid_arg);
  EXPECT_EQ(names.add(actor, std::string(kMaxNameLength + 1, 'x'), entry), Errc::invalid_arg);
  EXPECT_EQ(names.add(actor, std::string(kMaxNameLength, 'x'), entry), Errc::ok);
  EXPECT_EQ(names.add(actor, std::string(kMaxNameLength, 'x'), entry), Errc::invalid_arg);
}

TEST(Names, MayHoldAnyBytes) {
  Names names{base::Allocator{}};
  Actor first;
  Actor second;
  NameEntry* entry = nullptr;
  using namespace std::string_view_literals;
  ASSERT_EQ(names.add(first, "a\0b"sv, entry), Errc::ok);
  ASSERT_EQ(names.add(second, "a\0c"sv, entry), Errc::ok);
  EXPECT_EQ(names.find("a\0b"sv), &first);
  EXPECT_EQ(names.find("a\0c"sv), &second);
  EXPECT_EQ(names.find("a"), nullptr);
}

TEST(Names, AgreeWithAMapOverRandomOperationsAlsoWhenMemoryRunsOut) {
  const uint64_t seed = 77;
  SCOPED_TRACE(seed);
  base::Prng random(seed);
  CountingAllocator memory;
  {
    Names names{allocator_of(memory)};
    std::vector<Actor> actors(16);
    std::map<std::string, std::pair<Actor*, NameEntry*>> model;
    size_t refused = 0;
    for (size_t step = 0; step < jzx::testing::scaled(60'000); ++step) {
      // More names at some times than at others, so that the table grows, and fills with what was
      // removed.
      const uint32_t range = (step / 5000) % 2 == 0 ? 40 : 600;
      const std::string name = "n" + std::to_string(random.below(range));
      const auto known = model.find(name);
      const uint32_t what = random.below(10);
      if (what < 5) {
        memory.refuse_all(random.below(5) == 0);
        const uint64_t refused_before = memory.refused();
        Actor& actor = actors[random.below(16)];
        NameEntry* entry = nullptr;
        const Errc result = names.add(actor, name, entry);
        memory.refuse_all(false);
        if (known != model.end()) {
          ASSERT_EQ(result, Errc::invalid_arg);
        } else if (memory.refused() != refused_before) {
          ASSERT_EQ(result, Errc::no_memory);
          ++refused;
        } else {
          ASSERT_EQ(result, Errc::ok);
          ASSERT_EQ(entry->text(), name);
          model[name] = {&actor, entry};
        }
      } else if (what < 8 && known != model.end()) {
        names.remove(*known->second.second);
        model.erase(known);
      }
      const auto expected = model.find(name);
      ASSERT_EQ(names.find(name), expected == model.end() ? nullptr : expected->second.first)
          << name << " at step " << step;
    }
    for (const auto& [name, found] : model) ASSERT_EQ(names.find(name), found.first);
    EXPECT_GT(refused, 0u);
  }
  EXPECT_EQ(memory.live_blocks(), 0);
}

TEST(Names, AreFreeAgainWhenTheActorEnds) {
  Rig rig;
  const ActorId first = rig.spawn();
  const ActorId second = rig.spawn();
  ASSERT_EQ(register_name(rig.host(), first, "leader"), Errc::ok);
  EXPECT_EQ(register_name(rig.host(), first, "again"), Errc::invalid_arg) << "one each";
  EXPECT_EQ(register_name(rig.host(), second, "leader"), Errc::invalid_arg);
  ASSERT_EQ(request_exit(rig.host(), first, ExitReason::normal), Errc::ok);
  rig.settle();
  ActorId found = kNobody;
  EXPECT_EQ(whereis(rig.host(), "leader", found), Errc::no_such_actor);
  EXPECT_EQ(register_name(rig.host(), second, "leader"), Errc::ok);
  EXPECT_EQ(whereis(rig.host(), "leader", found), Errc::ok);
  EXPECT_EQ(found, second);
}

}  // namespace
}  // namespace jzx::core

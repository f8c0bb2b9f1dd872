// The inbox: a ring of envelopes that one word holds.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "core/actor.hpp"

namespace jzx::core {
namespace {

class TheInbox : public ::testing::Test {
 protected:
  // The numbers of its envelopes, the oldest first.
  std::vector<size_t> listed() const {
    std::vector<size_t> numbers;
    for (const Envelope* one = inbox.oldest(); one != nullptr; one = inbox.after(*one)) {
      numbers.push_back(static_cast<size_t>(one - envelopes.data()));
    }
    return numbers;
  }
  // A chain as arrivals leave it.
  void chain(size_t oldest, size_t newest) {
    for (size_t i = oldest; i < newest; ++i) envelopes[i].next = &envelopes[i + 1];
    envelopes[newest].next = nullptr;
  }

  std::array<Envelope, 6> envelopes;
  Inbox inbox;
};

using Numbers = std::vector<size_t>;

TEST_F(TheInbox, IsEmptyAtFirst) {
  EXPECT_TRUE(inbox.is_empty());
  EXPECT_EQ(inbox.oldest(), nullptr);
}

TEST_F(TheInbox, GivesMessagesInTheOrderInWhichTheyWerePut) {
  inbox.put_only(envelopes[0]);
  inbox.put(envelopes[1]);
  inbox.put(envelopes[2]);
  EXPECT_EQ(listed(), (Numbers{0, 1, 2}));
  for (Envelope* one : {&envelopes[0], &envelopes[1], &envelopes[2]}) {
    ASSERT_EQ(inbox.oldest(), one);
    inbox.remove(*one);
  }
  EXPECT_TRUE(inbox.is_empty());
}

TEST_F(TheInbox, TakesTheFirstMessageByEitherWay) {
  inbox.put(envelopes[4]);
  EXPECT_EQ(listed(), (Numbers{4}));
  inbox.remove(envelopes[4]);
  inbox.put_only(envelopes[4]);
  EXPECT_EQ(listed(), (Numbers{4}));
}

TEST_F(TheInbox, TellsWhetherAMessageIsTheOnlyOne) {
  EXPECT_EQ(inbox.only(), nullptr);
  inbox.put(envelopes[0]);
  EXPECT_EQ(inbox.only(), &envelopes[0]);
  inbox.put(envelopes[1]);
  EXPECT_EQ(inbox.only(), nullptr);
  inbox.remove(envelopes[0]);
  EXPECT_EQ(inbox.only(), &envelopes[1]);
  inbox.remove_only();
  EXPECT_TRUE(inbox.is_empty());
}

TEST_F(TheInbox, TakesTheOldestByWhatWasSeenOfIt) {
  for (size_t i = 0; i < 3; ++i) inbox.put(envelopes[i]);
  for (size_t i = 0; i < 3; ++i) {
    const Inbox::Ends ends = inbox.ends();
    EXPECT_EQ(ends.oldest, &envelopes[i]);
    EXPECT_EQ(ends.newest, &envelopes[2]);
    inbox.remove_oldest(ends);
  }
  EXPECT_TRUE(inbox.is_empty());
}

TEST_F(TheInbox, MayBeFilledWhileItIsEmptied) {
  inbox.put(envelopes[0]);
  inbox.put(envelopes[1]);
  inbox.remove(envelopes[0]);
  inbox.put(envelopes[2]);
  inbox.remove(envelopes[1]);
  inbox.put(envelopes[0]);
  EXPECT_EQ(listed(), (Numbers{2, 0}));
}

TEST_F(TheInbox, TakesAChainBehindWhatItHas) {
  chain(0, 1);
  inbox.put_chain(envelopes[0], envelopes[1]);
  EXPECT_EQ(listed(), (Numbers{0, 1}));
  chain(2, 4);
  inbox.put_chain(envelopes[2], envelopes[4]);
  inbox.put(envelopes[5]);
  EXPECT_EQ(listed(), (Numbers{0, 1, 2, 3, 4, 5}));
}

TEST_F(TheInbox, TakesAChainBackBeforeWhatItHas) {
  chain(3, 4);
  inbox.put_back(envelopes[3], envelopes[4]);
  EXPECT_EQ(listed(), (Numbers{3, 4}));
  chain(0, 2);
  inbox.put_back(envelopes[0], envelopes[2]);
  inbox.put(envelopes[5]);
  EXPECT_EQ(listed(), (Numbers{0, 1, 2, 3, 4, 5}));
}

TEST_F(TheInbox, GivesOneOutOfTheMiddleAndTheLast) {
  for (Envelope& envelope : envelopes) inbox.put(envelope);
  inbox.remove_after(envelopes[1], envelopes[2]);
  inbox.remove_after(envelopes[4], envelopes[5]);
  EXPECT_EQ(listed(), (Numbers{0, 1, 3, 4}));
  inbox.put(envelopes[2]);
  EXPECT_EQ(listed(), (Numbers{0, 1, 3, 4, 2}));
}

}  // namespace
}  // namespace jzx::core

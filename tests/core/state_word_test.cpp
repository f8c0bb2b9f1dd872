// Every transition of the state word, from every state in which it may be called.
#include "core/state_word.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "core/actor.hpp"
#include "core/rig.hpp"

namespace jzx::core {

std::ostream& operator<<(std::ostream& out, Admission admission) {
  static constexpr const char* kNames[] = {"first", "queued", "full", "gone"};
  return out << kNames[static_cast<int>(admission)];
}
std::ostream& operator<<(std::ostream& out, Wake wake) {
  static constexpr const char* kNames[] = {"submit", "already_queued", "gone"};
  return out << kNames[static_cast<int>(wake)];
}

namespace {

using jzx::testing::open_slot;

constexpr uint32_t kGeneration = 7;

// A life begun, and then led to the state that is named.
enum class Begin { idle, scheduled, woken, suspended, asked_to_exit, closed, parked_stopping };

void bring(StateWord& word, Begin state) {
  ASSERT_EQ(open_slot(word, kGeneration, state != Begin::idle), kGeneration);
  switch (state) {
    case Begin::idle:
    case Begin::scheduled:
      break;
    case Begin::woken:
      ASSERT_EQ(word.wake(kGeneration), Wake::already_queued);
      break;
    case Begin::suspended:
      ASSERT_TRUE(word.suspend(false));
      break;
    case Begin::asked_to_exit:
      ASSERT_EQ(word.request_exit(kGeneration, ExitReason::killed), Wake::already_queued);
      break;
    case Begin::closed:
      word.close();
      break;
    case Begin::parked_stopping:
      word.close();
      ASSERT_TRUE(word.park(0, true));
      break;
  }
}

template <class Result>
struct Row {
  Begin from;
  Result result;
  bool is_scheduled_after;
};

const auto room = [](uint64_t) { return true; };
const auto no_room = [](uint64_t) { return false; };

TEST(StateWord, AUserMessageSchedulesOnlyAnIdleActorAndNeverAClosedOne) {
  for (const Row<Admission> row : {Row<Admission>{Begin::idle, Admission::first, true},
                                   {Begin::scheduled, Admission::queued, true},
                                   {Begin::woken, Admission::queued, true},
                                   {Begin::suspended, Admission::queued, false},
                                   {Begin::asked_to_exit, Admission::gone, true},
                                   {Begin::closed, Admission::gone, true},
                                   {Begin::parked_stopping, Admission::gone, false}}) {
    SCOPED_TRACE(static_cast<int>(row.from));
    StateWord word;
    bring(word, row.from);
    EXPECT_EQ(word.admit(kGeneration, room), row.result);
    EXPECT_EQ(word.is_scheduled(), row.is_scheduled_after);
    EXPECT_EQ(word.sent(), row.result == Admission::gone ? 0u : 1u);
    // The short way, from the lowest and from the highest slot.
    for (const uint32_t slot : {0u, StateWord::kMostSlots - 1}) {
      StateWord at_once;
      bring(at_once, row.from);
      EXPECT_EQ(at_once.admit_at_once(make_id(slot, kGeneration), room), row.result);
      EXPECT_EQ(at_once.is_scheduled(), row.is_scheduled_after);
      EXPECT_EQ(at_once.sent(), row.result == Admission::gone ? 0u : 1u);
    }
  }
}

TEST(StateWord, ASystemMessageIsAdmittedUntilTheSlotRetires) {
  for (const Row<Admission> row : {Row<Admission>{Begin::idle, Admission::first, true},
                                   {Begin::scheduled, Admission::queued, true},
                                   {Begin::woken, Admission::queued, true},
                                   {Begin::suspended, Admission::queued, false},
                                   {Begin::asked_to_exit, Admission::queued, true},
                                   {Begin::closed, Admission::queued, true},
                                   {Begin::parked_stopping, Admission::first, true}}) {
    SCOPED_TRACE(static_cast<int>(row.from));
    StateWord word;
    bring(word, row.from);
    EXPECT_EQ(word.admit_system(kGeneration), row.result);
    EXPECT_EQ(word.is_scheduled(), row.is_scheduled_after);
    EXPECT_EQ(word.sent(), 1u);
  }
}

TEST(StateWord, ARequestToExitSchedulesWhoeverIsNotAndIsHeardOnce) {
  for (const Row<Wake> row : {Row<Wake>{Begin::idle, Wake::submit, true},
                              {Begin::scheduled, Wake::already_queued, true},
                              {Begin::woken, Wake::already_queued, true},
                              {Begin::suspended, Wake::submit, true},
                              {Begin::asked_to_exit, Wake::gone, true},
                              {Begin::closed, Wake::gone, true},
                              {Begin::parked_stopping, Wake::gone, false}}) {
    SCOPED_TRACE(static_cast<int>(row.from));
    StateWord word;
    bring(word, row.from);
    EXPECT_EQ(word.request_exit(kGeneration, ExitReason::fail), row.result);
    EXPECT_EQ(word.is_scheduled(), row.is_scheduled_after);
    EXPECT_FALSE(word.is_open(kGeneration));
    EXPECT_EQ(word.request_exit(kGeneration, ExitReason::panic), Wake::gone);
    if (row.result != Wake::gone) {
      EXPECT_EQ(word.requested_reason(), ExitReason::fail);
    }
  }
}

TEST(StateWord, AWakerSchedulesWhoeverIsNotAndIsRememberedByWhoeverIs) {
  for (const Row<Wake> row : {Row<Wake>{Begin::scheduled, Wake::already_queued, true},
                              {Begin::woken, Wake::already_queued, true},
                              {Begin::suspended, Wake::submit, true},
                              {Begin::asked_to_exit, Wake::already_queued, true},
                              {Begin::closed, Wake::already_queued, true}}) {
    SCOPED_TRACE(static_cast<int>(row.from));
    StateWord word;
    bring(word, row.from);
    EXPECT_EQ(word.wake(kGeneration), row.result);
    EXPECT_EQ(word.is_scheduled(), row.is_scheduled_after);
  }
}

// For a body that waits for mail or for something else, whichever comes first.
TEST(StateWord, AWakerThatFindsItIdleSubmitsIt) {
  StateWord word;
  bring(word, Begin::idle);
  EXPECT_EQ(word.wake(kGeneration), Wake::submit) << "nobody else will";
  EXPECT_TRUE(word.is_scheduled());
}

TEST(StateWord, AWakeThatCameDuringTheTurnKeepsItFromParkingOnce) {
  StateWord word;
  bring(word, Begin::woken);
  ASSERT_FALSE(word.park(0, false)) << "what it waits for may have happened";
  EXPECT_TRUE(word.park(0, false));
}

TEST(StateWord, NothingTouchesALifeOfAnotherGeneration) {
  for (const Begin from : {Begin::idle, Begin::scheduled, Begin::suspended, Begin::closed}) {
    for (const uint32_t generation : {0u, kGeneration - 1, kGeneration + 1}) {
      StateWord word;
      bring(word, from);
      const bool was_scheduled = word.is_scheduled();
      EXPECT_EQ(word.admit(generation, room), Admission::gone);
      EXPECT_EQ(word.admit_at_once(make_id(3, generation), room), Admission::gone);
      EXPECT_FALSE(word.park_at_once(0, generation));
      EXPECT_EQ(word.admit_system(generation), Admission::gone);
      EXPECT_EQ(word.request_exit(generation, ExitReason::fail), Wake::gone);
      EXPECT_EQ(word.wake(generation), Wake::gone);
      EXPECT_FALSE(word.is(generation));
      EXPECT_EQ(word.sent(), 0u);
      EXPECT_EQ(word.is_scheduled(), was_scheduled);
      EXPECT_FALSE(word.exit_requested());
    }
  }
}

TEST(StateWord, AFullMailboxRefusesAndChangesNothing) {
  StateWord word;
  bring(word, Begin::idle);
  EXPECT_EQ(word.admit(kGeneration, no_room), Admission::full);
  EXPECT_EQ(word.admit_at_once(make_id(3, kGeneration), no_room), Admission::full);
  EXPECT_EQ(word.sent(), 0u);
  EXPECT_FALSE(word.is_scheduled());
}

TEST(StateWord, RoomIsAskedForWithTheNumberOfMessagesEverSent) {
  StateWord word;
  bring(word, Begin::idle);
  uint32_t asked = 99;
  for (uint32_t n = 0; n < 3; ++n) {
    (void)word.admit(kGeneration, [&](uint32_t sent) {
      asked = sent;
      return true;
    });
    EXPECT_EQ(asked, n);
  }
}

TEST(StateWord, ItParksOnlyWithNothingLeftToDo) {
  StateWord word;
  bring(word, Begin::idle);
  ASSERT_EQ(word.admit(kGeneration, room), Admission::first);
  EXPECT_FALSE(word.park(0, false)) << "a message is on its way";
  EXPECT_TRUE(word.park(1, false));
  EXPECT_FALSE(word.is_scheduled());
}

TEST(StateWord, TheShortWayToParkIsForOneToWhomNothingHasHappened) {
  for (const Begin from : {Begin::idle, Begin::scheduled, Begin::woken, Begin::suspended,
                           Begin::asked_to_exit, Begin::closed, Begin::parked_stopping}) {
    SCOPED_TRACE(static_cast<int>(from));
    StateWord word;
    bring(word, from);
    const bool was_scheduled = word.is_scheduled();
    EXPECT_FALSE(word.park_at_once(1, kGeneration)) << "a message is on its way";
    EXPECT_EQ(word.park_at_once(0, kGeneration), from == Begin::scheduled);
    EXPECT_EQ(word.is_scheduled(), was_scheduled && from != Begin::scheduled);
  }
}

TEST(StateWord, ARequestToExitKeepsItFromParkingUntilItIsStopping) {
  StateWord word;
  bring(word, Begin::asked_to_exit);
  EXPECT_FALSE(word.park(0, false));
  EXPECT_TRUE(word.park(0, true));
}

TEST(StateWord, AWakeBeforeTheSuspensionMakesItReturnAtOnceExactlyOnce) {
  StateWord word;
  bring(word, Begin::woken);
  EXPECT_FALSE(word.suspend(false));
  EXPECT_TRUE(word.is_scheduled());
  EXPECT_TRUE(word.suspend(false));
  EXPECT_FALSE(word.is_scheduled());
}

TEST(StateWord, ARequestToExitKeepsItFromSuspendingUntilItUnwinds) {
  StateWord word;
  bring(word, Begin::asked_to_exit);
  EXPECT_FALSE(word.suspend(false));
  EXPECT_TRUE(word.suspend(true));
  EXPECT_EQ(word.wake(kGeneration), Wake::submit);
}

TEST(StateWord, MailDoesNotWakeTheSuspendedAndIsCounted) {
  StateWord word;
  bring(word, Begin::suspended);
  EXPECT_EQ(word.admit(kGeneration, room), Admission::queued);
  EXPECT_EQ(word.admit_system(kGeneration), Admission::queued);
  EXPECT_FALSE(word.is_scheduled());
  EXPECT_EQ(word.wake(kGeneration), Wake::submit);
  EXPECT_FALSE(word.park(0, false)) << "the mail that came meanwhile";
}

TEST(StateWord, ASlotRetiresOnlyWhenEverythingAdmittedWasTaken) {
  StateWord word;
  bring(word, Begin::scheduled);
  ASSERT_EQ(word.admit(kGeneration, room), Admission::queued);
  word.close();
  EXPECT_FALSE(word.retire(0)) << "a sender is between admission and enqueueing";
  EXPECT_TRUE(word.is(kGeneration));
  EXPECT_TRUE(word.retire(1));
  EXPECT_FALSE(word.is(kGeneration));
  EXPECT_FALSE(word.is_open(kGeneration + 1)) << "nobody lives there yet";
  EXPECT_EQ(word.admit(kGeneration + 1, room), Admission::gone);
}

TEST(StateWord, ANewLifeBeginsWithNothingOfTheOldOneButTheCount) {
  for (const Begin from : {Begin::woken, Begin::asked_to_exit, Begin::closed}) {
    StateWord word;
    bring(word, from);
    ASSERT_EQ(word.admit_system(kGeneration), Admission::queued);
    word.close();
    ASSERT_TRUE(word.retire(1));
    EXPECT_EQ(open_slot(word, 99, false), kGeneration + 1) << "the slot's generation goes on";
    EXPECT_TRUE(word.is_open(kGeneration + 1));
    EXPECT_FALSE(word.is_scheduled());
    EXPECT_FALSE(word.exit_requested());
    EXPECT_EQ(word.sent(), 1u);
    EXPECT_EQ(word.admit(kGeneration + 1, room), Admission::first);
    EXPECT_TRUE(word.suspend(false)) << "an old wake is forgotten";
  }
}

TEST(StateWord, TheCountOfSentMessagesWrapsWithoutTouchingItsNeighbours) {
  StateWord word;
  bring(word, Begin::scheduled);
  uint32_t handled = 0;
  // Whole laps are too slow to send one by one; lives of one message each are what laps are made
  // of.
  for (uint32_t n = 0; n < 1000; ++n, ++handled) (void)word.admit_system(kGeneration);
  EXPECT_EQ(word.sent(), 1000u);
  EXPECT_TRUE(word.park(handled + (StateWord::kSentMask + 1), false)) << "modulo the counter";
  EXPECT_EQ(word.admit(kGeneration, room), Admission::first);
  EXPECT_TRUE(word.park_at_once(handled + 1 + (StateWord::kSentMask + 1), kGeneration));
  EXPECT_TRUE(word.is(kGeneration));
}

TEST(Marks, AWordIsBelowOneUntilItHasCountedThatFar) {
  const auto word_of = [](uint64_t sent, uint64_t below) { return (sent << 39) | below; };
  constexpr uint64_t kAllBelow = (uint64_t{1} << 39) - 1;  // generation and flags
  for (const uint32_t mark : {1u, 77u, StateWord::kSentMask, 0u}) {
    for (const uint64_t below : {uint64_t{0}, uint64_t{1}, kAllBelow}) {
      const uint32_t at = StateWord::mark_of_count(mark);
      const auto sent = [&](uint32_t before) { return (mark - before) & StateWord::kSentMask; };
      EXPECT_TRUE(StateWord::is_below(word_of(sent(1), below), at));
      EXPECT_TRUE(StateWord::is_below(word_of(sent(StateWord::kMaxUserLimit - 1), below), at));
      EXPECT_FALSE(StateWord::is_below(word_of(sent(0), below), at));
      EXPECT_FALSE(StateWord::is_below(word_of((mark + 1) & StateWord::kSentMask, below), at));
    }
  }
}

}  // namespace
}  // namespace jzx::core

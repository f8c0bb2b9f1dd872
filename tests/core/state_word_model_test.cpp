// Random sequences of transitions against a plain struct that follows the text of state_word.hpp.
#include <gtest/gtest.h>

#include "base/prng.hpp"
#include "core/rig.hpp"
#include "core/state_word.hpp"
#include "support/scale.hpp"

namespace jzx::core {
namespace {

struct Model {
  uint32_t sent = 0;
  uint32_t generation = 0;
  int exit = -1;
  bool closed = true;
  bool woken = false;
  bool suspended = false;
  bool scheduled = false;
  bool lives = false;

  [[nodiscard]] bool idle() const { return !scheduled && !suspended; }

  Admission count() {
    const bool first = idle();
    sent = (sent + 1) & StateWord::kSentMask;
    if (first) scheduled = true;
    return first ? Admission::first : Admission::queued;
  }
};

struct StateWordModel : ::testing::Test {
  uint32_t some_generation() {
    return random_.below(8) == 0 ? model_.generation + 1 + random_.below(3) : model_.generation;
  }
  bool is_mine(uint32_t generation) const {
    return model_.lives && generation == model_.generation;
  }

  void admit() {
    const uint32_t generation = some_generation();
    const bool has_room = random_.below(4) != 0;
    const bool gone = !is_mine(generation) || model_.closed;
    const Admission expected = gone        ? Admission::gone
                               : !has_room ? Admission::full
                                           : model_.count();
    ASSERT_EQ(word_.admit(generation, [&](uint32_t) { return has_room; }), expected);
  }

  void admit_system() {
    const uint32_t generation = some_generation();
    const Admission expected = is_mine(generation) ? model_.count() : Admission::gone;
    if (!model_.lives && generation == model_.generation) return;  // nobody has a free slot's id
    ASSERT_EQ(word_.admit_system(generation), expected);
  }

  void request_exit() {
    const uint32_t generation = some_generation();
    const int reason = static_cast<int>(random_.below(5));
    Wake expected = Wake::gone;
    if (is_mine(generation) && !model_.closed) {
      expected = model_.scheduled ? Wake::already_queued : Wake::submit;
      model_.closed = model_.scheduled = true;
      model_.suspended = false;
      model_.exit = reason;
    }
    ASSERT_EQ(word_.request_exit(generation, static_cast<ExitReason>(reason)), expected);
  }

  void wake() {
    const uint32_t generation = some_generation();
    if (!model_.lives) return;  // as above
    if (model_.idle()) return;  // see StateWord.AWakerThatFindsItIdleSubmitsIt
    Wake expected = Wake::gone;
    if (is_mine(generation)) {
      expected = model_.suspended ? Wake::submit : Wake::already_queued;
      if (model_.suspended) {
        model_.suspended = false;
        model_.scheduled = true;
      } else {
        model_.woken = true;
      }
    }
    ASSERT_EQ(word_.wake(generation), expected);
  }

  void park() {
    if (!model_.scheduled || model_.woken) return;
    const uint32_t handled = random_.below(3) == 0 ? model_.sent - 1 : model_.sent;
    const bool stopping = model_.closed && random_.below(2) == 0;
    const bool expected = handled == model_.sent && (stopping || !model_.closed);
    if (expected) model_.scheduled = false;
    ASSERT_EQ(word_.park(handled, stopping), expected);
  }

  void suspend() {
    if (!model_.scheduled) return;
    const bool stopping = model_.closed && random_.below(2) == 0;
    const bool stays = model_.woken || (model_.closed && !stopping);
    if (stays) {
      model_.woken = false;
    } else {
      model_.scheduled = false;
      model_.suspended = true;
    }
    ASSERT_EQ(word_.suspend(stopping), !stays);
  }

  void close() {
    if (!model_.scheduled) return;
    model_.closed = true;
    word_.close();
  }

  void retire() {
    if (!model_.closed || !model_.scheduled) return;
    const uint32_t handled = random_.below(3) == 0 ? model_.sent - 1 : model_.sent;
    const bool expected = handled == model_.sent;
    ASSERT_EQ(word_.retire(handled), expected);
    if (!expected) return;
    const uint32_t sent = model_.sent;
    const uint32_t generation = model_.generation + 1;
    model_ = Model{};
    model_.sent = sent;
    model_.generation = generation;
  }

  void open() {
    if (model_.lives) return;
    const bool first_turn = random_.below(2) == 0;
    if (model_.generation == 0) model_.generation = kFirstGeneration;
    ASSERT_EQ(jzx::testing::open_slot(word_, kFirstGeneration, first_turn), model_.generation);
    model_.lives = true;
    model_.closed = false;
    model_.scheduled = first_turn;
  }

  void compare() {
    ASSERT_EQ(word_.sent(), model_.sent);
    ASSERT_EQ(word_.is_scheduled(), model_.scheduled);
    ASSERT_EQ(word_.is(model_.generation), model_.lives);
    if (!model_.lives) return;  // it is free, and has nothing more to say
    ASSERT_EQ(word_.exit_requested(), model_.exit >= 0);
    if (model_.exit >= 0) {
      ASSERT_EQ(static_cast<int>(word_.requested_reason()), model_.exit);
    }
    ASSERT_EQ(word_.generation(), model_.generation);
    ASSERT_EQ(word_.is_open(model_.generation), !model_.closed);
  }

  static constexpr uint32_t kFirstGeneration = 41;
  base::Prng random_{0};
  StateWord word_;
  Model model_;
};

TEST_F(StateWordModel, AgreesWithAPlainStructOverRandomTransitions) {
  static constexpr void (StateWordModel::*kTransitions[])() = {
      &StateWordModel::admit, &StateWordModel::admit_system, &StateWordModel::request_exit,
      &StateWordModel::wake,  &StateWordModel::park,         &StateWordModel::suspend,
      &StateWordModel::close, &StateWordModel::retire,       &StateWordModel::open};
  const uint64_t seed = 20240501;
  SCOPED_TRACE(seed);
  random_ = base::Prng(seed);
  uint32_t lives = 0;
  for (size_t step = 0; step < jzx::testing::scaled(200'000); ++step) {
    SCOPED_TRACE(step);
    const uint32_t before = model_.generation;
    (this->*kTransitions[random_.below(std::size(kTransitions))])();
    compare();
    if (HasFatalFailure()) return;
    lives += model_.generation != before ? 1 : 0;
  }
  EXPECT_GT(lives, 100u) << "the sequence must lead through whole lives";
}

}  // namespace
}  // namespace jzx::core

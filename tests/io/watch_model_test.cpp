// Random sequences of everything one can do with watches, beside a model that says what must be
// told: a watch is told if an edge came (new data, or a new watch() of old data) since it was told
// last, and its data is still there.
#include <array>

#include "base/prng.hpp"
#include "io/reactor_fixture.hpp"
#include "support/scale.hpp"

namespace jzx::io {
namespace {

class WatchModel : public ReactorTest {};
JZX_TEST_BOTH_REACTORS(WatchModel);

struct Subject {
  SocketPair pair;
  RecordingWatch watch{-1, kReadable};
  bool watched = false;
  bool edge = false;
  bool has_data = false;

  [[nodiscard]] bool expects_call() const { return watched && edge && has_data; }
};

TEST_P(WatchModel, RandomSequencesAreToldAsTheModelSays) {
  constexpr uint64_t kSeed = 20240611;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  base::Prng prng(kSeed);
  std::array<Subject, 40> subjects;
  bool woken = false;
  uint64_t told = 0;

  const uint64_t steps = jzx::testing::scaled(200'000, 10);
  for (uint64_t step = 0; step < steps; ++step) {
    Subject& subject = subjects[prng.below(subjects.size())];
    switch (prng.below(10)) {
      case 0:
      case 1:
      case 2:
        // Little enough for the socket never to be full.
        if (prng.below(20) == 0) drain(subject.pair.near);
        put(subject.pair.far);
        subject.has_data = true;
        subject.edge = subject.watched;
        break;
      case 3:
        drain(subject.pair.near);
        subject.has_data = false;
        break;
      case 4:
      case 5:
        subject.watch.fd = subject.pair.near.get();
        ASSERT_EQ(reactor->watch(subject.watch), 0) << step;
        subject.watched = true;
        subject.edge = true;
        break;
      case 6:
        ASSERT_EQ(reactor->unwatch(subject.watch), subject.watched ? 0 : -ENOENT) << step;
        subject.watched = subject.edge = false;
        break;
      case 7:  // closed while watched; the number is soon another's
        if (subject.watched && prng.below(2) == 0) {
          subject.pair.near.close();
          ASSERT_EQ(reactor->unwatch(subject.watch), -EBADF) << step;
          subject.watched = false;
        }
        // Otherwise nobody says so before the number is watched again.
        subject.pair = SocketPair();
        ASSERT_NE(reactor->unwatch(subject.watch), 0) << step;
        subject.watched = subject.edge = subject.has_data = false;
        break;
      case 8:
        reactor->wake();
        woken = true;
        break;
      default: {
        bool something = woken;
        for (const Subject& each : subjects) something |= each.expects_call();
        ASSERT_EQ(is_readable(reactor->pollable_fd()), something) << step;
        ASSERT_EQ(reactor->wait(prng.below(4) == 0 ? 1 : 0), 0) << step;
        for (Subject& each : subjects) {
          const Told expected = each.expects_call() ? Told{kReadable} : Told{};
          told += expected.size();
          ASSERT_EQ(each.watch.take(), expected) << step;
          each.edge = false;
        }
        woken = false;
      }
    }
  }
  EXPECT_GT(told, steps / 20) << "the sequence tested little";
}

}  // namespace
}  // namespace jzx::io

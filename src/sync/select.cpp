// A future with a link to each of those that it waits for.
//
// Who comes first says so in `first`, and cancels the others. Everybody who has ended is counted
// off, and so is who began it; the last one settles. So the state is there for as long as anybody
// still uses one of its links.
//
// Threads: any. A link's own result is written by the one that counts it off, and read by the last.
#include <jzx/sync/select.hpp>

#include <new>

#include <jzx/detail/future_link.hpp>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace jzx::sync {

namespace {

using detail::FutureCore;
using detail::FutureState;

constexpr size_t kMost = 64;

// What one that has ended means.
[[nodiscard]] bool has_come(Errc code) noexcept { return ok(code) || code == Errc::closed; }

struct SelectState;
struct Arm : detail::Link {
  SelectState* select = nullptr;
  Errc outcome = Errc::cancelled;
};

struct SelectState final : FutureState<Selection> {
  SelectState(size_t arm_count, size_t size) noexcept
      : FutureState(detail::Stage::pending, size),
        count(static_cast<uint32_t>(arm_count)),
        left(static_cast<uint32_t>(arm_count) + 1) {
    FutureCore::cancel = &cancelled;
    cancel_on_drop = true;
    for (size_t i = 0; i < count; ++i) (::new (&arms()[i]) Arm)->select = this;
  }
  ~SelectState() = delete;  // the state ends by itself; arms need no end

  [[nodiscard]] static size_t size_for(size_t count) noexcept {
    return sizeof(SelectState) + count * sizeof(Arm);
  }
  [[nodiscard]] Arm* arms() noexcept { return reinterpret_cast<Arm*>(this + 1); }

  void begin(std::span<Future<void>> waits) noexcept {
    for (size_t i = 0; i < count; ++i) {
      Arm& arm = arms()[i];
      if (auto* upstream = waits[i].release_pending()) {
        go_on(arm.wait_for(*upstream, &proceed));
      } else {
        go_on(ended(arm, waits[i].take().error().code()));
      }
    }
    go_on(count_off());
  }

 private:
  static constexpr uint32_t kNobody = ~uint32_t{0};
  static constexpr uint32_t kCanceller = kNobody - 1;

  static FutureCore* proceed(detail::Link& link, bool has_result) {
    auto& arm = static_cast<Arm&>(link);
    Errc outcome = Errc::cancelled;
    if (has_result) {
      const Result<void> result = static_cast<FutureState<void>*>(arm.upstream)->take_result();
      outcome = result.error().code();
    }
    return arm.select->ended(arm, outcome);
  }
  [[nodiscard]] FutureCore* ended(Arm& arm, Errc outcome) {
    arm.outcome = outcome;
    if (claim(static_cast<uint32_t>(&arm - arms()))) cancel_all();
    return count_off();
  }
  // relaxed: it only chooses one; what that one has seen the last one sees through `left`.
  [[nodiscard]] bool claim(uint32_t who) noexcept {
    uint32_t expected = kNobody;
    return first.compare_exchange_strong(expected, who, std::memory_order_relaxed);
  }
  // By one that is not counted off yet. Links that have ended, or do not wait yet, are told too:
  // the former do nothing, the latter remember it.
  void cancel_all() {
    for (size_t i = 0; i < count; ++i) arms()[i].cancel();
  }
  [[nodiscard]] FutureCore* count_off() {
    // acq_rel: what each has done with its arm is seen by the last. Pairs with itself.
    if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return nullptr;
    put_outcome();
    return settle_and_return();
  }
  void put_outcome() {
    Selection selection;
    for (size_t i = count; i-- > 0;) {
      if (!has_come(arms()[i].outcome)) continue;
      selection.came |= uint64_t{1} << i;
      selection.index = i;
    }
    const uint32_t winner = first.load(std::memory_order_relaxed);  // of one counted off before
    if (winner < count) {
      const Errc outcome = arms()[winner].outcome;
      if (!has_come(outcome)) {
        const bool is_empty = outcome == Errc::invalid_arg;
        return put_result(Error(outcome, is_empty ? "of a future that is empty" : "", "select"));
      }
      selection.index = winner;
    } else if (selection.came == 0) {
      return put_result(Error(Errc::cancelled, {}, "select"));
    }
    put_result(std::in_place, selection);
  }
  // Whoever cancels keeps the state there meanwhile, also when that settles it.
  static void cancelled(FutureCore& core) {
    auto& self = static_cast<SelectState&>(core);
    if (!self.claim(kCanceller)) return;
    self.cancel_all();
  }

  const uint32_t count;
  base::Atomic<uint32_t> first{kNobody};
  base::Atomic<uint32_t> left;
};

}  // namespace

}  // namespace jzx::sync

namespace jzx {

Future<Selection> select(std::span<Future<void>> waits) noexcept {
  using sync::SelectState;
  if (waits.empty() || waits.size() > sync::kMost) {
    return Future<Selection>::failed(
        Error(Errc::invalid_arg, "for at least one future, and at most 64", "select"));
  }
  const size_t size = SelectState::size_for(waits.size());
  void* block = detail::take_future_block(size);
  if (block == nullptr) return Future<Selection>::failed(Errc::no_memory);
  auto* state = ::new (block) SelectState(waits.size(), size);
  Future<Selection> future(state);
  state->begin(waits);
  return future;
}

}  // namespace jzx

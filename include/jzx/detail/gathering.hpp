// A future that is made of several others: what all(), race(), any(), all_settled() and
// with_timeout() return. Not for users.
//
//   future 0 ──▶ strand 0 ┐
//   future 1 ──▶ strand 1 ├──▶ the gathering: a state, its strands behind it in the same block
//   future 2 ──▶ strand 2 ┘
//
// A strand is a Link to one of the futures. When its result is there it stays where it is, in the
// state of that future; the strand only counts. The first result that decides (any for race, a
// value for any, an error for all) cancels the others, and whoever counts the last one makes the
// result of all that have come. So a gathering never has its result before each of its futures has:
// what they use is free again.
//
// Who decides has not counted itself yet, and whoever begins holds a count of its own; so the
// gathering is there while they use it. A canceller from outside knows that the state is there;
// strands need no end, and stay as long as the state.
//
// Threads: any, as those of futures.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include <jzx/detail/future_link.hpp>
#include <jzx/detail/future_state.hpp>
#include <jzx/future.hpp>

namespace jzx::detail {

class Gathering;

struct Strand : Link {
  Gathering* whole = nullptr;
  Errc failure = Errc::ok;  // of a future without a state
};

// Which result makes the others superfluous.
enum class Decides : uint8_t { nothing, any, a_value, an_error };

class Gathering {
 public:
  // When all have come: makes the result; whose continuation is next.
  using Finish = FutureCore* (*)(Gathering& whole);

  Gathering(Strand* strands, uint32_t count, Decides what, Finish finish) noexcept
      : strands_(strands), count_(count), missing_(count + 1), decides_(what), finish_(finish) {
    for (uint32_t i = 0; i < count; ++i) (::new (strands + i) Strand)->whole = this;
  }
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  // ---- while it begins, in order; then begun() ----

  template <class T>
  void wait_for(uint32_t number, Future<T>&& future, FutureCore& own) {
    Strand& strand = strands_[number];
    FutureState<T>* state = future.release(strand.failure);
    strand.upstream = state;
    if (state == nullptr) return go_on(came(strand, false));
    if (state->handover.is_settled()) return go_on(came(strand, state->result.ok()));
    if (state->cancel_on_drop) own.cancel_on_drop = true;
    go_on(strand.wait_for(*state, &proceed<T>));
  }
  void begun() { go_on(count_one()); }

  // ---- for cancellers ----

  void cancel() {
    // relaxed: who ends early because of it sees it by way of the strands; the others do not care.
    if (is_cancelled_.exchange(true, std::memory_order_relaxed)) return;
    cancel_all_but(nullptr);
    if (count_ == 0) begun();  // see of_nothing(); no other one without futures is ever pending
  }

  // ---- for finish: nobody else uses it any more ----

  [[nodiscard]] uint32_t count() const noexcept { return count_; }
  // relaxed, both: ordered by the count.
  [[nodiscard]] bool was_cancelled() const noexcept {
    return is_cancelled_.load(std::memory_order_relaxed);
  }
  static constexpr uint32_t kNone = 0xffffffffu;
  [[nodiscard]] uint32_t decider() const noexcept {
    const Strand* strand = decider_.load(std::memory_order_relaxed);
    return strand == nullptr ? kNone : static_cast<uint32_t>(strand - strands_);
  }
  // Each is taken or dropped, once.
  template <class T>
  [[nodiscard]] Result<T> take(uint32_t number) {
    auto* state = static_cast<FutureState<T>*>(std::exchange(strands_[number].upstream, nullptr));
    if (state == nullptr) return error_of_none(strands_[number].failure);
    return state->take_result();
  }
  template <class T>
  void drop_one(uint32_t number) {
    FutureCore* state = std::exchange(strands_[number].upstream, nullptr);
    if (state != nullptr) (void)FutureState<T>::discard(*state);
  }

 private:
  template <class T>
  static FutureCore* proceed(Link& link, bool has_result) {
    auto& strand = static_cast<Strand&>(link);
    if (!has_result) {
      strand.upstream = nullptr;
      strand.failure = Errc::cancelled;
    }
    const bool is_ok = has_result && static_cast<FutureState<T>*>(strand.upstream)->result.ok();
    return strand.whole->came(strand, is_ok);
  }
  [[nodiscard]] FutureCore* came(Strand& strand, bool is_ok) {
    if (decides(is_ok)) {
      Strand* expected = nullptr;
      // relaxed: only one is to do it; what it does is ordered by the tethers and the count.
      if (decider_.compare_exchange_strong(expected, &strand, std::memory_order_relaxed,
                                           std::memory_order_relaxed)) {
        cancel_all_but(&strand);
      }
    }
    return count_one();
  }
  [[nodiscard]] bool decides(bool is_ok) const noexcept {
    switch (decides_) {
      case Decides::nothing:
        return false;
      case Decides::any:
        return true;
      case Decides::a_value:
        return is_ok;
      case Decides::an_error:
        return !is_ok;
    }
    return false;
  }
  void cancel_all_but(const Strand* one) {
    for (uint32_t i = 0; i < count_; ++i) {
      if (strands_ + i != one) strands_[i].cancel();
    }
  }
  [[nodiscard]] FutureCore* count_one() {
    // release: what came is published; acquire: the last sees all of it. They pair.
    return missing_.fetch_sub(1, std::memory_order_acq_rel) == 1 ? finish_(*this) : nullptr;
  }

  Strand* strands_;
  uint32_t count_;
  std::atomic<uint32_t> missing_;
  std::atomic<Strand*> decider_{nullptr};
  std::atomic<bool> is_cancelled_{false};
  Decides decides_;
  Finish finish_;
};

// A gathering with a result of type U. `Maker` makes it: kDecides, and
//   template <class Whole> static void put(Whole& whole, Storage& storage);
// which calls put_result() once. Its Storage is made with the gathering, so that there is memory
// when all have come, and ends before the result is there.
template <class U, class Maker>
class GatherState final : public FutureState<U>, public Gathering {
 public:
  // Throws std::bad_alloc, and what making the storage throws.
  [[nodiscard]] static GatherState* make(size_t count) {
    static_assert(alignof(GatherState) <= kFutureAlignment);
    static_assert(sizeof(GatherState) % alignof(Strand) == 0);
    if (count > kMost) throw_no_memory();
    const size_t size = sizeof(GatherState) + count * sizeof(Strand);
    struct Undo {
      ~Undo() {
        if (block != nullptr) give_future_block(block, size);
      }
      void* block;
      size_t size;
    } undo{take_future_block(size), size};
    if (undo.block == nullptr) throw_no_memory();
    auto* made = ::new (undo.block) GatherState(static_cast<uint32_t>(count), size);
    // If this throws, the state goes as it came: it has no result to end.
    std::construct_at(&made->storage_, count);
    undo.block = nullptr;
    return made;
  }

  // A range, in order; what iterating it throws is the caller's, so it must not.
  template <class T, class Range>
  static Future<U> of_range(Range& futures, size_t count) {
    if (count == 0 && Maker::kDecides == Decides::any) return of_nothing();
    GatherState* made = make(count);
    uint32_t number = 0;
    for (auto&& future : futures) made->template wait_for<T>(number++, std::move(future), *made);
    return made->started();
  }
  template <class... T>
  static Future<U> of(Future<T>&&... futures) {
    GatherState* made = make(sizeof...(T));
    uint32_t number = 0;
    (made->template wait_for<T>(number++, std::move(futures), *made), ...);
    return made->started();
  }
  // One that never settles by itself: cancelling it does.
  static Future<U> of_nothing() {
    GatherState* made = make(0);
    made->cancel_on_drop = true;
    return Future<U>(made);
  }

 private:
  static constexpr size_t kMost = (size_t{1} << 30) / sizeof(Strand);

  GatherState(uint32_t count, size_t size) noexcept
      : FutureState<U>(Stage::pending, size),
        Gathering(reinterpret_cast<Strand*>(this + 1), count, Maker::kDecides, &finish) {
    this->FutureCore::cancel = &cancel_state;
  }
  ~GatherState() = delete;  // the state ends by itself

  // The future is made before the last count is: the result may come with it.
  [[nodiscard]] Future<U> started() {
    Future<U> future(this);
    this->begun();
    return future;
  }
  static void cancel_state(FutureCore& core) {
    static_cast<GatherState&>(core).Gathering::cancel();
  }
  static FutureCore* finish(Gathering& whole) {
    auto& self = static_cast<GatherState&>(whole);
    Maker::put(self, self.storage_);
    std::destroy_at(&self.storage_);
    return self.settle_and_return();
  }

  union {
    typename Maker::Storage storage_;
  };
};

}  // namespace jzx::detail

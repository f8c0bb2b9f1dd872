// What the random stress of the C interface keeps books about, from all threads at once: every
// payload has one fate, every monitor one Down, every actor one end. Books are checked when
// everybody has ended.
//
// Threads: any.
#pragma once

#include <jzx/jzx.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

namespace jzx::testing {

// A payload: handled, dead-lettered, cancelled or kept by a sender that was refused; one of these.
struct Parcel {
  std::atomic<uint32_t> fates{0};
};

class Parcels {
 public:
  [[nodiscard]] Parcel* make() {
    const std::lock_guard hold(mutex_);
    return &all_.emplace_back();
  }
  static void end(void* parcel) { static_cast<Parcel*>(parcel)->fates.fetch_add(1); }

  void check() const {
    const std::lock_guard hold(mutex_);
    size_t lost = 0;
    size_t twice = 0;
    for (const Parcel& parcel : all_) {
      lost += parcel.fates.load() == 0;
      twice += parcel.fates.load() > 1;
    }
    EXPECT_EQ(lost, 0u) << "payloads of " << all_.size() << " without a fate";
    EXPECT_EQ(twice, 0u) << "payloads of " << all_.size() << " with two";
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Parcel> all_;
};

// Each monitor by its reference. A Down may be handled before the call that asked for it returns.
class MonitorBook {
 public:
  void asked_for(uint64_t ref, bool watcher_stays) {
    const std::lock_guard hold(mutex_);
    all_[ref].asked = true;
    all_[ref].watcher_stays = watcher_stays;
    open_ += watcher_stays;
    settle(all_[ref]);
  }
  void down(uint64_t ref) {
    const std::lock_guard hold(mutex_);
    ++all_[ref].downs;
    settle(all_[ref]);
  }
  void withdrawn(uint64_t ref) {
    const std::lock_guard hold(mutex_);
    all_[ref].withdrawn = true;
    settle(all_[ref]);
  }

  // Until every monitor of a watcher that stays has had its Down, or was withdrawn.
  [[nodiscard]] bool wait_until_settled() {
    std::unique_lock hold(mutex_);
    return settled_.wait_for(hold, std::chrono::minutes(1), [&] { return open_ == 0; });
  }

  void check() const {
    const std::lock_guard hold(mutex_);
    for (const auto& [ref, one] : all_) {
      EXPECT_TRUE(one.asked) << "a Down for a monitor that was refused";
      EXPECT_LE(one.downs + (one.withdrawn ? 1 : 0), 1) << "of monitor " << ref;
    }
    EXPECT_EQ(open_, 0) << "monitors that never had their Down";
  }

 private:
  struct Monitor {
    int downs = 0;
    bool asked = false;
    bool withdrawn = false;
    bool watcher_stays = false;
    bool is_settled = false;
  };
  void settle(Monitor& one) {
    if (!one.watcher_stays || one.is_settled || (one.downs == 0 && !one.withdrawn)) return;
    one.is_settled = true;
    if (--open_ == 0) settled_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable settled_;
  std::unordered_map<uint64_t, Monitor> all_;
  int64_t open_ = 0;
};

// Who is alive, as the observer tells it. An end that is told before its start is a mistake, but
// not one that the other books should suffer from.
class Census {
 public:
  void started(jzx_actor_id id) {
    const std::lock_guard hold(mutex_);
    ++born_;
    if (ended_early_.erase(id) == 1) return;
    EXPECT_TRUE(alive_.insert(id).second) << "an id was given twice";
  }
  void stopped(jzx_actor_id id) {
    const std::lock_guard hold(mutex_);
    if (alive_.erase(id) == 0) {
      ++early_ends_;
      EXPECT_TRUE(ended_early_.insert(id).second) << "an actor ended twice";
    }
    changed_.notify_all();
  }
  [[nodiscard]] std::set<jzx_actor_id> alive() const {
    const std::lock_guard hold(mutex_);
    return alive_;
  }
  [[nodiscard]] bool wait_until_ended(jzx_actor_id id) {
    std::unique_lock hold(mutex_);
    return changed_.wait_for(hold, std::chrono::minutes(1), [&] { return !alive_.contains(id); });
  }
  void check() const {
    const std::lock_guard hold(mutex_);
    EXPECT_TRUE(alive_.empty());
    EXPECT_TRUE(ended_early_.empty()) << "actors ended that never began, or twice";
    EXPECT_EQ(early_ends_, 0u) << "ends of " << born_ << " were told before the start";
    EXPECT_GT(born_, 2000u) << "a life of thousands";
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<jzx_actor_id> alive_;
  std::set<jzx_actor_id> ended_early_;
  uint64_t early_ends_ = 0;
  uint64_t born_ = 0;
};

// A place where threads leave things for one another, the newest of each slot.
template <class T, size_t kSize>
class Board {
 public:
  void put(uint64_t where, T what) { slots_[where % kSize].store(what); }
  [[nodiscard]] T look(uint64_t where) const { return slots_[where % kSize].load(); }
  [[nodiscard]] T take(uint64_t where) { return slots_[where % kSize].exchange(T{}); }
  [[nodiscard]] T swap(uint64_t where, T what) { return slots_[where % kSize].exchange(what); }
  static constexpr size_t size() { return kSize; }

 private:
  std::array<std::atomic<T>, kSize> slots_{};
};

}  // namespace jzx::testing

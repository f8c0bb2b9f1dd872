// A loop, and a model of it: what the target `calls` knows of actors, messages, timers and bonds.
//
// Between two rests nothing runs, so the model knows what every call must answer. During a rest
// several ends may meet (an actor stops itself while a linked one fails), and which comes first is
// nobody's promise. So of each actor the model says whether it may have ended, and whether it must.
//
// Threads: one.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <jzx/jzx.h>

#include "base/time/clock.hpp"
#include "capi/create_loop.hpp"
#include "fuzz/fuzz.hpp"

namespace jzx::fuzz {

inline constexpr size_t kMostActors = 12;

// What a handler does with a message.
enum class Kind : uint8_t { keep, stop, fail, forward };
enum class Fate : uint8_t { refused, queued, handled, dead_lettered, cancelled };

class CallsModel {
 public:
  CallsModel() {
    jzx_config config;
    jzx_config_init(&config);
    config.allocator = {
        [](void* blocks, size_t size) { return ++count(blocks), std::malloc(size); },
        [](void* blocks, void* block) { --count(blocks), std::free(block); }, &blocks_};
    loop_ = capi::create_loop(&config, {.clock = &clock_});
    FUZZ_CHECK(loop_ != nullptr);
    jzx_observer observer{};
    observer.on_actor_stop = [](void* self, jzx_actor_id id, int reason) {
      static_cast<CallsModel*>(self)->ended(id, reason);
    };
    observer.on_dead_letter = [](void* self, jzx_actor_id, const jzx_message* message) {
      static_cast<CallsModel*>(self)->settle_message(*message, Fate::dead_lettered);
    };
    jzx_loop_set_observer(loop_, &observer, this);
    actors_.reserve(kMostActors);  // behaviours point at them
  }
  ~CallsModel() {
    jzx_loop_destroy(loop_);
    FUZZ_CHECK(blocks_ == 0);
    for (const Message& one : messages_) FUZZ_CHECK(one.fate != Fate::queued);
  }
  CallsModel(const CallsModel&) = delete;
  CallsModel& operator=(const CallsModel&) = delete;

  // ---- calls; who is not there is an id that nobody has ----
  void spawn(uint32_t cap, size_t boss);
  void send(size_t target, Kind kind, bool is_async);
  void send_after(size_t target, size_t ms);
  void cancel(size_t which);
  void end(size_t target, bool abnormally);
  void link(size_t one, size_t other);
  void unlink(size_t one, size_t other);
  void monitor(size_t watcher, size_t target);
  void demonitor(size_t which);
  void trap(size_t target, bool on);
  void name(size_t target, size_t which);
  void look_up(size_t which);
  // ---- and runs ----
  void rest();
  void advance(size_t ms) {
    rest();
    clock_.advance_ms(ms);
    rest();
  }

 private:
  struct Message {
    size_t target = 0;
    Kind kind = Kind::keep;
    Fate fate = Fate::queued;
    jzx_actor_id sender = 0;
    jzx_timer_id timer = 0;  // of a timer; else 0
    uint64_t due_ns = 0;
  };
  struct Actor {
    CallsModel* model = nullptr;
    jzx_actor_id id = 0;
    uint32_t share = 1020;
    size_t boss = kMostActors;
    bool is_alive = true;
    bool traps = false;
    size_t name = kNoName;
    int reason = 0;
    // Since the last rest.
    bool told_to_stop = false;
    bool told_to_fail = false;
    std::vector<size_t> queue;
    size_t last_handled = 0;  // of those that the driver sent
    std::vector<jzx_actor_id> child_exits;
    std::vector<jzx_actor_id> exits;
    // What a rest may do, and must.
    bool may_end = false;
    bool must_end = false;
    bool may_fail = false;
    bool must_fail = false;

    [[nodiscard]] bool is_told() const { return told_to_stop || told_to_fail; }
    [[nodiscard]] bool is_sound() const { return is_alive && !is_told(); }
  };
  struct Monitor {
    uint64_t ref = 0;
    size_t watcher = 0;
    jzx_actor_id target = 0;
    int downs = 0;
  };
  static constexpr size_t kNoName = ~size_t{0};

  static int& count(void* blocks) { return *static_cast<int*>(blocks); }
  static std::string name_of(size_t which) { return "name " + std::to_string(which); }

  [[nodiscard]] Actor* find(size_t index) {
    return index < actors_.size() ? &actors_[index] : nullptr;
  }
  [[nodiscard]] bool is_sound(size_t index) {
    return index < actors_.size() && actors_[index].is_sound();
  }
  [[nodiscard]] jzx_actor_id id_of(size_t index) {
    if (index < actors_.size()) return actors_[index].id;
    return actors_.empty() || index % 2 == 0 ? 0 : actors_[0].id + (uint64_t{7} << 32);
  }
  [[nodiscard]] Actor& actor_with(jzx_actor_id id) {
    const auto found = std::find_if(actors_.begin(), actors_.end(),
                                    [&](const Actor& one) { return one.id == id; });
    FUZZ_CHECK(found != actors_.end());
    return *found;
  }
  [[nodiscard]] size_t index_of(const Actor& actor) const {
    return static_cast<size_t>(&actor - actors_.data());
  }
  [[nodiscard]] Actor* owner_of(size_t name) {
    for (Actor& one : actors_) {
      if (one.is_alive && one.name == name) return &one;
    }
    return nullptr;
  }

  // The payload of a message is its number, from 1.
  void* note_message(const Message& message) {
    messages_.push_back(message);
    return reinterpret_cast<void*>(messages_.size());
  }
  [[nodiscard]] size_t index_of(const jzx_message& message) {
    const size_t number = reinterpret_cast<size_t>(message.data);
    FUZZ_CHECK(number > 0 && number <= messages_.size());
    return number - 1;
  }
  Message& settle_message(const jzx_message& message, Fate fate) {
    Message& one = messages_[index_of(message)];
    FUZZ_CHECK(one.fate == Fate::queued);
    FUZZ_CHECK(message.sender == one.sender);
    one.fate = fate;
    ++activity_;
    return one;
  }

  static jzx_behavior_result behave(jzx_context* context, const jzx_message* message) {
    auto& self = *static_cast<Actor*>(context->state);
    FUZZ_CHECK(context->self == self.id && self.is_alive && !self.is_told());
    return self.model->handle(self, *message);
  }
  jzx_behavior_result handle(Actor& self, const jzx_message& message);
  void hear(Actor& self, const jzx_message& message);
  void ended(jzx_actor_id id, int reason);

  void predict();
  void settle();
  void check_ends(const std::vector<bool>& were_alive);
  void check_messages(Actor& actor);
  void check_bonds();

  int blocks_ = 0;
  base::ManualClock clock_{false};
  jzx_loop* loop_ = nullptr;
  std::vector<Actor> actors_;
  std::vector<Message> messages_;
  std::vector<std::pair<size_t, size_t>> links_;
  std::vector<Monitor> monitors_;
  uint64_t activity_ = 0;
};

}  // namespace jzx::fuzz

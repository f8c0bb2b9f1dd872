#include "fuzz/calls/model.hpp"

#include <algorithm>

namespace jzx::fuzz {
namespace {

constexpr uint64_t kMilli = base::kNanosPerMilli;
constexpr int kQuietTicks = 8;  // as long may an end take in which nobody hears anything

}  // namespace

// ---- calls ----

void CallsModel::spawn(uint32_t cap, size_t boss) {
  if (actors_.size() == kMostActors) return;
  Actor& actor = actors_.emplace_back();
  actor.model = this;
  actor.boss = boss;
  if (cap != 0) actor.share = cap > 5 ? cap - 4 : 1;
  jzx_spawn_opts options{};
  options.behavior = &behave;
  options.state = &actor;
  options.mailbox_cap = cap;
  options.supervisor = boss == kMostActors ? 0 : id_of(boss);
  // The new one is in the list already, and is nobody's boss.
  const bool has_boss = options.supervisor != 0;
  const bool fits = !has_boss || (boss + 1 < actors_.size() && is_sound(boss));
  if (!has_boss) actor.boss = kMostActors;
  const jzx_err result = jzx_spawn(loop_, &options, &actor.id);
  FUZZ_CHECK(result == (fits ? JZX_OK : JZX_ERR_NO_SUCH_ACTOR));
  if (!fits) actors_.pop_back();
}

void CallsModel::send(size_t target, Kind kind, bool is_async) {
  Actor* actor = find(target);
  void* data = note_message({.target = target, .kind = kind});
  const auto tag = static_cast<uint32_t>(kind);
  const jzx_err result = is_async ? jzx_send_async(loop_, id_of(target), data, 1, tag)
                                  : jzx_send(loop_, id_of(target), data, 1, tag);
  jzx_err expected = JZX_OK;
  if (!is_sound(target)) {
    expected = JZX_ERR_NO_SUCH_ACTOR;
  } else if (actor->queue.size() == actor->share) {
    expected = JZX_ERR_MAILBOX_FULL;
  }
  FUZZ_CHECK(result == expected);
  if (result == JZX_OK) {
    actor->queue.push_back(messages_.size() - 1);
  } else {
    messages_.back().fate = Fate::refused;
  }
}

void CallsModel::send_after(size_t target, size_t ms) {
  void* data = note_message({.target = target, .due_ns = clock_.now_ns() + ms * kMilli});
  const jzx_err result = jzx_send_after(loop_, id_of(target), static_cast<uint32_t>(ms), data, 1, 0,
                                        &messages_.back().timer);
  FUZZ_CHECK(result == (is_sound(target) ? JZX_OK : JZX_ERR_NO_SUCH_ACTOR));
  if (result != JZX_OK) messages_.back().fate = Fate::refused;
}

void CallsModel::cancel(size_t which) {
  if (messages_.empty()) return;
  Message& one = messages_[which % messages_.size()];
  const bool is_pending = one.timer != 0 && one.fate == Fate::queued;
  const jzx_err result = jzx_cancel_timer(loop_, one.timer);
  // The timers of one who was told to end may have ended already: then their dead letters say so.
  if (is_pending && is_sound(one.target)) FUZZ_CHECK(result == JZX_OK);
  if (!is_pending) FUZZ_CHECK(result == JZX_ERR_TIMER_INVALID);
  if (result == JZX_OK) one.fate = Fate::cancelled;
}

void CallsModel::end(size_t target, bool abnormally) {
  const bool is_there = is_sound(target);
  const jzx_actor_id id = id_of(target);
  if (is_there) (abnormally ? actors_[target].told_to_fail : actors_[target].told_to_stop) = true;
  const jzx_err result = abnormally ? jzx_actor_fail(loop_, id) : jzx_actor_stop(loop_, id);
  FUZZ_CHECK(result == (is_there ? JZX_OK : JZX_ERR_NO_SUCH_ACTOR));
}

void CallsModel::link(size_t one, size_t other) {
  const jzx_err result = jzx_link(loop_, id_of(one), id_of(other));
  if (id_of(one) == id_of(other)) return FUZZ_CHECK(result == JZX_ERR_INVALID_ARG);
  const bool are_there = is_sound(one) && is_sound(other);
  FUZZ_CHECK(result == (are_there ? JZX_OK : JZX_ERR_NO_SUCH_ACTOR));
  const std::pair<size_t, size_t> pair = std::minmax(one, other);
  if (are_there && std::find(links_.begin(), links_.end(), pair) == links_.end()) {
    links_.push_back(pair);
  }
}

void CallsModel::unlink(size_t one, size_t other) {
  const std::pair<size_t, size_t> pair = std::minmax(one, other);
  const auto found = std::find(links_.begin(), links_.end(), pair);
  // One who was told to end has perhaps told its links already.
  if (found == links_.end() || !is_sound(one) || !is_sound(other)) return;
  FUZZ_CHECK(jzx_unlink(loop_, id_of(one), id_of(other)) == JZX_OK);
  links_.erase(found);
}

void CallsModel::monitor(size_t watcher, size_t target) {
  uint64_t ref = 0;
  if (watcher == target || find(target) == nullptr) return;
  const jzx_err result = jzx_monitor(loop_, id_of(watcher), id_of(target), &ref);
  FUZZ_CHECK(result == (is_sound(watcher) ? JZX_OK : JZX_ERR_NO_SUCH_ACTOR));
  if (result != JZX_OK) return;
  for (const Monitor& one : monitors_) FUZZ_CHECK(one.ref != ref);
  monitors_.push_back({ref, watcher, id_of(target), 0});
}

void CallsModel::demonitor(size_t which) {
  if (monitors_.empty()) return;
  const auto found = monitors_.begin() + static_cast<std::ptrdiff_t>(which % monitors_.size());
  if (!is_sound(found->watcher) || !actor_with(found->target).is_sound()) return;
  FUZZ_CHECK(jzx_demonitor(loop_, found->ref) == JZX_OK);
  FUZZ_CHECK(jzx_demonitor(loop_, found->ref) != JZX_OK);
  monitors_.erase(found);
}

void CallsModel::trap(size_t target, bool on) {
  const jzx_err result = jzx_trap_exit(loop_, id_of(target), on ? 1 : 0);
  FUZZ_CHECK(result == (is_sound(target) ? JZX_OK : JZX_ERR_NO_SUCH_ACTOR));
  if (result == JZX_OK) actors_[target].traps = on;
}

void CallsModel::name(size_t target, size_t which) {
  const Actor* owner = owner_of(which);
  if (owner != nullptr && !owner->is_sound()) return;  // whether it still has it is open
  const jzx_err result = jzx_register(loop_, id_of(target), name_of(which).c_str());
  if (!is_sound(target)) return FUZZ_CHECK(result != JZX_OK);
  const bool fits = owner == nullptr && actors_[target].name == kNoName;
  FUZZ_CHECK(result == (fits ? JZX_OK : JZX_ERR_INVALID_ARG));
  if (fits) actors_[target].name = which;
}

void CallsModel::look_up(size_t which) {
  const Actor* owner = owner_of(which);
  if (owner != nullptr && !owner->is_sound()) return;
  jzx_actor_id found = 0;
  const jzx_err result = jzx_whereis(loop_, name_of(which).c_str(), &found);
  FUZZ_CHECK(result == (owner != nullptr ? JZX_OK : JZX_ERR_NO_SUCH_ACTOR));
  FUZZ_CHECK(found == (owner != nullptr ? owner->id : 0));
}

// ---- what the loop tells ----

jzx_behavior_result CallsModel::handle(Actor& self, const jzx_message& message) {
  if (message.tag >= JZX_TAG_SYS_BASE) return hear(self, message), JZX_BEHAVIOR_OK;
  const size_t index = index_of(message);
  const Message one = settle_message(message, Fate::handled);  // a copy: a forward adds to the list
  FUZZ_CHECK(one.target == index_of(self));
  FUZZ_CHECK(static_cast<uint32_t>(one.kind) == message.tag);
  FUZZ_CHECK(clock_.now_ns() >= one.due_ns);
  if (one.timer == 0 && one.sender == 0) {
    FUZZ_CHECK(index >= self.last_handled);
    self.last_handled = index;
  }
  if (one.kind == Kind::stop) return JZX_BEHAVIOR_STOP;
  if (one.kind == Kind::fail) return JZX_BEHAVIOR_FAIL;
  if (one.kind == Kind::forward) {
    const size_t target = index % actors_.size();
    void* data = note_message({.target = target, .sender = self.id});
    const jzx_err result = jzx_send(loop_, actors_[target].id, data, 1, 0);
    FUZZ_CHECK(result == JZX_OK || result == JZX_ERR_MAILBOX_FULL ||
               result == JZX_ERR_NO_SUCH_ACTOR);
    if (result != JZX_OK) messages_.back().fate = Fate::refused;
  }
  return JZX_BEHAVIOR_OK;
}

void CallsModel::hear(Actor& self, const jzx_message& message) {
  ++activity_;
  switch (message.tag) {
    case JZX_TAG_SYS_DOWN: {
      const auto& down = *static_cast<const jzx_down*>(message.data);
      const auto found = std::find_if(monitors_.begin(), monitors_.end(),
                                      [&](const Monitor& one) { return one.ref == down.ref; });
      FUZZ_CHECK(found != monitors_.end());
      FUZZ_CHECK(found->watcher == index_of(self) && found->target == down.actor);
      ++found->downs;
      return;
    }
    case JZX_TAG_SYS_EXIT:
      FUZZ_CHECK(self.traps);
      return self.exits.push_back(static_cast<const jzx_exit_signal*>(message.data)->from);
    case JZX_TAG_SYS_CHILD_EXIT:
      return self.child_exits.push_back(static_cast<const jzx_child_exit*>(message.data)->child);
    default:
      does_not_hold(__FILE__, __LINE__, "a system message is one that was asked for");
  }
}

void CallsModel::ended(jzx_actor_id id, int reason) {
  Actor& actor = actor_with(id);
  FUZZ_CHECK(actor.is_alive);
  actor.is_alive = false;
  actor.reason = reason;
  ++activity_;
}

// ---- a rest ----

// Who may end and who must, from what each was told and from its bonds, until nothing is new.
void CallsModel::predict() {
  for (Actor& one : actors_) {
    one.may_end = one.must_end = one.may_fail = one.must_fail = false;
    if (!one.is_alive) continue;
    bool stops = one.told_to_stop;
    bool fails = one.told_to_fail;
    for (size_t i = 0; i < one.queue.size() && !stops && !fails; ++i) {
      stops = messages_[one.queue[i]].kind == Kind::stop;
      fails = messages_[one.queue[i]].kind == Kind::fail;
    }
    one.may_end = one.must_end = stops || fails;
    one.may_fail = one.must_fail = fails;
  }
  const auto raise = [](bool& flag, bool to, bool& is_new) {
    is_new = is_new || (to && !flag);
    flag = flag || to;
  };
  for (bool is_new = true; is_new;) {
    is_new = false;
    const auto spread = [&](const Actor& from, Actor& to) {
      if (!to.is_alive || to.traps) return;
      raise(to.may_end, from.may_fail, is_new);
      raise(to.may_fail, from.may_fail, is_new);
    };
    for (const auto& [a, b] : links_) {
      spread(actors_[a], actors_[b]);
      spread(actors_[b], actors_[a]);
    }
    for (Actor& one : actors_) {
      if (!one.is_alive || one.boss == kMostActors) continue;
      raise(one.may_end, actors_[one.boss].may_end, is_new);
      raise(one.may_fail, actors_[one.boss].may_end, is_new);
    }
  }
  // One that a boss may take with it does not surely end by its own failure.
  for (Actor& one : actors_) {
    if (one.boss != kMostActors && actors_[one.boss].may_end) one.must_fail = false;
  }
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const auto& [a, b] : links_) {
      for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
        Actor& one = actors_[to];
        if (one.is_alive && !one.traps) raise(one.must_end, actors_[from].must_fail, is_new);
      }
    }
    for (Actor& one : actors_) {
      if (one.is_alive && one.boss != kMostActors) {
        raise(one.must_end, actors_[one.boss].must_end, is_new);
      }
    }
  }
}

void CallsModel::settle() {
  for (int quiet = 0; quiet < kQuietTicks; ++quiet) {
    const uint64_t before = activity_;
    FUZZ_CHECK(jzx_loop_run_once(loop_, 0) >= 0);
    if (activity_ != before) quiet = 0;
  }
}

void CallsModel::rest() {
  std::vector<bool> were_alive;
  for (const Actor& one : actors_) were_alive.push_back(one.is_alive);
  predict();
  settle();
  check_ends(were_alive);
  for (Actor& one : actors_) check_messages(one);
  for (const Message& one : messages_) {
    if (one.fate != Fate::queued) continue;
    FUZZ_CHECK(one.timer != 0 && actors_[one.target].is_alive);
    FUZZ_CHECK(clock_.now_ns() < one.due_ns + 2 * kMilli);
  }
  check_bonds();
  const core::Ledger ledger = capi::ledger(loop_);
  FUZZ_CHECK(ledger.balanced() && ledger.queued == 0);
}

void CallsModel::check_ends(const std::vector<bool>& were_alive) {
  for (size_t i = 0; i < actors_.size(); ++i) {
    const Actor& one = actors_[i];
    if (!were_alive[i]) continue;
    FUZZ_CHECK(one.is_alive ? !one.must_end : one.may_end);
    if (!one.is_alive && one.reason != JZX_EXIT_NORMAL) FUZZ_CHECK(one.may_fail);
  }
}

// What the driver had queued is handled in order, up to the end of the actor.
void CallsModel::check_messages(Actor& actor) {
  bool has_ended = actor.is_told();
  for (const size_t index : actor.queue) {
    const Message& one = messages_[index];
    if (one.fate == Fate::dead_lettered) has_ended = true;
    FUZZ_CHECK(one.fate == (has_ended ? Fate::dead_lettered : Fate::handled));
    if (one.kind == Kind::stop || one.kind == Kind::fail) has_ended = true;
  }
  FUZZ_CHECK(!has_ended || !actor.is_alive);
  actor.queue.clear();
  actor.told_to_stop = actor.told_to_fail = false;
}

void CallsModel::check_bonds() {
  std::erase_if(links_, [&](const std::pair<size_t, size_t>& pair) {
    const Actor& a = actors_[pair.first];
    const Actor& b = actors_[pair.second];
    const auto check = [](const Actor& survivor, const Actor& gone) {
      const auto told = std::count(survivor.exits.begin(), survivor.exits.end(), gone.id);
      FUZZ_CHECK(told == (survivor.traps ? 1 : 0));
      FUZZ_CHECK(survivor.traps || gone.reason == JZX_EXIT_NORMAL);
    };
    if (a.is_alive && !b.is_alive) check(a, b);
    if (b.is_alive && !a.is_alive) check(b, a);
    return !a.is_alive || !b.is_alive;
  });
  std::erase_if(monitors_, [&](const Monitor& one) {
    const bool is_over = !actor_with(one.target).is_alive;
    if (actors_[one.watcher].is_alive) FUZZ_CHECK(one.downs == (is_over ? 1 : 0));
    return is_over || !actors_[one.watcher].is_alive;
  });
  for (const Actor& one : actors_) {
    if (one.boss == kMostActors || !actors_[one.boss].is_alive) continue;
    const std::vector<jzx_actor_id>& told = actors_[one.boss].child_exits;
    FUZZ_CHECK(std::count(told.begin(), told.end(), one.id) == (one.is_alive ? 0 : 1));
  }
}

}  // namespace jzx::fuzz

#include "supervise/supervisor.hpp"

#include <algorithm>
#include <cstring>

#include "base/time/clock.hpp"
#include "core/send.hpp"

namespace jzx::supervise {

using core::ActorId;
using Phase = ChildSlot::Phase;

// ---- plans ----

Plan* Plan::create(const base::Allocator& allocator, size_t child_count) noexcept {
  auto* plan = allocator.create<Plan>();
  if (plan == nullptr) return nullptr;
  if (child_count > 0) {
    if (child_count > SIZE_MAX / sizeof(ChildSpec)) return allocator.destroy(plan), nullptr;
    plan->children = static_cast<ChildSpec*>(allocator.allocate(child_count * sizeof(ChildSpec)));
    if (plan->children == nullptr) return allocator.destroy(plan), nullptr;
    for (size_t i = 0; i < child_count; ++i) new (&plan->children[i]) ChildSpec;
  }
  plan->child_count = child_count;
  return plan;
}

void Plan::dispose(const base::Allocator& allocator) noexcept {
  for (size_t i = 0; i < child_count; ++i) children[i].dispose(allocator);
  allocator.release(children);
  allocator.destroy(this);
}

// ---- slots ----

ChildSlot::ChildSlot(Supervisor& supervisor, ChildSpec& the_spec, uint32_t the_index) noexcept
    : Timer([](base::Timer& timer, base::Executor& executor) {
        Supervisor::timer_fired(static_cast<ChildSlot&>(timer), static_cast<core::Host&>(executor));
      }),
      owner(supervisor),
      spec(the_spec),
      index(the_index) {}

ChildSlot* Supervisor::make_slot(ChildSpec& spec) noexcept {
  const base::Allocator& allocator = system_.allocator;
  if (slot_count_ == slot_capacity_) {
    const uint32_t capacity = slot_capacity_ == 0 ? 4 : slot_capacity_ * 2;
    auto** slots = static_cast<ChildSlot**>(allocator.allocate(capacity * sizeof(ChildSlot*)));
    if (slots == nullptr) return nullptr;
    std::copy_n(slots_, slot_count_, slots);
    allocator.release(slots_);
    slots_ = slots;
    slot_capacity_ = capacity;
  }
  // Over-aligned as an envelope is; the slab knows how to.
  void* memory = slot_memory_.take();
  if (memory == nullptr) return nullptr;
  auto* slot = new (memory) ChildSlot(*this, spec, slot_count_);
  slots_[slot_count_++] = slot;
  return slot;
}

void Supervisor::drop_slot(ChildSlot& slot) noexcept {
  disarm(slot);
  if (is_grouped()) {  // the order of the others matters
    for (uint32_t i = slot.index; i + 1 < slot_count_; ++i) {
      slots_[i] = slots_[i + 1];
      slots_[i]->index = i;
    }
  } else {
    slots_[slot.index] = slots_[slot_count_ - 1];
    slots_[slot.index]->index = slot.index;
  }
  --slot_count_;
  if (group_from_ != kNoGroup && slot.index < group_from_) --group_from_;
  if (slot.is_dynamic) {
    ChildSpec& spec = slot.spec;
    spec.dispose(system_.allocator);
    system_.allocator.destroy(&spec);
  }
  slot.is_dropped = true;
  if (slot.is_queued.load(std::memory_order_relaxed)) {  // no timer is under way any more
    slot.make_void();
  } else {
    free_slot(slot);
  }
}

void Supervisor::free_slot(ChildSlot& slot) noexcept {
  slot.~ChildSlot();
  slot_memory_.give(&slot);
}

void Supervisor::restart_notice_done(core::Notice& notice, core::Host& host) {
  auto& slot = static_cast<ChildSlot&>(notice);
  Visit visit(slot.owner, host);
  if (slot.is_dropped) slot.owner.free_slot(slot);
}

// ---- visits and the end ----

Supervisor::Visit::Visit(Supervisor& supervisor, core::Host& host) noexcept
    : supervisor_(supervisor) {
  if (supervisor_.system_.is_shared) supervisor_.mutex_.lock();
  outer_ = std::exchange(supervisor_.host_, &host);
}

Supervisor::Visit::~Visit() {
  supervisor_.host_ = outer_;
  if (supervisor_.system_.is_shared) supervisor_.mutex_.unlock();
}

void Supervisor::release() noexcept {
  // release: what this visitor did is done; acquire: the last one sees all of it.
  if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) system_.allocator.destroy(this);
}

void Supervisor::end(core::Host& host, core::Actor& actor) noexcept {
  {
    Visit visit(*this, host);
    has_ended_ = true;
    for (uint32_t i = 0; i < slot_count_; ++i) disarm(*slots_[i]);
    // A timer may have fired after the mailbox was drained; none will now.
    core::drain_mailbox(host, actor, DeadLetterReason::target_gone);
    drop_everything();
  }
  release();
}

void Supervisor::drop_everything() noexcept {
  while (slot_count_ > 0) {
    ChildSlot& last = *slots_[slot_count_ - 1];
    last.is_queued.store(false, std::memory_order_relaxed);  // the mailbox was drained
    drop_slot(last);
  }
}

Supervisor::Supervisor(core::System& system, const Plan& plan, bool owns_plan) noexcept
    : system_(system),
      plan_(&plan),
      owns_plan_(owns_plan),
      slot_memory_(system.allocator, sizeof(ChildSlot), alignof(ChildSlot), 4),
      window_(system.allocator, plan.supervisor.intensity,
              plan.supervisor.period_ms * base::kNanosPerMilli) {}

Supervisor::~Supervisor() {
  drop_everything();
  system_.allocator.release(slots_);
  if (owns_plan_) const_cast<Plan*>(plan_)->dispose(system_.allocator);
}

// Afterwards its timer neither fires nor is firing.
void Supervisor::disarm(ChildSlot& slot) noexcept {
  if (slot.armed_with == nullptr) return;
  (void)slot.armed_with->disarm(slot);  // false: it has fired, and the message is on its way
  slot.armed_with = nullptr;
  slot.is_ticking.store(false, std::memory_order_relaxed);  // nobody else writes it now
}

// ---- starting ----

Errc Supervisor::start_all(ActorId self) noexcept {
  self_ = self;
  for (size_t i = 0; i < plan_->child_count; ++i) {
    ChildSlot* slot = make_slot(plan_->children[i]);
    if (slot == nullptr) return Errc::no_memory;
    const Errc started = start_child(*slot);
    if (started != Errc::ok) return started;
  }
  return Errc::ok;
}

Errc Supervisor::start_child(ChildSlot& slot) noexcept {
  // One that starts others may fail half-way.
  if (!slot.spec.factory->makes_supervisors()) return start_one(slot);
  host_->hold_back();
  const Errc result = start_one(slot);
  host_->let_go();
  return result;
}

Errc Supervisor::start_one(ChildSlot& slot) noexcept {
  slot.phase = Phase::down;
  core::SpawnOptions options;
  options.parent = self_;
  options.child_mark = &slot;
  options.label = slot.spec.name;
  options.mailbox_cap = slot.spec.mailbox_cap;
  options.high_water = slot.spec.high_water;
  options.priority = slot.spec.priority;
  options.home = slot.spec.home = core::settle_home(*host_, slot.spec.home);
  options.overload = slot.spec.overload;
  options.stop_within_ms = slot.spec.stop_within_ms;
  if (const Errc made = slot.spec.factory->make(*host_, options); made != Errc::ok) return made;
  ActorId id = core::kNobody;
  if (const Errc spawned = core::spawn(*host_, options, id); spawned != Errc::ok) {
    slot.spec.factory->unmake(*host_, options);
    return spawned;
  }
  if (const Errc done = slot.spec.factory->after_spawn(*host_, id); done != Errc::ok) {
    core::abort_start(*host_, id);
    return done;
  }
  slot.id = slot.last_id = id;
  slot.phase = Phase::running;
  slot.started_ns = host_->now_ns();
  return Errc::ok;
}

void Supervisor::tell_restarted(ChildSlot& slot) noexcept {
  ++slot.attempts;
  if (Observer* observer = system_.observer()) {
    observer->actor_restarted(self_, slot.id, slot.attempts);
  }
}

// ---- ending ----

bool Supervisor::comes_back(const ChildSlot& slot, ExitReason reason) const noexcept {
  if (slot.is_unwanted) return false;
  switch (slot.spec.mode) {
    case ChildMode::permanent:
      return true;
    case ChildMode::transient:
      return reason != ExitReason::normal;
    case ChildMode::temporary:
      return false;
  }
  return false;
}

bool Supervisor::child_ended(ChildSlot& slot, ExitReason reason) noexcept {
  const bool was_stopped_by_us = slot.phase == Phase::stopping;
  slot.id = core::kNobody;
  // Who was stopped as one of a group comes back with it, unless it is temporary.
  const bool back = was_stopped_by_us ? !slot.is_unwanted && slot.spec.mode != ChildMode::temporary
                                      : comes_back(slot, reason);
  slot.phase = back ? Phase::down : Phase::ended;
  const bool in_group = group_from_ != kNoGroup && slot.index >= group_from_;
  if (!back && slot.is_dynamic) drop_slot(slot);
  if (in_group) return continue_group_stop();
  return !back || child_failed(slot, reason != ExitReason::normal, false);
}

uint32_t Supervisor::delay_for(ChildSlot& slot, bool abnormal) noexcept {
  if (!abnormal || !slot.spec.has_backoff) return 0;
  return slot.backoff.next_delay_ms(slot.spec.backoff, *host_);
}

bool Supervisor::child_failed(ChildSlot& slot, bool abnormal, bool is_retry) noexcept {
  if (is_retry) ++refused_starts_;
  const uint64_t now_ns = host_->now_ns();
  // Too much already: escalate now, without waiting out a backoff. Restarts are counted when they
  // happen, which a backoff may put off, so that is looked at again then.
  if (window_.is_full(now_ns)) return false;
  if (!is_retry && now_ns - slot.started_ns >= plan_->supervisor.period_ms * base::kNanosPerMilli) {
    slot.backoff.reset();
  }
  const uint32_t delay_ms = delay_for(slot, abnormal);
  if (!is_grouped()) {
    // A retry always goes through the mailbox, so that others get their turns in between.
    if (delay_ms == 0 && !is_retry) return restart_one(slot);
    restart_later(slot, delay_ms);
    return true;
  }
  const uint32_t from = plan_->supervisor.strategy == Strategy::one_for_all ? 0 : slot.index;
  // A group may be waiting already for one that failed before this one.
  if (group_leader_ != nullptr && group_leader_->phase == Phase::waiting) {
    disarm(*group_leader_);
    group_leader_->phase = Phase::down;
  }
  group_from_ = std::min(group_from_, from);
  group_leader_ = &slot;
  group_delay_ms_ = delay_ms;
  group_is_retry_ = is_retry;
  return continue_group_stop();
}

// ---- restarting ----

void Supervisor::restart_later(ChildSlot& slot, uint32_t delay_ms) noexcept {
  slot.phase = Phase::waiting;
  slot.address(core::SystemTag::child_restart, self_, &slot.index, sizeof slot.index,
               &Supervisor::restart_notice_done);
  if (delay_ms == 0) return send_restart(slot, *host_);
  slot.armed_with = &host_->timer_home();
  slot.is_ticking.store(true, std::memory_order_relaxed);  // published by arm()
  slot.armed_with->arm(slot, delay_ms);
}

// The supervisor is there: it does not end before its timers are disarmed.
void Supervisor::timer_fired(ChildSlot& slot, core::Host& host) noexcept {
  // seq_cst, and before the look at is_queued in send_restart(): either an older message is still
  // to be taken, and finds the time is up, or it has been taken, and this one is sent. Pairs with
  // restart_due().
  slot.is_ticking.store(false, std::memory_order_seq_cst);
  send_restart(slot, host);
}

void Supervisor::send_restart(ChildSlot& slot, core::Host& host) noexcept {
  // seq_cst: see timer_fired(). An older one, not needed any more, will do.
  if (slot.is_queued.exchange(true, std::memory_order_seq_cst)) return;
  core::send_notice(host, *host.system.actors.find(slot.sender), slot);
}

bool Supervisor::restart_due(ChildSlot& slot) noexcept {
  // seq_cst, both: see timer_fired().
  slot.is_queued.store(false, std::memory_order_seq_cst);
  // Something else happened to it meanwhile, or it waits anew.
  if (slot.phase != Phase::waiting || slot.is_ticking.load(std::memory_order_seq_cst)) return true;
  disarm(slot);  // it has fired, but may not have returned yet
  slot.phase = Phase::down;
  if (group_from_ == kNoGroup) return restart_one(slot);
  // A group that grew after this message was sent is led by someone else.
  return group_leader_ != &slot || start_group();
}

bool Supervisor::restart_one(ChildSlot& slot) noexcept {
  if (!window_.allow(host_->now_ns())) return false;
  if (start_child(slot) != Errc::ok) return child_failed(slot, true, true);
  tell_restarted(slot);
  return true;
}

// ---- groups ----

// The youngest first, and each only when the one before is gone: called again for every end.
bool Supervisor::continue_group_stop() noexcept {
  for (uint32_t i = slot_count_; i-- > group_from_;) {
    ChildSlot& slot = *slots_[i];
    if (slot.phase == Phase::stopping) return true;
    if (slot.phase != Phase::running) continue;
    // no_such_actor: it is ending by itself, for its own reason, and we shall hear of that.
    if (ok(core::stop_child(*host_, slot.id))) slot.phase = Phase::stopping;
    return true;
  }
  if (group_leader_->phase == Phase::waiting) return true;
  if (group_delay_ms_ == 0 && !group_is_retry_) return start_group();
  restart_later(*group_leader_, group_delay_ms_);
  return true;
}

bool Supervisor::start_group() noexcept {
  if (!window_.allow(host_->now_ns())) return false;
  const uint32_t from = std::exchange(group_from_, kNoGroup);
  group_leader_ = nullptr;
  for (uint32_t i = from; i < slot_count_; ++i) {
    ChildSlot& slot = *slots_[i];
    if (slot.phase != Phase::down) continue;
    if (slot.is_unwanted) {  // removed while the group waited
      slot.phase = Phase::ended;
      if (slot.is_dynamic) drop_slot(*slots_[i--]);
      continue;
    }
    if (start_child(slot) != Errc::ok) return child_failed(slot, true, true);
    tell_restarted(slot);
  }
  return true;
}

// ---- dynamic children ----

Errc Supervisor::add_child(ChildSpec& spec, ActorId& out) noexcept {
  ChildSlot* slot = make_slot(spec);
  if (slot == nullptr) return Errc::no_memory;
  if (const Errc started = start_child(*slot); started != Errc::ok) {
    drop_slot(*slot);  // not dynamic yet: the spec stays the caller's
    return started;
  }
  slot->is_dynamic = true;
  out = slot->id;
  return Errc::ok;
}

Errc Supervisor::remove_child(ActorId child) noexcept {
  if (is_child(child)) {
    (void)core::stop_child(*host_, child);  // else it ends already
    return Errc::ok;
  }
  // It may be down, waiting to be started again.
  ChildSlot* slot = slot_last_run_by(child);
  if (slot == nullptr) return Errc::no_such_actor;
  slot->is_unwanted = true;
  if (slot == group_leader_) return Errc::ok;  // the group still waits by its timer
  disarm(*slot);
  slot->phase = Phase::ended;
  if (slot->is_dynamic) drop_slot(*slot);
  return Errc::ok;
}

// A live child of ours, with a spec or without. It will not come back.
bool Supervisor::is_child(ActorId id) noexcept {
  core::Actor* actor = system_.actors.find(id);
  if (actor == nullptr) return false;
  core::Bonds hold(system_.is_shared, *actor);
  if (!system_.is_live(*actor, id) || actor->child == nullptr) return false;
  if (actor->child->parent->id() != self_) return false;
  if (auto* slot = static_cast<ChildSlot*>(actor->child->mark)) slot->is_unwanted = true;
  return true;
}

ChildSlot* Supervisor::slot_last_run_by(ActorId child) noexcept {
  for (uint32_t i = 0; i < slot_count_; ++i) {
    const Phase phase = slots_[i]->phase;
    const bool is_down = phase == Phase::down || phase == Phase::waiting;
    if (is_down && slots_[i]->last_id == child) return slots_[i];
  }
  return nullptr;
}

ChildCounts Supervisor::count() const noexcept {
  ChildCounts counts;
  counts.specs = slot_count_;
  for (uint32_t i = 0; i < slot_count_; ++i) {
    if (system_.find_open(slots_[i]->id) == nullptr) continue;
    ++counts.active;
    if (slots_[i]->spec.factory->makes_supervisors()) ++counts.supervisors;
  }
  return counts;
}

}  // namespace jzx::supervise

#include "model/execution.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace jzx::base::model {

namespace {

Execution* the_execution = nullptr;

// An assertion of the library ends the process; say first how it came to that.
void print_trace_on_abort(int) {
  if (the_execution == nullptr) return;
  Execution* execution = std::exchange(the_execution, nullptr);
  std::fprintf(stderr, "in this execution:\n%s", execution->trace().c_str());
  std::fflush(stderr);
}

}  // namespace

Execution* current_execution() noexcept { return the_execution; }

Execution::Execution(uint32_t preemption_bound, uint32_t max_steps)
    : preemption_bound_(preemption_bound), max_steps_(max_steps) {
  for (uint32_t i = 0; i < kMaxThreads; ++i) {
    threads_[i].number = i;
    threads_[i].stack.reset(new char[kStackSize]);
  }
  std::signal(SIGABRT, &print_trace_on_abort);
}

Execution::~Execution() { std::signal(SIGABRT, SIG_DFL); }

// ---- runs ----

bool Execution::run(const std::function<void()>& body) {
  memory_.clear();
  steps_.clear();
  thread_count_ = 0;
  preemptions_ = 0;
  operations_ = 0;
  stores_ = 0;
  refuses_barriers_ = false;
  prepare(threads_[thread_count_++], body);
  the_execution = this;
  current_ = &outside_;
  switch_to(threads_[0]);
  the_execution = nullptr;
  return !has_failed_;
}

void Execution::prepare(Thread& thread, std::function<void()> body) {
  thread.body = std::move(body);
  thread.state = State::ready;
  thread.just_resumed = true;
  thread.is_stuck = false;
  thread.own_stores = 0;
  thread.others_stores = stores_;
  thread.looked_at.clear();
  thread.context = boost::context::detail::make_fcontext(thread.stack.get() + kStackSize,
                                                         kStackSize, &Execution::entry);
}

// Each jump hands over the thread that leaves, so that its context can be kept.
void Execution::entry(Transfer transfer) {
  static_cast<Thread*>(transfer.data)->context = transfer.fctx;
  Execution& self = *the_execution;
  Thread& thread = *self.current_;
  thread.body();
  thread.state = State::finished;
  if (thread.number == 0) self.switch_to(self.outside_);
  self.give_up_turn();
}

void Execution::switch_to(Thread& next) {
  Thread& leaving = *current_;
  current_ = &next;
  const Transfer back = boost::context::detail::jump_fcontext(next.context, &leaving);
  static_cast<Thread*>(back.data)->context = back.fctx;
}

void Execution::fail(std::string message) {
  has_failed_ = true;
  message_ = std::move(message);
  switch_to(outside_);
  std::abort();  // nobody comes back here
}

void Execution::say(const char* words) {
  Step step;
  step.thread = current_->number;
  step.name = words;
  steps_.push_back(step);
}

// ---- threads ----

void Execution::start_thread(std::function<void()> body) {
  if (thread_count_ == kMaxThreads) fail("more threads than the model has");
  memory_.tick(0);
  Thread& thread = threads_[thread_count_++];
  memory_.clock(thread.number) = memory_.clock(0);
  prepare(thread, std::move(body));
}

void Execution::join_threads() {
  current_->state = State::joining;
  give_up_turn();
  for (uint32_t i = 1; i < thread_count_; ++i) memory_.clock(0).join(memory_.clock(i));
}

bool Execution::can_run(const Thread& thread) const noexcept {
  switch (thread.state) {
    case State::ready:
      return true;
    case State::spinning:
      return stores_of_others(thread) != thread.others_stores;
    case State::waiting:
      return thread.token->is_set;
    case State::joining:
    case State::finished:
      return false;
  }
  return false;
}

void Execution::collect_ready(const Thread* except) {
  ready_.clear();
  for (uint32_t i = 0; i < thread_count_; ++i) {
    if (&threads_[i] != except && can_run(threads_[i])) ready_.push_back(&threads_[i]);
  }
}

void Execution::give_up_turn() {
  collect_ready(nullptr);
  if (ready_.empty()) {
    release_the_stuck();
    collect_ready(nullptr);
  }
  if (ready_.empty()) fail("deadlock: " + who_waits_for_what());
  Thread& next = *ready_[choices_.pick(static_cast<uint32_t>(ready_.size()))];
  next.just_resumed = next.state == State::spinning || next.just_resumed;
  next.state = State::ready;
  if (&next != current_) switch_to(next);
}

void Execution::release_the_stuck() {
  bool all_finished = true;
  for (uint32_t i = 1; i < thread_count_; ++i) {
    Thread& thread = threads_[i];
    all_finished = all_finished && thread.state == State::finished;
    if (thread.state != State::waiting) continue;
    thread.is_stuck = true;
    thread.state = State::ready;
  }
  if (all_finished && threads_[0].state == State::joining) threads_[0].state = State::ready;
}

std::string Execution::who_waits_for_what() const {
  std::string text;
  for (uint32_t i = 1; i < thread_count_; ++i) {
    if (threads_[i].state != State::spinning) continue;
    text += "thread " + std::to_string(i) + " waits for a store that nobody is left to make; ";
  }
  return text;
}

void Execution::yield() {
  Thread& self = *current_;
  // What the loop looked at is seen as it is now from here on: stores become visible in the end. If
  // others have stored something since the last time, the loop may find its end. Else it waits.
  const uint64_t others_stores = stores_of_others(self);
  bool looks_again = std::exchange(self.others_stores, others_stores) != others_stores;
  for (Cell* cell : self.looked_at) {
    if (memory_.refresh(self.number, *cell)) looks_again = true;
  }
  self.looked_at.clear();
  if (looks_again) return;
  say("waits");
  self.state = State::spinning;
  give_up_turn();
}

bool Execution::heavy_barrier() {
  begin_operation();
  say(refuses_barriers_ ? "heavy barrier, refused" : "heavy barrier");
  if (!refuses_barriers_) memory_.heavy_barrier(current_->number);
  return !refuses_barriers_;
}

// No place to switch: whoever comes in between comes before the store or before the load.
void Execution::light_barrier() { memory_.light_barrier(current_->number); }

void Execution::set_token(Token& token) {
  begin_operation();
  say("wakes");
  token.is_set = true;
  if (token.orders) token.clock.join(memory_.clock(current_->number));
  note_store();
}

bool Execution::wait_for_token(Token& token) {
  begin_operation();
  Thread& self = *current_;
  if (!token.is_set) {
    say("sleeps");
    self.state = State::waiting;
    self.token = &token;
    self.is_stuck = false;
    give_up_turn();
    self.just_resumed = false;
    if (self.is_stuck) return false;
  }
  say("is woken");
  token.is_set = false;
  memory_.clock(self.number).join(token.clock);
  return true;
}

// ---- operations ----

void Execution::begin_operation() {
  Thread& self = *current_;
  if (++operations_ > max_steps_) fail("no end after the largest number of steps: a livelock?");
  if (!std::exchange(self.just_resumed, false) && preemptions_ < preemption_bound_) {
    collect_ready(&self);
    const uint32_t choice = choices_.pick(static_cast<uint32_t>(ready_.size()) + 1);
    if (choice > 0) {
      ++preemptions_;
      Thread& next = *ready_[choice - 1];
      next.just_resumed = next.state == State::spinning || next.just_resumed;
      next.state = State::ready;
      switch_to(next);
    }
  }
  memory_.tick(self.number);
}

void Execution::create(const void* at, bool is_atomic, uint64_t value) noexcept {
  memory_.tick(current_->number);
  memory_.create(current_->number, at, is_atomic, value);
}

void Execution::destroy(const void* at) noexcept {
  Cell* cell = memory_.find(at);
  if (cell == nullptr) return;
  const uint32_t other = memory_.conflicting(current_->number, *cell, false);
  if (other != Memory::kNobody) {
    fail("a shared word is destroyed by thread " + std::to_string(current_->number) +
         " while thread " + std::to_string(other) + " may still use it");
  }
  cell->is_alive = false;
}

Cell& Execution::atomic_cell(const Access& access, uint64_t initial) {
  Cell* cell = memory_.find(access.at);
  if (cell == nullptr) {
    // Made outside the run: older than everything.
    cell = &memory_.create(0, access.at, true, initial);
    cell->born = Stamp{};
    cell->last_write = Stamp{};
  }
  if (!cell->is_alive) fail(std::string(access.name) + " of an atomic that was destroyed");
  if (!memory_.clock(current_->number).covers(cell->born)) {
    note(access, Step::Kind::load, *cell);
    fail("an atomic is used by thread " + std::to_string(current_->number) +
         ", before which its construction by thread " + std::to_string(cell->born.thread) +
         " did not happen");
  }
  return *cell;
}

Step& Execution::note(const Access& access, Step::Kind kind, const Cell& cell) {
  Step step;
  step.thread = current_->number;
  step.kind = kind;
  step.look = access.look;
  step.order = access.order;
  step.cell = cell.number;
  step.name = access.name;
  step.where = access.where;
  steps_.push_back(step);
  return steps_.back();
}

// A load that chose this store.
uint64_t Execution::read(Cell& cell, uint32_t index, std::memory_order order) {
  Thread& self = *current_;
  self.looked_at.push_back(&cell);
  return memory_.read(self.number, cell, index, order);
}

void Execution::note_store() {
  ++current_->own_stores;
  ++stores_;
}

uint64_t Execution::load(const Access& access, uint64_t initial) {
  begin_operation();
  Cell& cell = atomic_cell(access, initial);
  memory_.candidates(current_->number, cell, access.order, candidates_);
  const uint32_t index = candidates_[choices_.pick(static_cast<uint32_t>(candidates_.size()))];
  Step& step = note(access, Step::Kind::load, cell);
  step.stores_behind = cell.newest() - index;
  step.before = read(cell, index, access.order);
  return step.before;
}

void Execution::store(const Access& access, uint64_t initial, uint64_t value) {
  begin_operation();
  Cell& cell = atomic_cell(access, initial);
  memory_.write(current_->number, cell, value, access.order, false);
  note(access, Step::Kind::store, cell).after = value;
  note_store();
}

uint64_t Execution::begin_modify(const Access& access, uint64_t initial) {
  begin_operation();
  Cell& cell = atomic_cell(access, initial);
  const uint64_t before = memory_.read(current_->number, cell, cell.newest(), access.order);
  note(access, Step::Kind::modify, cell).before = before;
  return before;
}

void Execution::end_modify(const Access& access, uint64_t value) {
  memory_.write(current_->number, *memory_.find(access.at), value, access.order, true);
  steps_.back().after = value;
  note_store();
}

bool Execution::compare_exchange(const Access& access, uint64_t initial, uint64_t& expected,
                                 uint64_t desired, std::memory_order failure) {
  begin_operation();
  Thread& self = *current_;
  Cell& cell = atomic_cell(access, initial);
  // It succeeds on the newest store, or reads, as a load would, a store that differs.
  memory_.candidates(self.number, cell, failure, candidates_);
  std::erase_if(candidates_, [&](uint32_t index) { return cell.stores[index].value == expected; });
  const bool may_succeed = cell.stores.back().value == expected;
  const auto ways = static_cast<uint32_t>(candidates_.size()) + (may_succeed ? 1 : 0);
  uint32_t choice = choices_.pick(ways);
  if (may_succeed && choice-- == 0) {
    memory_.read(self.number, cell, cell.newest(), access.order);
    memory_.write(self.number, cell, desired, access.order, true);
    Step& step = note(access, Step::Kind::modify, cell);
    step.before = expected;
    step.after = desired;
    note_store();
    return true;
  }
  const uint32_t index = candidates_[choice];
  Step& step = note(access, Step::Kind::failed_exchange, cell);
  step.order = failure;
  step.stores_behind = cell.newest() - index;
  step.before = expected = read(cell, index, failure);
  return false;
}

void Execution::plain(const void* at, bool is_write) {
  const uint32_t self = current_->number;
  memory_.tick(self);
  Cell* cell = memory_.find(at);
  if (cell == nullptr) {
    cell = &memory_.create(0, at, false, 0);
    cell->born = cell->last_write = Stamp{};
    cell->last_access[0] = 0;
  }
  const char* what = is_write ? "is written" : "is read";
  Step step;
  step.thread = self;
  step.kind = Step::Kind::plain;
  step.cell = cell->number;
  step.name = what;
  steps_.push_back(step);
  if (!cell->is_alive) fail("a plain word is used after it was destroyed");
  const uint32_t other = memory_.conflicting(self, *cell, !is_write);
  if (other != Memory::kNobody) {
    fail("data race: the plain word p" + std::to_string(cell->number + 1) + " " + what +
         " by thread " + std::to_string(self) + ", unordered with an access by thread " +
         std::to_string(other));
  }
  memory_.note_plain(self, *cell, is_write);
}

// ---- what atomic.hpp calls ----

bool is_running() noexcept { return the_execution != nullptr; }

void atomic_created(const void* at, uint64_t value) noexcept {
  the_execution->create(at, true, value);
}
void atomic_destroyed(const void* at) noexcept { the_execution->destroy(at); }
uint64_t atomic_load(const Access& access, uint64_t initial) noexcept {
  return the_execution->load(access, initial);
}
void atomic_store(const Access& access, uint64_t initial, uint64_t value) noexcept {
  the_execution->store(access, initial, value);
}
uint64_t begin_modify(const Access& access, uint64_t initial) noexcept {
  return the_execution->begin_modify(access, initial);
}
void end_modify(const Access& access, uint64_t value) noexcept {
  the_execution->end_modify(access, value);
}
bool compare_exchange(const Access& access, uint64_t initial, uint64_t& expected, uint64_t desired,
                      std::memory_order failure) noexcept {
  return the_execution->compare_exchange(access, initial, expected, desired, failure);
}

void plain_created(const void* at) noexcept { the_execution->create(at, false, 0); }
void plain_destroyed(const void* at) noexcept { the_execution->destroy(at); }
void plain_read(const void* at) noexcept { the_execution->plain(at, false); }
void plain_written(const void* at) noexcept { the_execution->plain(at, true); }

void yield() noexcept {
  if (the_execution != nullptr) the_execution->yield();
}
void light_barrier() noexcept {
  if (the_execution != nullptr) the_execution->light_barrier();
}
bool heavy_barrier() noexcept { return the_execution == nullptr || the_execution->heavy_barrier(); }

}  // namespace jzx::base::model

#include "drivers/sim/world/sim_reactor.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace jzx::drivers::sim {

using io::Opcode;
using io::Operation;
using io::Submitted;

namespace {

bool may_wait(Opcode opcode) noexcept {
  switch (opcode) {
    case Opcode::accept:
    case Opcode::connect:
    case Opcode::read:
    case Opcode::write:
    case Opcode::read_vector:
    case Opcode::write_vector:
    case Opcode::receive_from:
    case Opcode::send_to:
    case Opcode::next_signal:
      return true;
    default:
      return false;
  }
}

}  // namespace

SimReactor::SimReactor(Network& network, NodeId node, Disk& disk)
    : network_(network), disk_(disk), node_(node) {
  network_.move_in(node_, *this);
}

SimReactor::~SimReactor() {
  if (has_crashed_) return;
  network_.move_out(node_);
  for (const auto& [number, timed] : timed_) network_.events().cancel(timed.ticket);
  for (Slot& slot : slots_) {
    if (slot.device == nullptr) continue;
    slot.device->take_away();
    slot.device->close();
  }
}

// The machine is gone, and all that was under way there; what it was about to write may be there.
void SimReactor::vanish() {
  has_crashed_ = true;
  // All that is pending can be cancelled, and nothing else happens to it: also to those that had
  // ended, but were not told.
  const auto forget = [](Operation& operation) { operation.state = Operation::State::queued; };
  for (const auto& [number, timed] : timed_) {
    network_.events().cancel(timed.ticket);
    if (timed.device != nullptr) timed.device->interrupt(*timed.operation);
    forget(*timed.operation);
  }
  timed_.clear();
  for (Operation* operation : finished_) forget(*operation);
  finished_.clear();
  for (Slot& slot : slots_) {
    for (Operation* operation : slot.waiting) {
      if (operation != nullptr) forget(*operation);
    }
    if (slot.device == nullptr) continue;
    slot.device->take_away();
    slot.device->vanish();
  }
  slots_.clear();
  free_.clear();
  changed_.clear();
  disk_.crash();
}

// ---- operations ----

Submitted SimReactor::submit(Operation& operation) {
  if (operation.opcode > Opcode::next_signal) return done(operation, -ENOSYS);
  if (has_crashed_) return done(operation, operation.opcode == Opcode::close ? 0 : -ENETDOWN);
  switch (operation.opcode) {
    case Opcode::socket:
      return done(operation, make_socket(operation));
    case Opcode::socket_pair:
    case Opcode::pipe:
      return done(operation, make_two(operation));
    case Opcode::open_signal:
      return done(operation, open_signal(operation.value));
    case Opcode::adopt:
      return done(operation, -EBADF);
    case Opcode::spawn:
      return done(operation, -ENOSYS);
    case Opcode::open:
    case Opcode::remove:
      return start_timed(operation, nullptr, disk_.latency());
    case Opcode::resolve:
      return start_timed(
          operation, nullptr,
          network_.choices().between(network_.faults.least_resolve_ns,
                                     network_.faults.most_resolve_ns, ChoiceSite::network));
    default:
      break;
  }
  Slot* slot = slot_of(operation.handle);
  if (slot == nullptr) return done(operation, -EBADF);
  return submit_on(*slot, operation);
}

Submitted SimReactor::submit_on(Slot& slot, Operation& operation) {
  switch (operation.opcode) {
    case Opcode::close:
      return close(operation);
    case Opcode::process_id:
    case Opcode::kill:
    case Opcode::wait_exit:
      return done(operation, -EINVAL);  // no handle is a process
    default:
      break;
  }
  const uint64_t delay_ns = slot.device->time_for(operation);
  if (delay_ns != kTakesNoTime) return start_timed(operation, slot.device, delay_ns);
  if (may_wait(operation.opcode)) return start_waiting(slot, operation);
  return done(operation, slot.device->perform(operation));
}

SimReactor::Wait SimReactor::wait_of(Opcode opcode) noexcept {
  switch (opcode) {
    case Opcode::write:
    case Opcode::write_vector:
    case Opcode::send_to:
    case Opcode::connect:
      return kWriting;
    default:
      return kReading;
  }
}

Submitted SimReactor::start_waiting(Slot& slot, Operation& operation) {
  Operation*& place = slot.waiting[wait_of(operation.opcode)];
  if (place != nullptr) return done(operation, -EBUSY);
  operation.is_under_way = false;
  const NetworkFaults& faults = network_.faults;
  if (network_.chance(faults.not_ready_per_million)) {
    network_.events().after(faults.not_ready_ns, [device = std::weak_ptr<Device>(slot.device)] {
      if (const auto alive = device.lock()) alive->changed();
    });
  } else {
    // By a copy: an accept makes a handle, and slots may move.
    const std::shared_ptr<Device> device = slot.device;
    const int64_t result = device->perform(operation);
    if (result != kNotReady) return done(operation, result);
  }
  place = &operation;
  begin(operation, Operation::State::waiting);
  return Submitted::pending;
}

Submitted SimReactor::start_timed(Operation& operation, std::shared_ptr<Device> device,
                                  uint64_t delay_ns) {
  const uint64_t number = ++last_timed_;
  const Events::Ticket ticket =
      network_.events().after(delay_ns, [this, number] { time_is_over(number); });
  timed_.emplace(number, Timed{&operation, std::move(device), ticket});
  operation.note = reinterpret_cast<void*>(static_cast<uintptr_t>(number));
  begin(operation, Operation::State::queued);
  return Submitted::pending;
}

void SimReactor::time_is_over(uint64_t number) {
  const auto node = timed_.extract(number);
  JZX_ASSERT(!node.empty());
  const Timed& timed = node.mapped();
  Operation& operation = *timed.operation;
  const int64_t result = timed.device != nullptr ? timed.device->perform(operation)
                                                 : perform_without_handle(operation);
  finish(operation, result);
}

void SimReactor::cancel(Operation& operation) {
  int64_t result = -ECANCELED;
  if (operation.state == Operation::State::waiting) {
    slot_of(operation.handle)->waiting[wait_of(operation.opcode)] = nullptr;
  } else if (operation.state != Operation::State::queued) {
    return;
  } else if (!has_crashed_) {
    const auto node = timed_.extract(reinterpret_cast<uintptr_t>(operation.note));
    JZX_ASSERT(!node.empty());
    network_.events().cancel(node.mapped().ticket);
    Device* device = node.mapped().device.get();
    const bool is_too_late =
        device != nullptr && disk_.chance(disk_.faults.late_cancel_per_million);
    if (is_too_late) result = device->perform(operation);
  }
  finish(operation, result);
}

// ---- handles ----

SimReactor::Slot* SimReactor::slot_of(io::Handle handle) noexcept {
  const bool is_there = handle.value >= 0 && static_cast<uint64_t>(handle.value) < slots_.size();
  if (!is_there) return nullptr;
  Slot& slot = slots_[static_cast<size_t>(handle.value)];
  return slot.device != nullptr ? &slot : nullptr;
}

bool SimReactor::has_room(size_t handles) const noexcept {
  return handle_count() + handles <= network_.most_handles(node_);
}

int64_t SimReactor::add(std::shared_ptr<Device> device) {
  if (!has_room(1)) return -EMFILE;
  if (free_.empty()) {
    free_.insert(static_cast<uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const uint32_t index = *free_.begin();  // the lowest, as a kernel does
  free_.erase(free_.begin());
  device->put_behind(*this, index);
  slots_[index].device = std::move(device);
  return index;
}

bool SimReactor::cancel_timed_of(const Device& device) {
  std::vector<Operation*> ending;
  for (const auto& [number, timed] : timed_) {
    if (timed.device.get() == &device) ending.push_back(timed.operation);
  }
  for (Operation* operation : ending) cancel(*operation);
  return !ending.empty();
}

// One that ends others which take time ends behind them; whoever only waited is told soon enough.
Submitted SimReactor::close(Operation& operation) {
  Slot& slot = *slot_of(operation.handle);
  for (Operation* waiting : slot.waiting) {
    if (waiting != nullptr) cancel(*waiting);
  }
  const bool ends_behind = cancel_timed_of(*slot.device);
  slot.device->take_away();
  slot.device->close();
  slot.device.reset();
  free_.insert(static_cast<uint32_t>(operation.handle.value));
  if (!ends_behind) return done(operation, 0);
  begin(operation, Operation::State::ending);
  finish(operation, 0);
  return Submitted::pending;
}

// ---- completions ----

void SimReactor::changed(uint32_t index) noexcept {
  Slot& slot = slots_[index];
  const bool is_awaited = slot.waiting[kReading] != nullptr || slot.waiting[kWriting] != nullptr;
  if (!is_awaited || std::exchange(slot.is_changed, true)) return;
  changed_.push_back(index);
}

void SimReactor::begin(Operation& operation, Operation::State state) noexcept {
  operation.state = state;
  ++pending_;
}

void SimReactor::finish(Operation& operation, int64_t result) {
  operation.result = result;
  operation.state = Operation::State::completing;
  finished_.push_back(&operation);
}

void SimReactor::try_waiting() {
  // What one does may change others, which come behind it.
  for (size_t i = 0; i < changed_.size(); ++i) {
    const uint32_t index = changed_[i];
    slots_[index].is_changed = false;
    for (const Wait side : {kReading, kWriting}) {
      Operation* operation = slots_[index].waiting[side];
      if (operation == nullptr) continue;
      const std::shared_ptr<Device> device = slots_[index].device;
      const int64_t result = device->perform(*operation);
      if (result == kNotReady) continue;
      slots_[index].waiting[side] = nullptr;
      finish(*operation, result);
    }
  }
  changed_.clear();
}

int SimReactor::wait(uint64_t) {
  is_woken_ = false;
  try_waiting();
  const auto batch = std::exchange(finished_, {});
  pending_ -= batch.size();
  for (Operation* operation : batch) operation->complete();
  return 0;
}

}  // namespace jzx::drivers::sim

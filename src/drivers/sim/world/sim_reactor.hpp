// The reactor of a simulated node: what net/ asks of the outside world, answered in memory.
//
//   submit ── the device has it: done
//        ├── it is not ready: pending ── the device says that it changed ─┐
//        └── it takes time: pending ── its event is due ──────────────────┤
//                                          the next wait() ◀─────────────┘ completes them
//
// Nothing blocks and nothing has to: wait() tells what has happened and returns, whatever its
// timeout; the simulator moves the time. Who must not miss anything calls wait(0) while has_news().
//
// A cancelled operation, and one whose handle is closed, ends in the next wait(), without any time
// passing; so do those that are cleaned up after the node has crashed. Such a reactor completes
// nothing else: it cancels, closes, and answers -ENETDOWN.
//
// There are no file descriptors here (watch, adopt, pollable_fd) and no processes.
//
// Threads: one; also wake(). Lifetime: within that of network and disk. One that ends without a
// crash is a process that ends: its peers hear that its handles are closed.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "drivers/sim/world/device.hpp"
#include "drivers/sim/world/disk.hpp"
#include "drivers/sim/world/network.hpp"
#include "io/contract.hpp"

namespace jzx::drivers::sim {

class SignalLine;

class SimReactor final : public io::Reactor, private DeviceOwner, private Resident {
 public:
  // The node is up, and has no other reactor.
  SimReactor(Network& network, NodeId node, Disk& disk);
  ~SimReactor() override;
  SimReactor(const SimReactor&) = delete;
  SimReactor& operator=(const SimReactor&) = delete;

  // ---- io::Reactor ----

  [[nodiscard]] int watch(io::Watch&) override { return -EPERM; }
  int unwatch(io::Watch&) override { return -ENOENT; }
  void share(std::mutex&) noexcept override {}
  [[nodiscard]] io::Submitted submit(io::Operation& operation) override;
  void cancel(io::Operation& operation) override;
  void perform(io::Operation& operation) noexcept override { operation.result = -ENOSYS; }
  [[nodiscard]] size_t pending_count() const noexcept override { return pending_; }
  [[nodiscard]] int wait(uint64_t timeout_ns) override;
  void wake() noexcept override { is_woken_ = true; }
  [[nodiscard]] int pollable_fd() const noexcept override { return -1; }
  [[nodiscard]] const char* name() const noexcept override { return "sim"; }

  // ---- for the simulation ----

  // The next wait() has something to tell, or was asked for by wake().
  [[nodiscard]] bool has_news() const noexcept {
    return is_woken_ || !finished_.empty() || !changed_.empty();
  }
  // Delivers a signal to the process. How many listen to it.
  size_t raise(int signal);
  [[nodiscard]] size_t handle_count() const noexcept { return slots_.size() - free_.size(); }
  [[nodiscard]] NodeId node() const noexcept { return node_; }
  [[nodiscard]] bool has_crashed() const noexcept { return has_crashed_; }

 private:
  // The two sides of a handle that operations wait for; of each at most one.
  enum Wait : uint8_t { kReading, kWriting };
  static Wait wait_of(io::Opcode opcode) noexcept;

  struct Slot {
    std::shared_ptr<Device> device;
    io::Operation* waiting[2] = {nullptr, nullptr};
    bool is_changed = false;
  };
  // What takes time; names a device, unless it has none yet.
  struct Timed {
    io::Operation* operation = nullptr;
    std::shared_ptr<Device> device;
    Events::Ticket ticket;
  };

  // ---- DeviceOwner, Resident ----
  [[nodiscard]] int64_t add(std::shared_ptr<Device> device) override;
  [[nodiscard]] bool has_room(size_t handles) const noexcept override;
  void changed(uint32_t index) noexcept override;
  void vanish() override;

  [[nodiscard]] io::Submitted submit_on(Slot& slot, io::Operation& operation);
  [[nodiscard]] io::Submitted start_waiting(Slot& slot, io::Operation& operation);
  [[nodiscard]] io::Submitted start_timed(io::Operation& operation, std::shared_ptr<Device> device,
                                          uint64_t delay_ns);
  void time_is_over(uint64_t number);
  [[nodiscard]] io::Submitted close(io::Operation& operation);
  [[nodiscard]] bool cancel_timed_of(const Device& device);

  // ---- what makes handles, or needs none; results ----
  [[nodiscard]] int64_t make_socket(const io::Operation& operation);
  [[nodiscard]] int64_t make_two(io::Operation& operation);
  [[nodiscard]] int64_t open_signal(int64_t signal);
  [[nodiscard]] int64_t perform_without_handle(io::Operation& operation);

  [[nodiscard]] Slot* slot_of(io::Handle handle) noexcept;
  void begin(io::Operation& operation, io::Operation::State state) noexcept;
  void finish(io::Operation& operation, int64_t result);
  void try_waiting();
  static io::Submitted done(io::Operation& operation, int64_t result) noexcept {
    operation.state = io::Operation::State::idle;
    operation.result = result;
    return io::Submitted::done;
  }

  Network& network_;
  Disk& disk_;
  const NodeId node_;
  bool has_crashed_ = false;
  bool is_woken_ = false;
  std::vector<Slot> slots_;
  std::set<uint32_t> free_;  // of slots_
  std::vector<uint32_t> changed_;
  std::map<uint64_t, Timed> timed_;
  uint64_t last_timed_ = 0;
  // Pointers, and no list through them: one who ends with operations pending does not touch them.
  std::deque<io::Operation*> finished_;
  size_t pending_ = 0;
  std::vector<std::weak_ptr<SignalLine>> lines_;
};

}  // namespace jzx::drivers::sim

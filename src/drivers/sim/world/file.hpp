// A file of a simulated disk, as a handle has it open.
//
// What is done to it takes as long as the disk says, and happens at the end of that time. A write
// that a crash interrupts may have happened, whole or in part.
//
// Threads, lifetime: as device.hpp.
#pragma once

#include <memory>
#include <utility>

#include "drivers/sim/world/device.hpp"
#include "drivers/sim/world/disk.hpp"

namespace jzx::drivers::sim {

class File final : public Device {
 public:
  File(Disk& disk, std::shared_ptr<FileBody> body, uint32_t flags) noexcept
      : disk_(disk), body_(std::move(body)), flags_(flags) {}

  [[nodiscard]] int64_t perform(io::Operation& operation) override;
  [[nodiscard]] uint64_t time_for(io::Operation& operation) override;
  void interrupt(io::Operation& operation) override;
  void close() override {}
  void vanish() override {}

 private:
  // Either from where the file stands, or at an offset.
  [[nodiscard]] int64_t read(io::Operation& operation, bool is_at_offset);
  [[nodiscard]] int64_t write(io::Operation& operation, bool is_at_offset);
  [[nodiscard]] int64_t sync(uint64_t up_to);
  [[nodiscard]] int64_t truncate(int64_t size);

  Disk& disk_;
  const std::shared_ptr<FileBody> body_;
  const uint32_t flags_;
  uint64_t position_ = 0;
};

}  // namespace jzx::drivers::sim

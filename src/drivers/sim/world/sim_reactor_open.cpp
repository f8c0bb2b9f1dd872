// What makes handles of a simulated node, and what needs none.
#include <array>
#include <cstring>

#include "drivers/sim/world/datagram.hpp"
#include "drivers/sim/world/file.hpp"
#include "drivers/sim/world/sim_reactor.hpp"
#include "drivers/sim/world/stream.hpp"
#include "io/signals.hpp"

namespace jzx::drivers::sim {

using io::Opcode;
using io::Operation;

// A handle that hears of a signal.
class SignalLine final : public Device {
 public:
  explicit SignalLine(int signal) noexcept : signal_(signal) {}

  [[nodiscard]] int64_t perform(Operation& operation) override {
    if (operation.opcode != Opcode::next_signal) return -EINVAL;
    return count_ == 0 ? kNotReady : std::exchange(count_, 0);
  }
  void close() override {}
  void vanish() override {}

  [[nodiscard]] int signal() const noexcept { return signal_; }
  void deliver() noexcept {
    ++count_;
    changed();
  }
  [[nodiscard]] bool is_open() const noexcept { return owner() != nullptr; }

 private:
  const int signal_;
  int64_t count_ = 0;
};

int64_t SimReactor::make_socket(const Operation& operation) {
  if (operation.address == nullptr) return -EINVAL;
  const io::Family family = operation.address->family;
  const auto type = static_cast<io::SocketType>(operation.value);
  if (type != io::SocketType::stream && type != io::SocketType::datagram) return -EINVAL;
  if (family == io::Family::none) return -EAFNOSUPPORT;
  if (type == io::SocketType::stream) {
    return add(std::make_shared<StreamSocket>(network_, node_, family));
  }
  return add(std::make_shared<DatagramSocket>(network_, node_, family));
}

int64_t SimReactor::make_two(Operation& operation) {
  if (operation.buffer == nullptr) return -EINVAL;
  if (!has_room(2)) return -EMFILE;
  const bool is_pipe = operation.opcode == Opcode::pipe;
  const auto ends = is_pipe ? make_pipe(network_, node_) : make_socket_pair(network_, node_);
  auto* handles = static_cast<io::Handle*>(operation.buffer);
  for (size_t i = 0; i < ends.size(); ++i) handles[i] = io::Handle{add(ends[i])};
  return 0;
}

int64_t SimReactor::perform_without_handle(Operation& operation) {
  if (operation.buffer == nullptr) return -EINVAL;
  if (operation.opcode == Opcode::resolve) {
    return network_.resolve(*static_cast<io::Resolution*>(operation.buffer));
  }
  const std::string_view path(static_cast<const char*>(operation.buffer));
  if (operation.opcode == Opcode::remove) {
    return network_.ports_of(node_).remove_path(path) ? 0 : disk_.remove(path);
  }
  if (!has_room(1)) return -EMFILE;
  std::shared_ptr<FileBody> body;
  const int64_t error = disk_.open(path, operation.flags, body);
  if (error != 0) return error;
  return add(std::make_shared<File>(disk_, std::move(body), operation.flags));
}

// ---- signals ----

int64_t SimReactor::open_signal(int64_t signal) {
  if (!io::can_be_heard(signal)) return -EINVAL;
  auto line = std::make_shared<SignalLine>(static_cast<int>(signal));
  const int64_t handle = add(line);
  if (handle >= 0) lines_.push_back(line);
  return handle;
}

size_t SimReactor::raise(int signal) {
  std::erase_if(lines_, [](const auto& line) { return line.expired(); });
  size_t count = 0;
  for (const auto& weak : lines_) {
    const auto line = weak.lock();
    if (line->signal() != signal || !line->is_open()) continue;
    line->deliver();
    ++count;
  }
  return count;
}

}  // namespace jzx::drivers::sim

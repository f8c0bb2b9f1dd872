// Something that is open: a socket, a file, a pipe, a process. Closed when this goes, at the latest
// when its system ends; what is still pending on it then ends with Errc::cancelled. Closing needs
// no memory and does not wait. Not for users by itself; what they have are streams, files and so
// on.
//
// Threads: of a runtime any, one at a time, except that one may read while another writes; of a
// loop its own.
#pragma once

#include <utility>

#include <jzx/net/home.hpp>
#include <jzx/result.hpp>

namespace jzx::detail {

struct OpenHandle;
JZX_API void close_handle(OpenHandle& handle) noexcept;

class Handle {
 public:
  Handle() noexcept = default;
  explicit Handle(OpenHandle* handle) noexcept : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this == &other) return *this;
    close();
    handle_ = std::exchange(other.handle_, nullptr);
    return *this;
  }
  ~Handle() { close(); }

  [[nodiscard]] bool is_open() const noexcept { return handle_ != nullptr; }
  void close() noexcept {
    if (handle_ != nullptr) close_handle(*std::exchange(handle_, nullptr));
  }
  [[nodiscard]] OpenHandle* get() const noexcept { return handle_; }

 private:
  OpenHandle* handle_ = nullptr;
};

}  // namespace jzx::detail

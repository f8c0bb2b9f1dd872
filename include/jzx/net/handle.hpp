// Something that is open: a socket, a file, a pipe, a process. Closed when this goes, at the latest
// when its system ends; what is still pending on it then ends with Errc::cancelled. Closing needs
// no memory and does not wait. Not for users by itself; what they have are streams, files and so
// on.
//
// Threads: of a runtime any, one at a time, except that one may read while another writes; of a
// loop its own. close() and is_open() on any thread at any time: what begins later is refused with
// Errc::closed.
#pragma once

#include <atomic>
#include <utility>

#include <jzx/net/home.hpp>
#include <jzx/result.hpp>

namespace jzx::detail {

struct OpenHandle;
[[nodiscard]] JZX_API bool is_handle_open(const OpenHandle& handle) noexcept;
JZX_API void close_handle(OpenHandle& handle) noexcept;
// Closes it, too. The caller uses it no more.
JZX_API void give_up_handle(OpenHandle& handle) noexcept;

class Handle {
 public:
  Handle() noexcept = default;
  explicit Handle(OpenHandle* handle) noexcept : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    Handle(std::move(other)).swap(*this);
    return *this;
  }
  ~Handle() {
    if (handle_ != nullptr) give_up_handle(*handle_);
  }

  [[nodiscard]] bool is_open() const noexcept {
    return handle_ != nullptr && is_handle_open(*handle_);
  }
  // What is behind it stays until the handle goes: others may be about to use it.
  void close() noexcept {
    if (handle_ != nullptr) close_handle(*handle_);
  }
  [[nodiscard]] OpenHandle* get() const noexcept { return handle_; }
  [[nodiscard]] OpenHandle* release() noexcept { return std::exchange(handle_, nullptr); }

 private:
  void swap(Handle& other) noexcept { std::swap(handle_, other.handle_); }
  OpenHandle* handle_ = nullptr;
};

// A place for one handle, which any thread may fill and empty. seq_cst: who fills it and then sees
// that a listener is open, and who closes the listener and then empties it, do not miss each other.
class HandlePlace {
 public:
  HandlePlace() noexcept = default;
  HandlePlace(HandlePlace&& other) noexcept : handle_(other.take().release()) {}
  HandlePlace& operator=(HandlePlace&& other) noexcept {
    put(other.take());
    return *this;
  }
  ~HandlePlace() { (void)take(); }

  // What was there is closed.
  void put(Handle handle) noexcept {
    const Handle before(handle_.exchange(handle.release(), std::memory_order_seq_cst));
  }
  [[nodiscard]] Handle take() noexcept {
    if (handle_.load(std::memory_order_seq_cst) == nullptr) return {};
    return Handle(handle_.exchange(nullptr, std::memory_order_acq_rel));
  }

 private:
  std::atomic<OpenHandle*> handle_{nullptr};
};

}  // namespace jzx::detail

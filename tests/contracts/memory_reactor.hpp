// io/contract.hpp without an operating system: pipes in memory. Which of several completions comes
// first is the host's choice, as everything in a simulation.
//
// Threads: one.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "base/executor.hpp"
#include "io/contract.hpp"

namespace jzx::contracts {

class MemoryReactor final : public io::Reactor {
 public:
  explicit MemoryReactor(base::Executor& executor) : executor_(executor) {}

  // What is written to it can be read from it.
  int make_pipe() {
    pipes_.emplace_back();
    return static_cast<int>(pipes_.size()) - 1;
  }
  // From outside the simulation.
  void put(int pipe, const char* text) {
    auto& bytes = pipes_[static_cast<size_t>(pipe)];
    bytes.insert(bytes.end(), text, text + std::strlen(text));
    note_readable(pipe);
  }

  // Is there anything that wait() would tell?
  [[nodiscard]] bool has_news() const {
    return !edges_.empty() || std::any_of(pending_.begin(), pending_.end(),
                                          [&](io::Operation* one) { return can_complete(*one); });
  }

  // ---- io::Reactor ----

  int watch(io::Watch& watch) override {
    if (watch.fd < 0 || static_cast<size_t>(watch.fd) >= pipes_.size()) return -EBADF;
    watches_[watch.fd] = &watch;
    edges_.erase(std::remove(edges_.begin(), edges_.end(), watch.fd), edges_.end());
    if (!pipes_[static_cast<size_t>(watch.fd)].empty()) edges_.push_back(watch.fd);
    return 0;
  }
  void share(std::mutex&) noexcept override {}
  int unwatch(io::Watch& watch) override {
    watches_.erase(watch.fd);
    edges_.erase(std::remove(edges_.begin(), edges_.end(), watch.fd), edges_.end());
    return 0;
  }
  // Reads, writes and closes; nothing here blocks, so what it cannot do it need not put off.
  io::Submitted submit(io::Operation& operation) override {
    if (operation.opcode != io::Opcode::read && operation.opcode != io::Opcode::write) {
      perform(operation);
      return io::Submitted::done;
    }
    pending_.push_back(&operation);
    return io::Submitted::pending;
  }
  void cancel(io::Operation& operation) override {
    if (std::find(pending_.begin(), pending_.end(), &operation) == pending_.end()) return;
    cancelled_.push_back(&operation);
  }
  void perform(io::Operation& operation) noexcept override {
    if (operation.opcode == io::Opcode::close) {
      for (io::Operation* one : pending_) {
        if (one->handle == operation.handle) cancelled_.push_back(one);
      }
    }
    operation.result = operation.opcode == io::Opcode::close ? 0 : -ENOSYS;
  }
  size_t pending_count() const noexcept override { return pending_.size(); }

  // Tells one thing, if there is one; never waits, since nothing happens meanwhile.
  int wait(uint64_t) override {
    std::vector<std::function<void()>> news;
    for (const int fd : edges_) {
      news.emplace_back([this, fd] {
        edges_.erase(std::find(edges_.begin(), edges_.end(), fd));
        watches_.at(fd)->ready(io::kReadable);
      });
    }
    for (io::Operation* operation : pending_) {
      if (can_complete(*operation)) news.emplace_back([this, operation] { complete(*operation); });
    }
    if (news.empty()) return 0;
    news[executor_.choose(static_cast<uint32_t>(news.size()), base::ChoiceSite::user)]();
    return 0;
  }
  void wake() noexcept override {}  // nobody else is there
  int pollable_fd() const noexcept override { return -1; }
  const char* name() const noexcept override { return "memory"; }

 private:
  [[nodiscard]] bool is_cancelled(const io::Operation& operation) const {
    return std::find(cancelled_.begin(), cancelled_.end(), &operation) != cancelled_.end();
  }
  [[nodiscard]] bool can_complete(const io::Operation& operation) const {
    if (operation.opcode != io::Opcode::read || is_cancelled(operation)) return true;
    return !pipes_[static_cast<size_t>(operation.handle.value)].empty();
  }

  void complete(io::Operation& operation) {
    pending_.erase(std::find(pending_.begin(), pending_.end(), &operation));
    const bool cancelled = is_cancelled(operation);
    cancelled_.erase(std::remove(cancelled_.begin(), cancelled_.end(), &operation),
                     cancelled_.end());
    operation.complete_with(transfer(operation, cancelled));
  }

  int64_t transfer(io::Operation& operation, bool cancelled) {
    auto& bytes = pipes_[static_cast<size_t>(operation.handle.value)];
    auto* buffer = static_cast<char*>(operation.buffer);
    if (operation.opcode == io::Opcode::read) {
      if (bytes.empty()) return cancelled ? -ECANCELED : 0;  // data that won the race is delivered
      const size_t count = std::min(operation.size, bytes.size());
      std::copy_n(bytes.begin(), count, buffer);
      bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
      return static_cast<int64_t>(count);
    }
    if (cancelled) return -ECANCELED;
    bytes.insert(bytes.end(), buffer, buffer + operation.size);
    note_readable(static_cast<int>(operation.handle.value));
    return static_cast<int64_t>(operation.size);
  }

  void note_readable(int pipe) {
    if (watches_.count(pipe) != 0 &&
        std::find(edges_.begin(), edges_.end(), pipe) == edges_.end()) {
      edges_.push_back(pipe);
    }
  }

  base::Executor& executor_;
  std::deque<std::deque<char>> pipes_;
  std::map<int, io::Watch*> watches_;
  std::vector<int> edges_;  // watched pipes with readiness not yet told
  std::vector<io::Operation*> pending_;
  std::vector<io::Operation*> cancelled_;
};

}  // namespace jzx::contracts

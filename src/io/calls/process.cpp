// Child processes, by a descriptor of theirs, so that no number is taken for another's that came
// later; and deliveries of a signal.
#include <fcntl.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>

#include "io/calls/handles.hpp"
#include "io/calls/perform.hpp"

namespace jzx::io {
namespace {

// The C library's header declares these two for C only.
int pidfd_open(pid_t process) noexcept {
  return static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
}
int send_signal(int fd, int signal) noexcept {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, fd, signal, nullptr, 0));
}

// What a child begins with. Nothing of it is seen by other threads: the descriptors are duplicates,
// closed on exec, and only the child puts them in their places.
class Beginning {
 public:
  Beginning() noexcept {
    error_ = ::posix_spawn_file_actions_init(&actions_);
    if (error_ != 0) return;
    error_ = ::posix_spawnattr_init(&attributes_);
    if (error_ != 0) ::posix_spawn_file_actions_destroy(&actions_);
  }
  ~Beginning() {
    for (const int fd : copies_) {
      if (fd >= 0) ::close(fd);
    }
    if (!is_made_) return;
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;

  // 0 or an errno, as all of its steps.
  [[nodiscard]] int prepare(const Spawn& spawn) noexcept {
    if (error_ != 0) return error_;
    is_made_ = true;
    // What our threads block or ignore is our business.
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::sigaddset(&signals, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    for (int i = 0; i < 3; ++i) {
      if (const int error = add_stream(i, spawn.streams[i]); error != 0) return error;
    }
    if (spawn.directory == nullptr) return 0;
    return ::posix_spawn_file_actions_addchdir_np(&actions_, spawn.directory);
  }

  [[nodiscard]] int start(const Spawn& spawn, pid_t& child) noexcept {
    char* const* environment =
        spawn.environment != nullptr ? const_cast<char* const*>(spawn.environment) : ::environ;
    return ::posix_spawnp(&child, spawn.program, &actions_, &attributes_,
                          const_cast<char* const*>(spawn.arguments), environment);
  }

 private:
  int add_stream(int target, const ChildStream& stream) noexcept {
    switch (stream.from) {
      case ChildStream::From::inherited:
        return 0;
      case ChildStream::From::nothing:
        return ::posix_spawn_file_actions_addopen(&actions_, target, "/dev/null",
                                                  target == 0 ? O_RDONLY : O_WRONLY, 0);
      case ChildStream::From::handle:
        break;
    }
    const int fd = fd_of(stream.handle);
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0) return errno;
    // Above the three, so that none is in the way of another.
    const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) return errno;
    copies_[target] = copy;
    return ::posix_spawn_file_actions_adddup2(&actions_, copy, target);
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  int copies_[3] = {-1, -1, -1};
  int error_ = 0;
  bool is_made_ = false;
};

int64_t start_process(const Spawn& spawn) noexcept {
  if (spawn.program == nullptr || spawn.arguments == nullptr || spawn.arguments[0] == nullptr) {
    return -EINVAL;
  }
  Beginning beginning;
  if (const int error = beginning.prepare(spawn); error != 0) return -error;
  pid_t child = -1;
  if (const int error = beginning.start(spawn, child); error != 0) return -error;
  // Nobody has waited for it yet, so the number is still its own.
  const int fd = pidfd_open(child);
  if (fd >= 0) return make_handle(fd, HandleKind::process).value;
  // One that nobody can wait for must not stay.
  const int error = errno;
  ::kill(child, SIGKILL);
  (void)answer_of([&] { return ::waitpid(child, nullptr, 0); });
  return -error;
}

int64_t process_id(int fd) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return -errno;
  char line[128];
  long number = -1;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, "Pid: %ld", &number) == 1) break;
  }
  std::fclose(file);
  return number > 0 ? number : -ESRCH;
}

int64_t take_exit(int fd) noexcept {
  siginfo_t about{};
  const int64_t answer = answer_of(
      [&] { return ::waitid(P_PIDFD, static_cast<id_t>(fd), &about, WEXITED | WNOHANG); });
  if (answer < 0) return answer;
  if (about.si_pid == 0) return kNotReady;
  return about.si_code == CLD_EXITED ? about.si_status : kSignalled + about.si_status;
}

int64_t take_deliveries(int fd) noexcept {
  eventfd_t count = 0;
  if (::eventfd_read(fd, &count) == 0) {
    return static_cast<int64_t>(std::min<eventfd_t>(count, INT64_MAX));
  }
  return errno == EAGAIN ? kNotReady : -errno;
}

}  // namespace

int64_t perform_on_process(Operation& operation) noexcept {
  if (operation.opcode == Opcode::spawn) {
    return start_process(*static_cast<const Spawn*>(operation.buffer));
  }
  const int fd = fd_of(operation.handle);
  if (operation.opcode == Opcode::next_signal) {
    return kind_of(operation.handle) == HandleKind::signal ? take_deliveries(fd) : -EINVAL;
  }
  if (kind_of(operation.handle) != HandleKind::process) return -EINVAL;
  switch (operation.opcode) {
    case Opcode::process_id:
      return process_id(fd);
    case Opcode::kill:
      return send_signal(fd, static_cast<int>(operation.value)) == 0 ? 0 : -errno;
    default:
      return take_exit(fd);
  }
}

}  // namespace jzx::io

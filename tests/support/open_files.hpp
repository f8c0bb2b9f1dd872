// How many file descriptors this process has open, to see that none is left behind.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>

#include <cstddef>

namespace jzx::testing {

[[nodiscard]] inline size_t open_files() {
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  size_t count = 0;
  while (const dirent* entry = ::readdir(folder)) {
    if (entry->d_name[0] != '.') ++count;
  }
  ::closedir(folder);
  return count;
}

// When it goes, as many are open as when it came. Under what opens them: a base, or a first member.
class NoFileLeft {
 public:
  NoFileLeft() = default;
  NoFileLeft(const NoFileLeft&) = delete;
  ~NoFileLeft() { EXPECT_EQ(open_files(), before_) << "file descriptors were left open"; }

 private:
  size_t before_ = open_files();
};

}  // namespace jzx::testing

// What the tests of stacks share: ways to guard, and a look at memory that must not be touched.
#pragma once

#include <sys/uio.h>
#include <unistd.h>

#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "kinds/fiber/stack_memory.hpp"

namespace jzx::kinds {

// For GoogleTest, in the name of a test.
inline void PrintTo(Guard guard, std::ostream* out) {
  constexpr const char* kNames[] = {"marked", "protected_page", "canary"};
  *out << kNames[static_cast<size_t>(guard)];
}

}  // namespace jzx::kinds

namespace jzx::testing {

inline constexpr kinds::Guard kGuards[] = {kinds::Guard::marked, kinds::Guard::protected_page,
                                           kinds::Guard::canary};

inline std::string name_of(kinds::Guard guard) {
  std::ostringstream name;
  PrintTo(guard, &name);
  return name.str();
}

inline kinds::StackClass class_of_kib(size_t kib) { return *kinds::stack_class_for(kib << 10); }

// By the kernel's answer, so that nothing faults.
inline bool is_readable(const std::byte* address) {
  std::byte byte;
  iovec to{&byte, 1};
  iovec from{const_cast<std::byte*>(address), 1};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

// One stack that is not from a pool.
inline kinds::Stack take_one(kinds::StackMemory& memory, kinds::StackClass stack_class) {
  const kinds::StackBatch batch = memory.take_batch(stack_class, 1);
  return batch.count == 0 ? kinds::Stack{} : kinds::stack_at(batch.tops[0], stack_class);
}
inline void give_one(kinds::StackMemory& memory, const kinds::Stack& stack) {
  kinds::StackBatch batch;
  batch.push(stack.top);
  memory.give_batch(kinds::stack_class_of(stack), batch);
}

inline size_t mappings_of_process() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

}  // namespace jzx::testing

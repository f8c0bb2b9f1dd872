// JZX_ASSERT states what must hold if our own code is right: one property each.
// A violated assertion is our bug, so it ends the process with the place and the
// property. The world's failures are results, never assertions.
//
// Release builds (NDEBUG) check nothing and do not evaluate the condition.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace jzx::base {

[[noreturn]] inline void assertion_failed(const char* property, const char* file, int line) {
  std::fprintf(stderr, "jzx: assertion failed: %s (%s:%d)\n", property, file, line);
  std::abort();
}

}  // namespace jzx::base

#ifdef NDEBUG
#define JZX_ASSERT(property) ((void)sizeof(!(property)))
#else
#define JZX_ASSERT(property) \
  ((property) ? (void)0 : ::jzx::base::assertion_failed(#property, __FILE__, __LINE__))
#endif

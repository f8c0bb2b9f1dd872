// The name of a test, as a word of a shell command: a pattern of ctest that fits it.
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>

namespace jzx::runtime {

// What is special in a regular expression is escaped, except a dot, which fits itself; what is
// special for a shell is quoted. Names of the usual kind stay as they are.
[[nodiscard]] std::string pattern_of(std::string_view name);

}  // namespace jzx::runtime

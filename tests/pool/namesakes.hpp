// Two types of one name, each in the anonymous namespace of its file, and so not the same.
#pragma once

#include <jzx/handle_pools.hpp>

namespace jzx::testing {

// The pool that a file has for its own type; nullptr: none.
void* find_first_namesake(HandlePools& pools);
void* find_second_namesake(HandlePools& pools);
bool create_first_namesake(HandlePools& pools);
bool create_second_namesake(HandlePools& pools);

}  // namespace jzx::testing

#include "pool/namesakes.hpp"

namespace jzx::testing {

namespace {
struct Namesake {
  int number;
};
}  // namespace

void* find_second_namesake(HandlePools& pools) { return pools.find<Namesake>(); }
bool create_second_namesake(HandlePools& pools) { return pools.create<Namesake>(1).ok(); }

}  // namespace jzx::testing

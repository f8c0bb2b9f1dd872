#include "actors/stage/body.hpp"

namespace jzx::actors {

std::vector<const Body*> all_bodies() {
  return {&behaviour_body(), &handlers_body(), &fiber_body(), &coroutine_body()};
}

}  // namespace jzx::actors

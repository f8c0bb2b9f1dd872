#include "runtime/type_registry.hpp"

#include <algorithm>

namespace jzx {

std::vector<ActorTypeInfo> TypeRegistry::list() const {
  std::vector<ActorTypeInfo> result;
  for (const auto& place : places_) {
    const detail::ActorType* type = place.load(std::memory_order_relaxed);  // as in note()
    if (type == nullptr) continue;
    ActorTypeInfo info;
    info.name = type->name;
    info.state_size = type->state_size;
    for (size_t i = 0; i < type->handler_count; ++i) {
      info.messages.emplace_back(type->handlers[i].key->name);
    }
    result.push_back(std::move(info));
  }
  // Not in the order of addresses, which differs from run to run.
  std::sort(result.begin(), result.end(),
            [](const ActorTypeInfo& a, const ActorTypeInfo& b) { return a.name < b.name; });
  return result;
}

}  // namespace jzx

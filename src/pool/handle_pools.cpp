// The list of a system's pools. It is short and looked at rarely, so it is a list. The lock is
// never held while memory is asked for or a user's destructor runs.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <jzx/handle_pools.hpp>

namespace jzx {

namespace {

// Of an anonymous namespace, as the compilers spell it: other files may have a namesake.
bool is_of_one_file(std::string_view name) noexcept {
  return name.find("{anonymous}") != name.npos || name.find("(anonymous namespace)") != name.npos;
}

// A wrong yes would hand out a pool of another type, so everything that is known must agree.
bool same_type(const detail::PoolType& a, const detail::PoolType& b) noexcept {
  if (&a == &b) return true;
  const std::string_view name = a.name;
  if (name != b.name || a.size != b.size || is_of_one_file(name)) return false;
  return a.info == nullptr || b.info == nullptr || *a.info == *b.info;
}

}  // namespace

HandlePools::~HandlePools() {
  while (true) {
    lock_.lock();
    detail::PoolEntry* const entry = newest_;
    if (entry != nullptr) newest_ = entry->older;
    lock_.unlock();
    if (entry == nullptr) return;
    end(*entry);
  }
}

detail::PoolEntry* HandlePools::find(const detail::PoolType& type) noexcept {
  const std::lock_guard hold(lock_);
  return search(type);
}

detail::PoolEntry* HandlePools::search(const detail::PoolType& type) const noexcept {
  detail::PoolEntry* entry = newest_;
  while (entry != nullptr && !same_type(*entry->type, type)) entry = entry->older;
  return entry;
}

bool HandlePools::add(detail::PoolEntry& entry) noexcept {
  const std::lock_guard hold(lock_);
  if (search(*entry.type) != nullptr) return false;
  entry.older = newest_;
  newest_ = &entry;
  return true;
}

void HandlePools::end(detail::PoolEntry& entry) noexcept {
  entry.type->destroy(entry);
  memory_.release(&entry);
}

Error HandlePools::exists_already(const detail::PoolType& type) noexcept {
  char text[96];
  std::snprintf(text, sizeof(text), "there is a pool already, of %s", type.name);
  return Error(Errc::invalid_arg, text);
}

namespace detail {

void no_such_pool(const char* name) noexcept {
  std::fprintf(stderr, "jzx: there is no pool of %s; create it first\n", name);
  std::abort();
}

}  // namespace detail

}  // namespace jzx

#include <jzx/net/resolve.hpp>

#include "net/open_handle.hpp"

namespace jzx::net {

Task<std::vector<Address>> resolve(std::string host, uint16_t port, Home home) {
  base::Executor* executor = executor_of(home.keeper());
  if (executor == nullptr) co_return no_home("resolve");
  Begun* begun = Begun::make(*executor, io::Opcode::resolve);
  if (begun == nullptr) co_return Error(Errc::no_memory);
  constexpr size_t kMost = 64;
  std::vector<Address> addresses(kMost);
  const std::string service = std::to_string(port);
  io::Resolution resolution;
  resolution.host = host.c_str();
  resolution.service = service.c_str();
  resolution.addresses = addresses.data();
  resolution.capacity = addresses.size();
  begun->buffer = &resolution;
  Future<int64_t> resolving = begun->begin();
  Result<int64_t> result = co_await resolving;
  Result<size_t> count = size_of(result, "resolve");
  if (!count) co_return count.error();
  addresses.resize(*count);
  co_return std::move(addresses);
}

}  // namespace jzx::net

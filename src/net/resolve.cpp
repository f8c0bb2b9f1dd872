#include <jzx/net/resolve.hpp>

#include <cerrno>
#include <cstdio>

#include "net/open_handle.hpp"

namespace jzx::net {

namespace {

// The system's words for these numbers are about files and the like.
Error error_of_name(int system_code, const char* host) noexcept {
  const char* format = nullptr;
  switch (system_code) {
    case ENOENT:
      format = "there is no host of the name %s";
      break;
    case EAGAIN:
      format = "no name server has answered for %s; try again";
      break;
    case EIO:
      format = "the name server has refused to look for %s";
      break;
    default:
      return error_of(-system_code, "resolve");
  }
  char text[sizeof(ExitText)];
  std::snprintf(text, sizeof(text), format, host);
  return Error::of_system(system_code, text, "resolve");
}

}  // namespace

Task<std::vector<Address>> resolve(std::string host, uint16_t port, Home home) {
  base::Executor* executor = executor_of(home.keeper());
  if (executor == nullptr) co_return no_home("resolve");
  if (has_zero_byte(host)) co_return zero_byte_in("the host", "resolve");
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
  if (result && *result < 0) co_return error_of_name(static_cast<int>(-*result), host.c_str());
  Result<size_t> count = size_of(result, "resolve");
  if (!count) co_return count.error();
  addresses.resize(*count);
  co_return std::move(addresses);
}

}  // namespace jzx::net

// Names of hosts, looked up on a thread for what blocks. A cancelled look-up ends when that thread
// is through.
#pragma once

#include <string>
#include <vector>

#include <jzx/async/task.hpp>
#include <jzx/net/address.hpp>
#include <jzx/net/home.hpp>

namespace jzx::net {

// Best first; ENOENT: there is no such name. Written in numbers it is not looked up anywhere.
[[nodiscard]] JZX_API Task<std::vector<Address>> resolve(std::string host, uint16_t port,
                                                         Home home = {});

}  // namespace jzx::net

// Addresses are the same for users and for reactors; only the reactors know what the kernel calls
// them.
#pragma once

#include <jzx/net/address.hpp>

namespace jzx::io {

using net::Address;
using net::Family;

}  // namespace jzx::io

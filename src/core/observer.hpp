// The observer is a contract of the core that users implement too, so it is a public header.
#pragma once

#include <jzx/observer.hpp>

namespace jzx::core {

using jzx::DeadLetterReason;
using jzx::Observer;

}  // namespace jzx::core

// Turns the specs of jzx/supervisor.hpp into those of the supervisor.
#pragma once

#include <jzx/supervisor.hpp>

#include "supervise/supervisor.hpp"

namespace jzx::runtime {

[[nodiscard]] Errc make_plan(detail::Port& port, const SupervisorOptions& options,
                             const std::vector<ChildSpec>& children, supervise::Plan*& out);

}  // namespace jzx::runtime

// Makes a list of choices that fails into a simpler one that fails as well: choices are put back to
// the plain alternative, many at once and then fewer, and what is left is made smaller.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/sim/choices.hpp"

namespace jzx::runtime {

using Taken = std::vector<drivers::sim::Choice>;

// `fails(list)` says whether a run with this list still fails in the same way; it is called at most
// `most_tries` times.
[[nodiscard]] Taken shrink(Taken failing, const std::function<bool(const Taken&)>& fails,
                           size_t most_tries);

[[nodiscard]] size_t count_of_choices(const Taken& taken) noexcept;

// "n3:1,f17:2": of the choices of who is next the fourth is 1, of faults the eighteenth 2; all
// others are plain. "none": all are.
[[nodiscard]] std::string to_text(const Taken& taken);
// One of them, in the same way.
[[nodiscard]] std::string to_text(drivers::sim::ChoiceSite site, size_t place, uint32_t taken);
// False: not such a text.
[[nodiscard]] bool from_text(std::string_view text, Taken& taken);

}  // namespace jzx::runtime

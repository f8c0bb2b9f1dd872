// The name of a type as people would write it: an unnamed namespace says nothing.
#pragma once

#include <string>
#include <string_view>

namespace jzx::runtime {

[[nodiscard]] inline std::string plain_type_name(std::string_view name) {
  std::string plain(name);
  for (const std::string_view noise : {"{anonymous}::", "(anonymous namespace)::"}) {
    for (size_t at = plain.find(noise); at != std::string::npos; at = plain.find(noise)) {
      plain.erase(at, noise.size());
    }
  }
  return plain;
}

}  // namespace jzx::runtime

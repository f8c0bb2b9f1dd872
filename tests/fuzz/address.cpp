// Addresses: what is parsed is written as a text that parses to the same, and so is every address.
#include <algorithm>
#include <string>

#include <jzx/net/address.hpp>

#include "fuzz/fuzz.hpp"

namespace {

using jzx::net::Address;

void check_round_trip(const Address& address) {
  const std::string text = address.to_string();
  const jzx::Result<Address> again = Address::parse(text);
  FUZZ_CHECK(again.ok());
  FUZZ_CHECK(*again == address);
  FUZZ_CHECK(again->to_string() == text);
}

Address address_from(jzx::fuzz::Choices& choices) {
  const auto word = [&] { return static_cast<uint16_t>(choices.byte() << 8 | choices.byte()); };
  const auto fill = [&](auto bytes) {
    for (uint8_t& byte : bytes) byte = choices.byte();
    return bytes;
  };
  switch (choices.below(3)) {
    case 0:
      return Address::ipv4(fill(std::array<uint8_t, 4>{}), word());
    case 1: {
      const uint32_t scope = uint32_t{word()} << 16 | word();
      return Address::ipv6(fill(std::array<uint8_t, 16>{}), word(), scope);
    }
    default:
      return Address::local(choices.rest());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (const jzx::Result<Address> parsed = Address::parse(jzx::fuzz::text_of(data, size))) {
    check_round_trip(*parsed);
  }
  jzx::fuzz::Choices choices(data, size);
  const Address made = address_from(choices);
  if (made.family != jzx::net::Family::none) check_round_trip(made);
  return 0;
}

// Addresses in numbers.
#include <gtest/gtest.h>

#include <jzx/net/address.hpp>

namespace jzx::net {
namespace {

TEST(AddressText, IsReadAndWrittenAlike) {
  for (const char* text : {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:443",
                           "[::]:1", "[2001:db8::1:0:0:2]:80", "[fe80::1]:9", "[1:2:3:4:5:6:7:8]:9",
                           "[1::]:9", "unix:/run/a.sock", "unix:@abstract"}) {
    Result<Address> address = Address::parse(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(address->to_string(), text);
  }
  EXPECT_EQ(Address::parse("[::ffff:1.2.3.4]:80")->to_string(), "[::ffff:102:304]:80");
  EXPECT_EQ(Address{}.to_string(), "nowhere");
}

TEST(AddressText, ThatIsNoAddressIsRefused) {
  for (const char* text : {"",
                           ":80",
                           "localhost:80",
                           "1.2.3:80",
                           "1.2.3.4.5:80",
                           "1.2.3.256:80",
                           "1.2.3.4",
                           "1.2.3.4:",
                           "1.2.3.4:65536",
                           "1.2.3.4:8x",
                           "1.2.3.4 :80",
                           "::1:80",
                           "[::1]",
                           "[::1]:",
                           "[:::]:80",
                           "[1::2::3]:80",
                           "[1:2:3:4:5:6:7]:80",
                           "[1:2:3:4:5:6:7:8:9]:80",
                           "[12345::]:80",
                           "[g::]:80",
                           "[1:2:3:4:5:6:7:8::]:80",
                           "[1:]:80",
                           "unix:"}) {
    Result<Address> address = Address::parse(text);
    EXPECT_FALSE(address.ok()) << text;
    EXPECT_EQ(address.error().code(), Errc::invalid_arg) << text;
  }
}

}  // namespace
}  // namespace jzx::net

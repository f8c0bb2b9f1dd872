// Addresses in numbers.
#include <gtest/gtest.h>

#include <jzx/net/address.hpp>

namespace jzx::net {
namespace {

TEST(AddressText, IsReadAndWrittenAlike) {
  for (const char* text :
       {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:443", "[::]:1",
        "[2001:db8::1:0:0:2]:80", "[fe80::1]:9", "[1:2:3:4:5:6:7:8]:9", "[1::]:9",
        "unix:/run/a.sock", "unix:@abstract", "unix:@", "unix:@@", "unix:relative", "unix:\\@file",
        "unix:\\\\file", "unix:a\\b", "[fe80::1%2]:9", "[fe80::1%4294967295]:80"}) {
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
                           "[fe80::1%]:9",
                           "[fe80::1%0]:9",
                           "[fe80::1%02]:9",
                           "[fe80::1%4294967296]:9",
                           "[fe80::1%eth0]:9",
                           "[fe80::1%1%1]:9",
                           "1.2.3.4%1:9",
                           "010.2.3.4:80",
                           "1.2.3.00:80",
                           "1.2.3.04:80",
                           "[::ffff:1.2.3.04]:80",
                           "unix:\\",
                           "unix:\\file",
                           "unix:"}) {
    Result<Address> address = Address::parse(text);
    EXPECT_FALSE(address.ok()) << text;
    EXPECT_EQ(address.error().code(), Errc::invalid_arg) << text;
  }
}

TEST(AddressText, KeepsTheScopeOfALinkLocalAddress) {
  const Address address =
      Address::ipv6({0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 9, 3);
  EXPECT_EQ(address.to_string(), "[fe80::1%3]:9");
  EXPECT_EQ(*Address::parse(address.to_string()), address);
}

TEST(AddressText, TellsAPathFromAnAbstractName) {
  const std::string zero(1, '\0');
  for (const std::string& path :
       {std::string("@file"), zero + "file", zero, zero + "@file", std::string("\\@file"),
        std::string("\\file"), std::string("\\"), zero + "\\", zero + zero + "a" + zero,
        std::string(Address::kLongestPath, '@')}) {
    const Address address = Address::local(path);
    ASSERT_EQ(address.family, Family::local);
    const Result<Address> again = Address::parse(address.to_string());
    ASSERT_TRUE(again.ok()) << address.to_string();
    EXPECT_EQ(*again, address) << address.to_string();
  }
}

}  // namespace
}  // namespace jzx::net

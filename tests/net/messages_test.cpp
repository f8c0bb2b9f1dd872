// What people read when something is not open, or is not there.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>

#include <jzx/jzx.hpp>

namespace jzx {
namespace {

void expect(const Error& error, Errc code, std::string_view text, std::string_view source) {
  EXPECT_EQ(error.code(), code);
  EXPECT_NE(std::string_view(error.message()).find(text), std::string_view::npos)
      << error.message();
  EXPECT_EQ(std::string_view(error.source()), source);
}
constexpr std::string_view kNotOpen = "it is not open";

TEST(NetMessages, OfWhatIsNotOpenSaySo) {
  net::Stream stream;
  std::array<std::byte, 8> buffer{};
  const net::Piece piece[] = {{buffer.data(), buffer.size()}};
  const net::MutablePiece room[] = {{buffer.data(), buffer.size()}};
  expect(stream.read(buffer).get().error(), Errc::closed, kNotOpen, "read");
  expect(stream.read_exact(buffer).get().error(), Errc::closed, kNotOpen, "read");
  expect(stream.read_pieces(room).get().error(), Errc::closed, kNotOpen, "read");
  expect(stream.write(buffer).get().error(), Errc::closed, kNotOpen, "write");
  expect(stream.write_all("text").get().error(), Errc::closed, kNotOpen, "write");
  expect(stream.write_pieces(piece).get().error(), Errc::closed, kNotOpen, "write");
  expect(stream.shut_down_writing().error(), Errc::closed, kNotOpen, "shut down");
  expect(stream.set_no_delay(true).error(), Errc::closed, kNotOpen, "no delay");
  expect(stream.peer_address().error(), Errc::closed, kNotOpen, "peer address");
  net::BufferedReader reader(stream);
  expect(reader.read_line().get().error(), Errc::closed, kNotOpen, "read");
  net::Listener listener;
  expect(listener.accept().get().error(), Errc::closed, kNotOpen, "accept");
  net::UdpSocket socket;
  expect(socket.receive(buffer).get().error(), Errc::closed, kNotOpen, "receive");
  expect(socket.send_to(net::Address::loopback(1), buffer).get().error(), Errc::closed, kNotOpen,
         "send");
  net::File file;
  expect(file.read_at(0, buffer).get().error(), Errc::closed, kNotOpen, "read");
  expect(file.write_at(0, buffer).get().error(), Errc::closed, kNotOpen, "write");
  expect(file.sync().get().error(), Errc::closed, kNotOpen, "sync");
  expect(file.size().get().error(), Errc::closed, kNotOpen, "size");
  net::Process process;
  expect(process.wait().get().error(), Errc::closed, kNotOpen, "wait");
  net::Signal signal;
  expect(signal.next().get().error(), Errc::closed, kNotOpen, "signal");
}

TEST(NetMessages, OfAHostThatIsUnknownNameIt) {
  Loop loop;
  // Reserved: no name server knows it, and none is asked for a name with such an end.
  const auto found = loop.run_until(net::resolve("nobody.invalid", 80, loop));
  ASSERT_FALSE(found.ok());
  // A machine without a network may say "try again" instead.
  if (found.error().system_code() == ENOENT) {
    expect(found.error(), Errc::io_failed, "no host of the name nobody.invalid", "resolve");
  } else {
    expect(found.error(), Errc::io_failed, "nobody.invalid", "resolve");
  }
}

TEST(NetMessages, OfAnEmptyAddressSaySo) {
  Loop loop;
  expect(loop.run_until(net::Stream::connect(net::Address{}, loop)).error(), Errc::invalid_arg,
         "the address is empty", "socket");
}

}  // namespace
}  // namespace jzx

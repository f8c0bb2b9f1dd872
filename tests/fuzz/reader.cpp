// A BufferedReader gives what a plain model gives of all bytes at once, whatever the packets.
//
//   input:  piece, limit, parameter, how many packets, their sizes, the bytes
#include <algorithm>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "support/reader_model.hpp"

using jzx::testing::ReadPlan;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static jzx::Loop loop(jzx::LoopOptions{.reactor = jzx::Reactor::epoll});
  jzx::fuzz::Choices choices(data, size);
  ReadPlan plan;
  plan.piece = static_cast<ReadPlan::Piece>(choices.below(5));
  plan.limit = choices.byte();
  const size_t parameter = choices.below(12);
  plan.count = parameter;
  std::vector<size_t> sizes(choices.below(40));
  for (size_t& one : sizes) one = 1 + choices.below(16);
  std::string_view input = choices.rest().substr(0, 1000);
  if (plan.piece == ReadPlan::Piece::until) {
    plan.delimiter = input.substr(0, 1 + parameter);
    input.remove_prefix(plan.delimiter.size());
    if (plan.delimiter.empty()) return 0;
  }
  std::vector<std::string_view> packets;
  std::string_view left = input;
  for (const size_t one : sizes) {
    packets.push_back(left.substr(0, one));
    left.remove_prefix(packets.back().size());
  }
  packets.push_back(left);
  FUZZ_CHECK(jzx::testing::read_packets(loop, plan, packets) ==
             jzx::testing::expected_of(plan, input));
  return 0;
}

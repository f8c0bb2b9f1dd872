// What every operation promises, whatever it does.
#include "io/reactor_fixture.hpp"

namespace jzx::io {
namespace {

class Operations : public ReactorTest {};
JZX_TEST_BOTH_REACTORS(Operations);

TEST_P(Operations, OneThatTheReactorCannotDoIsDoneAtOnce) {
  Operation operation(static_cast<Opcode>(kOpcodes),
                      [](Operation&) { FAIL() << "it was done at once"; });
  EXPECT_EQ(reactor->submit(operation), Submitted::done);
  EXPECT_EQ(operation.result, -ENOSYS);
  EXPECT_EQ(reactor->pending_count(), 0u);
  tell();
}

}  // namespace
}  // namespace jzx::io

// Operations that a reactor cannot do complete all the same: once, and from inside wait().
#include "io/reactor_fixture.hpp"

namespace jzx::io {
namespace {

class Operations : public ReactorTest {};
JZX_TEST_BOTH_REACTORS(Operations);

class RecordingOperation : public Operation {
 public:
  explicit RecordingOperation(Opcode what) : Operation(what, &RecordingOperation::completed) {}

  std::vector<int64_t> results;
  std::function<void()> then;  // runs inside the completion

 private:
  static void completed(Operation& operation) {
    auto& self = static_cast<RecordingOperation&>(operation);
    self.results.push_back(self.result);
    if (self.then) self.then();
  }
};

using Results = std::vector<int64_t>;

TEST_P(Operations, CompleteOnceFromInsideTheNextWait) {
  for (const Opcode opcode :
       {Opcode::open, Opcode::accept, Opcode::connect, Opcode::read, Opcode::write, Opcode::fsync,
        Opcode::close, Opcode::resolve, Opcode::signal, Opcode::process}) {
    RecordingOperation operation(opcode);
    reactor->submit(operation);
    EXPECT_EQ(operation.results, Results{}) << "never from inside submit()";
    EXPECT_TRUE(is_readable(reactor->pollable_fd()));
    EXPECT_EQ(reactor->wait(base::kNever), 0);
    EXPECT_EQ(operation.results, Results{-ENOSYS});
    tell();
    EXPECT_EQ(operation.results, Results{-ENOSYS});
    EXPECT_FALSE(is_readable(reactor->pollable_fd()));
  }
}

TEST_P(Operations, CompleteInTheOrderOfTheirSubmission) {
  std::vector<int> order;
  RecordingOperation first(Opcode::read);
  RecordingOperation second(Opcode::write);
  first.then = [&] { order.push_back(1); };
  second.then = [&] { order.push_back(2); };
  reactor->submit(first);
  reactor->submit(second);
  tell();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_P(Operations, ACancelledOneCompletesOnceToo) {
  RecordingOperation operation(Opcode::read);
  reactor->submit(operation);
  reactor->cancel(operation);
  EXPECT_EQ(operation.results, Results{}) << "never from inside cancel()";
  tell();
  ASSERT_EQ(operation.results.size(), 1u);
  EXPECT_LT(operation.results[0], 0);
  tell();
  EXPECT_EQ(operation.results.size(), 1u);
}

TEST_P(Operations, OneSubmittedByACompletionCompletesInTheNextWait) {
  RecordingOperation operation(Opcode::read);
  operation.then = [&] {
    if (operation.results.size() < 3) reactor->submit(operation);
  };
  reactor->submit(operation);
  for (size_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(reactor->wait(base::kNever), 0);
    EXPECT_EQ(operation.results.size(), i);
  }
  tell();
  EXPECT_EQ(operation.results.size(), 3u);
}

}  // namespace
}  // namespace jzx::io

// Operations that a reactor cannot do: kept until its next wait(), which completes each of them
// once with -ENOSYS. To cancel one needs nothing: its completion is on its way.
//
// Threads: the reactor's own.
#pragma once

#include <cerrno>

#include "base/list.hpp"
#include "io/contract.hpp"

namespace jzx::io {

class UnsupportedOperations {
 public:
  void add(Operation& operation) noexcept { waiting_.push_back(operation); }

  // One that is submitted by a completion waits for the next call, or a stubborn caller could
  // keep the reactor here for ever.
  void complete_all() {
    base::List<Operation, InOperationList> batch;
    batch.splice_back(waiting_);
    while (Operation* operation = batch.pop_front()) operation->complete_with(-ENOSYS);
  }

 private:
  base::List<Operation, InOperationList> waiting_;
};

}  // namespace jzx::io

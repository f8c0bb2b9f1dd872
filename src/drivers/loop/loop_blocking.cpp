#include "drivers/loop/loop_blocking.hpp"

#include "core/system.hpp"

namespace jzx::drivers {

LoopBlocking::~LoopBlocking() {
  close();
  worker_.set_blocking_place(nullptr);
  worker_.system.allocator.destroy(pool_);
}

bool LoopBlocking::post(base::Runnable& work) noexcept {
  if (pool_ == nullptr) {
    if (is_closed_) return false;
    BlockingPool::Hosts& hosts = *this;
    pool_ = worker_.system.allocator.create<BlockingPool>(hosts, kMostThreads);
  }
  return pool_ != nullptr && pool_->post(work);
}

void LoopBlocking::close() noexcept {
  if (is_closed_) return;
  is_closed_ = true;
  if (pool_ != nullptr) pool_->close();
}

}  // namespace jzx::drivers

// RwLock: who may be inside, order, cancelling.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include <jzx/jzx.hpp>

namespace jzx {
namespace {

TEST(RwLock, LetsReadersInTogetherAndAWriterAlone) {
  RwLock lock;
  ReadGuard first = lock.try_read();
  ReadGuard second = lock.try_read();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
  EXPECT_FALSE(lock.try_write());
  Future<WriteGuard> writing = lock.write();
  first.unlock();
  EXPECT_FALSE(writing.is_ready());
  second.unlock();
  ASSERT_TRUE(writing.is_ready());
  Result<WriteGuard> writer = writing.get();
  EXPECT_FALSE(lock.try_read());
  EXPECT_FALSE(lock.try_write());
  writer->unlock();
  EXPECT_TRUE(lock.try_write());
}

TEST(RwLock, AWriterIsNotStarvedByASteadyStreamOfReaders) {
  RwLock lock;
  ReadGuard reading = lock.try_read();
  Future<WriteGuard> writing = lock.write();
  std::vector<Future<ReadGuard>> readers;
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(lock.try_read());  // it would overtake
    readers.push_back(lock.read());
    EXPECT_FALSE(readers.back().is_ready());
  }
  reading.unlock();
  ASSERT_TRUE(writing.is_ready());
  for (auto& reader : readers) EXPECT_FALSE(reader.is_ready());
  writing.get()->unlock();
  for (auto& reader : readers) EXPECT_TRUE(reader.is_ready());
}

TEST(RwLock, ReadersAreNotStarvedByWriters) {
  RwLock lock;
  WriteGuard writing = lock.try_write();
  Future<ReadGuard> reader = lock.read();
  Future<WriteGuard> writer = lock.write();
  writing.unlock();
  EXPECT_TRUE(reader.is_ready());
  EXPECT_FALSE(writer.is_ready());
  reader = {};
  EXPECT_TRUE(writer.is_ready());
}

TEST(RwLock, AWriterThatIsCancelledLetsTheReadersBehindItIn) {
  RwLock lock;
  ReadGuard reading = lock.try_read();
  Future<WriteGuard> writer = lock.write();
  Future<ReadGuard> reader = lock.read();
  EXPECT_FALSE(reader.is_ready());
  writer.cancel();
  EXPECT_EQ(writer.get().error().code(), Errc::cancelled);
  EXPECT_TRUE(reader.is_ready());
}

TEST(RwLock, AGrantThatIsDroppedGoesToTheNext) {
  RwLock lock;
  WriteGuard writing = lock.try_write();
  Future<WriteGuard> first = lock.write();
  Future<WriteGuard> second = lock.write();
  writing.unlock();
  EXPECT_TRUE(first.is_ready());
  first.cancel();  // too late: it stands
  EXPECT_FALSE(second.is_ready());
  first = {};
  EXPECT_TRUE(second.is_ready());
}

TEST(RwLock, ThatEndsTellsThoseWhoWait) {
  auto lock = std::make_unique<RwLock>();
  ReadGuard reading = lock->try_read();
  Future<WriteGuard> writer = lock->write();
  Future<ReadGuard> reader = lock->read();
  lock.reset();
  EXPECT_EQ(writer.get().error().code(), Errc::closed);
  EXPECT_EQ(reader.get().error().code(), Errc::closed);
  reading.unlock();
}

}  // namespace
}  // namespace jzx

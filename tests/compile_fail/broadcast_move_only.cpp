// A broadcast of a message that cannot be copied.
// EXPECT: jzx: a message to many must be copyable
// EXPECT: Parcel
#include <jzx/group.hpp>
#include <jzx/loop.hpp>

#include <memory>

struct Notice {
  int number;
};
struct Parcel {
  std::unique_ptr<int> content;
};

void use(jzx::Loop& loop) {
  const jzx::Group group(loop);
  (void)group.broadcast(Notice{1});
#ifdef JZX_MISTAKE
  (void)group.broadcast(Parcel{});
#endif
}

// A topic of messages that cannot be copied.
// EXPECT: jzx: a message to many must be copyable
// EXPECT: Parcel
#include <jzx/loop.hpp>
#include <jzx/topic.hpp>

#include <memory>

struct Notice {
  int number;
};
struct Parcel {
  std::unique_ptr<int> content;
};

void use(jzx::Loop& loop) {
  (void)jzx::topic<Notice>(loop, "notices").publish({1});
#ifdef JZX_MISTAKE
  (void)jzx::topic<Parcel>(loop, "parcels").publish({});
#endif
}

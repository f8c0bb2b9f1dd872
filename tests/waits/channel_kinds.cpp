// Channels, and the first of several.
#include <memory>

#include "waits/scene.hpp"

namespace jzx::testing {
namespace {

constexpr auto kIsOne = [](int value) { return value == 1; };

// Nothing is there any more: what came was taken, and once.
template <class Ends>
auto is_empty(std::shared_ptr<Ends> it) {
  return [it] { return it->receiver.try_recv().error().code() == Errc::empty; };
}
// Waiting for it has not taken it.
template <class Ends>
auto is_there(std::shared_ptr<Ends> it) {
  return [it] { return it->receiver.try_recv().ok() && is_empty(it)(); };
}

Scene recv(Stage& stage) {
  auto it = std::make_shared<Channel<int>>(channel<int>(1));
  return scene(
      stage, [it] { return it->receiver.recv(); },
      [it] { EXPECT_EQ(it->sender.try_send(1), Errc::ok); }, is_empty(it), kIsOne);
}
Scene ready(Stage& stage) {
  auto it = std::make_shared<Channel<int>>(channel<int>(1));
  return scene(
      stage, [it] { return it->receiver.ready(); },
      [it] { EXPECT_EQ(it->sender.try_send(1), Errc::ok); }, is_there(it));
}
std::shared_ptr<Channel<int>> full_channel() {
  auto it = std::make_shared<Channel<int>>(channel<int>(1));
  EXPECT_EQ(it->sender.try_send(1), Errc::ok);
  return it;
}
Scene send(Stage& stage) {
  auto it = full_channel();
  return scene(
      stage, [it] { return it->sender.send(2); }, [it] { EXPECT_EQ(*it->receiver.try_recv(), 1); },
      is_there(it));
}
Scene reserve(Stage& stage) {
  auto it = full_channel();
  return scene(
      stage, [it] { return it->sender.reserve(); },
      [it] { EXPECT_EQ(*it->receiver.try_recv(), 1); },
      [it] { return ok(it->sender.try_send(3)) && is_there(it)(); });
}
Scene closed(Stage& stage) {
  auto it = std::make_shared<Channel<int>>(channel<int>(1));
  return scene(
      stage, [it] { return it->sender.closed(); }, [it] { it->receiver.close(); },
      [it] { return it->sender.is_closed(); });
}
Scene unbounded(Stage& stage) {
  auto it = std::make_shared<UnboundedChannel<int>>(unbounded_channel<int>());
  return scene(
      stage, [it] { return it->receiver.recv(); },
      [it] { EXPECT_EQ(it->sender.send(1), Errc::ok); }, is_empty(it), kIsOne);
}
Scene once(Stage& stage) {
  auto it = std::make_shared<Oneshot<int>>(oneshot<int>());
  return scene(
      stage, [it] { return it->receiver.recv(); },
      [it] { EXPECT_EQ(std::move(it->sender).send(1), Errc::ok); },
      [it] { return it->receiver.try_recv().error().code() == Errc::closed; }, kIsOne);
}
Scene broadcast_recv(Stage& stage) {
  auto it = std::make_shared<Broadcast<int>>(broadcast<int>(2));
  return scene(
      stage, [it] { return it->receiver.recv(); },
      [it] { EXPECT_EQ(it->sender.send(1), Errc::ok); }, is_empty(it), kIsOne);
}
Scene broadcast_ready(Stage& stage) {
  auto it = std::make_shared<Broadcast<int>>(broadcast<int>(2));
  return scene(
      stage, [it] { return it->receiver.ready(); },
      [it] { EXPECT_EQ(it->sender.send(1), Errc::ok); }, is_there(it));
}
Scene changed(Stage& stage) {
  auto it = std::make_shared<Watch<int>>(watch<int>(1));
  return scene(
      stage, [it] { return it->receiver.changed(); },
      [it] { EXPECT_EQ(it->sender.send(2), Errc::ok); }, [it] { return *it->receiver.get() == 2; });
}
Scene first_of_several(Stage& stage) {
  struct Things {
    Latch never{1};
    Notify also_never;
    Receiver<int> receiver;
    Sender<int> sender;
  };
  auto it = std::make_shared<Things>();
  auto [sender, receiver] = channel<int>(1);
  it->sender = std::move(sender);
  it->receiver = std::move(receiver);
  return scene(
      stage, [it] { return select(it->never.wait(), it->receiver.ready(), it->also_never.wait()); },
      [it] { EXPECT_EQ(it->sender.try_send(1), Errc::ok); }, is_there(it),
      [](const Selection& selection) { return selection.index == 1; });
}

}  // namespace

std::vector<Kind> channel_kinds() {
  return {{"channel_recv", &recv, Trait::takes}, {"channel_ready", &ready},
          {"channel_send", &send, Trait::takes}, {"channel_reserve", &reserve},
          {"channel_closed", &closed},           {"unbounded_recv", &unbounded, Trait::takes},
          {"oneshot_recv", &once, Trait::takes}, {"broadcast_recv", &broadcast_recv, Trait::takes},
          {"broadcast_ready", &broadcast_ready}, {"watch_changed", &changed},
          {"select", &first_of_several}};
}

}  // namespace jzx::testing

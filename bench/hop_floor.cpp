// hop_floor: the least that a message between two actors can cost on this machine, as a yardstick
// for pingpong. Not the library's code: a bare model of what no implementation with ids can leave
// out. The send is a call into a library; the id is looked up in a table and its generation
// compared; an envelope of 64 bytes comes from a free list; the receiver waits in a FIFO queue, is
// called through a pointer with a context, and its envelope goes back. Nothing is bounded, counted,
// supervised, watched or safe.
//
//   hop_floor/locked:0   on one thread, without one locked instruction
//   hop_floor/locked:2   with one to let the message in and one to go idle: the least that lets
//                        other threads send
#include <array>
#include <atomic>

#include "support.hpp"

namespace {

constexpr std::uint64_t kHops = 200'000;

struct Slot;
struct Model;
struct Context {
  void* state;
  std::uint64_t self;
  Model* model;
};
struct alignas(64) Envelope {
  Envelope* next;
  std::uint64_t sender;
  void* data;
  std::uint64_t size;
  std::uint64_t tag;
};
struct alignas(64) Slot {
  Slot* next_ready = nullptr;
  std::atomic<std::uint64_t> word{0};  // the generation, above one bit: it is in the queue
  Envelope* inbox = nullptr;
  int (*behave)(Context*, const Envelope*) = nullptr;
  void* state = nullptr;
  std::uint64_t id = 0;
};
struct Model {
  std::array<Slot, 2> slots;
  std::array<Envelope, 4> envelopes;
  Envelope* free = nullptr;
  Slot* first = nullptr;
  Slot* last = nullptr;
  std::uint64_t acting = 0;
};

template <bool is_locked>
bool change(std::atomic<std::uint64_t>& word, std::uint64_t from, std::uint64_t to) {
  if constexpr (is_locked) return word.compare_exchange_strong(from, to, std::memory_order_acq_rel);
  if (word.load(std::memory_order_relaxed) != from) return false;
  word.store(to, std::memory_order_relaxed);
  return true;
}

template <bool is_locked>
[[gnu::noinline]] bool send(Model& model, std::uint64_t target, void* data, std::uint64_t size,
                            std::uint64_t tag) {
  const std::uint64_t index = target & 0xffffffff;
  if (index >= model.slots.size() || model.free == nullptr) return false;
  Slot& slot = model.slots[index];
  const std::uint64_t idle = target >> 32 << 1;
  if (!change<is_locked>(slot.word, idle, idle + 1)) return false;
  Envelope& envelope = *model.free;
  model.free = envelope.next;
  envelope = {nullptr, model.acting, data, size, tag};
  slot.inbox = &envelope;
  slot.next_ready = nullptr;
  (model.first == nullptr ? model.first : model.last->next_ready) = &slot;
  model.last = &slot;
  return true;
}

template <bool is_locked>
[[gnu::noinline]] void run(Model& model) {
  while (Slot* slot = model.first) {
    model.first = slot->next_ready;
    Envelope* envelope = slot->inbox;
    slot->inbox = nullptr;
    model.acting = slot->id;
    Context context{slot->state, slot->id, &model};
    if (slot->behave(&context, envelope) != 0) return;
    envelope->next = model.free;
    model.free = envelope;
    const std::uint64_t word = slot->word.load(std::memory_order_relaxed);
    if (!change<is_locked>(slot->word, word, word - 1)) return;
  }
}

struct Player {
  std::uint64_t peer = 0;
  std::uint64_t received = 0;
  std::uint64_t* left = nullptr;
};

template <bool is_locked>
int play(Context* context, const Envelope*) {
  auto* player = static_cast<Player*>(context->state);
  ++player->received;
  if (--*player->left == 0) return 0;
  return send<is_locked>(*context->model, player->peer, nullptr, 0, 1) ? 0 : 1;
}

template <bool is_locked>
void measure(benchmark::State& state) {
  Model model;
  for (Envelope& envelope : model.envelopes) envelope.next = std::exchange(model.free, &envelope);
  std::uint64_t left = 0;
  std::array<Player, 2> players;
  constexpr std::uint64_t kGeneration = 7;
  for (std::uint64_t i = 0; i < 2; ++i) {
    players[i] = {.peer = kGeneration << 32 | (1 - i), .received = 0, .left = &left};
    Slot& slot = model.slots[i];
    slot.word = kGeneration << 1;
    slot.behave = &play<is_locked>;
    slot.state = &players[i];
    slot.id = kGeneration << 32 | i;
  }
  bench::Stopwatch watch;
  std::uint64_t items = 0;
  for (auto _ : state) {
    left = kHops;
    watch.start();
    BENCH_CHECK(send<is_locked>(model, model.slots[0].id, nullptr, 0, 1));
    run<is_locked>(model);
    watch.stop();
    items += kHops;
    BENCH_CHECK_COUNT(left, 0);
    BENCH_CHECK_COUNT(players[0].received + players[1].received, items);
  }
  bench::report(state, items, watch);
}

void hop_floor(benchmark::State& state) {
  if (state.range(0) == 0) return measure<false>(state);
  measure<true>(state);
}
BENCHMARK(hop_floor)->ArgName("locked")->Arg(0)->Arg(2);

}  // namespace

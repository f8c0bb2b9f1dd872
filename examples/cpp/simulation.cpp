// simulation: a bug that shows once in a while, found at the first try and told as a story.
//
//   desk ──Free──▶ cinema        each of two desks asks whether a seat is left,
//        ◀──────── 1             and sells it if so. There is one seat.
//        ──Sell──▶
//
// The second customer comes a millisecond later, which is plenty: the program always works, until
// one day a message is late. jzx::simulate runs it with one seed after the other, in some of which
// one is, finds how the seat is sold twice, and shrinks that to what matters. Then the same
// test of the program as it should be: who asks for a seat gets it, or hears that there is none.
#include <jzx/jzx.hpp>
#include <jzx/sim/simulation.hpp>

#include <chrono>
#include <cstdio>

namespace {

using namespace std::chrono_literals;

struct Free {};
struct Sell {};
struct Reserve {};
struct Customer {};

struct Cinema {
  int seats = 1;
  int* sold;
  explicit Cinema(int* the_sold) : sold(the_sold) {}

  int on(Free) const { return seats; }
  void on(Sell) {
    --seats;
    ++*sold;
  }
  // As it should be: looks and takes in one message.
  bool on(Reserve) {
    if (seats == 0) return false;
    --seats;
    ++*sold;
    return true;
  }
};

struct HastyDesk {
  jzx::ActorRef<Cinema> cinema;
  explicit HastyDesk(jzx::ActorRef<Cinema> the_cinema) : cinema(the_cinema) {}

  jzx::Task<void> on(Customer) {
    auto asking = cinema.ask(Free{});
    const int seats = co_await co_await asking;
    if (seats > 0) cinema << Sell{};
  }
};

struct CarefulDesk {
  jzx::ActorRef<Cinema> cinema;
  explicit CarefulDesk(jzx::ActorRef<Cinema> the_cinema) : cinema(the_cinema) {}

  jzx::Task<void> on(Customer) {
    auto asking = cinema.ask(Reserve{});
    (void)co_await co_await asking;
  }
};

template <class Desk>
void two_desks_sell_one_seat(jzx::Sim& sim) {
  int sold = 0;
  const auto cinema = sim.spawn<Cinema>(&sold);
  const auto first = sim.spawn<Desk>(cinema);
  const auto second = sim.spawn<Desk>(cinema);
  sim.always("no seat is sold twice", [&] { return sold <= 1; });
  first << Customer{};
  sim.check(ok(sim.send_after(1ms, second, Customer{})), "a second customer comes");
  sim.run();
  sim.check(sold == 1, "the seat is sold");
}

}  // namespace

int main() {
  jzx::SimOptions options;
  options.name = "example.simulation";
  options.seeds = 1000;
  options.faults.delay = 20'000;  // of a million messages

  const jzx::SimReport hasty = jzx::simulate(options, two_desks_sell_one_seat<HastyDesk>);
  std::printf("hasty: %s\n", hasty.text().c_str());

  const jzx::SimReport careful = jzx::simulate(options, two_desks_sell_one_seat<CarefulDesk>);
  std::printf("careful: %s\n", careful.text().c_str());
  return !hasty && careful ? 0 : 1;
}

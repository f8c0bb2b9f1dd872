// Random trees of supervisors.
#include "explore/crowd.hpp"

namespace jzx::explore {

namespace {

using std::chrono::milliseconds;

ChildSpec with_some_mode(Books& books, ChildSpec spec) {
  switch (books.sim.choose(4)) {
    case 2:
      return std::move(spec).transient();
    case 3:
      return std::move(spec).temporary();
    default:
      return spec;  // permanent
  }
}

ChildSpec with_some_backoff(Books& books, ChildSpec spec) {
  if (books.sim.choose(3) != 2) return spec;
  Backoff backoff;
  backoff.initial = milliseconds(1 + books.sim.choose(50));
  backoff.max = milliseconds(1000);
  backoff.jitter = milliseconds(books.sim.choose(2) * 5);
  return std::move(spec).backoff(backoff);
}

}  // namespace

SupervisorOptions some_options(Books& books) {
  constexpr milliseconds kPeriods[] = {milliseconds(5000), milliseconds(100), milliseconds(1)};
  constexpr uint32_t kIntensities[] = {3, 1, 0, 10};
  SupervisorOptions options;
  options.strategy = static_cast<Strategy>(books.sim.choose(3));
  options.intensity = kIntensities[books.sim.choose(std::size(kIntensities))];
  options.period = kPeriods[books.sim.choose(std::size(kPeriods))];
  return options;
}

std::vector<ChildSpec> some_children(const BooksPtr& books, const SupervisorOptions& options,
                                     uint32_t depth) {
  const int family = options.strategy == Strategy::one_for_one ? -1 : books->new_family();
  std::vector<ChildSpec> children;
  for (uint32_t left = books->sim.choose(4) + 1; left > 0; --left) {
    const Seat seat = books->new_seat(family);
    ChildSpec spec = some_child(books, seat);
    if (depth > 0 && books->sim.choose(3) == 2) {
      const SupervisorOptions inner = some_options(*books);
      spec = supervisor("inner" + std::to_string(seat.number), inner,
                        some_children(books, inner, depth - 1));
    }
    children.push_back(with_some_backoff(*books, with_some_mode(*books, std::move(spec))));
  }
  return children;
}

}  // namespace jzx::explore

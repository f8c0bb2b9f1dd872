// Several futures at once, as in JavaScript:
//
//                   has its result when                     and it is
//   all             all have a value, or one has an error   the values, or the first error
//   race            the first has a result                  that result
//   any             the first has a value, or none has      that value, or Errc::all_failed with
//                                                           the errors of all, in their order
//   all_settled     all have a result                       the results
//
//   Future<std::vector<User>>           all(std::vector<Future<User>>)      or another range
//   Future<std::tuple<User, Order>>     all(fetch_user(1), fetch_order(2))
//   Future<User>                        race(fetch_user(1), fetch_user(1))
//   Future<std::variant<User, Order>>   race(fetch_user(1), fetch_order(2)) index() tells which
//
// Where there is nothing to wait for, all and all_settled give an empty list at once, any
// Errc::all_failed without causes, and race never settles; it can be cancelled, and dropping it
// does so. Futures of nothing give a Future<void> for a list, and Nothing in tuples and variants.
//
// When it is decided the others are cancelled. The result comes when each of them has ended, so
// that nothing of theirs is in use any more; for plain promises that is at once.
//
// Cancelling the future that these return cancels all of them. What came nevertheless counts: all
// has its values if every one came, any its value if one did. Dropping it cancels if dropping one
// of its futures does. Without memory these throw std::bad_alloc.
//
// Tasks are given to somebody who runs them first: jzx::spawn_async(task) makes a future of one;
// or see scope.hpp, which runs them in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <jzx/detail/gathering.hpp>
#include <jzx/future.hpp>

namespace jzx {
namespace detail {

template <class T>
using ValueOf = typename Result<T>::Value;

// ---- what is combined: a range of futures of one type, or a pack ----

template <class T>
struct RangeOf {
  using Values = std::conditional_t<std::is_void_v<T>, void, std::vector<ValueOf<T>>>;
  using Results = std::vector<Result<T>>;
  using One = T;

  template <class F>
  static void each(const Gathering& whole, F&& function) {
    for (uint32_t i = 0; i < whole.count(); ++i) function.template operator()<T>(i);
  }
  template <class Whole>
  static void put_one(Whole& whole, uint32_t number) {
    whole.put_result(whole.template take<T>(number));
  }
};

template <class... T>
struct PackOf {
  using First = std::tuple_element_t<0, std::tuple<std::type_identity<T>...>>;
  static constexpr bool kIsSame = (std::is_same_v<std::type_identity<T>, First> && ...);
  using Values = std::tuple<ValueOf<T>...>;
  using Results = std::tuple<Result<T>...>;
  using One = typename std::conditional_t<kIsSame, First,
                                          std::type_identity<std::variant<ValueOf<T>...>>>::type;

  template <class F>
  static void each(const Gathering& /*whole*/, F&& function) {
    uint32_t i = 0;
    (function.template operator()<T>(i++), ...);
  }
  template <class Whole>
  static void put_one(Whole& whole, uint32_t number) {
    if constexpr (kIsSame) {
      whole.put_result(whole.template take<typename First::type>(number));
    } else {
      [&]<size_t... I>(std::index_sequence<I...>) {
        ((number == I ? put_alternative<T, I>(whole) : void()), ...);
      }
      (std::index_sequence_for<T...>());
    }
  }
  // f(the results…), in order.
  template <class Whole, class F>
  static void with_results(Whole& whole, F&& function) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      function(whole.template take<T>(static_cast<uint32_t>(I))...);
    }
    (std::index_sequence_for<T...>());
  }

 private:
  template <class A, size_t I, class Whole>
  static void put_alternative(Whole& whole) {
    Result<A> result = whole.template take<A>(static_cast<uint32_t>(I));
    if (!result) return whole.put_result(result.error());
    whole.put_result(std::in_place, std::in_place_index<I>, *std::move(result));
  }
};

// ---- how the result is made ----

// Calls the function, which puts the result; what it throws is the result otherwise. What nobody
// took is dropped.
template <class Inputs, class Whole, class F>
void put_by(Whole& whole, const char* source, F&& function) {
#ifdef __cpp_exceptions
  try {
    function();
  } catch (...) {
    whole.put_result(Error::of_exception(source));
  }
#else
  (void)source;
  function();
#endif
  Inputs::each(whole, [&]<class T>(uint32_t number) { whole.template drop_one<T>(number); });
}

struct NoStorage {
  explicit NoStorage(size_t /*count*/) noexcept {}
};
template <class V>
struct ListStorage {
  explicit ListStorage(size_t count) { list.reserve(count); }
  std::vector<V> list;
};
template <class List>
struct StorageFor {
  using type = NoStorage;
};
template <class V>
struct StorageFor<std::vector<V>> {
  using type = ListStorage<V>;
};

template <class Inputs>
struct MakeAll {
  using Value = typename Inputs::Values;
  using Storage = typename StorageFor<Value>::type;
  static constexpr Decides kDecides = Decides::an_error;

  template <class Whole>
  static void put(Whole& whole, Storage& storage) {
    put_by<Inputs>(whole, "all", [&] {
      Error failure(Errc::ok);
      Inputs::each(whole, [&]<class T>(uint32_t number) {
        if (number == whole.decider()) failure = whole.template take<T>(number).error();
      });
      if (!ok(failure.code())) return whole.put_result(failure);
      if constexpr (std::is_void_v<Value>) {
        whole.put_result();
      } else if constexpr (std::is_same_v<Storage, NoStorage>) {
        Inputs::with_results(whole, [&](auto&&... results) {
          whole.put_result(std::in_place, *std::move(results)...);
        });
      } else {
        Inputs::each(whole, [&]<class T>(uint32_t number) {
          storage.list.push_back(*whole.template take<T>(number));
        });
        whole.put_result(std::move(storage.list));
      }
    });
  }
};

template <class Inputs>
struct MakeAllSettled {
  using Value = typename Inputs::Results;
  using Storage = typename StorageFor<Value>::type;
  static constexpr Decides kDecides = Decides::nothing;

  template <class Whole>
  static void put(Whole& whole, Storage& storage) {
    put_by<Inputs>(whole, "all_settled", [&] {
      if constexpr (std::is_same_v<Storage, NoStorage>) {
        Inputs::with_results(whole, [&](auto&&... results) {
          whole.put_result(std::in_place, std::move(results)...);
        });
      } else {
        Inputs::each(whole, [&]<class T>(uint32_t number) {
          storage.list.push_back(whole.template take<T>(number));
        });
        whole.put_result(std::move(storage.list));
      }
    });
  }
};

template <class Inputs>
struct MakeRace {
  using Value = typename Inputs::One;
  using Storage = NoStorage;
  static constexpr Decides kDecides = Decides::any;

  template <class Whole>
  static void put(Whole& whole, Storage& /*storage*/) {
    put_by<Inputs>(whole, "race", [&] {
      if (whole.decider() == Gathering::kNone) {
        return whole.put_result(Error(Errc::cancelled, {}, "race"));  // there were no futures
      }
      Inputs::put_one(whole, whole.decider());
    });
  }
};

template <class Inputs>
struct MakeAny {
  using Value = typename Inputs::One;
  using Storage = ListStorage<Error>;
  static constexpr Decides kDecides = Decides::a_value;

  template <class Whole>
  static void put(Whole& whole, Storage& storage) {
    put_by<Inputs>(whole, "any", [&] {
      if (whole.decider() != Gathering::kNone) return Inputs::put_one(whole, whole.decider());
      if (whole.was_cancelled()) return whole.put_result(Error(Errc::cancelled, {}, "any"));
      Inputs::each(whole, [&]<class T>(uint32_t number) {
        storage.list.push_back(whole.template take<T>(number).error());
      });
      whole.put_result(Error::of_all(std::move(storage.list), "any"));
    });
  }
};

// ---- what may be given to them ----

template <class F>
struct FutureType {};
template <class T>
struct FutureType<Future<T>> {
  using Value = T;
};
template <class R>
using ElementOf = std::remove_cvref_t<decltype(*std::begin(std::declval<R&>()))>;
// A range of futures that may be moved from: it is given away, or is a view such as std::span.
template <class R>
concept GivenFutures = !std::is_lvalue_reference_v<R> && requires {
  typename FutureType<ElementOf<R>>::Value;
};
template <class R>
using FutureIn = typename FutureType<ElementOf<R>>::Value;

template <template <class> class Make, class... T>
auto gather(Future<T>&&... futures) {
  using Maker = Make<PackOf<T...>>;
  return GatherState<typename Maker::Value, Maker>::of(std::move(futures)...);
}
template <template <class> class Make, class Range>
auto gather_range(Range&& range) {
  using T = FutureIn<Range>;
  using Maker = Make<RangeOf<T>>;
  if constexpr (requires { std::size(range); }) {
    return GatherState<typename Maker::Value, Maker>::template of_range<T>(
        range, static_cast<size_t>(std::size(range)));
  } else {
    std::vector<Future<T>> list;
    for (auto&& future : range) list.push_back(std::move(future));
    return gather_range<Make>(std::move(list));
  }
}

}  // namespace detail

template <detail::GivenFutures Range>
[[nodiscard]] auto all(Range&& futures) {
  return detail::gather_range<detail::MakeAll>(std::forward<Range>(futures));
}
template <class... T>
requires(sizeof...(T) > 0)  //
    [[nodiscard]] auto all(Future<T>... futures) {
  return detail::gather<detail::MakeAll>(std::move(futures)...);
}

template <detail::GivenFutures Range>
[[nodiscard]] auto race(Range&& futures) {
  return detail::gather_range<detail::MakeRace>(std::forward<Range>(futures));
}
template <class... T>
requires(sizeof...(T) > 0)  //
    [[nodiscard]] auto race(Future<T>... futures) {
  return detail::gather<detail::MakeRace>(std::move(futures)...);
}

template <detail::GivenFutures Range>
[[nodiscard]] auto any(Range&& futures) {
  return detail::gather_range<detail::MakeAny>(std::forward<Range>(futures));
}
template <class... T>
requires(sizeof...(T) > 0)  //
    [[nodiscard]] auto any(Future<T>... futures) {
  return detail::gather<detail::MakeAny>(std::move(futures)...);
}

template <detail::GivenFutures Range>
[[nodiscard]] auto all_settled(Range&& futures) {
  return detail::gather_range<detail::MakeAllSettled>(std::forward<Range>(futures));
}
template <class... T>
requires(sizeof...(T) > 0)  //
    [[nodiscard]] auto all_settled(Future<T>... futures) {
  return detail::gather<detail::MakeAllSettled>(std::move(futures)...);
}

}  // namespace jzx

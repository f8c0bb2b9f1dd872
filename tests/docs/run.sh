#!/bin/sh
# Shows that check-docs.sh reports each kind of untruth: a small true tree passes; then
# each case plants one in a copy of it.
# Usage: run.sh CHECK_DOCS SCRATCH_FOLDER
set -eu
check=$1
scratch=$2
failures=0

fresh_tree() {
  rm -rf "$scratch"
  mkdir -p "$scratch/include/jzx" "$scratch/src" "$scratch/tests" "$scratch/examples/c" \
    "$scratch/bench" "$scratch/docs"
  echo '#include <stddef.h>' >"$scratch/include/jzx/jzx.h"
  printf 'TEST(Suite,\n     HasATest) {}\n' >"$scratch/tests/a_test.cpp"
  echo 'int main(void) { return 0; }' >"$scratch/examples/c/hello.c"
  echo 'BENCHMARK(speed)->Name("speed/loop");' >"$scratch/bench/speed.cpp"
  echo 'See `include/jzx/jzx.h`.' >"$scratch/README.md"
  {
    echo '| feature | header | test | state |'
    echo '|---|---|---|---|'
    echo '| one | `include/jzx/jzx.h` | `Suite.HasATest` | done; `bench:speed/loop` |'
    echo '| two | | `example.hello` | done |'
    echo '| three | | | later |'
  } >"$scratch/docs/seeds.md"
}

# expect WHERE WHAT: that, and only that, is reported.
expect() {
  if output=$("$check" "$scratch"); then
    echo "not noticed: $1: $2"
    failures=$((failures + 1))
  elif [ "$output" != "$1: $2
docs: 1 wrong" ]; then
    echo "expected $1: $2, but got:"
    echo "$output"
    failures=$((failures + 1))
  fi
}

# plant ROW: one more row in the table.
plant() {
  fresh_tree
  echo "$1" >>"$scratch/docs/seeds.md"
}

fresh_tree
"$check" "$scratch" || { echo "the true tree does not pass"; failures=1; }

plant '| four | | `Suite.HasNoTest` | later |'
expect docs/seeds.md:6 'there is no test Suite.HasNoTest'
plant '| four | | `example.goodbye` | later |'
expect docs/seeds.md:6 'there is no program for example.goodbye'
plant '| four | | `bench:slowness` | later |'
expect docs/seeds.md:6 'there is no benchmark slowness'
plant '| four | `include/jzx/gone.hpp` | | later |'
expect docs/seeds.md:6 'there is no include/jzx/gone.hpp'
plant '| four | `include/jzx/jzx.h` | | done |'
expect docs/seeds.md:6 'done, but no test shows it'
plant '| four | | | nearly |'
expect docs/seeds.md:6 'no such state: nearly'
fresh_tree
echo 'Also `src/gone.cpp`.' >>"$scratch/README.md"
expect README.md:2 'there is no src/gone.cpp'

[ "$failures" -eq 0 ] || exit 1
echo "docs: every planted untruth was reported"

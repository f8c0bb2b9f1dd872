#!/bin/sh
# Shows that check-layering.sh reports each kind of violation, at its place: a small
# clean tree passes; then each case plants one violation in a copy of it.
# Usage: run.sh CHECK_LAYERING SCRATCH_FOLDER
set -eu
check=$1
scratch=$2
failures=0

fresh_tree() {
  rm -rf "$scratch"
  mkdir -p "$scratch/include/jzx/detail" "$scratch/src/base" "$scratch/src/core" "$scratch/src/io" \
    "$scratch/src/async" "$scratch/src/net" "$scratch/src/drivers/sim/world" \
    "$scratch/src/capi" \
    "$scratch/examples/c"
  put include/jzx/jzx.h '#include <stddef.h>'
  put include/jzx/pid.hpp '#include <cstdint>'
  put include/jzx/detail/message.hpp '#include <jzx/pid.hpp>'
  put include/jzx/future.hpp '#include <utility>'
  put src/base/slab.hpp '#include <cstddef>'
  put src/core/actor.hpp '#include <jzx/detail/message.hpp>' '#include "base/slab.hpp"'
  put src/io/contract.hpp '#include "base/slab.hpp"'
  put src/io/reactor.hpp '#include <liburing.h>' '#include "io/contract.hpp"'
  put src/async/future.hpp '#include <jzx/future.hpp>'
  put src/net/tcp.hpp '#include "io/contract.hpp"'
  put src/drivers/sim/sim.hpp '#include "core/actor.hpp"' '#include "io/contract.hpp"'
  put src/drivers/sim/choices.hpp '#include <cstdint>'
  put src/drivers/sim/world/disk.hpp '#include "drivers/sim/choices.hpp"'
  put src/capi/capi.cpp '#include <jzx/jzx.h>' '#include "core/actor.hpp"'
  put examples/c/hello.c '#include <jzx/jzx.h>' '#include <stdio.h>'
}

# put FILE LINE ...
put() {
  file=$scratch/$1
  shift
  printf '%s\n' "$@" >"$file"
}

# expect WHERE RULE: the planted violation, and only it, is reported.
expect() {
  if output=$("$check" "$scratch"); then
    echo "not noticed: $1: $2"
    failures=$((failures + 1))
  elif ! printf '%s\n' "$output" | grep -F -e "$1: " | grep -qF -e "$2"; then
    echo "expected '$1: ... $2 ...' but got:"
    printf '%s\n' "$output"
    failures=$((failures + 1))
  elif [ "$(printf '%s\n' "$output" | wc -l)" -ne 2 ]; then
    echo "one violation was planted, but reported was:"
    printf '%s\n' "$output"
    failures=$((failures + 1))
  fi
  fresh_tree
}

fresh_tree
if ! "$check" "$scratch"; then
  echo "the clean tree is not found clean"
  failures=$((failures + 1))
fi

put src/base/slab.hpp '' '#include "core/other.hpp"'
put src/core/other.hpp ''
expect src/base/slab.hpp:2 'base may include itself, but not "core/other.hpp"'

put src/core/actor.hpp '#include "async/future.hpp"'
expect src/core/actor.hpp:1 'core may include itself, base but not'

put src/net/tcp.hpp '#include "io/contract.hpp"' '  #  include "io/reactor.hpp"'
expect src/net/tcp.hpp:2 'but not "io/reactor.hpp"'

put src/drivers/sim/sim.hpp '#include "io/reactor.hpp"'
expect src/drivers/sim/sim.hpp:1 'but not "io/reactor.hpp"'

put src/drivers/sim/world/disk.hpp '#include "core/actor.hpp"'
expect src/drivers/sim/world/disk.hpp:1 'drivers/sim/world may include itself'

put src/io/contract.hpp '#include "io/other.hpp"'
put src/io/other.hpp ''
expect src/io/contract.hpp:1 'no reactor through it'

put src/io/contract.hpp '#include "io/operation.hpp"'
put src/io/operation.hpp '#include "io/other.hpp"'
put src/io/other.hpp ''
expect src/io/operation.hpp:1 'no reactor through it'

put src/core/actor.hpp '#include <jzx/future.hpp>'
expect src/core/actor.hpp:1 'core may not include <jzx/future.hpp>, which belongs to async'

put src/core/actor.hpp '#include <jzx/jzx.h>'
expect src/core/actor.hpp:1 'which belongs to capi'

put src/core/actor.hpp '#include <jzx/nothing.hpp>'
expect src/core/actor.hpp:1 'there is no public header'

put src/core/actor.hpp '#include "slab.hpp"'
expect src/core/actor.hpp:1 'relative to src'

put src/core/actor.hpp '#include <liburing.h>'
expect src/core/actor.hpp:1 'only io may include'

put src/core/actor.hpp '#include "core/b.hpp"'
put src/core/b.hpp '#include "core/c.hpp"'
put src/core/c.hpp '#include "core/b.hpp"'
expect src/core/c.hpp:1 'circle: src/core/b.hpp -> src/core/c.hpp -> src/core/b.hpp'

put include/jzx/pid.hpp '#include <jzx/detail/message.hpp>'
expect include/jzx/pid.hpp:1 'circle'

put include/jzx/pid.hpp '#include <sys/types.h>'
expect include/jzx/pid.hpp:1 'standard library'

put include/jzx/pid.hpp '#include "core/actor.hpp"'
expect include/jzx/pid.hpp:1 'standard library'

put include/jzx/jzx.h '#include <stdio.h>'
expect include/jzx/jzx.h:1 '<stddef.h> and <stdint.h> only'

put include/jzx/novelty.hpp ''
expect include/jzx/novelty.hpp:1 'add it to OWNERS'

mkdir "$scratch/src/novelty"
put src/novelty/novelty.hpp ''
expect src/novelty/novelty.hpp:1 'add it to ARROWS'

put examples/c/hello.c '#include "core/actor.hpp"'
expect examples/c/hello.c:1 'programs include public headers'

yes '' | head -n 601 >"$scratch/src/base/long.hpp"
expect src/base/long.hpp:601 'no file has over 600'

i=0
while [ $i -lt 25 ]; do
  put "src/base/file_$i.hpp" ''
  i=$((i + 1))
done
expect src/base 'no folder has over 25'

# The stored inputs of the fuzz targets are no sources: there may be many.
mkdir -p "$scratch/tests/fuzz/corpus/reader"
i=0
while [ $i -lt 30 ]; do
  put "tests/fuzz/corpus/reader/input_$i" '#include "no/such.hpp"'
  i=$((i + 1))
done
if ! "$check" "$scratch"; then
  echo "stored inputs are taken for sources"
  failures=$((failures + 1))
fi

rm -rf "$scratch"
[ "$failures" -eq 0 ] || exit 1
echo "every planted violation is reported"

#!/bin/sh
# Shows that the model tests see a weakened header: compiles one test file against a copy of
# the header that the mutation's sed expression has changed, runs the named tests, and expects
# them to fail in some execution. Exit status 0: caught. It is an error if the expression changes
# nothing, if the mutant does not compile, or if the tests pass.
#
# Usage: mutate.sh NAME SCRATCH_FOLDER COMPILER [ARGUMENT ...]
#   The arguments are what compiles and links a test file besides the file itself.
#   mutate.sh --list prints the names.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
list="$here/mutations.txt"

if [ "$1" = --list ]; then
  sed -n 's/^\([a-z][a-z0-9_]*\) | .*/\1/p' "$list"
  exit 0
fi
name=$1
scratch=$2/$1
shift 2

line=$(grep "^$name | " "$list") || { echo "mutate.sh: no mutation named $name" >&2; exit 2; }
field() { printf '%s\n' "$line" | awk -F ' [|] ' -v n="$1" '{ print $n }'; }
header=$(field 2)
change=$(field 3)
test_file=$(field 4)
filter=$(field 5)
source="$here/../../src"
case $header in jzx/*) source="$here/../../include" ;; esac

# The mutant comes first on the include path, so it is found instead of the original.
rm -rf "$scratch"
mkdir -p "$scratch/$(dirname "$header")"
sed "$change" "$source/$header" >"$scratch/$header"
if cmp -s "$source/$header" "$scratch/$header"; then
  echo "mutate.sh: $name changes nothing in $header: bring mutations.txt up to date" >&2
  exit 2
fi
diff "$source/$header" "$scratch/$header" || true

compiler=$1
shift
if ! "$compiler" "-I$scratch" "$here/$test_file" "$@" -o "$scratch/mutant"; then
  echo "mutate.sh: $name does not compile" >&2
  exit 2
fi

status=0
"$scratch/mutant" "--gtest_filter=$filter" >"$scratch/output.txt" 2>&1 || status=$?
tail -n 60 "$scratch/output.txt"
# Some mistakes end in a null pointer before anything can be printed: a signal counts too.
if [ "$status" -eq 0 ] ||
  { [ "$status" -lt 128 ] && ! grep -q '^in this execution:' "$scratch/output.txt"; }; then
  echo "mutate.sh: $name was NOT caught" >&2
  exit 1
fi
echo "mutate.sh: $name was caught (exit status $status)"

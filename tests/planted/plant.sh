#!/bin/sh
# Shows that the simulator finds bugs: compiles a copy of one source of the library with one planted
# in it, links it in front of the library, so that it takes the place of the original, and plays the
# named scene. The scene must fail with the expected words within the stated number of seeds, and be
# shrunk to few choices; over the library as it is the same seeds must pass. Exit status 0: so it is.
#
# Usage: plant.sh NAME SCRATCH_FOLDER PROGRAM COMPILER [ARGUMENT ...]
#   PROGRAM is the scenes over the library as it is; the arguments are what compiles a source of the
#   library, and links it with the scenes and the rest of the library.
#   plant.sh --list prints the names.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
list="$here/bugs.txt"

if [ "$1" = --list ]; then
  sed -n 's/^\([a-z][a-z0-9_]*\) | .*/\1/p' "$list"
  exit 0
fi
name=$1
scratch=$2/$1
program=$3
shift 3

line=$(grep "^$name | " "$list") || { echo "plant.sh: no bug named $name" >&2; exit 2; }
field() { printf '%s\n' "$line" | awk -F ' [|] ' -v n="$1" '{ print $n }'; }
file=$(field 2)
change=$(field 3)
scene=$(field 4)
seeds=$(field 5)
choices=$(field 6)
words=$(field 7)

# A header is planted by way of a source that includes it: "header > source".
source=${file#* > }
file=${file%% > *}
root="$here/../../src"
rm -rf "$scratch"
mkdir -p "$scratch/$(dirname "$file")"
sed "$change" "$root/$file" >"$scratch/$file"
if cmp -s "$root/$file" "$scratch/$file"; then
  echo "plant.sh: $name changes nothing in $file: bring bugs.txt up to date" >&2
  exit 2
fi
diff "$root/$file" "$scratch/$file" || true
[ "$source" = "$file" ] && copy="$scratch/$file" || copy="$root/$source"

compiler=$1
shift
# What the source includes comes from the scratch folder first, then from where it always is.
if ! "$compiler" "-I$scratch" "$copy" "$@" -o "$scratch/scenes"; then
  echo "plant.sh: $name does not compile" >&2
  exit 2
fi

export JZX_SEED_COUNT="$seeds"
if ! "$program" "--gtest_filter=$scene" --gtest_brief=1 >"$scratch/without.txt" 2>&1; then
  cat "$scratch/without.txt"
  echo "plant.sh: $scene fails without the bug" >&2
  exit 1
fi
status=0
"$scratch/scenes" "--gtest_filter=$scene" --gtest_brief=1 >"$scratch/with.txt" 2>&1 || status=$?
tail -n 60 "$scratch/with.txt"
if [ "$status" -eq 0 ]; then
  echo "plant.sh: $name was NOT found by $scene in $seeds seeds" >&2
  exit 1
fi
found=$(sed -n 's/^simulation FAILED with seed \([0-9]*\): .*/\1/p' "$scratch/with.txt")
if ! grep -q "^simulation FAILED with seed [0-9]*: .*$words" "$scratch/with.txt"; then
  echo "plant.sh: $name was found, but not as '$words'" >&2
  exit 1
fi
needed=$(sed -n 's/.* choices, of which \([0-9]*\) were needed.*/\1/p' "$scratch/with.txt")
if [ "$needed" -gt "$choices" ]; then
  echo "plant.sh: $name was shrunk to $needed choices, which is more than $choices" >&2
  exit 1
fi
echo "plant.sh: $name was found with seed $found of $seeds, and shrunk to $needed choices"

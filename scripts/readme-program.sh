#!/bin/sh
# Compiles and runs the first program that a README shows in a language.
# Usage: readme-program.sh README c|cpp SCRATCH_FOLDER COMPILER [FLAG ...] [-- LIBRARY ...]
#
# Exit status 77, which ctest counts as skipped: there is no such program.
set -eu
readme=$1
language=$2
scratch=$3
shift 3

compile=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  compile="$compile $1"
  shift
done
[ $# -eq 0 ] || shift

mkdir -p "$scratch"
source=$scratch/readme.$language
program=$scratch/readme_$language
rm -f "$source" "$program"
if [ -f "$readme" ]; then
  awk -v fence="\`\`\`$language" '
    inside && /^```/ { exit }
    inside { print }
    { sub(/[ \t\r]+$/, "") }
    $0 == fence { inside = 1 }' "$readme" >"$source"
fi
if [ ! -s "$source" ]; then
  echo "readme: no \`\`\`$language program in $readme"
  exit 77
fi

$compile "$source" -o "$program" "$@"
echo "readme: running the first $language program"
"$program"

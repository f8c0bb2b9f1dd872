#!/bin/sh
# Runs a program, which must exit with 0, and checks what it printed.
# Usage: run-example.sh EXPECTED PROGRAM [ARGUMENT ...]
#
# Every line of the file EXPECTED must be part of a line of the output, in the same
# order; other lines may come between. EXPECTED need not exist.
set -eu
expected=$1
shift

output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=0
"$@" >"$output" || status=$?
cat "$output"
if [ "$status" -ne 0 ]; then
  echo "run-example: exit status $status, not 0" >&2
  exit 1
fi
[ -f "$expected" ] || exit 0

awk -v expected="$expected" '
  BEGIN {
    while ((getline line < expected) > 0) if (line != "") wanted[++count] = line
    found = 0
  }
  found < count && index($0, wanted[found + 1]) { found++ }
  END {
    if (found < count) {
      printf "run-example: the output lacks, after %d matching lines: %s\n",
             found, wanted[found + 1] > "/dev/stderr"
      exit 1
    }
  }' "$output"

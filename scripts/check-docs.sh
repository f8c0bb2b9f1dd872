#!/bin/sh
# Checks that what the documents name is there, so that their tables cannot rot:
#   - a `Suite.Test` in docs/seeds.md is a test of tests/;
#   - an `example.name`, `readme.c`, `readme.cpp` or `compile_fail.name` there is a program of
#     examples/, of README.md or of tests/compile_fail/;
#   - a `bench:name` there is a benchmark of bench/;
#   - a path in README.md or docs/ (`src/…`, `include/…`, …) exists;
#   - a row of docs/seeds.md with a state has one of the states, and `done` names a test, a
#     program or a benchmark that shows it.
# Prints file:line and what is wrong; exit status 1 if anything is.
#
# Usage: scripts/check-docs.sh [ROOT]
set -eu
cd "${1:-$(dirname "$0")/..}"

known=$(mktemp)
trap 'rm -f "$known"' EXIT

# Every test, also where its name is on the line after TEST(.
find tests -name '*.cpp' -exec cat {} + | tr '\n' ' ' |
  grep -oE '\bT(YPED_T)?EST(_F|_P)?\( *[A-Za-z0-9_]+ *, *[A-Za-z0-9_]+ *\)' |
  sed -E 's/.*\( *([A-Za-z0-9_]+) *, *([A-Za-z0-9_]+) *\)/test \1.\2/' >"$known"
find examples -name '*.c' -o -name '*.cpp' |
  sed -E 's|.*/([^/]+)\.[a-z]+$|test example.\1|' >>"$known"
find tests/compile_fail -name '*.cpp' 2>/dev/null |
  sed -E 's|.*/([^/]+)\.cpp$|test compile_fail.\1|' >>"$known"
sed -nE 's/^```(c|cpp)$/test readme.\1/p' README.md >>"$known"
for folder in include src tests examples scripts bench cmake docs .ci; do
  [ ! -d "$folder" ] || find "$folder" | sed 's/^/path /' >>"$known"
done
for file in *; do echo "path $file" >>"$known"; done
cat bench/*.cpp | grep -oE 'BENCHMARK\([a-z_]+\)|Name\("[^"]+"\)' |
  sed -E 's/.*\("?([^"]+)"?\)/bench \1/; s/"$//' >>"$known"

awk -v known="$known" '
function complain(text) { print FILENAME ":" FNR ": " text; wrong++ }

# What stands in backticks, one after the other.
function check_spans(line,    parts, count, i) {
  count = split(line, parts, "`")
  for (i = 2; i <= count; i += 2) check_span(parts[i])
}

function check_span(span) {
  if (is_seeds && span ~ /^[A-Z][A-Za-z0-9]*\.[A-Z][A-Za-z0-9]*$/) {
    checked++
    shows = 1
    if (!("test " span in is_known)) complain("there is no test " span)
  } else if (is_seeds && span ~ /^(example|readme|compile_fail)\./) {
    checked++
    shows = 1
    if (!("test " span in is_known)) complain("there is no program for " span)
  } else if (is_seeds && span ~ /^bench:/) {
    checked++
    shows = 1
    if (!("bench " substr(span, 7) in is_known)) complain("there is no benchmark " substr(span, 7))
  } else if (span ~ /^(include|src|tests|examples|scripts|bench|cmake|docs|\.ci)\// &&
             span !~ /[*<> ]/) {
    checked++
    if (span ~ /^(tests|examples)\//) shows = 1
    sub(/\/$/, "", span)
    if (!("path " span in is_known)) complain("there is no " span)
  }
}

BEGIN { while ((getline line < known) > 0) is_known[line] = 1 }

FNR == 1 { is_seeds = FILENAME ~ /seeds\.md$/; has_state = 0 }
/^```/ { in_code = !in_code }
in_code { next }

{ shows = 0; check_spans($0) }

# A table whose last column is called "state".
/^\|/ && is_seeds {
  count = split($0, cells, "|")
  state = cells[count - 1]
  gsub(/^ +| +$/, "", state)
  if (state == "state") { has_state = 1; next }
  if (!has_state || state ~ /^-+$/) next
  if (state !~ /^(done|replaced|later)/) complain("no such state: " state)
  if (state ~ /^done/ && !shows) complain("done, but no test shows it")
  rows++
}
!/^\|/ { has_state = 0 }

END {
  if (!rows) { print "docs/seeds.md: no table has a state"; wrong++ }
  if (wrong) { printf "docs: %d wrong\n", wrong; exit 1 }
  printf "docs: %d names and %d rows are true\n", checked, rows
}' README.md docs/*.md

#!/bin/sh
# Compiles the C++ examples that a page of the documentation shows, as they stand there.
# Usage: check-examples.sh PAGE PRELUDE SCRATCH_FOLDER COMPILER [FLAG ...]
#
# PRELUDE is a header that declares what the page takes for granted. Each block is in a namespace of
# its own. What stands on the line before a block says more about it:
#   <!-- statements -->                 it is the inside of a function
#   <!-- statements: int a, int b -->   … that has these parameters
#   <!-- sketch -->                     it is not meant to be compiled
# Errors name the line of the page.
set -eu
page=$1
prelude=$2
scratch=$3
shift 3

mkdir -p "$scratch"
source=$scratch/$(basename "$page" .md)_examples.cpp
awk -v page="$page" -v prelude="$prelude" '
  BEGIN { printf "#include \"%s\"\n", prelude }
  !inside && /^```cpp/ {
    inside = 1
    if (before ~ /<!-- sketch -->/) { skip = 1; next }
    ++count
    is_statements = before ~ /<!-- statements(:.*)? -->/
    parameters = before
    if (!sub(/.*<!-- statements: */, "", parameters)) parameters = ""
    sub(/ *-->.*/, "", parameters)
    printf "namespace example_%d {\n", count
    if (is_statements) printf "[[maybe_unused]] static void in_a_function(%s) {\n", parameters
    printf "#line %d \"%s\"\n", NR + 1, page
    next
  }
  inside && /^```/ {
    if (!skip) print is_statements ? "}\n}" : "}"
    inside = skip = 0
    before = ""
    next
  }
  inside { if (!skip) print; next }
  { before = $0 }
  END {
    if (count == 0) { print "no example in " page > "/dev/stderr"; exit 1 }
    printf "%s: %d examples\n", page, count > "/dev/stderr"
  }' "$page" >"$source"
"$@" -fsyntax-only "$source"

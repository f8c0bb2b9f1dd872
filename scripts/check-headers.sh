#!/bin/sh
# Each public header compiles alone, without a warning, with g++ and with clang++:
# jzx.h as C11 and as C++17, the others as C++20.
set -eu
cd "$(dirname "$0")/.."

# One compilation: COMPILER LANGUAGE STANDARD HEADER
if [ $# -eq 4 ]; then
  printf '#include <%s>\n' "$4" |
    "$1" -x "$2" -std="$3" -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
      -Iinclude -fsyntax-only - && exit 0
  echo "$4: does not compile alone as $3 with $1" >&2
  exit 1
fi

list() {
  for path in $(find include -name '*.h' -o -name '*.hpp' | sort); do
    header=${path#include/}
    case $header in
      *.h)
        for compiler in gcc clang; do echo "$compiler c c11 $header"; done
        for compiler in g++ clang++; do echo "$compiler c++ c++17 $header"; done
        ;;
      *)
        for compiler in g++ clang++; do echo "$compiler c++ c++20 $header"; done
        ;;
    esac
  done
}

# xargs goes on after a failure, and then says so.
list | xargs -n 4 -P "${JOBS:-$(nproc)}" scripts/check-headers.sh
echo "headers: each compiles alone"

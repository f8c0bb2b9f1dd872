#!/bin/sh
# Each public header compiles alone, without a warning, with g++ and with clang++:
# jzx.h as C11 and as C++17, the others as C++20.
set -eu
cd "$(dirname "$0")/.."

warnings='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror'
failures=0

# compile COMPILER LANGUAGE STANDARD HEADER
compile() {
  if ! printf '#include <%s>\n' "$4" |
      "$1" -x "$2" -std="$3" $warnings -Iinclude -fsyntax-only -; then
    echo "$4: does not compile alone as $3 with $1" >&2
    failures=$((failures + 1))
  fi
}

for path in $(find include -name '*.h' -o -name '*.hpp' | sort); do
  header=${path#include/}
  case $header in
    *.h)
      for compiler in gcc clang; do compile $compiler c c11 "$header"; done
      for compiler in g++ clang++; do compile $compiler c++ c++17 "$header"; done
      ;;
    *)
      for compiler in g++ clang++; do compile $compiler c++ c++20 "$header"; done
      ;;
  esac
done
[ "$failures" -eq 0 ] || exit 1
echo "headers: each compiles alone"

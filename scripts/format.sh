#!/bin/sh
# Formats every C and C++ source in place; with --check, only reports what differs.
set -eu
cd "$(dirname "$0")/.."

mode=-i
[ "${1:-}" != --check ] || mode='--dry-run --Werror'

folders=
for folder in include src tests examples bench tools apps; do
  [ ! -d "$folder" ] || folders="$folders $folder"
done
find $folders \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) -print0 |
  xargs -0 -r clang-format --style=file $mode

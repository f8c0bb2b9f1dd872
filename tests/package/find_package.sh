#!/bin/sh
# Builds and runs an outside program by find_package(jzx), shared and static.
# Usage: CMAKE=... CC=... CXX=... find_package.sh c|cpp SCRATCH_FOLDER
set -eu
language=$1
scratch=$2
build=$scratch/find_package_$language

"$CMAKE" -G Ninja -S "$(dirname "$0")/${language}_program" -B "$build" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$scratch/prefix"
"$CMAKE" --build "$build" --parallel 1
for linkage in shared static; do
  "$build/program_$linkage"
done

uses_library() { readelf -d "$build/program_$1" | grep -q 'NEEDED.*libjzx\.so\.0'; }
uses_library shared || { echo "package: program_shared does not use libjzx.so.0" >&2; exit 1; }
if uses_library static; then
  echo "package: program_static uses libjzx.so.0" >&2
  exit 1
fi

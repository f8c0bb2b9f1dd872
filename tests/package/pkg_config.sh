#!/bin/sh
# Builds and runs an outside program by pkg-config, shared and static.
# Usage: VERSION=... CC=... CXX=... pkg_config.sh c|cpp SCRATCH_FOLDER
set -eu
language=$1
scratch=$2
build=$scratch/pkg_config_$language
source=$(dirname "$0")/${language}_program/main.$language
mkdir -p "$build"

case $language in
  c) compile="$CC -std=c11" ;;
  *) compile="$CXX -std=c++20" ;;
esac

PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name jzx.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir jzx)
[ "$(pkg-config --modversion jzx)" = "$VERSION" ] ||
  { echo "package: jzx.pc has the wrong version" >&2; exit 1; }

$compile $(pkg-config --cflags jzx) "$source" -o "$build/program_shared" \
  $(pkg-config --libs jzx) "-Wl,-rpath,$libdir"
"$build/program_shared"

# Wholly static, so that no shared library can stand in for what jzx.pc forgot.
$compile $(pkg-config --static --cflags jzx) "$source" -static -o "$build/program_static" \
  $(pkg-config --static --libs jzx)
"$build/program_static"

#!/bin/sh
# Installs a built tree into SCRATCH/prefix for the other package tests, once more below
# a DESTDIR, and looks at what libjzx.so shows to the world.
# Usage: install.sh CMAKE BUILD_FOLDER SCRATCH_FOLDER
set -eu
cmake=$1
build=$2
scratch=$3

fail() {
  echo "package: $*" >&2
  exit 1
}

rm -rf "$scratch"
mkdir -p "$scratch"
# The surroundings may set DESTDIR, as `make install` does.
env -u DESTDIR "$cmake" --install "$build" --prefix "$scratch/prefix" >"$scratch/install.log"
DESTDIR=$scratch/stage "$cmake" --install "$build" --prefix /opt/jzx >>"$scratch/install.log"
[ -f "$scratch/stage/opt/jzx/include/jzx/jzx.h" ] || fail "DESTDIR is not respected"

library=$(find "$scratch/prefix" -name libjzx.so)
[ -n "$library" ] || fail "libjzx.so is not installed"
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ "$soname" = libjzx.so.0 ] || fail "SONAME is '$soname', not libjzx.so.0"

needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
  grep -v -e '^liburing\.so' -e '^libstdc++\.so' -e '^libgcc_s\.so' -e '^lib[cm]\.so' \
    -e '^libpthread\.so' -e '^libc++\.so' -e '^libboost_context\.so' -e '^ld-linux' || true)
[ -z "$needed" ] || fail "libjzx.so needs more than it should:" $needed

# Symbols without a type of their own (A: version names) are no interface.
leaked=$(nm --dynamic --defined-only --demangle "$library" | cut -d ' ' -f 2- |
  grep -v -e '^A ' -e '^[A-Za-z] jzx_' -e 'jzx::' || true)
[ -z "$leaked" ] || fail "libjzx.so exports more than its interface:
$leaked"
for function in $(sed -n 's/^JZX_API .*[ *]\(jzx_[a-z_]*\)(.*/\1/p' \
    "$scratch/prefix/include/jzx/jzx.h"); do
  nm --dynamic --defined-only "$library" | grep -q " T $function\$" ||
    fail "libjzx.so lacks $function"
done

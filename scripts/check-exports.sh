#!/bin/sh
# What user code needs from the library, the shared one exports. Usage: LIBRARY OBJECT [OBJECT ...]
#
# The objects are those of tests, which link the static library: a function of a public header that
# lacks JZX_API would be missed by users only. What belongs to namespaces without public headers is
# the tests' own business.
set -eu
library=$1
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

nm -D --defined-only "$library" | awk '{ print $NF }' | sort -u >"$scratch/exported"
nm --defined-only "$@" | awk 'NF == 3 { print $3 }' | sort -u >"$scratch/own"
nm -u "$@" | awk 'NF == 2 { print $2 }' | grep -E '3jzx|^jzx_' | sort -u >"$scratch/needed"
[ -s "$scratch/needed" ] || { echo "exports: these objects need nothing of jzx" >&2; exit 1; }

comm -23 "$scratch/needed" "$scratch/own" | comm -23 - "$scratch/exported" | c++filt |
  grep -vE 'jzx::(async|base|capi|core|drivers|io|kinds|runtime|supervise|testing)::' |
  grep -vE '^jzx::detail::Port::' >"$scratch/missing" || true
if [ -s "$scratch/missing" ]; then
  echo "exports: public, used by tests, and not exported (JZX_API):" >&2
  cat "$scratch/missing" >&2
  exit 1
fi
echo "exports: $(wc -l <"$scratch/needed") names are there"

#!/bin/sh
# Checks that a mistake does not compile and that the compiler says what we want said.
# Usage: expect-compile-error.sh SOURCE COMPILER [FLAG ...]
#
# SOURCE holds the mistake inside #ifdef JZX_MISTAKE, and lines "// EXPECT: text".
# Without JZX_MISTAKE it must compile; with it, it must not, and the compiler's output
# must contain each text.
set -eu
source=$1
shift

if ! "$@" -fsyntax-only "$source"; then
  echo "$source: does not compile even without its mistake" >&2
  exit 1
fi

diagnosis=$(mktemp)
trap 'rm -f "$diagnosis"' EXIT
if "$@" -DJZX_MISTAKE -fsyntax-only "$source" >"$diagnosis" 2>&1; then
  echo "$source: the mistake compiles" >&2
  exit 1
fi

sed -n 's|^// EXPECT: ||p' "$source" >"$diagnosis.expected"
trap 'rm -f "$diagnosis" "$diagnosis.expected"' EXIT
if [ ! -s "$diagnosis.expected" ]; then
  echo "$source: has no line '// EXPECT: text'" >&2
  exit 1
fi
while IFS= read -r text; do
  if ! grep -qF -e "$text" "$diagnosis"; then
    echo "$source: the compiler does not say: $text" >&2
    cat "$diagnosis" >&2
    exit 1
  fi
done <"$diagnosis.expected"

#!/bin/sh
# Installs the Debian packages that are missing for the named groups.
# Usage: scripts/setup.sh build|test|check|bench|tidy ...
set -eu

packages=
for group in "$@"; do
  case $group in
    build) packages="$packages g++ make cmake ninja-build liburing-dev libboost-context1.81-dev" ;;
    test)  packages="$packages pkg-config libgtest-dev libgmock-dev gdb" ;;
    check) packages="$packages clang clang-format libclang-rt-14-dev" ;;
    bench) packages="$packages libbenchmark-dev" ;;
    tidy)  packages="$packages clang-tidy" ;;
    *)     echo "setup.sh: no group named '$group'" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "setup.sh: this is no Debian; what is needed is called there:$packages" >&2
  exit 0
fi

missing=
for package in $packages; do
  case $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) in
    installed) ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup.sh: as root, run: apt-get install$missing" >&2
    exit 1
  fi
  as_root=sudo
fi

echo "setup.sh: installing$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { $as_root apt-get -o DPkg::Lock::Timeout=300 update &&
       $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
         install --yes --no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
  cat "$log" >&2
  exit 1
fi

#!/usr/bin/env bash
# bench-scope.sh BUILD_ROOT [COUNT] - bench-scope on a throw-away host (tests/live/host): as root, in a checkout and a build outside of /tmp
set -euo pipefail
build=$(readlink -f "$1") count=${2:-50} host=$(dirname "$(readlink -f "$0")")/../live/host name=bench-$$
"$host" can || exit 77
trap '"$host" down "$name" 2>/dev/null || true' EXIT
"$host" up "$name" --bind "$build" --while $$
for _ in 1 2 3; do "$host" user "$name" "$build/tests/bench/bench-scope" "$count"; done

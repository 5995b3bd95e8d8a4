#!/usr/bin/env bash
# Builds release and starts the server with its embedded store: ./run.sh [--demo] [flags of `margin serve`].
# Installs missing packages first (scripts/setup.sh). The store is var/margin.db unless --store names another. Ctrl-C drains and stops.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if [[ "${1:-}" == -h || "${1:-}" == --help ]]; then
  sed -n '2,3s/^# //p' run.sh
  echo "  --demo               add a pool of simulated models that decide and get outcomes all the time"
  echo "  --listen ADDRESS     127.0.0.1:8080 by default"
  echo "  --admin-listen ADDRESS  another address for operators, none by default"
  echo "  --config FILE        margin.toml when there is one"
  exit 0
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Building MARGIN (release); the first time takes some minutes ..." >&2
# A build folder that test.sh has made keeps its tests; a new one goes without them and what they need.
new=()
[[ -e build/release/CMakeCache.txt ]] || new=(-DMARGIN_TESTS=OFF -DMARGIN_BENCH=OFF)
if ! { scripts/setup.sh build &&
       cmake --preset release "${new[@]}" &&
       cmake --build --preset release --target programs; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
rm -f "$log"
trap - EXIT

store=(--store var/margin.db)
for flag in "$@"; do
  case "$flag" in --store | --store=* | --config | --config=*) store=() ;; esac
done
[[ ${#store[@]} -eq 0 ]] || mkdir -p var
exec build/release/bin/margin serve "${store[@]}" --hello "$@"

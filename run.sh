#!/usr/bin/env bash
# Builds release and shows calibration at work on simulated models: ./run.sh [arguments of margin-demo].
# Installs missing packages first (scripts/setup.sh). There is no server yet; this is a demonstration that ends by itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if [[ "${1:-}" == -h || "${1:-}" == --help ]]; then
  sed -n '2,3s/^# //p' run.sh
  echo "  --tasks N   tasks to simulate (default 4000)"
  echo "  --seed S    another draw of the same simulation (default 1)"
  exit 0
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Building MARGIN (release) ..." >&2
# A build folder that test.sh has made keeps its tests; a new one goes without them and what they need.
new=()
[[ -e build/release/CMakeCache.txt ]] || new=(-DMARGIN_TESTS=OFF -DMARGIN_BENCH=OFF)
if ! { scripts/setup.sh build &&
       cmake --preset release "${new[@]}" &&
       cmake --build --preset release --target programs; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
build/release/bin/margin-demo "$@"

#!/usr/bin/env bash
# Builds release and runs the tests: ./test.sh [ctest arguments], for instance -L unit, -LE slow or -R Pool.
# Installs missing packages first (scripts/setup.sh). Exits non-zero when anything fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if [[ "${1:-}" == -h || "${1:-}" == --help ]]; then
  sed -n '2,3s/^# //p' test.sh
  exit 0
fi

scripts/setup.sh test
cmake --preset release -DMARGIN_TESTS=ON -DMARGIN_BENCH=ON
cmake --build --preset release

# What this machine cannot run, or the time does not allow, and why: written by margin_left_out() while configuring.
if grep -q . build/release/left_out.txt; then
  echo
  echo "Left out of this run:"
  sed 's/^/  /' build/release/left_out.txt
  echo
fi
exec ctest --test-dir build/release --output-on-failure --no-tests=error --parallel 2 "$@"

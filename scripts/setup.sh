#!/usr/bin/env bash
# Installs the Debian packages that are missing, without prompts: scripts/setup.sh build | test. Used by run.sh and test.sh.
# Does nothing, and needs no rights, when everything is there.
set -euo pipefail

build=(build-essential cmake ninja-build ccache pkg-config
       libxxhash-dev libsimdjson-dev libcli11-dev libfmt-dev zlib1g-dev libtomlplusplus-dev libssl-dev)
test=(libgtest-dev librapidcheck-dev libbenchmark-dev
      python3 python3-numpy python3-sklearn
      clang clang-tidy clang-format libclang-rt-14-dev)

case "${1:-}" in
  build) wanted=("${build[@]}") ;;
  test) wanted=("${build[@]}" "${test[@]}") ;;
  *) echo "usage: scripts/setup.sh build | test" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system; expecting the equivalents of: ${wanted[*]}" >&2
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

if [[ $EUID -eq 0 ]]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  echo "setup: packages are missing, and this is neither root nor a user with password-free sudo. Run once as root:" >&2
  echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}
echo "setup: installing ${missing[*]}"
# A first failure mostly means that the package lists are absent or old.
if ! install; then
  "${as_root[@]}" apt-get update -q
  install
fi

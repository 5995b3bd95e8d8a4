#!/usr/bin/env bash
# Installs the Debian packages that are missing, without prompts: scripts/setup.sh build | test. Used by run.sh and test.sh.
# Does nothing, and needs no rights, when everything is there.
set -euo pipefail

build=(build-essential cmake ninja-build ccache pkg-config
       libxxhash-dev libsimdjson-dev libcli11-dev libfmt-dev zlib1g-dev libtomlplusplus-dev libssl-dev
       libprotobuf-dev protobuf-compiler libsqlite3-dev libre2-dev libjemalloc-dev)
test=(libgtest-dev librapidcheck-dev libbenchmark-dev
      python3 python3-numpy python3-sklearn python3-jsonschema openssl
      pybind11-dev python3-dev python3-pytest python3-hypothesis python3-matplotlib python3-pip python3-venv mypy
      clang clang-tidy clang-format libclang-rt-14-dev)

# Node and chromium may come from elsewhere (others' Node conflicts with Debian's npm): Debian's are wanted only where there is none.
command -v node >/dev/null && command -v npm >/dev/null || build+=(nodejs npm)
command -v chromium >/dev/null || test+=(chromium)

case "${1:-}" in
  build) wanted=("${build[@]}") ;;
  test) wanted=("${build[@]}" "${test[@]}") ;;
  *) echo "usage: scripts/setup.sh build | test" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system; expecting the equivalents of: ${wanted[*]}" >&2
  exit 0
fi

if [[ $EUID -eq 0 ]]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  as_root=(false)
fi

missing=()
for package in "${wanted[@]}"; do
  [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] || missing+=("$package")
done

install_missing() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}
if [[ ${#missing[@]} -gt 0 ]]; then
  if [[ "${as_root[*]}" == false ]]; then
    echo "setup: packages are missing, and this is neither root nor a user with password-free sudo. Run once as root:" >&2
    echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  echo "setup: installing ${missing[*]}"
  # A first failure mostly means that the package lists are absent or old.
  if ! install_missing; then
    "${as_root[@]}" apt-get update -q
    install_missing
  fi
fi

# unpack PACKAGE FOLDER FILE: the package's files in build/FOLDER, unless FILE is there already.
unpack() (
  folder="$(dirname "${BASH_SOURCE[0]}")/../build/$2"
  [[ ! -e $folder/$3 ]] || exit 0
  echo "setup: unpacking $1 into build/$2"
  mkdir -p "$(dirname "$folder")"
  fresh=$(mktemp -d "$folder.XXXXXX")
  trap 'rm -rf "$fresh"' EXIT
  download() { (cd "$fresh" && apt-get download -q "$1"); }
  if ! download "$1" && ! { "${as_root[@]}" apt-get update -q && download "$1"; }; then
    echo "setup: $1 could not be downloaded; run once as root: apt-get update" >&2
    exit 1
  fi
  dpkg -x "$fresh/$1"_*.deb "$fresh"
  rm -rf "$fresh"/*.deb "$folder"
  mv -T "$fresh" "$folder"
  chmod 755 "$folder"
)
# Boost 1.81 conflicts with the 1.74 that the tests' packages bring (docs/decisions/0004); nginx, whom benchmarks compare with, would be started.
unpack libboost1.81-dev boost-1.81 usr/include/boost/version.hpp
[[ $1 == build ]] || unpack nginx nginx usr/sbin/nginx

# Runs the probe one way and compares its lines; called by ctest (see CMakeLists.txt beside this file).
#   check.sh expected PROBE EXPECTED          against the committed digests
#   check.sh masked PROBE CANARY              with the C library's CPU features masked
#   check.sh variant PROBE PROJECT FOLDER COMPILER FLAGS [golden]    against the probe built with that compiler and those flags;
#                                             with `golden` the golden vectors must hold there as well
set -eu

how=$1
probe=$2
mine=$(mktemp)
theirs=$(mktemp)
trap 'rm -f "$mine" "$theirs"' EXIT

case $how in
  expected)
    "$probe" >"$theirs"
    cp "$3" "$mine"
    ;;
  masked)
    mask=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL
    if grep -qw fma /proc/cpuinfo && [ "$("$3")" = "$(GLIBC_TUNABLES=$mask "$3")" ]; then
      echo "the mask has no effect on the C library here, so this test would prove nothing" >&2
      exit 1
    fi
    "$probe" >"$mine"
    GLIBC_TUNABLES=$mask "$probe" >"$theirs"
    ;;
  variant)
    cmake -S "$3" -B "$4" -G Ninja -DCMAKE_CXX_COMPILER="$5" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="$6" -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 >/dev/null
    cmake --build "$4" --target digest_probe ${7:+golden_probe} -j1 >"$4/build.log" || { cat "$4/build.log"; exit 1; }
    if [ -n "${7:-}" ]; then "$4/golden_probe" --gtest_brief=1; fi
    "$probe" >"$mine"
    "$4/digest_probe" >"$theirs"
    ;;
esac

[ "$(wc -l <"$theirs")" -gt 8 ] || { echo "the probe printed too little" >&2; exit 1; }
diff -u "$mine" "$theirs"

# Builds and runs the unit tests with sanitizers: unit_tests.sh SOURCE FOLDER SANITIZERS COMPILER
set -eu
# -O1 -g1: line numbers in reports, at little more than half of the compile time of -O2 -g.
cmake -S "$1" -B "$2" -G Ninja -DCMAKE_CXX_COMPILER="$4" -DCMAKE_BUILD_TYPE=Sanitize -DCMAKE_CXX_FLAGS_SANITIZE="-O1 -g1" -DMARGIN_SANITIZE="$3" -DMARGIN_BENCH=OFF \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 >/dev/null
cmake --build "$2" --target unit_tests -j2 >"$2/build.log" || { cat "$2/build.log"; exit 1; }
exec ctest --test-dir "$2" -L unit --output-on-failure --no-tests=error -j2

# Builds the server with sanitizers and puts everything on it at once: server_under_load.sh SOURCE FOLDER SANITIZERS COMPILER MARGIN
# MARGIN is a whole binary, for the commands that look at the store. MARGIN_LOAD_SECONDS sets how long (60 unless said).
set -eu
cmake -S "$1" -B "$2" -G Ninja -DCMAKE_CXX_COMPILER="$4" -DCMAKE_BUILD_TYPE=Sanitize -DCMAKE_CXX_FLAGS_SANITIZE="-O1 -g1" -DMARGIN_SANITIZE="$3" -DMARGIN_BENCH=OFF >/dev/null
cmake --build "$2" --target bare_server -j2 >"$2/build.log" || { cat "$2/build.log"; exit 1; }
# A report ends the server at once, which under_load.py takes for the failure it is.
export TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1" ASAN_OPTIONS="halt_on_error=1 detect_stack_use_after_return=1" UBSAN_OPTIONS="print_stacktrace=1"
export MARGIN_BINARY="$5" MARGIN_SERVER_BINARY="$2/bin/bare_server" MARGIN_LOAD_SECONDS="${MARGIN_LOAD_SECONDS:-60}" PYTHONDONTWRITEBYTECODE=1
exec python3 "$1/tests/gateway/under_load.py"

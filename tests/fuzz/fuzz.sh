#!/bin/sh
# fuzz.sh CLANG FOLDER NAME FLAG-OR-SOURCE...: builds NAME.cc into FOLDER and runs it from its corpus for FUZZ_SECONDS (default 60).
# What it finds new stays in FOLDER; an input that fails is named by libFuzzer and kept there too.
set -eu
clang=$1 folder=$2 name=$3
shift 3
mkdir -p "$folder/found"
"$clang" -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -ffp-contract=off "$name.cc" "$@" -o "$folder/$name"
exec "$folder/$name" -max_total_time="${FUZZ_SECONDS:-60}" -max_len=4096 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 -verbosity=0 \
  -artifact_prefix="$folder/" "$folder/found" "$name"

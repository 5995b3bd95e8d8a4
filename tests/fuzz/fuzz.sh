#!/bin/sh
# fuzz.sh CLANG FOLDER NAME FLAG-OR-SOURCE...: builds NAME.cc into FOLDER and runs it from its corpus: a set number of inputs
# from a set seed, so that a test is the same each time; or, with FUZZ_SECONDS, for that long with inputs nobody has seen.
# What it finds new stays in FOLDER; an input that fails is named by libFuzzer and kept there too.
set -eu
clang=$1 folder=$2 name=$3
shift 3
mkdir -p "$folder/found"
"$clang" -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -ffp-contract=off "$name.cc" "$@" -o "$folder/$name"
if [ -n "${FUZZ_SECONDS:-}" ]; then length=-max_total_time=$FUZZ_SECONDS seed=0; else length=-runs=50000 seed=1; fi
exec "$folder/$name" "$length" -seed="$seed" -max_len=4096 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 -verbosity=0 \
  -artifact_prefix="$folder/" "$folder/found" "$name"

#!/usr/bin/env bash
# fuzz.sh SECONDS [READER...]: fuzzes each reader for so long, with the program of the preset `fuzz`. What it finds stays
# in build/fuzz/corpora, and what fails in build/fuzz/failures.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$PWD/build/fuzz/bin/fuzz_readers seconds=$1
shift
mkdir -p build/fuzz/corpora build/fuzz/failures
if [ $# -gt 0 ]; then printf '%s\n' "$@"; else "$program" --list; fi | while read -r reader; do
  corpus=build/fuzz/corpora/${reader// /_}
  mkdir -p "$corpus"
  if RETRACE_READER=$reader "$program" "$corpus" -max_total_time="$seconds" -max_len=40000 -timeout=10 -rss_limit_mb=1000 \
    -malloc_limit_mb=64 -artifact_prefix="build/fuzz/failures/${reader// /_}-" </dev/null >"$corpus.log" 2>&1; then
    echo "$reader: $(grep -o 'Done [0-9]* runs' "$corpus.log"), $(ls "$corpus" | wc -l) files"
  else
    echo "$reader: FAILED, see $corpus.log"
  fi
done

#!/usr/bin/env bash
# one_hash.sh ISAS PROGRAM...: do these builds of `retrace` (of other compilers, at other levels of optimisation) train the
# same weights, bit for bit, with the kernels of each of these instruction sets, and on one and two threads? Prints the
# hashes. Those of v2 are equal; compilers fuse other products and sums into multiply-adds, which v3 and v4 have.
set -euo pipefail
isas=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
for isa in $isas; do
  for model in lstm gru relational-rnn rmc attention; do
    hashes=()
    for program in "$@"; do
      for threads in 1 2; do
        result=$(RETRACE_ISA=$isa "$program" train pair-matching --model $model --hidden 32 --batch 64 --steps 4 \
          --validate-every 4 --test-samples 64 --threads $threads --quiet --json --out "$folder/run" --force 2>"$folder/err") ||
          { grep -q "does not have" "$folder/err" && continue 4; cat "$folder/err"; exit 1; }
        hashes+=("$(grep -o '"weights_hash": *"[^"]*"' <<<"$result" | grep -o '[^"]*"$' | tr -d '"')")
      done
    done
    different=$(printf '%s\n' "${hashes[@]}" | sort -u | wc -l)
    echo "$isa $model: ${hashes[0]}$([ "$different" = 1 ] || { echo " DIFFERENT: ${hashes[*]}"; })"
    [ "$different" = 1 ] || status=1
  done
done
exit $status

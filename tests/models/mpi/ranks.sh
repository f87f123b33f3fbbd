#!/usr/bin/env bash
# ranks.sh PROGRAM TRAININGS MPIEXEC FOLDER: trainings on 1 to 8 ranks, and all the ways in which ranks fail.
set -uo pipefail
program=$1 trainings=$2 mpiexec=$3 folder=$4
. "$(dirname "$0")/mpirun.sh"
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# expect_refusal NAME WORDS SECONDS COMMAND...: it fails within these seconds and says these words.
expect_refusal() {
  local name=$1 words=$2 seconds=$3
  shift 3
  ranks "$seconds" "$@" >"$name.out" 2>"$name.err"
  local status=$?
  [ $status -ne 0 ] && [ $status -ne 124 ] && [ $status -ne 137 ] || fail "$name: exit status $status"
  grep -q -- "$words" "$name.err" || fail "$name: no '$words' in: $(head -c 600 "$name.err")"
}

echo "== the same bytes on any number of ranks"
for n in 1 2 3 4 8; do
  mkdir "on-$n"
  ranks 60 $n "$trainings" "on-$n" >"on-$n.txt" 2>"on-$n.err" || fail "$n ranks: $(head -c 600 "on-$n.err")"
  cmp "on-1.txt" "on-$n.txt" || fail "$n ranks differ from one"
done
[ "$(wc -l <on-1.txt)" = 5 ] || fail "trainings are missing"

echo "== going on on another number of ranks"
mkdir stopped
ranks 60 4 "$trainings" stopped 4 >/dev/null 2>stopped.err || fail "stopping: $(head -c 600 stopped.err)"
ranks 60 3 "$trainings" stopped >resumed.txt 2>resumed.err || fail "resuming: $(head -c 600 resumed.err)"
cmp <(cut -d' ' -f1,2 on-1.txt) <(cut -d' ' -f1,2 resumed.txt) || fail "a resumed training differs"

echo "== the program, with ranks and without"
train=("$program" train pair-matching --model lstm --hidden 8 --batch 16 --steps 20 --validate-every 10 --test-samples 64 --quiet)
"${train[@]}" --shards 8 --out alone >/dev/null 2>alone.err || fail "alone: $(cat alone.err)"
ranks 60 3 "${train[@]}" --out three >three.out 2>three.err || fail "three: $(head -c 600 three.err)"
cmp alone/weights.safetensors three/weights.safetensors || fail "the program's weights differ"
[ "$(wc -l <three.out)" = 1 ] || fail "the result is printed more than once: $(cat three.out)"

echo "== refusals"
expect_refusal too-many "3 ranks are more than the 2 shards" 20 3 "${train[@]}" --shards 2
grep -c "more than the 2" too-many.err | grep -qx 1 || fail "too-many: said more than once"
expect_refusal flags "the ranks differ: rank 0 has --seed 1, and rank 1 has --seed 2" 20 1 "${train[@]}" --seed 1 : -n 1 "${train[@]}" --seed 2
expect_refusal isa "set RETRACE_ISA, on all ranks" 20 1 "${train[@]}" : -n 1 env RETRACE_ISA=v2 "${train[@]}"
expect_refusal other-command "train runs on several ranks" 20 2 "$program" info lstm
from=("$program" train pair-matching --from alone --batch 16 --steps 20 --quiet)
expect_refusal one-alone "rank 1: retrace train: .*alone" 20 1 "${from[@]}" : -n 1 sh -c 'cd / && exec "$@"' sh "${from[@]}"
expect_refusal not-finite "the loss of step .* is nan" 20 3 "${train[@]}" --optimizer sgd --learning-rate 1e9 --weight-decay 1e9 --warm-up 0
grep -c "the loss of step" not-finite.err | grep -qx 1 || fail "not-finite: said more than once"
ranks 60 2 "$program" train pair-matching --hidden 8 --batch 16 --steps 1000000 --checkpoint-seconds 0 --quiet --out "$folder/busy" >/dev/null 2>busy.err &
busy=$!
for _ in $(seq 200); do [ -e busy/checkpoint.safetensors ] && break; sleep 0.1; done
expect_refusal second "another command has\|in use\|is used by\|busy" 20 2 "${train[@]}" --out busy

echo "== a rank that dies"
victim=$(pgrep -f -- "--steps 1000000 .*--out $folder/busy" | xargs -I{} sh -c 'tr "\0" "\n" </proc/{}/environ 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=1\|PMI_RANK=1" && echo {}' | head -1)
began=$SECONDS
kill -9 "$victim" || fail "no rank to kill"
wait $busy
status=$?
[ $status -ne 0 ] && [ $status -ne 124 ] || fail "a killed rank: exit status $status"
[ $((SECONDS - began)) -le 10 ] || fail "a killed rank: it took $((SECONDS - began)) s"

[ $failures = 0 ] && echo "passed" || { echo "$failures failures"; exit 1; }

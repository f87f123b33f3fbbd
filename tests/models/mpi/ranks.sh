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

echo "== commands of independent jobs"
same() { cmp <(sed 's/"seconds[a-z_]*":\(\[[^]]*\]\|[^,}]*\)//g' "$1") <(sed 's/"seconds[a-z_]*":\(\[[^]]*\]\|[^,}]*\)//g' "$2"); }
budget=(--hidden 8 --batch 4 --test-samples 50 --quiet --json)
compare=("$program" compare parity --models lstm,gru --seeds 2 "${budget[@]}")
tune=("$program" tune parity --learning-rates 0.01,0.001 --rounds 2 "${budget[@]}")
for command in compare tune; do
  declare -n words=$command
  "${words[@]}" --steps 4 --out "$command-alone" >"$command-alone.json" 2>"$command-alone.err" || fail "$command: $(cat "$command-alone.err")"
  ranks 60 3 "${words[@]}" --steps 4 --out "$command-three" >"$command-three.json" 2>"$command-three.err" || fail "$command: $(head -c 600 "$command-three.err")"
  same "$command-alone.json" "$command-three.json" || fail "$command on ranks prints something else"
  (cd "$command-alone/runs" && sha256sum ./*/weights.safetensors) | (cd "$command-three/runs" && sha256sum --quiet -c) || fail "$command: other weights"
done
"$program" eval alone --samples 700 >eval-alone.txt 2>/dev/null || fail "eval alone"
ranks 60 3 "$program" eval alone --samples 700 >eval-three.txt 2>eval-three.err || fail "eval: $(head -c 600 eval-three.err)"
cmp eval-alone.txt eval-three.txt || fail "eval on ranks prints something else"

echo "== refusals"
expect_refusal too-many "3 ranks are more than the 2 shards" 20 3 "${train[@]}" --shards 2
grep -c "more than the 2" too-many.err | grep -qx 1 || fail "too-many: said more than once"
expect_refusal flags "the ranks differ: rank 0 has --seed 1, and rank 1 has --seed 2" 20 1 "${train[@]}" --seed 1 : -n 1 "${train[@]}" --seed 2
expect_refusal isa "set RETRACE_ISA, on all ranks" 20 1 "${train[@]}" : -n 1 env RETRACE_ISA=v2 "${train[@]}"
expect_refusal other-command "start other commands without mpirun" 20 2 "$program" info lstm
mkdir -p jobs/runs && touch jobs/runs/gru-seed-0
expect_refusal job "jobs/runs/gru-seed-0 cannot be written" 20 2 "${compare[@]}" --steps 4 --out jobs --resume
from=("$program" train pair-matching --from alone --batch 16 --steps 20 --quiet)
expect_refusal one-alone "rank 1: retrace train: .*alone" 20 1 "${from[@]}" : -n 1 sh -c 'cd / && exec "$@"' sh "${from[@]}"
expect_refusal not-finite "the loss of step .* is nan" 20 3 "${train[@]}" --optimizer sgd --learning-rate 1e9 --weight-decay 1e9 --warm-up 0
grep -c "the loss of step" not-finite.err | grep -qx 1 || fail "not-finite: said more than once"
started 2 busy "$program" train pair-matching --hidden 8 --batch 16 --steps 1000000 --checkpoint-seconds 0 --quiet --out busy
busy=$started
for _ in $(seq 200); do [ -e busy/checkpoint.safetensors ] && break; sleep 0.1; done
expect_refusal second "another command has\|in use\|is used by\|busy" 20 2 "${train[@]}" --out busy

echo "== signals"
# expect_saved NAME WORDS: it ended and said so.
expect_saved() { grep -q -- "$2" "$1.err" || fail "$1: no '$2' in: $(head -c 600 "$1.err")"; }
kill -TERM $busy
wait $busy  # for its status after a signal, MPICH gives 0 at times
expect_saved busy "stopped by a signal after step"
[ -e busy/weights.safetensors ] || fail "SIGTERM at mpirun: nothing was saved"
# As a terminal does at Ctrl-C, to everybody; mpirun then sends SIGTERM, too.
started 2 interrupted "${compare[@]}" --steps 100000 --out interrupted
until [ -e interrupted/runs/lstm-seed-0/checkpoint.safetensors ] && [ -e interrupted/runs/lstm-seed-1/checkpoint.safetensors ] ||
  ! kill -0 $started 2>/dev/null; do sleep 0.1; done
kill -INT $(cat interrupted.pids/*) $started
wait $started
expect_saved interrupted "stopped by a signal; the same command with --resume"
for seed in 0 1; do [ -e interrupted/runs/lstm-seed-$seed/weights.safetensors ] || fail "Ctrl-C: run $seed was not saved"; done

[ $failures = 0 ] && echo "passed" || { echo "$failures failures"; exit 1; }

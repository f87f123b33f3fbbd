#!/usr/bin/env bash
# kills.sh PROGRAM MPIEXEC FOLDER COUNT: kills a random rank of a training at COUNT random moments. All ranks end within
# 10 s, and the training goes on on another number of ranks to the same bytes. (Without a checkpoint yet, it begins
# again.)
set -uo pipefail
program=$1 mpiexec=$2 folder=$3 count=$4
. "$(dirname "$0")/mpirun.sh"
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 1
RANDOM=7  # the seed
fail() { echo "FAILED: $*"; exit 1; }
train=("$program" train pair-matching --model lstm --hidden 8 --batch 16 --steps 1000 --validate-every 5
  --test-samples 64 --checkpoint-seconds 0 --quiet --threads 1)
"${train[@]}" --shards 8 --out whole >/dev/null 2>whole.err || fail "$(cat whole.err)"

# is_alive PID: a zombie has no command line.
is_alive() { [ -n "$(tr -d '\0' 2>/dev/null <"/proc/$1/cmdline")" ]; }

# ends_within SECONDS PID
ends_within() {
  local tries
  for ((tries = 0; tries <= 10 * $1; ++tries)); do
    is_alive "$2" || return 0
    sleep 0.1
  done
  return 1
}

# How long two ranks take on this machine, in milliseconds: the moments of the kills are drawn from it.
now() { date +%s%3N; }
started 2 timed "${train[@]}" --out timed
began=$(now)
wait $started || fail "$(cat timed.err)"
length=$(($(now) - began))

kills=0 resumed=0 hung=0
for ((attempt = 0; kills < count; ++attempt)); do
  [ $attempt -lt $((4 * count + 4)) ] || fail "the trainings end too soon to be killed"
  n=$((2 + RANDOM % 3)) others=$((1 + RANDOM % 4)) milliseconds=$((RANDOM % length))
  [ $others = $n ] && others=8
  rm -rf run killed.pids
  started $n killed "${train[@]}" --out run
  sleep "$(printf '%d.%03d' $((milliseconds / 1000)) $((milliseconds % 1000)))"
  kill -9 "$(cat killed.pids/$((RANDOM % n)))" 2>/dev/null || { wait $started; continue; }  # it has ended already
  for pid in $(cat killed.pids/*); do
    ends_within 10 "$pid" || fail "kill $kills on $n ranks: rank $pid lives after 10 s"
  done
  # Its own end sometimes hangs, in pmix_rte_finalize of Open MPI 4.1, when all ranks are gone.
  ends_within 10 $started || { kill -9 $started; hung=$((hung + 1)); }
  wait $started
  status=$?
  [ -e run/result.json ] && continue  # it was over but for its exit
  [ $status -ne 0 ] || fail "kill $kills on $n ranks: exit status $status"
  [ -e run/checkpoint.safetensors ] && resumed=$((resumed + 1))
  [ -e run ] || mkdir run
  ranks 60 $others "${train[@]}" --out run --resume >/dev/null 2>resumed.err ||
    fail "kill $kills on $n ranks after $milliseconds ms, resumed on $others: $(head -c 600 resumed.err)"
  cmp whole/weights.safetensors run/weights.safetensors ||
    fail "kill $kills on $n ranks after $milliseconds ms, resumed on $others: other weights"
  kills=$((kills + 1))
done
echo "passed: $kills kills, of which $resumed left a checkpoint; mpiexec hung after its ranks $hung times"

# Starts ranks on this machine, more than it has cores if need be, under either implementation of MPI. To be sourced,
# with mpiexec set; every start has a time limit, RETRACE_PATIENCE times as long where a machine is busy.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1  # containers have no other user
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_base_warn_component_unused=0 OMP_WAIT_POLICY=PASSIVE
export OMPI_MCA_btl=self,vader
oversubscribe=()
"$mpiexec" --version 2>&1 | grep -qi "open.\?mpi\|open mpi\|openrte" && oversubscribe=(--oversubscribe)

# ranks SECONDS N COMMAND...
ranks() {
  local seconds=$(($1 * ${RETRACE_PATIENCE:-1})) number=$2
  shift 2
  timeout -k 5 "$seconds" "$mpiexec" "${oversubscribe[@]}" -n "$number" "$@"
}

# started N NAME COMMAND...: starts ranks in the background, with their process ids in NAME.pids/RANK and their messages
# in NAME.err. Leaves the process id of mpirun in $started.
started() {
  local number=$1 name=$2
  shift 2
  mkdir "$name.pids"
  "$mpiexec" "${oversubscribe[@]}" -n "$number" sh -c 'echo $$ >"$0.pids/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"; exec "$@"' \
    "$name" "$@" >/dev/null 2>"$name.err" &
  started=$!
  until [ "$(cat "$name.pids"/* 2>/dev/null | wc -l)" = "$number" ] || ! kill -0 $started 2>/dev/null; do sleep 0.05; done
}

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

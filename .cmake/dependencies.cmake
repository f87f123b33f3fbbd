# Every dependency comes from the system where it is installed; where it is not, the error says what to type.
# RETRACE_FETCH=ON downloads the missing ones instead.
option(RETRACE_FETCH "Download dependencies that are not installed" OFF)
include(FetchContent)

# retrace_require(<package> <apt package> <git url> <git tag>)
function(retrace_require package apt url tag)
  find_package(${package} QUIET)
  if(${package}_FOUND)
    return()
  endif()
  if(NOT RETRACE_FETCH)
    message(FATAL_ERROR "${package} was not found.\n  On Debian or Ubuntu: apt-get install -y ${apt}\n"
                        "  Or let CMake download it: cmake --preset release -DRETRACE_FETCH=ON")
  endif()
  FetchContent_Declare(${package} GIT_REPOSITORY ${url} GIT_TAG ${tag})
  FetchContent_MakeAvailable(${package})
endfunction()

find_package(Threads REQUIRED)
if(RETRACE_OPENMP)
  find_package(OpenMP QUIET COMPONENTS CXX)
  if(NOT OpenMP_CXX_FOUND)
    message(STATUS "OpenMP was not found: everything runs on one thread")
  endif()
endif()
if(RETRACE_MODELS)
  find_package(ZLIB QUIET)  # optional: for compressed data
  if(RETRACE_MPI)
    set(MPI_CXX_SKIP_MPICXX ON)  # the functions of C are enough
    find_package(MPI QUIET COMPONENTS CXX)
    if(NOT MPI_CXX_FOUND)
      message(FATAL_ERROR "MPI was not found, which RETRACE_MPI=ON needs.\n"
                          "  On Debian or Ubuntu: apt-get install -y libopenmpi-dev openmpi-bin (or libmpich-dev mpich)")
    endif()
  endif()
  retrace_require(CLI11 libcli11-dev https://github.com/CLIUtils/CLI11.git v2.1.2)
endif()
if(RETRACE_TESTS)
  retrace_require(GTest libgtest-dev https://github.com/google/googletest.git release-1.12.1)
endif()
if(RETRACE_BENCHMARKS)
  retrace_require(benchmark libbenchmark-dev https://github.com/google/benchmark.git v1.7.1)
endif()

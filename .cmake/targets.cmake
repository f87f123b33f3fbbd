# Flags that every target of the project shares.
add_library(retrace_flags INTERFACE)
target_compile_features(retrace_flags INTERFACE cxx_std_20)
target_compile_options(retrace_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow
  # Products and sums may become fused multiply-adds, always: a result must not depend on where the compiler saw one.
  -ffp-contract=fast
  # From g++ 13 on, the default tuning splits some of them again where sums form a chain, and other bits come out.
  $<$<CXX_COMPILER_ID:GNU>:--param=avoid-fma-max-bits=0>
  # Nothing here reads errno after a function of <cmath>, or traps on a floating-point exception.
  -fno-math-errno -fno-trapping-math
  # A program that is linked with -Wl,--gc-sections contains what it uses, not all of each file (or group of files).
  -ffunction-sections -fdata-sections
  # What -O3 has that loops over elements need; the rest of it costs more time to compile than it saves.
  $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-ftree-vectorize;-fvect-cost-model=dynamic>)
if(RETRACE_NATIVE)
  target_compile_options(retrace_flags INTERFACE -march=native)
endif()
if(RETRACE_WERROR)
  target_compile_options(retrace_flags INTERFACE -Werror)
endif()

# retrace_library(<folder> <libraries>...): the library retrace_<folder> of every source in that folder. (Each folder
# compiles the headers that most of its files include once; the debug preset does without, so that every file goes on
# naming what it uses.)
function(retrace_library folder)
  # What programs use is shared if BUILD_SHARED_LIBS says so; the models are parts of one program.
  set(type STATIC)
  if(BUILD_SHARED_LIBS AND folder MATCHES "^(core|ops|nn)$")
    set(type SHARED)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(retrace_${folder} ${type} ${sources})
  add_library(retrace::${folder} ALIAS retrace_${folder})
  target_include_directories(retrace_${folder} PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
  # Before 1.0, a new minor version may change the binary interface.
  set_target_properties(retrace_${folder} PROPERTIES VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  # The headers need C++20, so targets that link a library are compiled with at least that.
  target_compile_features(retrace_${folder} PUBLIC cxx_std_20)
  target_link_libraries(retrace_${folder} PUBLIC ${ARGN} PRIVATE $<BUILD_INTERFACE:retrace_flags>)
endfunction()

# The files of a group are compiled as one: what takes the time of a small file is the headers and templates that its
# neighbours need as well. The names in their unnamed namespaces have to differ. (The debug preset compiles each alone.)
function(retrace_compile_together name group)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  set_target_properties(retrace_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
endfunction()

# For code that checks, reports or shows what the layers below compute: -O2 would take longer to compile than it saves.
# (At -O1 g++ 12 also gives no false warning about an uninitialised string in a std::variant.)
function(retrace_compile_fast folder)
  target_compile_options(retrace_${folder} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

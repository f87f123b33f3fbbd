# cmake -DSOURCE=<folder> -DFILE=<x.cpp> -DVERSION=... -DCOMPILER=... -P build_info.cmake: writes the definition of
# build_info (build_info.h). It runs in every build, and a file that did not change is left alone.
set(commit unknown)
find_program(git git)
if(git)
  # A copy of the source inside another project's repository has no commit of its own.
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --show-prefix
    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND prefix STREQUAL "")
    execute_process(COMMAND ${git} -C ${SOURCE} describe --always --exclude * --abbrev=12 --dirty=-changed
      OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(commit ${described})
    endif()
  endif()
endif()
set(content "// Written by build_info.cmake.
#include <retrace/models/cli/build_info.h>
namespace retrace {
extern const BuildInfo build_info{\"${VERSION}\", \"${commit}\", \"${COMPILER}\"};
}
")
if(EXISTS ${FILE})
  file(READ ${FILE} before)
endif()
if(NOT content STREQUAL "${before}")
  file(WRITE ${FILE} "${content}")
endif()

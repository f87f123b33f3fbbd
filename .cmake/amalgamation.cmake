# The target `amalgamation` writes core, ops and nn as two files, retrace.h and retrace.cpp.
add_executable(retrace_amalgamate EXCLUDE_FROM_ALL .cmake/amalgamate.cpp)
target_compile_features(retrace_amalgamate PRIVATE cxx_std_20)
add_custom_target(amalgamation VERBATIM
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/amalgamation
  COMMAND retrace_amalgamate ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/amalgamation ${PROJECT_VERSION}
  COMMENT "Writing amalgamation/retrace.h and amalgamation/retrace.cpp")

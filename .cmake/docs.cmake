# The target `docs` writes pages of the public headers, searchable by name. A warning, as for a declaration without a
# comment, is an error.
find_program(RETRACE_DOXYGEN doxygen)
configure_file(.cmake/Doxyfile.in ${PROJECT_BINARY_DIR}/docs/Doxyfile @ONLY)
if(RETRACE_DOXYGEN)
  add_custom_target(docs WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM
    COMMAND ${RETRACE_DOXYGEN} ${PROJECT_BINARY_DIR}/docs/Doxyfile
    COMMAND ${CMAKE_COMMAND} -E echo "${PROJECT_BINARY_DIR}/docs/html/index.html")
  if(RETRACE_TESTS)
    add_test(NAME docs COMMAND ${RETRACE_DOXYGEN} ${PROJECT_BINARY_DIR}/docs/Doxyfile WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  endif()
else()
  add_custom_target(docs VERBATIM COMMAND ${CMAKE_COMMAND} -E echo "Doxygen was not found: apt-get install -y doxygen"
    COMMAND ${CMAKE_COMMAND} -E false)
endif()

# `cmake --install` copies the libraries, the headers, the program, and the package files by which find_package(retrace)
# and pkg-config find them, even after the installation is moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(folders core ops nn)
set(libraries ${folders} all)
if(RETRACE_MODELS)
  list(APPEND folders models)
  list(APPEND libraries op_checks formats data networks onnx tasks checks training reports demos study cli models)
  if(RETRACE_ZOO)
    list(APPEND libraries zoo)
  endif()
  if(RETRACE_MPI)
    list(APPEND libraries mpi)
  endif()
  if(BUILD_SHARED_LIBS)
    file(RELATIVE_PATH from_program /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
    set_target_properties(retrace PROPERTIES INSTALL_RPATH $ORIGIN/${from_program})
  endif()
  install(TARGETS retrace RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
    install(FILES ${PROJECT_BINARY_DIR}/models/retrace.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
    install(FILES ${PROJECT_BINARY_DIR}/models/retrace.bash RENAME retrace COMPONENT program
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  endif()
endif()
foreach(library ${libraries})
  set_target_properties(retrace_${library} PROPERTIES EXPORT_NAME ${library})
  if(BUILD_SHARED_LIBS AND library MATCHES "^(core|ops|nn)$")
    set_target_properties(retrace_${library} PROPERTIES INSTALL_RPATH $ORIGIN)
  endif()
  install(TARGETS retrace_${library} EXPORT retrace_targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
set_target_properties(retrace_all PROPERTIES EXPORT_NAME retrace)
set(not_installed "")
if(NOT RETRACE_ZOO)
  list(APPEND not_installed PATTERN zoo EXCLUDE)
endif()
if(NOT RETRACE_MPI)
  list(APPEND not_installed PATTERN mpi EXCLUDE)
endif()
foreach(folder ${folders})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/retrace COMPONENT development
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN checkpoints EXCLUDE PATTERN tour EXCLUDE ${not_installed})
endforeach()

# How GDB shows tensors; with shared libraries in a prefix of the system, it finds that by itself.
install(FILES core/gdb/retrace.py DESTINATION ${CMAKE_INSTALL_DATADIR}/retrace/gdb COMPONENT development)
if(BUILD_SHARED_LIBS)
  install(FILES core/gdb/retrace.py RENAME $<TARGET_FILE_NAME:retrace_core>-gdb.py COMPONENT development
    DESTINATION ${CMAKE_INSTALL_DATADIR}/gdb/auto-load${CMAKE_INSTALL_FULL_LIBDIR})
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/retrace)
install(EXPORT retrace_targets FILE retrace-targets.cmake NAMESPACE retrace:: DESTINATION ${package}
  COMPONENT development)
configure_package_config_file(.cmake/retrace-config.cmake.in ${PROJECT_BINARY_DIR}/retrace-config.cmake
  INSTALL_DESTINATION ${package})
# Before 1.0, a new minor version may change the public interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/retrace-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/retrace-config.cmake ${PROJECT_BINARY_DIR}/retrace-config-version.cmake
  DESTINATION ${package} COMPONENT development)

# Threads are not named: what a program needs for them is part of the C library, or of the library of OpenMP.
set(private_libraries "")
if(RETRACE_OPENMP AND OpenMP_CXX_FOUND)
  set(private_libraries ${OpenMP_CXX_LIBRARIES})  # as in core/CMakeLists.txt
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(TRANSFORM OpenMP_CXX_LIB_NAMES PREPEND -l OUTPUT_VARIABLE private_libraries)
  endif()
  list(JOIN private_libraries " " private_libraries)
endif()
set(public_libraries "-lretrace_nn -lretrace_ops -lretrace_core")
if(NOT BUILD_SHARED_LIBS)
  string(APPEND public_libraries " ${private_libraries}")
endif()
file(RELATIVE_PATH prefix_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig "${prefix_from_pkgconfig}")
configure_file(.cmake/retrace.pc.in ${PROJECT_BINARY_DIR}/retrace.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/retrace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

install(FILES CHANGELOG.md LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
# In their folders, so that the links from one to another hold.
foreach(folder core ops nn models models/onnx models/zoo models/mpi)
  install(FILES ${folder}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} COMPONENT development)
endforeach()
foreach(folder models/results models/tour models/study/pictures)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} COMPONENT development
    FILES_MATCHING PATTERN *.md PATTERN *.cpp PATTERN *.png PATTERN *.svg)
endforeach()

# `cmake --install` copies the libraries, the headers, the program, and the package files by which find_package(retrace)
# finds them, even after the installation is moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(folders core ops nn)
set(libraries ${folders})
if(RETRACE_MODELS)
  list(APPEND folders models)
  list(APPEND libraries op_checks formats data networks tasks checks training reports demos study cli models)
  install(TARGETS retrace RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
foreach(library ${libraries})
  set_target_properties(retrace_${library} PROPERTIES EXPORT_NAME ${library})
  install(TARGETS retrace_${library} EXPORT retrace_targets DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
foreach(folder ${folders})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/retrace
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN checkpoints EXCLUDE)
endforeach()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/retrace)
install(EXPORT retrace_targets FILE retrace-targets.cmake NAMESPACE retrace:: DESTINATION ${package})
configure_package_config_file(.cmake/retrace-config.cmake.in ${PROJECT_BINARY_DIR}/retrace-config.cmake
  INSTALL_DESTINATION ${package})
# Before 1.0, a new minor version may change the public interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/retrace-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/retrace-config.cmake ${PROJECT_BINARY_DIR}/retrace-config-version.cmake
  DESTINATION ${package})

# `cpack --preset deb` makes a Debian package of what is installed: library, headers and program with its manual page.
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME retrace)
set(CPACK_PACKAGE_VENDOR "The Retrace authors")
set(CPACK_PACKAGE_CONTACT "The Retrace authors <maintainers@users.noreply.a-seed-510ad820.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "reverse-mode automatic differentiation, from scratch")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "A library for C++20: tensors, a tape that records operations and walks back,
hand-written operations with their gradients, recurrent and attention layers,
optimisers, and checks of every gradient.

The program retrace trains small sequence models, checks gradients, and shows
each step of a backward pass.")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ (>= 4:12), cmake | pkgconf | pkg-config")
set(needed "libc6, libgcc-s1, libgomp1, libstdc++6")
if(ZLIB_FOUND)
  string(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS ", zlib1g-dev")  # to link retrace::models
  string(APPEND needed ", zlib1g")
endif()
# The shared libraries that the program needs are found by dpkg-shlibdeps (package dpkg-dev), for which CPack also calls
# `file`, where both are installed.
find_program(RETRACE_SHLIBDEPS dpkg-shlibdeps)
find_program(RETRACE_FILE file)
mark_as_advanced(RETRACE_SHLIBDEPS RETRACE_FILE)
if(RETRACE_SHLIBDEPS AND RETRACE_FILE)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
else()
  set(CPACK_DEBIAN_PACKAGE_DEPENDS ${needed})
endif()
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/.cmake/debian.cmake)
include(CPack)

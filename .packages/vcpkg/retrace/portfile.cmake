# Builds the tree that this port lies in, without a download.
cmake_path(SET source NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../..")

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES models RETRACE_MODELS)
vcpkg_cmake_configure(SOURCE_PATH "${source}" OPTIONS ${features} -DRETRACE_TESTS=OFF -DRETRACE_BENCHMARKS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/retrace)
vcpkg_fixup_pkgconfig()
if("models" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES retrace AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE")

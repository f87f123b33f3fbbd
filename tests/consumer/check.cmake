# cmake -DHOW=installed|subdirectory -DSOURCE=<retrace> -DBUILD=<its build folder> -DWORK=<scratch folder> -P check.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
if(HOW STREQUAL "installed")
  # An installation that was moved afterwards.
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
  file(RENAME ${WORK}/first ${WORK}/moved)
  run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/tests/consumer -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/moved)
  run(${CMAKE_COMMAND} --build ${WORK}/build)
  run(${WORK}/build/consumer)
else()
  # What the models and the program need must not be asked for. Building the library again would take minutes: that the
  # consumer compiles shows that flags and include paths arrive.
  run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/tests/consumer -B ${WORK}/build -DRETRACE_SOURCE=${SOURCE}
    -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON -DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON)
  run(${CMAKE_COMMAND} --build ${WORK}/build --target CMakeFiles/consumer.dir/main.cpp.o demo)
endif()

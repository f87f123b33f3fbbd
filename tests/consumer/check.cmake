# cmake -DHOW=... -DSOURCE=<retrace> -DBUILD=<its build folder> -DWORK=<scratch folder> [-DCOMPILER=clang++]
#   [-DARGUMENTS=...] -P check.cmake
# builds and runs this project. HOW is
#   installed            with find_package and pkg-config, from an installation that was moved afterwards
#   subdirectory, fetched  as part of the project. Building the library again takes minutes; without COMPLETE=ON only
#                        the program is compiled, which shows that flags and include paths arrive
#   amalgamated          from two files; without COMPLETE=ON they are only parsed
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

function(fails_with words)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  string(FIND "${output}" "${words}" found)
  if(status EQUAL 0 OR found EQUAL -1)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nshould have said: ${words}\n${output}")
  endif()
endfunction()

if(NOT COMPILER)
  set(COMPILER c++)
endif()
set(project ${SOURCE}/tests/consumer)
set(configure ${CMAKE_COMMAND} -G Ninja -S ${project} -B ${WORK}/build -DHOW=${HOW} -DCMAKE_CXX_COMPILER=${COMPILER}
  ${ARGUMENTS})

function(check_installation moved)
  run(${configure} -DCMAKE_PREFIX_PATH=${moved} "-DCOMPONENTS=core\\;ops\\;nn")
  fails_with("Retrace has no component layers; there are core, ops, nn and models"
    ${configure} -DCMAKE_PREFIX_PATH=${moved} -DCOMPONENTS=layers)
  file(GLOB_RECURSE models ${moved}/libretrace_models* ${moved}/libretrace_cli*)
  if(models)
    run(${configure} -DCMAKE_PREFIX_PATH=${moved} -DCOMPONENTS=models)
  else()
    fails_with("this installation of Retrace has no models"
      ${configure} -DCMAKE_PREFIX_PATH=${moved} -DCOMPONENTS=models)
  endif()
  run(${configure} -DCMAKE_PREFIX_PATH=${moved} -DCOMPONENTS=)
endfunction()

function(check_pkgconfig moved)
  find_program(pkgconfig pkg-config)
  if(NOT pkgconfig)
    message("pkg-config is not installed; its file was not tried")
    return()
  endif()
  file(GLOB_RECURSE file ${moved}/retrace.pc)
  cmake_path(GET file PARENT_PATH folder)
  execute_process(COMMAND ${pkgconfig} --with-path=${folder} --cflags --libs retrace OUTPUT_VARIABLE flags
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags)
  run(${COMPILER} -std=c++20 ${project}/main.cpp -o ${WORK}/with_pkgconfig ${flags})
  cmake_path(GET folder PARENT_PATH libraries)
  run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${WORK}/with_pkgconfig)
endfunction()

file(REMOVE_RECURSE ${WORK})
if(HOW STREQUAL "installed")
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
  file(RENAME ${WORK}/first ${WORK}/moved)
  check_installation(${WORK}/moved)
  check_pkgconfig(${WORK}/moved)
elseif(HOW STREQUAL "amalgamated")
  run(${CMAKE_COMMAND} --build ${BUILD} --target amalgamation)
  run(${configure} -DSOURCE=${BUILD}/amalgamation)
  if(NOT COMPLETE)
    run(${COMPILER} -std=c++20 -O2 -fsyntax-only ${BUILD}/amalgamation/retrace.cpp)
    return()
  endif()
else()
  # What the models and the program need must not be asked for.
  run(${configure} -DSOURCE=${SOURCE}
    -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON -DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON)
  if(NOT COMPLETE)
    run(${CMAKE_COMMAND} --build ${WORK}/build --target CMakeFiles/consumer.dir/main.cpp.o demo docs retrace)
    return()
  endif()
endif()
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
run(${WORK}/build/train)

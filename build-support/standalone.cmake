# SPDX-License-Identifier: GPL-2.0-only
#
# The standalone build: the library, the examples and a test runner, against an installed ns-3. Included
# by ../CMakeLists.txt when that is not part of an ns-3 tree, after the lists of files.

# The modules of ns-3 that are used directly.
set(ns3_modules core internet network)

find_path(ns3_include_dir ns3/core-module.h REQUIRED NO_DEFAULT_PATH
          HINTS ${ns3_DIR}/../../../include ${ns3_DIR}/../../../../include
)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

include(${CMAKE_CURRENT_LIST_DIR}/ns3-versions.cmake)
get_ns3_requirements("${ns3_VERSION}" CMAKE_CXX_STANDARD cppyy_version)
set(CMAKE_CXX_STANDARD_REQUIRED ON)

# An installed ns-3 may name include directories and libraries of the machine that it was built on,
# which CMake refuses when they do not exist. Only its own header directory and its own modules are
# kept. Releases before 3.43 call their targets ns3::libcore, later ones ns3::core.
set(ns3_targets)
function(use_ns3_target target)
  if(target IN_LIST ns3_targets)
    return()
  endif()
  get_target_property(dependencies ${target} INTERFACE_LINK_LIBRARIES)
  list(FILTER dependencies INCLUDE REGEX "^ns3::")
  set_target_properties(
    ${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "" INTERFACE_LINK_LIBRARIES "${dependencies}"
                         INTERFACE_COMPILE_OPTIONS "-idirafter${ns3_include_dir}"
  )
  foreach(dependency ${dependencies})
    use_ns3_target(${dependency})
  endforeach()
  # After its dependencies: this is also the order in which the libraries can be loaded.
  set(ns3_targets ${ns3_targets} ${target})
  set(ns3_targets ${ns3_targets} PARENT_SCOPE)
endfunction()
function(get_ns3_target variable module)
  set(${variable} ns3::lib${module} PARENT_SCOPE)
  if(TARGET ns3::${module})
    set(${variable} ns3::${module} PARENT_SCOPE)
  endif()
endfunction()
foreach(module ${ns3_modules})
  get_ns3_target(target ${module})
  use_ns3_target(${target})
endforeach()

# All headers are reached as "ns3/<name>.h", as in an ns-3 tree: a folder of one-line files does it.
set(forward_dir ${CMAKE_BINARY_DIR}/include)
set(module_header "")
foreach(header ${header_files})
  get_filename_component(name ${header} NAME)
  write_if_different(
    ${forward_dir}/ns3/${name} "#include \"${CMAKE_CURRENT_SOURCE_DIR}/${header}\"\n"
  )
  string(APPEND module_header "#include \"ns3/${name}\"\n")
endforeach()
write_if_different(${forward_dir}/ns3/distributed-training-module.h "${module_header}")

set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_library(distributed-training SHARED ${units_of_library})
set_target_properties(
  distributed-training PROPERTIES OUTPUT_NAME ns${ns3_VERSION}-distributed-training
)
target_include_directories(distributed-training PUBLIC ${forward_dir})
target_link_libraries(
  distributed-training PUBLIC ${ns3_targets} PRIVATE ${SQLite3_LIBRARIES} ${ZLIB_LIBRARIES}
                                                     ${CMAKE_DL_LIBS}
)
target_compile_options(distributed-training PRIVATE -Wall -Wextra)
target_compile_definitions(distributed-training PRIVATE NS3_LOG_ENABLE) # of this module, for --log

# Tests find their data files as in an ns-3 tree: below the nearest parent folder of the test runner
# that has files named VERSION and LICENSE.
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/test-runner.cc
     CONTENT "#include \"ns3/test.h\"

int
main(int argc, char* argv[])
{
    return ns3::TestRunner::Run(argc, argv);
}
"
)
file(WRITE ${CMAKE_BINARY_DIR}/VERSION "${ns3_VERSION}\n")
file(WRITE ${CMAKE_BINARY_DIR}/LICENSE "")
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/contrib)
if(NOT EXISTS ${CMAKE_BINARY_DIR}/contrib/distributed-training)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_BINARY_DIR}/contrib/distributed-training
       SYMBOLIC
  )
endif()
add_executable(test-runner ${CMAKE_BINARY_DIR}/test-runner.cc ${units_of_tests})
target_compile_definitions(
  test-runner PRIVATE NS_TEST_SOURCEDIR="contrib/distributed-training/test"
)
target_link_libraries(test-runner PRIVATE distributed-training)
target_compile_options(test-runner PRIVATE -Wall -Wextra)
if(DISTRIBUTED_TRAINING_UNITS)
  precompile_headers(distributed-training common-headers.h)
  compile_tests_fast(test-runner)
endif()

set(examples_json "")
set(targets_of_module ${ns3_targets})
foreach(example ${example_names})
  set(example_targets)
  set(missing)
  foreach(module ${${example}_modules})
    get_ns3_target(target ${module})
    if(TARGET ${target})
      use_ns3_target(${target})
      list(APPEND example_targets ${target})
    else()
      list(APPEND missing ${module})
    endif()
  endforeach()
  if(missing)
    message(STATUS "no example ${example}, as ns-3 lacks modules: ${missing}")
    continue()
  endif()
  file(GLOB source ${CMAKE_CURRENT_SOURCE_DIR}/examples/p*/${example}.cc)
  add_executable(${example} ${source})
  target_link_libraries(${example} PRIVATE distributed-training ${example_targets})
  target_compile_options(${example} PRIVATE -Wall -Wextra ${compile_fast})
  set_target_properties(
    ${example} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples
  )
  list(APPEND examples_json "\"${example}\": \"$<TARGET_FILE:${example}>\"")
endforeach()
set(ns3_targets ${targets_of_module}) # the module does not need those of examples
string(REPLACE ";" ",\n    " examples_json "${examples_json}")

# Describes the build to the Python package and to extensions; `ns3w` writes the same file for a build in
# a tree and documents its keys (function write_build_info).
function(write_json_list variable)
  list(TRANSFORM ARGN REPLACE "(.+)" "\"\\1\"")
  string(REPLACE ";" ",\n    " text "${ARGN}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()
set(libraries)
set(definitions)
foreach(target ${ns3_targets})
  list(APPEND libraries $<TARGET_FILE:${target}>)
  get_target_property(own ${target} INTERFACE_COMPILE_DEFINITIONS)
  if(own)
    list(APPEND definitions ${own})
  endif()
endforeach()
list(FILTER definitions INCLUDE REGEX "^NS3_[A-Z0-9_]+$") # such as NS3_LOG_ENABLE
list(REMOVE_DUPLICATES definitions)
write_json_list(libraries_json ${libraries} $<TARGET_FILE:distributed-training>)
write_json_list(definitions_json ${definitions})
string(TOLOWER ${CMAKE_BUILD_TYPE} profile)
function(write_build_info file include_dirs libraries examples)
  file(GENERATE OUTPUT ${file}
       CONTENT "{
  \"ns3_version\": \"${ns3_VERSION}\",
  \"profile\": \"${profile}\",
  \"cxx_standard\": ${CMAKE_CXX_STANDARD},
  \"definitions\": [
    ${definitions_json}
  ],
  \"include_dirs\": [
    ${include_dirs}
  ],
  \"libraries\": [
    ${libraries}
  ],
  \"examples\": {
    ${examples}
  },
  \"cppyy\": \"${cppyy_version}\"
}
"
  )
endfunction()
write_json_list(include_dirs_json ${forward_dir} ${ns3_include_dir})
write_build_info(
  ${CMAKE_BINARY_DIR}/build-info.json "${include_dirs_json}" "${libraries_json}" "${examples_json}"
)
file(WRITE ${CMAKE_BINARY_DIR}/distributed-training-config.cmake
     "set(DISTRIBUTED_TRAINING_BUILD \"${CMAKE_BINARY_DIR}/build-info.json\")
include(\"${CMAKE_CURRENT_LIST_DIR}/distributed-training-config.cmake\")
"
)

# What the Python package carries: scikit-build-core calls cmake --install (pip_backend.py), into lib, bin and
# include of its folder `native`. The package ns3 is two folders above, and paths are from one of these folders.
set_target_properties(
  distributed-training PROPERTIES INSTALL_RPATH "$ORIGIN/../../../ns3/lib64"
)
set_target_properties(
  ${example_names} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib:$ORIGIN/../../../ns3/lib64"
)
install(TARGETS distributed-training LIBRARY DESTINATION lib)
install(TARGETS ${example_names} RUNTIME DESTINATION bin)
install(FILES examples/published.toml DESTINATION bin)
install(FILES ${header_files} ${forward_dir}/ns3/distributed-training-module.h
        DESTINATION include/ns3
)
write_json_list(include_dirs_json include ns3/include)
string(REPLACE "$<TARGET_FILE:distributed-training" "lib/$<TARGET_FILE_NAME:distributed-training"
               libraries_json "${libraries_json}"
)
string(REPLACE "$<TARGET_FILE:" "ns3/lib64/$<TARGET_FILE_NAME:" libraries_json "${libraries_json}")
string(REPLACE "$<TARGET_FILE:" "bin/$<TARGET_FILE_NAME:" examples_json "${examples_json}")
set(info ${CMAKE_BINARY_DIR}/installed/build-info.json)
write_build_info(${info} "${include_dirs_json}" "${libraries_json}" "${examples_json}")
install(FILES ${info} DESTINATION .)
# The package keeps descriptions of programs beside them; what is listed here is also uninstalled.
file(WRITE ${CMAKE_BINARY_DIR}/installed/empty.json "{}")
foreach(example ${example_names})
  install(FILES ${CMAKE_BINARY_DIR}/installed/empty.json DESTINATION bin
          RENAME ${example}.describe.json
  )
endforeach()

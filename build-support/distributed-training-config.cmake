# SPDX-License-Identifier: GPL-2.0-only
#
# find_package(distributed-training), for extensions: code outside of the module that adds algorithms,
# congestion controls, topologies, workloads and the like. Documented in doc/extending.rst. Defines
#
#   distributed_training_add_extension(NAME SOURCES FILE...)
#
# which adds a shared library that the module's programs load by --extension=FILE or by the environment
# variable DISTRIBUTED_TRAINING_EXTENSIONS.
#
# Inside an ns-3 tree the library is linked with the module of that tree. Otherwise it is linked with the
# build that the variable DISTRIBUTED_TRAINING_BUILD names, the path of a build-info.json; it is set by the
# distributed-training-config.cmake that stands beside that file.

cmake_minimum_required(VERSION 3.19...3.29)

function(distributed_training_add_extension name)
  cmake_parse_arguments(PARSE_ARGV 1 extension "" "" "SOURCES")
  if(NOT extension_SOURCES OR extension_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "distributed_training_add_extension(NAME SOURCES FILE...) is allowed")
  endif()
  add_library(${name} SHARED ${extension_SOURCES})
  if(COMMAND build_lib)
    target_link_libraries(${name} PRIVATE ${libdistributed-training})
    return()
  endif()
  target_link_libraries(${name} PRIVATE distributed-training::distributed-training)
  set_target_properties(
    ${name} PROPERTIES CXX_STANDARD ${distributed-training_CXX_STANDARD} CXX_STANDARD_REQUIRED ON
                       LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
  )
endfunction()

if(COMMAND build_lib OR TARGET distributed-training::distributed-training)
  return()
endif()

if(NOT DISTRIBUTED_TRAINING_BUILD)
  set(distributed-training_FOUND FALSE)
  set(distributed-training_NOT_FOUND_MESSAGE
      "set distributed-training_DIR to the folder of a build's build-info.json"
  )
  return()
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

file(READ "${DISTRIBUTED_TRAINING_BUILD}" build_info)
function(get_build_info_list key variable)
  set(values)
  string(JSON length LENGTH "${build_info}" ${key})
  if(length GREATER 0)
    math(EXPR last "${length} - 1")
    foreach(index RANGE ${last})
      string(JSON value GET "${build_info}" ${key} ${index})
      list(APPEND values "${value}")
    endforeach()
  endif()
  set(${variable} "${values}" PARENT_SCOPE)
endfunction()
string(JSON distributed-training_CXX_STANDARD GET "${build_info}" cxx_standard)
get_build_info_list(definitions definitions)
get_build_info_list(include_dirs include_dirs)
get_build_info_list(libraries libraries)

# After the system's headers: the wheel of ns-3 brings a Boost of its own that is too old for its C++20.
list(POP_FRONT include_dirs module_headers)
list(TRANSFORM include_dirs PREPEND "-idirafter")
add_library(distributed-training::distributed-training INTERFACE IMPORTED)
target_include_directories(
  distributed-training::distributed-training SYSTEM INTERFACE ${module_headers}
)
target_compile_options(distributed-training::distributed-training INTERFACE ${include_dirs})
target_compile_definitions(distributed-training::distributed-training INTERFACE ${definitions})
target_link_libraries(distributed-training::distributed-training INTERFACE ${libraries})

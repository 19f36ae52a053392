# SPDX-License-Identifier: GPL-2.0-only
#
# What the option --version says: the version of the module, its commit, and the version of ns-3. The header with
# the commit is written by
#   cmake -DSOURCE=FOLDER -DHEADER=FILE -P build-support/version.cmake

# Writes the commit of a folder; that of the environment where git knows none, as in an archive of the sources.
function(write_commit source header)
  execute_process(
    COMMAND git -C ${source} rev-parse --short=12 HEAD RESULT_VARIABLE failed OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
  )
  if(failed)
    set(commit "$ENV{DISTRIBUTED_TRAINING_COMMIT}")
  endif()
  if(NOT commit MATCHES "^[0-9a-f]+$")
    set(commit unknown)
  endif()
  file(WRITE ${header} "#define DISTRIBUTED_TRAINING_COMMIT \"${commit}\"\n")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  write_commit(${SOURCE} ${HEADER})
  return()
endif()

# Gives one file the versions. It is compiled again after a commit, as git then writes its log of HEAD.
function(describe_version file ns3_version)
  file(STRINGS VERSION module_version LIMIT_COUNT 1)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/VERSION)
  set(versions DISTRIBUTED_TRAINING_VERSION="${module_version}" DISTRIBUTED_TRAINING_NS3="${ns3_version}")
  set(header ${CMAKE_CURRENT_BINARY_DIR}/version/training-commit.h)
  execute_process( # not of a repository around this one, such as ns-3's
    COMMAND git -C ${CMAKE_CURRENT_SOURCE_DIR} rev-parse --show-prefix --git-path logs/HEAD
    OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
  )
  string(REGEX REPLACE "^\n" "" log "${answer}")
  get_filename_component(log "${log}" ABSOLUTE)
  if(answer MATCHES "^\n" AND EXISTS ${log})
    set(script ${CMAKE_CURRENT_SOURCE_DIR}/build-support/version.cmake)
    add_custom_command(
      OUTPUT ${header}
      COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR} -DHEADER=${header} -P ${script}
      DEPENDS ${log} ${script}
      VERBATIM
    )
  elseif(NOT EXISTS ${header})
    write_commit(/nowhere ${header})
  endif()
  set_source_files_properties(
    ${file} PROPERTIES COMPILE_DEFINITIONS "${versions}" SKIP_UNITY_BUILD_INCLUSION ON
                       INCLUDE_DIRECTORIES ${CMAKE_CURRENT_BINARY_DIR}/version OBJECT_DEPENDS ${header}
  )
endfunction()

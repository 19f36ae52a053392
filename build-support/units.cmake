# SPDX-License-Identifier: GPL-2.0-only
#
# Units: files of C++ that include neighbouring files of a folder, so that the compiler reads the headers
# that they share once. A whole build takes half of the processor time that single files take.
#
# A file that somebody edits has a unit of its own from then on, so that it alone is compiled again: `ns3w`
# lists such files in units/edited.txt and has the units written again by
#   cmake -DUNITS=build/units -P build-support/units.cmake

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.18...3.29)
endif()

set(bytes_of_a_unit 120000) # more: fewer seconds in all; fewer: sooner done after the first edit of a file
set(units_for_edited 8)

# Compile time for speed, where it is worth it. Rooms of packets have the -O3 of ns-3's profile; rooms that plan
# have -O2, which takes three quarters of the time; -Og takes half: for rooms that work before and after a
# simulation, for tests and for examples, which spend their time in the other rooms.
set(rooms_of_plans collective graph schedule topology)
set(rooms_off_the_clock formats helper job life parallel pipeline program results serving traffic)
set(optimized $<CONFIG:release,relwithdebinfo>)
set(compile_fast $<${optimized}:-Og>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU") # which finds what is not there, without the passes of -O2
  foreach(warning maybe-uninitialized array-bounds restrict stringop-overflow)
    list(APPEND compile_fast $<${optimized}:-Wno-${warning}>)
  endforeach()
endif()

# Sets a variable to what is compiled in place of files: units, written to the folder UNITS, and files that
# the property SKIP_UNITY_BUILD_INCLUSION keeps by themselves, or that have compile options of their own.
function(make_units variable name)
  set(units)
  set(list "")
  set(room)
  foreach(file ${ARGN})
    get_source_file_property(is_single ${file} SKIP_UNITY_BUILD_INCLUSION)
    get_source_file_property(options ${file} COMPILE_OPTIONS)
    if(is_single OR options)
      set_source_files_properties(${file} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
      list(APPEND units ${file})
      continue()
    endif()
    set(last_room ${room})
    string(REGEX REPLACE "^(model/)?([^/]+).*" "\\2" room ${file})
    if(NOT room STREQUAL last_room)
      set(number 1)
      set(bytes 0)
    elseif(bytes GREATER bytes_of_a_unit)
      math(EXPR number "${number} + 1")
      set(bytes 0)
    endif()
    file(SIZE ${CMAKE_CURRENT_SOURCE_DIR}/${file} size)
    math(EXPR bytes "${bytes} + ${size}")
    set(unit ${name}-${room}-${number}.cc)
    file(RELATIVE_PATH path ${UNITS} ${CMAKE_CURRENT_SOURCE_DIR}/${file}) # the same in all builds: ccache
    string(APPEND list "${unit} ${file} ${path}\n")
    if(room IN_LIST rooms_of_plans)
      set_source_files_properties(${UNITS}/${unit} PROPERTIES COMPILE_OPTIONS $<${optimized}:-O2>)
    elseif(room IN_LIST rooms_off_the_clock)
      set_source_files_properties(
        ${UNITS}/${unit} PROPERTIES COMPILE_OPTIONS "${compile_fast}" SKIP_PRECOMPILE_HEADERS ON
      )
    endif()
    list(APPEND units ${UNITS}/${unit})
  endforeach()
  foreach(number RANGE 1 ${units_for_edited})
    list(APPEND units ${UNITS}/${name}-edited-${number}.cc)
  endforeach()
  list(REMOVE_DUPLICATES units)
  file(WRITE ${UNITS}/${name}.txt "${list}")
  write_units(${UNITS}/${name}.txt)
  set(${variable} ${units} PARENT_SCOPE)
endfunction()

# Writes the units of a list: lines with a unit, a file and its path from there. What does not change keeps its time.
function(write_units list)
  get_filename_component(name ${list} NAME_WE)
  file(STRINGS ${list} lines)
  set(edited)
  if(EXISTS ${UNITS}/edited.txt)
    file(STRINGS ${UNITS}/edited.txt edited)
  endif()
  set(units)
  foreach(number RANGE 1 ${units_for_edited})
    list(APPEND units ${name}-edited-${number}.cc)
  endforeach()
  set(number 0)
  set(place 0)
  foreach(line ${lines})
    string(REGEX MATCH "^([^ ]+) ([^ ]+) (.*)" line "${line}")
    set(unit ${CMAKE_MATCH_1})
    set(file ${CMAKE_MATCH_2})
    set(path ${CMAKE_MATCH_3})
    list(APPEND units ${unit})
    if(file IN_LIST edited)
      math(EXPR place "${place} % ${units_for_edited} + 1")
      set(unit ${name}-edited-${place}.cc)
    endif()
    math(EXPR number "${number} + 1")
    append_to_unit(text_of_${unit} ${number} ${path})
  endforeach()
  list(REMOVE_DUPLICATES units)
  foreach(unit ${units})
    write_if_different(${UNITS}/${unit} "${text_of_${unit}}")
  endforeach()
endfunction()

# Appends a file to the text of a unit. Each file has a log component of the same name.
function(append_to_unit variable number path)
  string(APPEND ${variable} "#define g_log g_log_${number}\n#include \"${path}\"\n#undef g_log\n")
  set(${variable} "${${variable}}" PARENT_SCOPE)
endfunction()

function(write_if_different file text)
  set(old)
  if(EXISTS ${file})
    file(READ ${file} old)
  else()
    file(WRITE ${file} "")
  endif()
  if(NOT "${old}" STREQUAL "${text}")
    file(WRITE ${file} "${text}")
  endif()
endfunction()

# Headers that most units read, compiled once for a target. One that reuses those of ns-3 keeps them.
function(precompile_headers target header)
  get_target_property(reused ${target} PRECOMPILE_HEADERS_REUSE_FROM)
  if(NOT reused)
    target_precompile_headers(${target} PRIVATE build-support/${header})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # For ccache; the second keeps names below the build, which checkouts share, as they are.
      target_compile_options(${target} PRIVATE -fpch-preprocess -fno-canonical-system-headers)
    endif()
  endif()
endfunction()

function(compile_tests_fast target)
  target_compile_options(${target} PRIVATE ${compile_fast})
  precompile_headers(${target} common-test-headers.h)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  write_units(${UNITS}/library.txt)
  write_units(${UNITS}/test.txt)
endif()

# SPDX-License-Identifier: GPL-2.0-only
#
# Units of ns-3's own files, for the release that `ns3w` downloads: its libraries take a third of the
# processor time. Other releases may have names that collide, so that they are compiled file by file.

# Called at the end of ns-3's own lists, where the variables of this file's folder are not known.
function(join_ns3_files units_folder)
  set(bytes_of_a_unit 250000)
  set(libraries core network internet bridge stats traffic-control applications csma flow-monitor
                point-to-point
  )
  # These define a name a second time, or specialize a template that another file uses.
  set(single_files
      flow-monitor/model/ipv6-flow-classifier.cc
      network/utils/mac16-address.cc
      network/utils/mac64-address.cc
      stats/model/sqlite-output.cc
      traffic-control/model/codel-queue-disc.cc
  )
  foreach(library ${libraries})
    if(NOT TARGET lib${library}-obj)
      continue()
    endif()
    get_target_property(files lib${library}-obj SOURCES)
    list(FILTER files INCLUDE REGEX "\\.cc$")
    set(folder ${PROJECT_SOURCE_DIR}/src/${library})
    set(sources)
    set(units)
    set(number 0)
    set(bytes ${bytes_of_a_unit})
    foreach(file ${files})
      if(${library}/${file} IN_LIST single_files)
        list(APPEND sources ${folder}/${file})
        continue()
      endif()
      if(bytes GREATER_EQUAL bytes_of_a_unit)
        list(LENGTH units unit)
        list(APPEND units ns3-${library}-${unit}.cc)
        set(unit ns3-${library}-${unit}.cc)
        set(bytes 0)
      endif()
      file(SIZE ${folder}/${file} size)
      math(EXPR bytes "${bytes} + ${size}")
      math(EXPR number "${number} + 1")
      file(RELATIVE_PATH path ${units_folder} ${folder}/${file})
      append_to_unit(text_of_${unit} ${number} ${path})
    endforeach()
    foreach(unit ${units})
      write_if_different(${units_folder}/${unit} "${text_of_${unit}}")
      list(APPEND sources ${units_folder}/${unit})
    endforeach()
    set_target_properties(lib${library}-obj PROPERTIES SOURCES "${sources}")
    if(NOT library MATCHES "^(core|network)$") # whose code runs for each event or packet
      target_compile_options(lib${library}-obj PRIVATE -O2)
    endif()
  endforeach()
  if(TARGET libtest) # ns-3's own suites, which no command of `ns3w` runs
    set_target_properties(libtest PROPERTIES SOURCES ${PROJECT_SOURCE_DIR}/build-support/empty.cc)
  endif()
endfunction()

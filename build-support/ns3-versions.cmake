# SPDX-License-Identifier: GPL-2.0-only

# Sets, for a release of ns-3 such as "3.37", the variables named by CXX_STANDARD and CPPYY: what the
# release asks for, by ns3-versions.txt.
function(get_ns3_requirements RELEASE CXX_STANDARD CPPYY)
  file(STRINGS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/ns3-versions.txt lines REGEX "^ *3\\.")
  foreach(line ${lines})
    string(REGEX MATCHALL "[^ ]+" cells "${line}")
    list(GET cells 0 first_release)
    if(NOT RELEASE MATCHES "^3\\.[0-9]" OR NOT RELEASE VERSION_LESS first_release)
      list(GET cells 1 standard)
      list(GET cells 2 cppyy)
    endif()
  endforeach()
  set(${CXX_STANDARD} ${standard} PARENT_SCOPE)
  set(${CPPYY} ${cppyy} PARENT_SCOPE)
endfunction()

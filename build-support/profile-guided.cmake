# SPDX-License-Identifier: GPL-2.0-only
#
# Profile-guided optimization by gcc of the rooms whose code runs for each packet. `ns3w --profile-guided`
# includes this file, first with DISTRIBUTED_TRAINING_PROFILE=generate, for programs that record profiles
# next to the objects, then with DISTRIBUTED_TRAINING_PROFILE=use.

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "profile-guided: the compiler is ${CMAKE_CXX_COMPILER_ID}; allowed is GNU")
endif()

set(profiled_files ${source_files})
list(FILTER profiled_files INCLUDE REGEX "^model/(accelerate|engine|fabric|rdma)/")
if(DISTRIBUTED_TRAINING_PROFILE STREQUAL "generate")
  set(profile_options -fprofile-generate -fprofile-update=single)
  add_link_options(-fprofile-generate)
elseif(DISTRIBUTED_TRAINING_PROFILE STREQUAL "use")
  # Code that no training run has executed is optimized as usual: -fprofile-partial-training. Functions
  # that another header of ns-3 has changed are compiled without a profile. Inlining across files gives
  # most of the gain: -flto.
  set(profile_options -fprofile-use -fprofile-partial-training -Wno-missing-profile
                      -Wno-coverage-mismatch -flto -fno-semantic-interposition
  )
  add_link_options(-flto=auto -fno-semantic-interposition)
else()
  set(profile "DISTRIBUTED_TRAINING_PROFILE=${DISTRIBUTED_TRAINING_PROFILE}")
  message(FATAL_ERROR "${profile}: allowed are generate and use")
endif()
set_property(
  SOURCE ${profiled_files}
  APPEND
  PROPERTY COMPILE_OPTIONS ${profile_options}
)

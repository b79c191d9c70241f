# Which instruction sets to compile for; at load time the widest that the processor supports is chosen.
#   host      the narrowest, which runs anywhere, and the widest that this machine supports
#   widest    only the widest that this machine supports: compiles fastest
#   runnable  all that this machine supports, for tests
#   all       all of the architecture, for wheels
# or a list of names.
set(KINODYN_ISAS host CACHE STRING "Instruction sets: host, widest, runnable, all, or a list of names")

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(all_isas sse2 avx2 avx512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(all_isas neon)
else()
  set(all_isas generic)
endif()

# Lanes and compiler options of each. SSE2 is for the few processors without AVX2: it is compiled faster.
set(sse2_options 2 -msse2 -O2)
set(avx2_options 4 -mavx2 -mfma -O3)
set(avx512_options 8 -O3 -mavx512f -mavx512dq -mavx2 -mfma -mprefer-vector-width=512)
set(neon_options 2 -O3)
set(generic_options 2 -O3)

function(find_runnable_isas result)
  set(${result} ${all_isas} PARENT_SCOPE)
  if(NOT "sse2" IN_LIST all_isas OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  try_run(status compiled ${CMAKE_CURRENT_BINARY_DIR}/host ${CMAKE_CURRENT_SOURCE_DIR}/cmake/host.cpp
          RUN_OUTPUT_VARIABLE names)
  if(compiled AND status EQUAL 0)
    set(${result} ${names} PARENT_SCOPE)
  endif()
endfunction()

if(KINODYN_ISAS STREQUAL "all")
  set(isas ${all_isas})
elseif(KINODYN_ISAS MATCHES "^(host|widest|runnable)$")
  find_runnable_isas(isas)
  list(GET isas 0 narrowest)
  list(GET isas -1 widest)
  if(KINODYN_ISAS STREQUAL "host")
    set(isas ${narrowest} ${widest})
    list(REMOVE_DUPLICATES isas)
  elseif(KINODYN_ISAS STREQUAL "widest")
    set(isas ${widest})
  endif()
else()
  set(isas ${KINODYN_ISAS})
endif()
foreach(isa IN LISTS isas)
  if(NOT DEFINED ${isa}_options)
    message(FATAL_ERROR "KINODYN_ISAS: unknown instruction set '${isa}'")
  endif()
endforeach()
message(STATUS "Instruction sets: ${isas}")

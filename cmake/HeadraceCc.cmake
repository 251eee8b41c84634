# libheadrace_cc.a: the C++ API for building graphs and training (src/cc), with
# a class for each op, which cc_ops makes of the registry. A program contains
# only what it uses.
file(GLOB cc_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cc/*.cc)
list(FILTER cc_sources EXCLUDE REGEX "_test\\.cc$")
if(NOT cc_sources OR HEADRACE_FUZZ)
  return()
endif()

add_executable(cc_ops ${CMAKE_SOURCE_DIR}/tools/cc_ops.cc)
target_link_libraries(cc_ops PRIVATE headrace)
set_target_properties(cc_ops PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tools)
set(rooms array conv data flow image io linalg math nn quantized random signal
  sparse state strings trees other)
set(cc_gen ${CMAKE_BINARY_DIR}/gen)
set(cc_headers ${cc_gen}/headrace/cc/standard_ops.h)
set(cc_generated)
foreach(room ${rooms})
  list(APPEND cc_headers ${cc_gen}/headrace/cc/${room}_ops.h)
  list(APPEND cc_generated ${cc_gen}/cc/${room}_ops.cc)
endforeach()
add_custom_command(
  OUTPUT ${cc_headers} ${cc_generated}
  COMMAND ${CMAKE_COMMAND} -E env --unset=HEADRACE_COUNT_KERNELS
          $<TARGET_FILE:cc_ops> ${cc_gen} ${CMAKE_SOURCE_DIR}/src/ops ${rooms}
  DEPENDS cc_ops headrace
  COMMENT "Generating the classes of ops" VERBATIM)
add_custom_target(hr_cc_headers DEPENDS ${cc_headers})

add_library(headrace_cc STATIC ${cc_sources} ${cc_generated})
add_dependencies(headrace_cc hr_proto_headers hr_cc_headers)
target_link_libraries(headrace_cc PUBLIC headrace)
target_compile_options(headrace_cc PRIVATE ${HEADRACE_PLAIN}
  -ffunction-sections -fdata-sections)
# clang's precompiled header is for one level of optimisation.
set_source_files_properties(${cc_generated} PROPERTIES
  COMPILE_OPTIONS
  "$<$<CXX_COMPILER_ID:GNU>:-O1>;$<$<CXX_COMPILER_ID:GNU>:-g0>")
target_precompile_headers(headrace_cc REUSE_FROM hr_pch)

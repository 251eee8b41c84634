# hr_<layer> for each folder of src/ that has sources, and what is linked from
# them. *_test.cc are tests and stay out of libraries.
#
# The headers that nearly every source includes are compiled once (hr_pch), which
# halves the build. Sources still name what they use: clang-tidy sees no hr_pch.
# What works with whole graphs includes the generated messages too (hr_runtime's).
#
# The many small sources of ops, kernels and c_api are compiled a few at a time
# (HEADRACE_UNITY), which halves their time again: names in their anonymous
# namespaces have to differ from their neighbours'. Those that are dear by
# themselves, or set options by a pragma, stay alone.
set(HEADRACE_COMMON_HEADERS <framework/op_kernel.h> <absl/strings/str_cat.h>)
set(HEADRACE_GRAPH_HEADERS ${HEADRACE_COMMON_HEADERS} <graph/graph.h>
  <headrace/config.pb.h>)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch.cc CONTENT "int main() {}\n")
add_library(hr_pch OBJECT ${CMAKE_BINARY_DIR}/pch.cc)
target_link_libraries(hr_pch PRIVATE hr_deps)
target_precompile_headers(hr_pch PRIVATE ${HEADRACE_COMMON_HEADERS})

function(compile_together layer)
  get_target_property(sources hr_${layer} SOURCES)
  foreach(source ${sources})
    file(STRINGS ${source} alone LIMIT_COUNT 1
      REGEX "^#(pragma GCC opt|include (<Eigen/|\"kernels/(simd|conv/)))")
    if(alone)
      set_source_files_properties(${source} PROPERTIES
        SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
  set_target_properties(hr_${layer} PROPERTIES
    UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
  # For GCC an anonymous namespace of an included source is a header's.
  target_compile_options(hr_${layer} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

foreach(layer ${HEADRACE_LAYERS})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/src/${layer}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$|/gpu/")
  if(sources)
    add_library(hr_${layer} OBJECT ${sources})
    target_link_libraries(hr_${layer} PRIVATE hr_deps)
    add_dependencies(hr_${layer} hr_proto_headers)
    if(layer STREQUAL runtime)
      target_precompile_headers(hr_${layer} PRIVATE ${HEADRACE_GRAPH_HEADERS})
    elseif(layer MATCHES "^(session|cli|c_api)$")
      target_precompile_headers(hr_${layer} REUSE_FROM hr_runtime)
    elseif(NOT layer STREQUAL base)
      target_precompile_headers(hr_${layer} REUSE_FROM hr_pch)
    endif()
    if(HEADRACE_UNITY AND layer MATCHES "^(ops|kernels|c_api)$")
      compile_together(${layer})
    endif()
  endif()
endforeach()
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/version.cc PROPERTIES
  COMPILE_DEFINITIONS HEADRACE_VERSION="${PROJECT_VERSION}")

# libheadrace.so exports namespace headrace and nothing else.
add_library(headrace SHARED)
target_link_libraries(headrace PRIVATE hr_proto)
foreach(layer ${HEADRACE_LIBRARY_LAYERS})
  if(TARGET hr_${layer})
    target_link_libraries(headrace PRIVATE hr_${layer})
  endif()
endforeach()
target_link_libraries(headrace PUBLIC hr_deps PRIVATE ${HEADRACE_XSMM_ARCHIVES})
set(exports ${CMAKE_SOURCE_DIR}/cmake/headrace.map)
target_link_options(headrace PRIVATE -Wl,-Bsymbolic-functions
  -Wl,--version-script=${exports} ${HEADRACE_NO_UNDEFINED})
set_target_properties(headrace PROPERTIES
  LINKER_LANGUAGE CXX LINK_DEPENDS ${exports})

# libtensorflow.so.2: the C API, under the names that programs link with.
if(TARGET hr_c_api)
  target_compile_options(hr_c_api PRIVATE -fvisibility=hidden)
  add_library(tensorflow SHARED)
  target_link_libraries(tensorflow PRIVATE hr_c_api headrace)
  set(exports ${CMAKE_SOURCE_DIR}/cmake/tensorflow.map)
  target_link_options(tensorflow PRIVATE
    -Wl,--version-script=${exports} ${HEADRACE_NO_UNDEFINED})
  set_target_properties(tensorflow PROPERTIES
    LINKER_LANGUAGE CXX LINK_DEPENDS ${exports} VERSION 2 SOVERSION 2)
  foreach(alias libtensorflow_framework.so.2 libtensorflow_framework.so)
    add_custom_command(TARGET tensorflow POST_BUILD VERBATIM
      COMMAND ${CMAKE_COMMAND} -E create_symlink libtensorflow.so.2
              $<TARGET_FILE_DIR:tensorflow>/${alias})
  endforeach()
endif()

if(TARGET hr_cli)
  add_executable(headrace_cli)
  target_link_libraries(headrace_cli PRIVATE hr_cli headrace)
  set_target_properties(headrace_cli PROPERTIES
    LINKER_LANGUAGE CXX OUTPUT_NAME headrace)
endif()

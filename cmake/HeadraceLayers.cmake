# hr_<layer> for each folder of src/ that has sources, and what is linked from
# them. *_test.cc are tests and stay out of libraries.
#
# The headers that nearly every source includes are compiled once (hr_pch), which
# halves the build. Sources still name what they use: clang-tidy sees no hr_pch.
# What works with whole graphs includes the generated messages too (hr_runtime's).
#
# The many small sources of ops, kernels and c_api are compiled a few at a time
# (HEADRACE_UNITY), which halves their time again: names in their anonymous
# namespaces have to differ from their neighbours'. Neighbours are the sources
# whose names begin with the same word, and words that share a hash: a new source
# changes one group. Those that are dear by themselves, or set options by a
# pragma, stay alone.
#
# What runs in every step and the kernels whose loops are made for the vector
# units are compiled with -O3. The rest is HEADRACE_PLAIN, which takes the
# compiler half the time: other kernels (hr_plain_kernels), ops, graph and io.
set(HEADRACE_COMMON_HEADERS <framework/op_kernel.h> <absl/strings/str_cat.h>)
set(HEADRACE_GRAPH_HEADERS ${HEADRACE_COMMON_HEADERS} <graph/graph.h>
  <headrace/config.pb.h>)
set(HEADRACE_PLAIN
  $<$<CONFIG:Release>:-O2> $<$<CONFIG:Release>:-ftree-vectorize>
  $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-fvect-cost-model=dynamic>)
set(HEADRACE_FAST_LOOPS
  "^#(pragma GCC opt|include \"kernels/(simd|elementwise|reduction|conv/))")
set(HEADRACE_DEAR "^#(pragma GCC opt|include (<Eigen/|\"kernels/(simd|conv/)))")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch.cc CONTENT "int main() {}\n")
add_library(hr_pch OBJECT ${CMAKE_BINARY_DIR}/pch.cc)
target_link_libraries(hr_pch PRIVATE hr_deps)
target_compile_options(hr_pch PRIVATE ${HEADRACE_PLAIN})
target_precompile_headers(hr_pch PRIVATE ${HEADRACE_COMMON_HEADERS})

function(add_layer name)
  add_library(hr_${name} OBJECT ${ARGN})
  target_link_libraries(hr_${name} PRIVATE hr_deps)
  add_dependencies(hr_${name} hr_proto_headers)
  if(name STREQUAL framework)
    target_precompile_headers(hr_framework PRIVATE ${HEADRACE_COMMON_HEADERS})
  elseif(name STREQUAL kernels)
    target_precompile_headers(hr_kernels REUSE_FROM hr_framework)
  elseif(name STREQUAL runtime)
    target_precompile_headers(hr_runtime PRIVATE ${HEADRACE_GRAPH_HEADERS})
  elseif(name MATCHES "^(session|cli|c_api)$")
    target_precompile_headers(hr_${name} REUSE_FROM hr_runtime)
  elseif(NOT name STREQUAL base)
    target_compile_options(hr_${name} PRIVATE ${HEADRACE_PLAIN})
    target_precompile_headers(hr_${name} REUSE_FROM hr_pch)
  endif()
endfunction()

# Sources of hr_${name} are compiled in about `groups` groups.
function(compile_together name groups)
  get_target_property(sources hr_${name} SOURCES)
  foreach(source ${sources})
    file(STRINGS ${source} dear LIMIT_COUNT 1 REGEX ${HEADRACE_DEAR})
    if(dear)
      continue()
    endif()
    string(REGEX REPLACE ".*/([a-z0-9]+)[^/]*$" "\\1" word ${source})
    string(MD5 hash ${word})
    string(SUBSTRING ${hash} 0 6 hash)
    math(EXPR group "0x${hash} % ${groups}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP g${group})
  endforeach()
  set_target_properties(hr_${name} PROPERTIES
    UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # For GCC an anonymous namespace of an included source is a header's.
  target_compile_options(hr_${name} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

foreach(layer ${HEADRACE_LAYERS})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/src/${layer}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$|/gpu/")
  if(NOT sources)
    continue()
  elseif(layer STREQUAL kernels)
    set(plain)
    foreach(source ${sources})
      file(STRINGS ${source} fast LIMIT_COUNT 1 REGEX ${HEADRACE_FAST_LOOPS})
      if(NOT fast AND NOT source MATCHES "/kernels/conv/")
        list(APPEND plain ${source})
      endif()
    endforeach()
    list(REMOVE_ITEM sources ${plain})
    add_layer(plain_kernels ${plain})
  endif()
  add_layer(${layer} ${sources})
endforeach()
if(HEADRACE_UNITY AND TARGET hr_kernels)
  compile_together(ops 12)
  compile_together(kernels 12)
  compile_together(plain_kernels 32)
  compile_together(c_api 4)
endif()
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/version.cc PROPERTIES
  COMPILE_DEFINITIONS HEADRACE_VERSION="${PROJECT_VERSION}")

# libheadrace.so exports namespace headrace and nothing else.
add_library(headrace SHARED)
target_link_libraries(headrace PRIVATE hr_proto)
foreach(layer ${HEADRACE_LIBRARY_LAYERS} plain_kernels)
  if(TARGET hr_${layer})
    target_link_libraries(headrace PRIVATE hr_${layer})
  endif()
endforeach()
target_link_libraries(headrace PUBLIC hr_deps PRIVATE ${HEADRACE_XSMM_ARCHIVES})
set(exports ${CMAKE_SOURCE_DIR}/cmake/headrace.map)
target_link_options(headrace PRIVATE -Wl,-Bsymbolic-functions
  -Wl,--version-script=${exports} ${HEADRACE_NO_UNDEFINED})
# base/wrapped_new.cc stands before these.
foreach(name _Znwm _Znam _ZnwmSt11align_val_t)
  target_link_options(headrace PRIVATE -Wl,--wrap=${name})
endforeach()
set_target_properties(headrace PROPERTIES
  LINKER_LANGUAGE CXX LINK_DEPENDS ${exports})

# libtensorflow.so.2: the C API, under the names that programs link with.
if(TARGET hr_c_api)
  target_compile_options(hr_c_api PRIVATE -fvisibility=hidden)
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)  # which refuses others' visibility
    set_target_properties(hr_c_api PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  endif()
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

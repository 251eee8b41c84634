# hr_<layer> for each folder of src/ that has sources, and what is linked from
# them. *_test.cc are tests and stay out of libraries.
#
# The headers that nearly every source includes are compiled once (hr_pch), which
# halves the build. Sources still name what they use: clang-tidy sees no hr_pch.
# What works with whole graphs includes the generated messages too (hr_runtime's).
#
# ops and kernels have rooms: folders of their own, each with a CMakeLists.txt
# that calls hr_room and so says how its sources are compiled:
#
#   FAST    -O3: what runs in every step and loops made for the vector units
#   PLAIN   -O2, vectorised: half the compiler's time. What RunSimd calls is
#           -O3 there, too.
#   SMALL   -Os, two thirds of the room: what runs once for a graph or a step
#   BATCH n with HEADRACE_UNITY, n sources are compiled as one, in the order of
#           their names; without it each is compiled alone. Sources of a batch
#           see each other's anonymous namespaces, so names have to differ.
#   ALONE   sources, without .cc, that are expensive or set options by a pragma
#   FAST_SOURCES  sources of a PLAIN room that want -O3
set(HEADRACE_COMMON_HEADERS <headrace/op_kernel.h>
  <absl/strings/str_cat.h>)
set(HEADRACE_GRAPH_HEADERS ${HEADRACE_COMMON_HEADERS} <headrace/graph.h>
  <headrace/config.pb.h>)
set(HEADRACE_PLAIN
  $<$<CONFIG:Release>:-O2> $<$<CONFIG:Release>:-ftree-vectorize>
  $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-fvect-cost-model=dynamic>
  $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-fno-align-jumps>
  $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-fno-align-labels>)
set(HEADRACE_SMALL $<$<CONFIG:Release>:-Os>)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch.cc CONTENT "int main() {}\n")
add_library(hr_pch OBJECT ${CMAKE_BINARY_DIR}/pch.cc)
target_link_libraries(hr_pch PRIVATE hr_deps)
target_compile_options(hr_pch PRIVATE ${HEADRACE_PLAIN})
target_precompile_headers(hr_pch PRIVATE ${HEADRACE_COMMON_HEADERS})
add_library(hr_pch_small OBJECT ${CMAKE_BINARY_DIR}/pch.cc)
target_link_libraries(hr_pch_small PRIVATE hr_deps)
target_compile_options(hr_pch_small PRIVATE ${HEADRACE_SMALL})
target_precompile_headers(hr_pch_small PRIVATE ${HEADRACE_COMMON_HEADERS})

# In a library of few ops only kernels are fast. The precompiled header of
# hr_framework is then for small code.
if(HEADRACE_OPS)
  add_library(hr_pch_fast OBJECT ${CMAKE_BINARY_DIR}/pch.cc)
  target_link_libraries(hr_pch_fast PRIVATE hr_deps)
  target_precompile_headers(hr_pch_fast PRIVATE ${HEADRACE_COMMON_HEADERS})
  set(HEADRACE_PCH_FAST hr_pch_fast)
  set(HEADRACE_PCH_PLAIN hr_pch_small)
else()
  set(HEADRACE_PCH_FAST hr_framework)
  set(HEADRACE_PCH_PLAIN hr_pch)
endif()

# hr_objects(name FAST|PLAIN|SMALL sources...): an object library.
function(hr_objects name options)
  add_library(hr_${name} OBJECT ${ARGN})
  target_link_libraries(hr_${name} PRIVATE hr_deps)
  add_dependencies(hr_${name} hr_proto_headers)
  if(options STREQUAL "PLAIN")
    target_compile_options(hr_${name} PRIVATE ${HEADRACE_PLAIN})
  elseif(options STREQUAL "SMALL")
    target_compile_options(hr_${name} PRIVATE ${HEADRACE_SMALL})
  endif()
endfunction()

function(hr_together target batch)  # hr_together(target n [sources left alone])
  if(NOT HEADRACE_UNITY OR NOT TARGET ${target})
    return()
  endif()
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  set_source_files_properties(${ARGN} PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON)
  # For GCC an anonymous namespace of an included source is a header's.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

function(hr_room options)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BATCH" "ALONE;FAST_SOURCES")
  set(folder ${CMAKE_CURRENT_SOURCE_DIR})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  cmake_path(GET folder PARENT_PATH layer)
  cmake_path(GET layer FILENAME layer)
  cmake_path(GET folder FILENAME room)
  foreach(list arg_ALONE arg_FAST_SOURCES)
    list(TRANSFORM ${list} PREPEND ${folder}/)
    list(TRANSFORM ${list} APPEND .cc)
    foreach(source ${${list}})
      if(NOT source IN_LIST sources)
        message(FATAL_ERROR "${folder}/CMakeLists.txt names ${source}, "
          "which does not exist")
      endif()
    endforeach()
  endforeach()
  set(made)
  if(arg_FAST_SOURCES)
    list(REMOVE_ITEM sources ${arg_FAST_SOURCES})
    hr_objects(${layer}_${room}_fast FAST ${arg_FAST_SOURCES})
    list(APPEND made ${layer}_${room}_fast)
  endif()
  hr_objects(${layer}_${room} ${options} ${sources})
  list(APPEND made ${layer}_${room})
  foreach(name ${made})
    if(name MATCHES "_fast$" OR options STREQUAL "FAST")
      target_precompile_headers(hr_${name} REUSE_FROM ${HEADRACE_PCH_FAST})
    elseif(options STREQUAL "SMALL")
      target_precompile_headers(hr_${name} REUSE_FROM hr_pch_small)
    else()
      target_precompile_headers(hr_${name} REUSE_FROM hr_pch)
    endif()
    if(arg_BATCH)
      hr_together(hr_${name} ${arg_BATCH} ${arg_ALONE})
    endif()
    set_property(GLOBAL APPEND PROPERTY HEADRACE_${layer}_ROOMS hr_${name})
  endforeach()
endfunction()

# Of layers that are otherwise FAST or PLAIN: sources that are SMALL, as regular
# expressions of their paths inside the layer.
set(HEADRACE_SMALL_framework "shape_fns/|tuning/|op/(def_proto|library|op|op_def|op_spec|op_traits)\\.cc|kernel/(device_factory|device_name|kernel_counts|print_listeners)\\.cc")
set(HEADRACE_SMALL_graph "client_graph|constant_eval|function_|partition|graph_def_io|shape_value")
set(HEADRACE_SMALL_gradients ".")
set(HEADRACE_SMALL_runtime "passes/|placer|plan\\.cc|plan_inputs|cost_graph|step_stats|call_site")
set(HEADRACE_SMALL_session "saved_model|server|/session\\.cc|session_options|session_handles|step_compiler|uninitialized|live_sessions")

function(add_layer name)
  set(small)
  if(HEADRACE_SMALL_${name} AND NOT HEADRACE_FUZZ)
    set(small ${ARGN})
    list(FILTER small INCLUDE REGEX "/${name}/.*(${HEADRACE_SMALL_${name}})")
    list(REMOVE_ITEM ARGN ${small})
  endif()
  if(small)
    hr_objects(${name}_small SMALL ${small})
    set_property(GLOBAL APPEND PROPERTY HEADRACE_${name}_ROOMS hr_${name}_small)
    if(name STREQUAL "runtime")
      target_precompile_headers(hr_runtime_small PRIVATE
        ${HEADRACE_GRAPH_HEADERS})
    elseif(name STREQUAL "session")
      target_precompile_headers(hr_session_small REUSE_FROM hr_runtime_small)
    else()
      target_precompile_headers(hr_${name}_small REUSE_FROM hr_pch_small)
    endif()
  endif()
  if(NOT ARGN)
    return()
  endif()
  if(HEADRACE_OPS OR name STREQUAL "cli")
    hr_objects(${name} SMALL ${ARGN})
  elseif(name MATCHES "^(base|framework|runtime|session|eager|c_api)$")
    hr_objects(${name} FAST ${ARGN})
  else()
    hr_objects(${name} PLAIN ${ARGN})
  endif()
  if(name STREQUAL "framework")
    target_precompile_headers(hr_framework PRIVATE ${HEADRACE_COMMON_HEADERS})
  elseif(name STREQUAL "runtime")
    target_precompile_headers(hr_runtime PRIVATE ${HEADRACE_GRAPH_HEADERS})
  elseif(name STREQUAL "cli")
    target_precompile_headers(hr_${name} REUSE_FROM hr_runtime_small)
  elseif(name MATCHES "^(session|eager|c_api)$")
    target_precompile_headers(hr_${name} REUSE_FROM hr_runtime)
  elseif(NOT name STREQUAL "base")
    target_precompile_headers(hr_${name} REUSE_FROM
      ${HEADRACE_PCH_PLAIN})
  endif()
endfunction()

foreach(layer ${HEADRACE_LAYERS})
  file(GLOB rooms CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/src/${layer}/*/CMakeLists.txt)
  foreach(room ${rooms})
    cmake_path(GET room PARENT_PATH room)
    add_subdirectory(${room})
  endforeach()
  if(rooms)
    continue()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/src/${layer}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$|/gpu/|/string_layout\\.cc$")
  if(sources)
    add_layer(${layer} ${sources})
  endif()
endforeach()
# A source alone spends 0.4 s on headers, precompiled ones included.
foreach(layer base c_api cli eager framework framework_small gradients_small
        graph graph_small io runtime runtime_small session session_small)
  hr_together(hr_${layer} 9)
endforeach()
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/version.cc PROPERTIES
  COMPILE_DEFINITIONS HEADRACE_VERSION="${PROJECT_VERSION}")

# hr_link_layers(target layer...): the layers' objects, and the messages.
function(hr_link_layers target)
  target_link_libraries(${target} PRIVATE hr_proto)
  foreach(layer ${ARGN})
    get_property(rooms GLOBAL PROPERTY HEADRACE_${layer}_ROOMS)
    target_link_libraries(${target} PRIVATE
      ${rooms} $<TARGET_NAME_IF_EXISTS:hr_${layer}>)
  endforeach()
  # base/wrapped_new.cc and base/wrapped_guards.cc stand before these.
  foreach(name _Znwm _Znam _ZnwmSt11align_val_t
          __cxa_guard_acquire __cxa_guard_release __cxa_guard_abort)
    target_link_options(${target} PRIVATE -Wl,--wrap=${name})
  endforeach()
endfunction()

# libheadrace.so exports namespace headrace and nothing else.
add_library(headrace SHARED)
hr_link_layers(headrace ${HEADRACE_LIBRARY_LAYERS})
target_link_libraries(headrace PUBLIC hr_deps PRIVATE ${HEADRACE_XSMM_ARCHIVES})
set(exports ${CMAKE_SOURCE_DIR}/cmake/headrace.map)
target_link_options(headrace PRIVATE -Wl,-Bsymbolic-functions
  -Wl,--version-script=${exports} ${HEADRACE_NO_UNDEFINED} -Wl,--gc-sections)
if((HEADRACE_MOLD OR HEADRACE_LLD) AND NOT HEADRACE_SANITIZE)
  target_link_options(headrace PRIVATE -Wl,--icf=all)
endif()
include(HeadraceRelr)
hr_relr(headrace)
set_target_properties(headrace PROPERTIES
  LINKER_LANGUAGE CXX LINK_DEPENDS ${exports})

# libtensorflow.so.2: the C API, under the names that programs link with. And
# libtensorflow.so.1, whose string tensors are those of TensorFlow 1.
# libtensorflow_framework has nothing of its own: it is there for programs that
# were linked with both.
set(exports ${CMAKE_SOURCE_DIR}/cmake/tensorflow.map)
function(hr_exact_name target file)  # file is also the SONAME
  set_target_properties(${target} PROPERTIES
    PREFIX "" SUFFIX "" OUTPUT_NAME ${file} NO_SONAME ON)
  target_link_options(${target} PRIVATE -Wl,-soname,${file}
    -Wl,--version-script=${exports})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${exports})
endfunction()
function(hr_c_library target version)
  add_library(${target} SHARED ${CMAKE_SOURCE_DIR}/src/c_api/string_layout.cc)
  target_link_libraries(${target} PRIVATE hr_c_api headrace)
  target_compile_options(${target} PRIVATE -fvisibility=hidden)
  math(EXPR offsets "2 - ${version}")
  target_compile_definitions(${target} PRIVATE
    HEADRACE_OFFSET_STRINGS=${offsets})
  add_dependencies(${target} hr_proto_headers)
  target_link_options(${target} PRIVATE ${HEADRACE_NO_UNDEFINED})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  add_library(${target}_framework SHARED
    ${CMAKE_SOURCE_DIR}/src/c_api/framework_library.c)
  target_link_libraries(${target}_framework PRIVATE ${target})
  target_link_options(${target}_framework PRIVATE -Wl,--no-as-needed)
  hr_exact_name(${target}_framework libtensorflow_framework.so.${version})
endfunction()
if(TARGET hr_c_api)
  target_compile_options(hr_c_api PRIVATE -fvisibility=hidden)
  if(HEADRACE_SANITIZE MATCHES "undefined")
    # C programs may give an enum any number: the library refuses it. The option
    # of a linked library comes after those of hr_flags.
    add_library(hr_any_enum INTERFACE)
    target_compile_options(hr_any_enum INTERFACE -fno-sanitize=enum)
    target_link_libraries(hr_c_api PRIVATE hr_any_enum)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # which refuses others' visibility
    set_target_properties(hr_c_api PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  endif()
  hr_c_library(tensorflow 2)
  target_link_options(tensorflow PRIVATE -Wl,--version-script=${exports})
  set_target_properties(tensorflow PROPERTIES
    LINK_DEPENDS ${exports} VERSION 2 SOVERSION 2)
  add_custom_command(TARGET tensorflow POST_BUILD VERBATIM
    COMMAND ${CMAKE_COMMAND} -E create_symlink libtensorflow.so.2
            $<TARGET_FILE_DIR:tensorflow>/libtensorflow_framework.so)
  hr_c_library(tensorflow1 1)
  hr_exact_name(tensorflow1 libtensorflow.so.1)
endif()

if(TARGET hr_cli)
  add_executable(headrace_cli)
  target_link_libraries(headrace_cli PRIVATE hr_cli headrace)
  set_target_properties(headrace_cli PROPERTIES
    LINKER_LANGUAGE CXX OUTPUT_NAME headrace)
endif()

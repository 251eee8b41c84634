# tests/<layer>_test: all src/<layer>/**/*_test.cc, one binary and one CTest
# entry a layer; the kernels' tests run as two shards, and again as on lesser
# processors. The lower layers' tests are linked with their layer and those below
# it alone, so they have no kernels but their own. Of the runtime's, those of
# passes that fuse nodes are a binary of their own, fusion_test, with the library:
# which kernels there are decides what such a pass does.
enable_testing()
find_package(GTest REQUIRED)

set(HEADRACE_BELOW_base base)
set(HEADRACE_BELOW_framework base framework)
set(HEADRACE_BELOW_ops base framework ops)
set(HEADRACE_BELOW_device base framework device)
set(HEADRACE_BELOW_graph base framework ops graph)
set(HEADRACE_BELOW_gradients base framework ops graph gradients)
set(HEADRACE_BELOW_runtime base framework ops graph gradients device runtime)

set(fusion_tests "/passes/(fold|fuse|group|sum|lower|quantize)_[a-z_]*_test\\.cc$")

foreach(layer ${HEADRACE_LAYERS} fusion cc distributed gpu cuda)
  if(layer STREQUAL "gpu")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS
      ${CMAKE_SOURCE_DIR}/src/*_test.cc)
    list(FILTER sources INCLUDE REGEX "/gpu/")
    list(FILTER sources EXCLUDE REGEX "/gpu/cuda/")
  elseif(layer STREQUAL "cuda")
    file(GLOB sources CONFIGURE_DEPENDS
      ${CMAKE_SOURCE_DIR}/src/device/gpu/cuda/*_test.cc)
  elseif(layer STREQUAL "fusion")
    file(GLOB sources CONFIGURE_DEPENDS
      ${CMAKE_SOURCE_DIR}/src/runtime/passes/*_test.cc)
    list(FILTER sources INCLUDE REGEX "${fusion_tests}")
  else()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS
      ${CMAKE_SOURCE_DIR}/src/${layer}/*_test.cc)
    list(FILTER sources EXCLUDE REGEX "/gpu/|${fusion_tests}")
  endif()
  set(plugin ${layer})
  if(layer STREQUAL "gpu")
    set(plugin gpu_host)
  endif()
  if(NOT sources OR (layer MATCHES "^(distributed|gpu|cuda)$" AND
                     NOT TARGET headrace_${plugin}))
    continue()
  endif()
  add_executable(${layer}_test ${sources})
  add_dependencies(${layer}_test hr_proto_headers)
  target_compile_options(${layer}_test PRIVATE $<$<CONFIG:Release>:-O1>)
  if(HEADRACE_BELOW_${layer})
    hr_link_layers(${layer}_test ${HEADRACE_BELOW_${layer}})
    target_link_libraries(${layer}_test PRIVATE hr_deps)
  else()
    target_link_libraries(${layer}_test PRIVATE headrace)
  endif()
  target_link_libraries(${layer}_test PRIVATE GTest::gtest GTest::gtest_main)
  if(layer MATCHES "^(distributed|gpu|cuda)$")
    target_link_libraries(${layer}_test PRIVATE headrace_${plugin})
  elseif(layer STREQUAL "cc")
    target_link_libraries(cc_test PRIVATE headrace_cc)
  elseif(layer STREQUAL "c_api" AND TARGET tensorflow)
    target_link_libraries(${layer}_test PRIVATE tensorflow)
    if(TARGET hr_any_enum)
      target_link_libraries(${layer}_test PRIVATE hr_any_enum)
    endif()
  elseif(layer STREQUAL "cli" AND TARGET headrace_cli)
    add_dependencies(${layer}_test headrace_cli)
  endif()
  if(layer STREQUAL "cuda")  # which libraries it has is CUDA's to say
    target_link_libraries(cuda_test PRIVATE CUDA::cudart_static)
  elseif(NOT layer STREQUAL "base")
    if(NOT TARGET hr_test_pch)
      add_executable(hr_test_pch EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/pch.cc)
      target_link_libraries(hr_test_pch PRIVATE hr_deps GTest::gtest
        GTest::gtest_main)
      target_compile_options(hr_test_pch PRIVATE $<$<CONFIG:Release>:-O1>)
      target_precompile_headers(hr_test_pch PRIVATE
        ${HEADRACE_COMMON_HEADERS} <gtest/gtest.h>)
    endif()
    target_precompile_headers(${layer}_test REUSE_FROM hr_test_pch)
  endif()
  set_target_properties(${layer}_test PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

  set(shards 1)
  if(layer STREQUAL "kernels")
    set(shards 2)
  endif()
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    set(entry ${layer})
    if(shards GREATER 1)
      set(entry ${layer}.${shard})
    endif()
    add_test(NAME ${entry} COMMAND ${layer}_test
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${entry} PROPERTIES TIMEOUT 600 ENVIRONMENT
      "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
  endforeach()
  if(layer STREQUAL "kernels" AND NOT HEADRACE_SANITIZE)
    foreach(isa sse avx2)
      add_test(NAME kernels.${isa} COMMAND kernels_test
        WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
      set_tests_properties(kernels.${isa} PROPERTIES TIMEOUT 600 ENVIRONMENT
        "HEADRACE_MAX_CPU_ISA=${isa}")
    endforeach()
  endif()
endforeach()

# The tests of single ops again, for a GPU: tests/gpu/run_tests.sh runs them.
if(TARGET cuda_test)
  add_executable(cuda_ops_test
    ${CMAKE_SOURCE_DIR}/src/kernels/gpu/gpu_ops_test.cc
    ${CMAKE_SOURCE_DIR}/src/kernels/gpu/gpu_row_ops_test.cc)
  add_dependencies(cuda_ops_test hr_proto_headers)
  target_compile_options(cuda_ops_test PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(cuda_ops_test PRIVATE
    headrace headrace_cuda GTest::gtest GTest::gtest_main)
  target_precompile_headers(cuda_ops_test REUSE_FROM hr_test_pch)
  set_target_properties(cuda_ops_test PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()

# Libraries of ops that src/c_api/*_test.cc load from beside themselves.
if(TARGET c_api_test)
  foreach(source tests/custom_ops/hard_swish.cc
                 tests/custom_ops/plain_swish.cc
                 tests/custom_ops/other_hard_swish.cc
                 tests/custom_ops/other_saturate.c
                 examples/custom_op_c/saturate.c
                 tests/abi/weighted_sum.c)  # with headers of its own
    cmake_path(GET source STEM name)
    add_library(test_${name} MODULE ${CMAKE_SOURCE_DIR}/${source})
    if(source MATCHES "\\.cc$")  # as outside of the tree: public headers alone
      target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/include)
      target_include_directories(test_${name} SYSTEM PRIVATE
        $<TARGET_PROPERTY:Eigen3::Eigen,INTERFACE_INCLUDE_DIRECTORIES>)
      target_compile_options(test_${name} PRIVATE
        $<TARGET_PROPERTY:hr_flags,INTERFACE_COMPILE_OPTIONS>)
      target_link_options(test_${name} PRIVATE
        $<TARGET_PROPERTY:hr_flags,INTERFACE_LINK_OPTIONS>)
      target_link_libraries(test_${name} PRIVATE $<TARGET_LINKER_FILE:headrace>
        absl::flat_hash_map absl::inlined_vector absl::span absl::status
        absl::statusor absl::strings absl::time)
      add_dependencies(test_${name} headrace)
    else()  # the C API alone
      target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/include)
      target_link_libraries(test_${name} PRIVATE tensorflow)
    endif()
    set_target_properties(test_${name} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_dependencies(c_api_test test_${name})
  endforeach()
  # Compiles if today's headers agree with those of earlier versions.
  add_library(test_abi OBJECT ${CMAKE_SOURCE_DIR}/tests/abi/agree.c)
  target_include_directories(test_abi PRIVATE ${CMAKE_SOURCE_DIR}/include)
  add_dependencies(c_api_test test_abi)
  # Programs in C that use one library or the other by its name.
  foreach(version 1 2)
    add_executable(strings_${version} ${CMAKE_SOURCE_DIR}/tests/c_api/strings.c)
    target_include_directories(strings_${version} PRIVATE
      ${CMAKE_SOURCE_DIR}/include)
    target_compile_definitions(strings_${version} PRIVATE
      STRINGS_OF_TENSORFLOW_${version})
    set_target_properties(strings_${version} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME c_api.strings_${version} COMMAND strings_${version})
  endforeach()
  target_link_libraries(strings_1 PRIVATE tensorflow1)
  target_link_libraries(strings_2 PRIVATE tensorflow)
  add_dependencies(c_api_test tensorflow1 tensorflow_framework
    tensorflow1_framework)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/c_api/custom_op_test.cc
    PROPERTIES COMPILE_DEFINITIONS
    "HEADRACE_TEST_HARD_SWISH=\"$<TARGET_FILE:test_hard_swish>\";HEADRACE_TEST_PLAIN_SWISH=\"$<TARGET_FILE:test_plain_swish>\"")
  set_source_files_properties(
    ${CMAKE_SOURCE_DIR}/src/c_api/abi_test.cc
    ${CMAKE_SOURCE_DIR}/src/c_api/library_test.cc
    ${CMAKE_SOURCE_DIR}/src/c_api/symbols_test.cc
    PROPERTIES COMPILE_DEFINITIONS
    "HEADRACE_TEST_FOLDER=\"${CMAKE_BINARY_DIR}/tests\";HEADRACE_LIB_FOLDER=\"$<TARGET_FILE_DIR:tensorflow>\"")
endif()

# The kernels' tests with allocations that fail; see framework/kernel/op_tester.h.
if(TARGET kernels_test)
  add_library(failing_allocations SHARED
    ${CMAKE_SOURCE_DIR}/tests/faults/failing_allocations.cc)
  target_compile_options(failing_allocations PRIVATE -fno-sanitize=all)
  target_link_libraries(failing_allocations PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(failing_allocations PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(NOT HEADRACE_SANITIZE MATCHES "thread")
    add_test(NAME kernels.no_memory COMMAND kernels_test
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(kernels.no_memory PROPERTIES TIMEOUT 600 ENVIRONMENT
      "LD_PRELOAD=$<TARGET_FILE:failing_allocations>;ASAN_OPTIONS=verify_asan_link_order=0")
  endif()
endif()

# Compiles if clang's analysis refuses what it should.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_library(hr_thread_safety OBJECT
    ${CMAKE_SOURCE_DIR}/tests/clang/thread_safety.cc)
  target_link_libraries(hr_thread_safety PRIVATE hr_deps)
  target_compile_options(hr_thread_safety PRIVATE
    -fsyntax-only "SHELL:-Xclang -verify")
  set_target_properties(hr_thread_safety PROPERTIES CXX_COMPILER_LAUNCHER "")
endif()

# A plug-in with a device of its own; src/c_api/plugin_device_test.cc loads it
# from beside itself.
if(TARGET c_api_test)
  add_library(toy_device MODULE ${CMAKE_SOURCE_DIR}/tests/plugins/toy_device.cc)
  add_dependencies(toy_device hr_proto_headers)
  target_link_libraries(toy_device PRIVATE headrace)
  set_target_properties(toy_device PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_dependencies(c_api_test toy_device)
endif()

find_program(HEADRACE_PYTHON3 python3)
if(HEADRACE_PYTHON3)
  add_test(NAME layers
    COMMAND ${HEADRACE_PYTHON3} ${CMAKE_SOURCE_DIR}/tools/check_layers.py)
  if(TARGET headrace_cuda)
    file(GLOB folders ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu*/bin)
    find_program(HEADRACE_CUOBJDUMP cuobjdump
      HINTS ${CUDAToolkit_BIN_DIR} /usr/local/cuda/bin ${folders})
    set(program)
    if(HEADRACE_CUOBJDUMP)
      set(program --cuobjdump ${HEADRACE_CUOBJDUMP})
    else()
      message(STATUS "cuobjdump not found: device code is not looked at")
    endif()
    add_test(NAME gpu_symbols COMMAND ${HEADRACE_PYTHON3}
      ${CMAKE_SOURCE_DIR}/tools/check_gpu_symbols.py ${program}
      $<TARGET_FILE:headrace_cuda>)
    set_tests_properties(gpu_symbols PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  add_test(NAME no_cuda_in_core COMMAND ${HEADRACE_PYTHON3}
    ${CMAKE_SOURCE_DIR}/tests/gpu/check_core.py $<TARGET_FILE:headrace>)
endif()

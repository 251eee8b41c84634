# tests/fuzz/*.cc: with HEADRACE_FUZZ (clang) a libFuzzer program for each target,
# else all of them in one program that replays the corpora, as a CTest entry.
file(GLOB targets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*.cc)
list(FILTER targets EXCLUDE REGEX "/replay\\.cc$")
set(corpora ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus)

if(HEADRACE_FUZZ)
  # The op target runs kernels, which take a quarter of an hour to instrument:
  # it is linked with the release build, and instrumented alone.
  add_library(hr_release SHARED IMPORTED)
  set_target_properties(hr_release PROPERTIES
    IMPORTED_LOCATION ${CMAKE_SOURCE_DIR}/build/lib/libheadrace.so)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/tests/fuzz/op.cc PROPERTIES
    COMPILE_OPTIONS "-fno-sanitize=all;-fsanitize=fuzzer-no-link")
  # The control_flow target runs steps, all of whose code is instrumented:
  # sessions, the executor, and the few kernels that its graphs have.
  foreach(layer gradients runtime session)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS
      ${CMAKE_SOURCE_DIR}/src/${layer}/*.cc)
    list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
    add_layer(${layer} ${sources})
    set_target_properties(hr_${layer} PROPERTIES EXCLUDE_FROM_ALL ON)
  endforeach()
  set(sources state/assign_op array/constant_op flow/control_flow_ops
    lib/element flow/function_call flow/function_ops flow/functional_loop_ops
    flow/functional_ops array/identity_op flow/sendrecv_ops flow/stack_ops
    flow/tensor_array flow/tensor_array_ops lib/tensor_sum lib/variable_access
    state/variable_op)
  list(TRANSFORM sources PREPEND ${CMAKE_SOURCE_DIR}/src/kernels/)
  list(TRANSFORM sources APPEND .cc)
  add_layer(control_flow_kernels ${sources})
  set_target_properties(hr_control_flow_kernels PROPERTIES EXCLUDE_FROM_ALL ON)
  # The services run any graph, so they are linked with the release build too.
  find_library(HEADRACE_GRPCXX_LIBRARY grpc++)
  find_library(HEADRACE_GRPC_LIBRARY grpc)
  find_library(HEADRACE_GPR_LIBRARY gpr)
  find_package(OpenSSL 3.0 QUIET)
  if(HEADRACE_GRPCXX_LIBRARY AND HEADRACE_GRPC_LIBRARY AND HEADRACE_GPR_LIBRARY
      AND OpenSSL_FOUND)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/distributed/*.cc)
    list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
    add_library(hr_services OBJECT EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(hr_services PUBLIC hr_deps ${HEADRACE_GRPCXX_LIBRARY}
      ${HEADRACE_GRPC_LIBRARY} ${HEADRACE_GPR_LIBRARY} OpenSSL::SSL)
    target_compile_options(hr_services PRIVATE
      -fno-sanitize=all -fsanitize=fuzzer-no-link)
    add_dependencies(hr_services hr_proto_headers)
    set_source_files_properties(
      ${CMAKE_SOURCE_DIR}/tests/fuzz/master_service.cc
      ${CMAKE_SOURCE_DIR}/tests/fuzz/worker_service.cc PROPERTIES
      COMPILE_OPTIONS "-fno-sanitize=all;-fsanitize=fuzzer-no-link")
  else()
    list(FILTER targets EXCLUDE REGEX "_service\\.cc$")
  endif()
  foreach(source ${targets})
    get_filename_component(name ${source} NAME_WE)
    add_executable(fuzz_${name} ${source})
    target_compile_definitions(fuzz_${name} PRIVATE HEADRACE_LIBFUZZER=1)
    if(name MATCHES "_service$")
      target_link_libraries(fuzz_${name} PRIVATE hr_services hr_release hr_deps)
      set_target_properties(fuzz_${name} PROPERTIES
        INSTALL_RPATH ${CMAKE_SOURCE_DIR}/build/lib)
    elseif(name STREQUAL "op")
      target_link_libraries(fuzz_${name} PRIVATE hr_release hr_deps)
    else()
      target_link_libraries(fuzz_${name} PRIVATE headrace hr_deps)
    endif()
    if(name STREQUAL "control_flow")
      target_link_libraries(fuzz_control_flow PRIVATE
        hr_gradients hr_runtime hr_session hr_control_flow_kernels)
    endif()
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzz_${name} hr_proto_headers)
    set_target_properties(fuzz_${name} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  endforeach()
  set_target_properties(fuzz_op PROPERTIES
    INSTALL_RPATH ${CMAKE_SOURCE_DIR}/build/lib)
  return()
endif()

if(NOT TARGET headrace_distributed)  # which services are
  list(FILTER targets EXCLUDE REGEX "_service\\.cc$")
endif()
add_library(hr_fuzz OBJECT ${targets})
target_link_libraries(hr_fuzz PRIVATE hr_deps)
target_precompile_headers(hr_fuzz REUSE_FROM hr_pch)
add_dependencies(hr_fuzz hr_proto_headers)
add_executable(fuzz_replay ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.cc)
target_link_libraries(fuzz_replay PRIVATE hr_fuzz headrace hr_deps)
if(TARGET headrace_distributed)
  target_link_libraries(fuzz_replay PRIVATE headrace_distributed)
endif()
set_target_properties(fuzz_replay PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME fuzz_corpora COMMAND fuzz_replay ${corpora})
set_tests_properties(fuzz_corpora PROPERTIES TIMEOUT 600)
if(TARGET failing_allocations AND NOT HEADRACE_SANITIZE MATCHES "thread")
  add_test(NAME fuzz_corpora.no_memory COMMAND fuzz_replay ${corpora}
    --mutations 3 op)
  set_tests_properties(fuzz_corpora.no_memory PROPERTIES TIMEOUT 600 ENVIRONMENT
    "LD_PRELOAD=$<TARGET_FILE:failing_allocations>;ASAN_OPTIONS=verify_asan_link_order=0")
endif()

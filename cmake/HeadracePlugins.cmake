# Plug-in libraries, which libheadrace.so loads from beside itself when they
# are wanted: libheadrace_distributed.so needs gRPC and OpenSSL; libheadrace_gpu.so, made of
# every folder gpu/ under src/, needs nvcc, cuBLAS and cuDNN.
function(hr_plugin name)  # hr_plugin(name sources... [LIBRARIES library...])
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  set(exports ${CMAKE_SOURCE_DIR}/cmake/headrace.map)
  add_library(headrace_${name} SHARED ${arg_UNPARSED_ARGUMENTS})
  add_dependencies(headrace_${name} hr_proto_headers)
  target_link_libraries(headrace_${name} PRIVATE headrace ${arg_LIBRARIES})
  target_link_options(headrace_${name} PRIVATE
    -Wl,--version-script=${exports} ${HEADRACE_NO_UNDEFINED})
  set_target_properties(headrace_${name} PROPERTIES LINK_DEPENDS ${exports})
  set_property(GLOBAL APPEND PROPERTY HEADRACE_PLUGINS headrace_${name})
endfunction()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/distributed/*.cc)
list(FILTER sources EXCLUDE REGEX "_test(lib)?\\.cc$")
if(sources)
  # Not by gRPC's own package, which also asks for compilers and c-ares.
  find_path(HEADRACE_GRPC grpcpp/grpcpp.h)
  find_library(HEADRACE_GRPCXX_LIBRARY grpc++)
  find_library(HEADRACE_GRPC_LIBRARY grpc)
  find_library(HEADRACE_GPR_LIBRARY gpr)
  find_package(OpenSSL 3.0 QUIET)  # which gRPC needs too
  if(HEADRACE_GRPC AND OpenSSL_FOUND AND HEADRACE_GRPCXX_LIBRARY AND HEADRACE_GRPC_LIBRARY
      AND HEADRACE_GPR_LIBRARY)
    hr_plugin(distributed ${sources} LIBRARIES ${HEADRACE_GRPCXX_LIBRARY}
      ${HEADRACE_GRPC_LIBRARY} ${HEADRACE_GPR_LIBRARY} OpenSSL::SSL)
    target_precompile_headers(headrace_distributed REUSE_FROM hr_runtime)
  else()
    message(STATUS "gRPC or OpenSSL not found: distributed/ is not built, so there are no "
      "servers and no sessions on grpc:// targets")
  endif()
endif()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/src/*.cc ${CMAKE_SOURCE_DIR}/src/*.cu)
list(FILTER sources INCLUDE REGEX "/src/.*/gpu/")
list(FILTER sources EXCLUDE REGEX "_test(lib)?\\.cc$")
if(sources)
  include(CheckLanguage)
  check_language(CUDA)
  find_package(CUDAToolkit QUIET)
  find_library(HEADRACE_CUDNN cudnn)
  if(CMAKE_CUDA_COMPILER AND CUDAToolkit_FOUND AND HEADRACE_CUDNN)
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES all-major)
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    enable_language(CUDA)
    hr_plugin(gpu ${sources} LIBRARIES
      CUDA::cudart_static CUDA::cublas ${HEADRACE_CUDNN})
  else()
    message(STATUS "CUDA or cuDNN not found: gpu/ is not built")
  endif()
endif()

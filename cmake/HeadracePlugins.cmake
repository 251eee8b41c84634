# Plug-in libraries, which libheadrace.so loads from beside itself when they
# are wanted: libheadrace_distributed.so needs gRPC and OpenSSL;
# libheadrace_mpi.so, to which it gives bytes of collective ops, an MPI;
# libheadrace_test_ops.so, for programs that test a front end, nothing;
# libheadrace_cuda.so needs nvcc, cuBLAS and cuDNN; libheadrace_gpu_host.so, on
# which the GPU's code is tested, needs nothing.
#
# The last two are made of the folders gpu/ under src/:
#   *.cc        of both
#   *.cu.cc     kernels: C++ in gpu_host, CUDA in cuda
#   *.cu        CUDA
#   gpu/cuda/   CUDA's libraries: in cuda alone
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
    # Calls of gRPC and copies of tensors gain nothing from loops made fast.
    target_compile_options(headrace_distributed PRIVATE ${HEADRACE_SMALL})
    target_precompile_headers(headrace_distributed REUSE_FROM hr_runtime_small)
    hr_together(headrace_distributed 9)
  else()
    message(STATUS "gRPC or OpenSSL not found: distributed/ is not built, so there are no "
      "servers and no sessions on grpc:// targets")
  endif()
endif()

hr_plugin(test_ops ${CMAKE_SOURCE_DIR}/src/test_ops/test_ops.cc)

file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/mpi/*.cc)
list(FILTER sources EXCLUDE REGEX "_test(lib)?\\.cc$")
if(sources AND TARGET headrace_distributed)
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    hr_plugin(mpi ${sources} LIBRARIES MPI::MPI_C)
    # Without MPI's own C++ API.
    target_compile_definitions(headrace_mpi PRIVATE
      OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  else()
    message(STATUS "MPI not found: collective ops go over gRPC alone")
  endif()
endif()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/src/*.cc ${CMAKE_SOURCE_DIR}/src/*.cu)
list(FILTER sources INCLUDE REGEX "/src/.*/gpu/")
list(FILTER sources EXCLUDE REGEX "_test(lib)?\\.cc$")
set(cuda_sources ${sources})
list(FILTER cuda_sources INCLUDE REGEX "/gpu/cuda/|\\.cu$")
set(kernels ${sources})
list(FILTER kernels INCLUDE REGEX "\\.cu\\.cc$")
if(cuda_sources OR kernels)
  list(REMOVE_ITEM sources ${cuda_sources} ${kernels})
endif()
if(sources)
  hr_objects(gpu PLAIN ${sources})
  target_precompile_headers(hr_gpu REUSE_FROM hr_pch)
  hr_plugin(gpu_host ${kernels} LIBRARIES hr_gpu)
  set_target_properties(headrace_gpu_host PROPERTIES LINKER_LANGUAGE CXX)
endif()

option(HEADRACE_CUDA "Build libheadrace_cuda.so where nvcc and cuDNN are" ON)
if(sources AND HEADRACE_CUDA AND NOT HEADRACE_SANITIZE)
  if(NOT CMAKE_CUDA_COMPILER)
    find_program(HEADRACE_NVCC nvcc HINTS /usr/local/cuda/bin)
    if(HEADRACE_NVCC)
      set(CMAKE_CUDA_COMPILER ${HEADRACE_NVCC})
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  find_package(CUDAToolkit QUIET)
  # Also where PyPI's nvidia-cudnn-cu* puts it, in .venv.
  file(GLOB cudnn ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cudnn)
  find_path(HEADRACE_CUDNN_HEADERS cudnn.h
    HINTS ${CUDAToolkit_INCLUDE_DIRS} ${cudnn}/include)
  find_library(HEADRACE_CUDNN NAMES cudnn libcudnn.so.9
    HINTS ${CUDAToolkit_LIBRARY_DIR} ${cudnn}/lib)
  if(CMAKE_CUDA_COMPILER AND CUDAToolkit_FOUND AND HEADRACE_CUDNN
      AND HEADRACE_CUDNN_HEADERS)
    if(NOT CMAKE_CUDA_ARCHITECTURES)  # 90 is also there as PTX, for later GPUs
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
    endif()
    if(HEADRACE_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
      set(CMAKE_CUDA_COMPILER_LAUNCHER env
        CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${HEADRACE_CCACHE})
    endif()
    enable_language(CUDA)
    # A source has one language; nvcc gets the kernels by files of its own.
    foreach(kernel ${kernels})
      file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/src ${kernel})
      string(REGEX REPLACE "[/.]" "_" file ${name})
      file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/cuda/${file}.cu
        CONTENT "#include \"${name}\"\n")
      list(APPEND cuda_sources ${CMAKE_BINARY_DIR}/cuda/${file}.cu)
    endforeach()
    hr_plugin(cuda ${cuda_sources} LIBRARIES hr_gpu CUDA::cudart_static
      CUDA::cublas CUDA::cublasLt ${HEADRACE_CUDNN})
    target_include_directories(headrace_cuda SYSTEM PRIVATE
      ${HEADRACE_CUDNN_HEADERS})
    # Eigen and absl are for the host; what they say of themselves is no news.
    target_compile_options(headrace_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:
      -std=c++20 --expt-relaxed-constexpr -diag-suppress=20012,20014,2810
      -Wno-deprecated-gpu-targets>)
    # Beside a package in site-packages there may be those of CUDA.
    cmake_path(GET HEADRACE_CUDNN PARENT_PATH cudnn_folder)
    set_property(TARGET headrace_cuda APPEND PROPERTY
      INSTALL_RPATH ${CUDAToolkit_LIBRARY_DIR} ${cudnn_folder}
      "$ORIGIN/../nvidia/cudnn/lib" "$ORIGIN/../nvidia/cu${CUDAToolkit_VERSION_MAJOR}/lib")
    set_target_properties(headrace_cuda PROPERTIES CUDA_STANDARD_REQUIRED OFF)
  else()
    message(STATUS "CUDA or cuDNN not found: there is no libheadrace_cuda.so")
  endif()
endif()

# headrace/_headrace: the extension module, built when python/ext has sources
# and Python_EXECUTABLE names a Python that has nanobind. It lies beside
# libheadrace.so, both in the package and in build/lib.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/ext/*.cc)
if(NOT sources OR NOT Python_EXECUTABLE)
  return()
endif()
find_package(Python 3.9 REQUIRED
  COMPONENTS Interpreter Development.Module NumPy)
execute_process(
  COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)
nanobind_add_module(_headrace NB_STATIC ${sources})
add_dependencies(_headrace hr_proto_headers)
hr_together(_headrace 10)
target_link_libraries(_headrace PRIVATE headrace Python::NumPy)
# The C API is for libraries of kernels in C (tf.load_op_library).
install(TARGETS _headrace headrace tensorflow tensorflow_framework
  COMPONENT python
  LIBRARY DESTINATION headrace EXCLUDE_FROM_ALL NAMELINK_SKIP)
# What tf.sysconfig.get_include() names.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION headrace/include
  COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY ${CMAKE_BINARY_DIR}/gen/headrace DESTINATION headrace/include
  COMPONENT python EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN "*.pb.h" PATTERN "*_ops.h")
# hr_package is what a package needs, hr_plugins the rest: those for GPUs take as
# long as a third of the library, and a package may be without them.
get_property(plugins GLOBAL PROPERTY HEADRACE_PLUGINS)
set(gpu_plugins ${plugins})
list(FILTER gpu_plugins INCLUDE REGEX "gpu|cuda")
list(FILTER plugins EXCLUDE REGEX "gpu|cuda")
add_custom_target(hr_plugins DEPENDS ${gpu_plugins})
add_custom_target(hr_package DEPENDS
  _headrace headrace tensorflow tensorflow_framework ${plugins})
if(plugins OR gpu_plugins)
  install(TARGETS ${plugins} ${gpu_plugins} COMPONENT python
    LIBRARY DESTINATION headrace OPTIONAL EXCLUDE_FROM_ALL NAMELINK_SKIP)
endif()
if(HEADRACE_PRIVATE_PROTOBUF)
  install(PROGRAMS ${HEADRACE_PRIVATE_PROTOBUF} DESTINATION headrace
    COMPONENT python EXCLUDE_FROM_ALL)
endif()

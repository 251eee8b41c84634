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
target_precompile_headers(_headrace PRIVATE
  ${HEADRACE_GRAPH_HEADERS} <nanobind/nanobind.h>)
get_property(plugins GLOBAL PROPERTY HEADRACE_PLUGINS)
add_dependencies(_headrace hr_proto_headers ${plugins})
target_link_libraries(_headrace PRIVATE headrace Python::NumPy)
# The C API is for libraries of kernels in C (tf.load_op_library).
install(TARGETS _headrace headrace tensorflow tensorflow_framework ${plugins}
  COMPONENT python
  LIBRARY DESTINATION headrace EXCLUDE_FROM_ALL NAMELINK_SKIP)
if(HEADRACE_PRIVATE_PROTOBUF)
  install(PROGRAMS ${HEADRACE_PRIVATE_PROTOBUF} DESTINATION headrace
    COMPONENT python EXCLUDE_FROM_ALL)
endif()

# cmake --install: lib/, bin/ and include/. The Python package is a component
# of its own, which pip installs.
include(GNUInstallDirs)
get_property(plugins GLOBAL PROPERTY HEADRACE_PLUGINS)
install(TARGETS headrace LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# Plug-ins that were built: `./run package` leaves out those for GPUs.
if(plugins)
  install(TARGETS ${plugins}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
endif()
if(TARGET tensorflow)
  install(TARGETS tensorflow tensorflow_framework tensorflow1
    tensorflow1_framework LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES
    ${CMAKE_BINARY_DIR}/lib/libtensorflow_framework.so
    DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(HEADRACE_PRIVATE_PROTOBUF)
  install(PROGRAMS ${HEADRACE_PRIVATE_PROTOBUF}
    DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET headrace_cli)
  install(TARGETS headrace_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(EXISTS ${CMAKE_SOURCE_DIR}/include)
  install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

if(TARGET headrace_cc)
  install(TARGETS headrace_cc ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# include/ has all headers that users may include; these are its messages
# and the classes of ops.
install(DIRECTORY ${CMAKE_BINARY_DIR}/gen/headrace
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.pb.h"
  PATTERN "*_ops.h")

# find_package(Headrace) and pkg-config, for this machine's Abseil and protobuf.
# tools/packaging fills in the same templates for others.
set(HEADRACE_VERSION ${PROJECT_VERSION})
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}
  OUTPUT_VARIABLE HEADRACE_INCLUDE_FROM_LIB)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
  OUTPUT_VARIABLE HEADRACE_PREFIX_FROM_PC)
set(HEADRACE_CONFIG_DEPENDENCIES "include(CMakeFindDependencyMacro)
find_dependency(absl)
find_dependency(Protobuf)
find_dependency(Eigen3)")
set(HEADRACE_CONFIG_INCLUDES "\${_headrace_include}")
set(protobuf protobuf::libprotobuf)
set(HEADRACE_PC_LIBS -lprotobuf)
if(HEADRACE_PRIVATE_PROTOBUF)
  cmake_path(GET HEADRACE_PRIVATE_PROTOBUF FILENAME name)
  set(protobuf "\${_headrace_lib}/${name}")
  set(HEADRACE_PC_LIBS "-l:${name}")
  list(TRANSFORM HEADRACE_PROTOBUF_DEFINITIONS PREPEND -D
    OUTPUT_VARIABLE HEADRACE_PC_CFLAGS)
  list(JOIN HEADRACE_PC_CFLAGS " " HEADRACE_PC_CFLAGS)
endif()
set(HEADRACE_CONFIG_LIBRARIES
  "${protobuf};Eigen3::Eigen;absl::status;absl::statusor;absl::strings;absl::flat_hash_map;absl::inlined_vector;absl::span;absl::time")
set(HEADRACE_PC_REQUIRES "eigen3 absl_status absl_statusor absl_strings absl_flat_hash_map absl_inlined_vector absl_span absl_time")
foreach(name headrace.pc tensorflow.pc HeadraceConfig.cmake)
  configure_file(cmake/${name}.in ${CMAKE_BINARY_DIR}/install/${name} @ONLY)
endforeach()
# The same of the build, for PKG_CONFIG_PATH=build/pkgconfig.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pkgconfig/headrace.pc @ONLY
  CONTENT "libdir=\${pcfiledir}/../lib
source=@CMAKE_SOURCE_DIR@

Name: headrace
Description: A TensorFlow-1.x-compatible dataflow runtime, for C++
Version: @HEADRACE_VERSION@
Requires: @HEADRACE_PC_REQUIRES@
Libs: -L\${libdir} -Wl,-rpath,\${libdir} -lheadrace @HEADRACE_PC_LIBS@
Cflags: -I\${source}/include -I\${pcfiledir}/../gen @HEADRACE_PC_CFLAGS@
")
include(CMakePackageConfigHelpers)
write_basic_package_version_file(
  ${CMAKE_BINARY_DIR}/install/HeadraceConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/install/headrace.pc
  ${CMAKE_BINARY_DIR}/install/tensorflow.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_BINARY_DIR}/install/HeadraceConfig.cmake
  ${CMAKE_BINARY_DIR}/install/HeadraceConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Headrace)

# cmake --install: lib/, bin/ and include/. The Python package is a component
# of its own, which pip installs.
include(GNUInstallDirs)
get_property(plugins GLOBAL PROPERTY HEADRACE_PLUGINS)
install(TARGETS headrace ${plugins} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tensorflow)
  install(TARGETS tensorflow tensorflow_framework tensorflow1
    tensorflow1_framework LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES
    ${CMAKE_BINARY_DIR}/lib/libtensorflow_framework.so
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

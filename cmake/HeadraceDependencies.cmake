# hr_deps: the libraries everything is linked with, and HEADRACE_HAVE_<NAME>=1
# for each optional one that was found.
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(Protobuf REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
include(HeadracePrivateProtobuf)  # hr_protobuf

add_library(hr_deps INTERFACE)
target_link_libraries(hr_deps INTERFACE
  hr_flags hr_protobuf Threads::Threads ${CMAKE_DL_LIBS}
  absl::base absl::cleanup absl::container_common absl::cord
  absl::fixed_array absl::flat_hash_map absl::flat_hash_set absl::hash
  absl::inlined_vector absl::node_hash_map absl::random_random absl::span
  absl::status absl::statusor absl::str_format absl::strings
  absl::synchronization absl::time)
target_include_directories(hr_deps SYSTEM INTERFACE
  $<TARGET_PROPERTY:Eigen3::Eigen,INTERFACE_INCLUDE_DIRECTORIES>)

function(hr_found name)  # hr_found(NAME library...)
  target_compile_definitions(hr_deps INTERFACE HEADRACE_HAVE_${name}=1)
  target_link_libraries(hr_deps INTERFACE ${ARGN})
  set_property(GLOBAL APPEND PROPERTY HEADRACE_FOUND ${name})
endfunction()

function(hr_package name package target)
  find_package(${package} QUIET)
  if(TARGET ${target})
    hr_found(${name} ${target})
  endif()
endfunction()

hr_package(ZLIB ZLIB ZLIB::ZLIB)
hr_package(PNG PNG PNG::PNG)
hr_package(JPEG JPEG JPEG::JPEG)
hr_package(GIF GIF GIF::GIF)
hr_package(SNAPPY Snappy Snappy::snappy)

function(hr_library name header library)  # for those without a CMake package
  find_path(HEADRACE_${name} ${header})
  find_library(HEADRACE_${name}_LIBRARY ${library})
  if(HEADRACE_${name} AND HEADRACE_${name}_LIBRARY)
    hr_found(${name} ${HEADRACE_${name}_LIBRARY})
  endif()
endfunction()

hr_library(RE2 re2/re2.h re2)

# Linked static: hidden inside libheadrace.so, and without the BLAS it would
# otherwise ask for.
find_path(HEADRACE_XSMM libxsmm.h)
find_library(HEADRACE_XSMM_LIBRARY libxsmm.a)
find_library(HEADRACE_XSMM_NOBLAS libxsmmnoblas.a)
if(HEADRACE_XSMM AND HEADRACE_XSMM_LIBRARY AND HEADRACE_XSMM_NOBLAS)
  hr_found(XSMM)
  set(HEADRACE_XSMM_ARCHIVES
    ${HEADRACE_XSMM_LIBRARY} ${HEADRACE_XSMM_NOBLAS})
endif()

get_property(HEADRACE_FOUND GLOBAL PROPERTY HEADRACE_FOUND)
list(JOIN HEADRACE_FOUND " " found)
message(STATUS "Headrace ${PROJECT_VERSION} ${CMAKE_BUILD_TYPE}, with ${found}")

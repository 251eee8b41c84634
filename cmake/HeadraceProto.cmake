# hr_proto: C++ of proto/headrace/*.proto, under gen/ in the build folder.
file(GLOB protos CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/proto/headrace/*.proto)
set(gen ${CMAKE_BINARY_DIR}/gen)
foreach(proto ${protos})
  get_filename_component(name ${proto} NAME_WE)
  list(APPEND proto_sources ${gen}/headrace/${name}.pb.cc)
  list(APPEND proto_headers ${gen}/headrace/${name}.pb.h)
endforeach()
# Without descriptors, text and reflection in a library of few ops. Protobuf's
# own messages in the library have them, so those that are used are made anew.
if(HEADRACE_OPS)
  set(lite lite:)
  foreach(name any wrappers)
    list(APPEND own_protos google/protobuf/${name}.proto)
    list(APPEND proto_sources ${gen}/google/protobuf/${name}.pb.cc)
    list(APPEND proto_headers ${gen}/google/protobuf/${name}.pb.h)
  endforeach()
endif()
add_custom_command(
  OUTPUT ${proto_sources} ${proto_headers}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${gen}
  COMMAND protobuf::protoc -I${CMAKE_SOURCE_DIR}/proto "--cpp_out=${lite}${gen}" ${protos}
    ${own_protos}
  DEPENDS ${protos} protobuf::protoc
  COMMENT "Generating messages" VERBATIM)
add_custom_target(hr_proto_headers DEPENDS ${proto_headers})

target_include_directories(hr_deps SYSTEM INTERFACE ${gen})
add_library(hr_proto OBJECT ${proto_sources})
target_link_libraries(hr_proto PRIVATE hr_deps)
# Generated code gains nothing from speed, debug information or sanitizers.
target_compile_options(hr_proto PRIVATE
  -w -g0 $<$<CONFIG:Release>:-Os> -fno-sanitize=all)
add_dependencies(hr_proto hr_proto_headers)
# Sources of protoc each have tables of these two names.
if(HEADRACE_UNITY)
  set_target_properties(hr_proto PROPERTIES
    UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8 UNITY_BUILD_UNIQUE_ID HR_FILE
    UNITY_BUILD_CODE_BEFORE_INCLUDE "#define HR_JOIN_(a, b) a##b
#define HR_JOIN(a, b) HR_JOIN_(a, b)
#define schemas HR_JOIN(schemas_, HR_FILE)
#define file_default_instances HR_JOIN(file_default_instances_, HR_FILE)")
endif()

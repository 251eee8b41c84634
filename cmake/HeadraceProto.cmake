# hr_proto: C++ of proto/headrace/*.proto, under gen/ in the build folder.
file(GLOB protos CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/proto/headrace/*.proto)
set(gen ${CMAKE_BINARY_DIR}/gen)
foreach(proto ${protos})
  get_filename_component(name ${proto} NAME_WE)
  list(APPEND proto_sources ${gen}/headrace/${name}.pb.cc)
  list(APPEND proto_headers ${gen}/headrace/${name}.pb.h)
endforeach()
# Without descriptors, text and reflection in a library of few ops.
set(lite $<$<BOOL:${HEADRACE_OPS}>:lite:>)
add_custom_command(
  OUTPUT ${proto_sources} ${proto_headers}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${gen}
  COMMAND protobuf::protoc -I${CMAKE_SOURCE_DIR}/proto "--cpp_out=${lite}${gen}" ${protos}
  DEPENDS ${protos} protobuf::protoc
  COMMENT "Generating messages" VERBATIM)
add_custom_target(hr_proto_headers DEPENDS ${proto_headers})

target_include_directories(hr_deps SYSTEM INTERFACE ${gen})
add_library(hr_proto OBJECT ${proto_sources})
target_link_libraries(hr_proto PRIVATE hr_deps)
# Generated code gains nothing from speed, debug information or sanitizers.
target_compile_options(hr_proto PRIVATE
  -w -g0 $<$<CONFIG:Release>:-Os> -fno-sanitize=all)
target_precompile_headers(hr_proto PRIVATE
  <algorithm> <google/protobuf/map_entry.h> <google/protobuf/map_field_inl.h>
  <google/protobuf/generated_message_reflection.h>
  <google/protobuf/reflection_ops.h> <google/protobuf/wire_format.h>)
add_dependencies(hr_proto hr_proto_headers)

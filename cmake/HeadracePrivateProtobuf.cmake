# hr_protobuf: the system's shared protobuf under other names, so that it never
# meets the protobuf of TensorFlow or another library of the process. It is a
# copy in which namespace google is hNogle. Both names have the same length and
# the same hash ('g' 'o' and 'h' 'N' add equally to a GNU hash), so that replacing
# bytes is all. Sources see the name by a macro. A static protobuf needs none of
# this: libheadrace.so hides it.
add_library(hr_protobuf INTERFACE)
set(HEADRACE_PROTOBUF_NAMESPACE hNogle)
find_program(HEADRACE_SED sed)
file(REAL_PATH "${Protobuf_LIBRARY}" library)
if(NOT HEADRACE_SED OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR
    NOT library MATCHES "/libprotobuf(\\.so\\.[0-9]+)[^/]*$")
  target_link_libraries(hr_protobuf INTERFACE protobuf::libprotobuf)
  return()
endif()
set(name libhr_proto${CMAKE_MATCH_1})
set(HEADRACE_PRIVATE_PROTOBUF ${CMAKE_BINARY_DIR}/lib/${name})
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if(NOT EXISTS ${HEADRACE_PRIVATE_PROTOBUF} OR
    ${library} IS_NEWER_THAN ${HEADRACE_PRIVATE_PROTOBUF})
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${HEADRACE_SED}
            -e "s/6google8protobuf/6hNogle8protobuf/g"
            -e "s/google_2fprotobuf/hNogle_2fprotobuf/g"
            -e "s/libprotobuf\\.so/libhr_proto.so/g" ${library}
    OUTPUT_FILE ${HEADRACE_PRIVATE_PROTOBUF} COMMAND_ERROR_IS_FATAL ANY)
endif()
# Generated sources name the tables of the files that they import.
set(HEADRACE_PROTOBUF_DEFINITIONS google=hNogle)
foreach(file any api descriptor duration empty field_5fmask source_5fcontext
        struct timestamp type wrappers)
  list(APPEND HEADRACE_PROTOBUF_DEFINITIONS
    descriptor_table_google_2fprotobuf_2f${file}_2eproto=descriptor_table_hNogle_2fprotobuf_2f${file}_2eproto)
endforeach()
add_library(hr_renamed_protobuf SHARED IMPORTED)
set_target_properties(hr_renamed_protobuf PROPERTIES
  IMPORTED_LOCATION ${HEADRACE_PRIVATE_PROTOBUF} IMPORTED_SONAME ${name}
  INTERFACE_INCLUDE_DIRECTORIES "${Protobuf_INCLUDE_DIRS}"
  INTERFACE_COMPILE_DEFINITIONS "${HEADRACE_PROTOBUF_DEFINITIONS}")
target_link_libraries(hr_protobuf INTERFACE hr_renamed_protobuf)

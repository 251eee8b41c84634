// Reads and writes fields of one number, string or enum value, and elements of
// repeated fields. A value that does not fit the field raises TypeError or
// ValueError. Call with the GIL held.
#ifndef HEADRACE_PYTHON_EXT_MESSAGE_SCALAR_H_
#define HEADRACE_PYTHON_EXT_MESSAGE_SCALAR_H_

#include <google/protobuf/message.h>
#include <nanobind/nanobind.h>

#include <string>

namespace headrace::python {

namespace nb = nanobind;

nb::object GetScalar(const google::protobuf::Message& m,
                     const google::protobuf::FieldDescriptor* f);
void SetScalar(google::protobuf::Message* m,
               const google::protobuf::FieldDescriptor* f, nb::handle v);

// The same for element `i` of a repeated field.
nb::object GetScalarAt(const google::protobuf::Message& m,
                       const google::protobuf::FieldDescriptor* f, int i);
void SetScalarAt(google::protobuf::Message* m,
                 const google::protobuf::FieldDescriptor* f, int i,
                 nb::handle v);
void AddScalar(google::protobuf::Message* m,
               const google::protobuf::FieldDescriptor* f, nb::handle v);

// Makes a str. Bytes that are not UTF-8 are escaped.
nb::object Text(const std::string& s);

[[noreturn]] void RefuseValue(const google::protobuf::FieldDescriptor* f,
                              nb::handle v);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_MESSAGE_SCALAR_H_

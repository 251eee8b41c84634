// A message's fields as Python objects. Scalars are values. Messages, repeated
// fields and maps are objects that refer to the message.
#ifndef HEADRACE_PYTHON_EXT_MESSAGE_FIELDS_H_
#define HEADRACE_PYTHON_EXT_MESSAGE_FIELDS_H_

#include <nanobind/nanobind.h>

#include <memory>

#include "message_place.h"

namespace headrace::python {

nb::object GetField(const std::shared_ptr<MessagePlace>& place,
                    const google::protobuf::FieldDescriptor* f);

// Sets every field that `dict` names, {field: value}: the arguments of
// constructors and of add(). None leaves a field unchanged.
void AssignAll(const std::shared_ptr<MessagePlace>& place, nb::handle dict);

// Registers the classes RepeatedField and MapField.
void RegisterMessageFields(nb::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_MESSAGE_FIELDS_H_

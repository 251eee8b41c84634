// Attributes of nodes from and to Python values.
#ifndef HEADRACE_PYTHON_EXT_ATTR_CONVERT_H_
#define HEADRACE_PYTHON_EXT_ATTR_CONVERT_H_

#include <nanobind/nanobind.h>

#include "headrace/op_def.h"

namespace headrace::python {

namespace nb = nanobind;

// Raises TypeError naming op and attr if the value is of the wrong kind, and
// ValueError if it is not an allowed one.
AttrValue ToAttrValue(const OpDef& op, const OpDef::Attr& attr,
                      nb::handle value);
// Numbers, str, bytes, lists; DTypes for types, None or a list for shapes,
// arrays for tensors.
nb::object FromAttrValue(const AttrValue& v);

// None is an unknown rank and None or -1 an unknown dimension.
PartialTensorShape ToPartialShape(nb::handle o);
nb::object FromPartialShape(const PartialTensorShape& s);  // list or None

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_ATTR_CONVERT_H_

// Converts attributes of nodes to and from Python values. Call with the GIL
// held.
#ifndef HEADRACE_PYTHON_EXT_ATTR_CONVERT_H_
#define HEADRACE_PYTHON_EXT_ATTR_CONVERT_H_

#include <nanobind/nanobind.h>

#include "headrace/op_def.h"

namespace headrace::python {

namespace nb = nanobind;

// Raises TypeError, with op and attr, if the value has the wrong kind, and
// ValueError if the attr does not allow the value.
AttrValue ToAttrValue(const OpDef& op, const OpDef::Attr& attr,
                      nb::handle value);
// Numbers, str, bytes and lists; DTypes for types; None or a list for shapes;
// arrays for tensors.
nb::object FromAttrValue(const AttrValue& v);

// None means unknown rank. A dim that is None or -1 is unknown.
PartialTensorShape ToPartialShape(nb::handle o);
nb::object FromPartialShape(const PartialTensorShape& s);  // list or None

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_ATTR_CONVERT_H_

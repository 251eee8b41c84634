// Open attrs: a client that builds the body of a function may give an attr a
// placeholder, which stands for an attr of the function. Such a node can be
// looked at and go into a function, but not run.
#ifndef HEADRACE_FRAMEWORK_OP_OPEN_ATTRS_H_
#define HEADRACE_FRAMEWORK_OP_OPEN_ATTRS_H_

#include "headrace/attr_value.h"
#include "headrace/op_def.h"
#include "headrace/status.h"

namespace headrace {

bool HasPlaceholder(const AttrMap& attrs);

// As InOutTypes, but attrs may be placeholders. An output whose type is open
// has DT_INVALID. InvalidArgument if the number of inputs or outputs, or the
// type of an input, would depend on a placeholder.
Status InOutTypesWithPlaceholders(const OpDef& def, const AttrMap& attrs,
                                  DataTypeVector* inputs,
                                  DataTypeVector* outputs);

// InvalidArgument if an attr of the op is a placeholder.
Status CheckNoPlaceholder(const OpDef& def, const AttrMap& attrs);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_OP_OPEN_ATTRS_H_

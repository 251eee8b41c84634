// What the inputs of a node tell about it: missing attrs, and the shapes of its
// outputs.
#ifndef HEADRACE_GRAPH_INFER_H_
#define HEADRACE_GRAPH_INFER_H_

#include <vector>

#include "headrace/graph.h"

namespace headrace {

// Sets the attrs that are missing and that inputs of these types determine: a
// type, a number, a list of types. `arg_sizes`: see Graph::AddNode.
// InvalidArgument if the inputs cannot be dealt out to the op's arguments.
Status InferAttrsFromInputs(const OpDef& def, absl::Span<const DataType> given,
                            absl::Span<const int> arg_sizes, AttrMap* attrs);

// Refuses a wrong number of inputs or wrong types, naming every argument that
// does not fit.
Status CheckInputTypes(const OpDef& def, const AttrMap& attrs,
                       absl::Span<const DataType> given,
                       absl::Span<const DataType> wanted);

struct InferredShapes {
  absl::InlinedVector<PartialTensorShape, 1> shapes;
  std::vector<std::vector<DtypeAndShape>> handles;  // empty: no resources
};

// Runs the op's shape function. Values of inputs that it asks for are worked
// out if they depend on constants or known shapes alone, and it is run again.
// An input without a node has an unknown shape. The error names node, op and
// input shapes.
Status InferNodeShapes(const OpDef& op_def, const NodeDef& def,
                       absl::Span<const Endpoint> inputs, int num_outputs,
                       InferredShapes* out);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_INFER_H_

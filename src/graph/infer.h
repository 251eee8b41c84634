// Infers facts about a node from its inputs: missing attrs, and output shapes.
#ifndef HEADRACE_GRAPH_INFER_H_
#define HEADRACE_GRAPH_INFER_H_

#include <vector>

#include "headrace/graph.h"

namespace headrace {

// Sets the missing attrs that the input types determine: a type, a number, a
// list of types. For `arg_sizes` see Graph::AddNode. InvalidArgument if the
// inputs cannot be assigned to the op's arguments.
Status InferAttrsFromInputs(const OpDef& def, absl::Span<const DataType> given,
                            absl::Span<const int> arg_sizes, AttrMap* attrs);

// InvalidArgument for a wrong number of inputs or for wrong types. The message
// names every argument that does not fit.
Status CheckInputTypes(const OpDef& def, const AttrMap& attrs,
                       absl::Span<const DataType> given,
                       absl::Span<const DataType> wanted);

struct InferredShapes {
  absl::InlinedVector<PartialTensorShape, 1> shapes;
  std::vector<std::vector<DtypeAndShape>> handles;  // empty: no resources
};

// Runs the op's shape function. If the function asks for values of inputs that
// depend only on constants or known shapes, computes them and runs the function
// again. An input without a node has an unknown shape. Errors contain node, op
// and input shapes.
Status InferNodeShapes(const OpDef& op_def, const NodeDef& def,
                       absl::Span<const Endpoint> inputs, int num_outputs,
                       InferredShapes* out);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_INFER_H_

// Einsum: schema and shape.
#include <algorithm>

#include "framework/shape_fns/common_shape_fns.h"
#include "framework/shape_fns/einsum_equation.h"
#include "headrace/op.h"

namespace headrace {

namespace {
Status EinsumShape(InferenceContext* c) {
  std::string text;
  HR_RETURN_IF_ERROR(c->GetAttr("equation", &text));
  EinsumEquation eq;
  HR_RETURN_IF_ERROR(EinsumEquation::Parse(text, &eq));
  if (eq.num_inputs() != c->num_inputs()) {
    return errors::InvalidArgument("Einsum: equation '", text, "' has ",
                                   eq.num_inputs(), " inputs, the node has ",
                                   c->num_inputs());
  }
  std::vector<int64_t> dims(eq.num_written(), -1);
  int ellipsis_dims = 0;
  bool ellipsis_known = true;
  for (int i = 0; i < c->num_inputs(); ++i) {
    const PartialTensorShape& in = c->input(i);
    if (in.unknown_rank()) {
      ellipsis_known &= !eq.input_has_ellipsis(i);
      continue;
    }
    EinsumEquation::Labels labels;
    HR_RETURN_IF_ERROR(eq.InputLabels(i, in.dims(), &labels));
    ellipsis_dims = std::max(ellipsis_dims, eq.EllipsisDims(i, in.dims()));
    dims.resize(eq.num_written() + ellipsis_dims, 1);
    for (int d = 0; d < in.dims(); ++d) {
      int64_t& dim = dims[labels[d]];
      if (labels[d] < eq.num_written()) {
        HR_RETURN_IF_ERROR(c->MergeDims(dim, in.dim_size(d), &dim));
        continue;
      }
      PartialTensorShape both;
      HR_RETURN_IF_ERROR(
          BroadcastShapes(c->Vector(dim), c->Vector(in.dim_size(d)), &both));
      dim = both.dim_size(0);
    }
  }
  if (!ellipsis_known && eq.output_has_ellipsis()) {
    return shape_inference::UnknownShape(c);
  }
  EinsumEquation::Labels labels;
  HR_RETURN_IF_ERROR(eq.OutputLabels(ellipsis_dims, &labels));
  DimVector out;
  for (int label : labels) out.push_back(dims[label]);
  c->set_output(0, PartialTensorShape(out));
  return OkStatus();
}
}  // namespace

REGISTER_OP("Einsum")
    .Input("inputs: N * T")
    .Output("output: T")
    .Attr("equation: string")
    .Attr("N: int >= 1")
    .Attr("T: type")
    .SetShapeFn(EinsumShape);

}  // namespace headrace

// Strings.
#include "framework/common_shape_fns.h"
#include "framework/op.h"
#include "framework/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// Scalars go with every shape.
Status StringJoinShape(InferenceContext* c) {
  Shape out = InferenceContext::Scalar();
  for (int i = 0; i < c->num_inputs(); ++i) {
    const Shape& s = c->input(i);
    if (s.unknown_rank()) {
      c->set_output(0, InferenceContext::UnknownShape());
      return OkStatus();
    }
    if (s.dims() == 0) continue;
    if (out.dims() == 0) {
      out = s;
    } else {
      HR_RETURN_IF_ERROR(c->Merge(out, s, &out));
    }
  }
  c->set_output(0, out);
  return OkStatus();
}

// Input 0 elementwise, the others scalars.
Status ScalarArguments(InferenceContext* c) {
  Shape unused;
  for (int i = 1; i < c->num_inputs(); ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  }
  return shape_inference::UnchangedShape(c);
}

REGISTER_OP("StringJoin")
    .Input("inputs: N * string")
    .Output("output: string")
    .Attr("N: int >= 0")
    .Attr("separator: string = ''")
    .SetShapeFn(StringJoinShape);

REGISTER_OP("RegexFullMatch")
    .Input("input: string")
    .Input("pattern: string")
    .Output("output: bool")
    .SetShapeFn(ScalarArguments);

REGISTER_OP("StaticRegexFullMatch")
    .Input("input: string")
    .Output("output: bool")
    .Attr("pattern: string")
    .SetShapeFn(shape_inference::UnchangedShape);

REGISTER_OP("RegexReplace")
    .Input("input: string")
    .Input("pattern: string")
    .Input("rewrite: string")
    .Output("output: string")
    .Attr("replace_global: bool = true")
    .SetShapeFn(ScalarArguments);

REGISTER_OP("StaticRegexReplace")
    .Input("input: string")
    .Output("output: string")
    .Attr("pattern: string")
    .Attr("rewrite: string")
    .Attr("replace_global: bool = true")
    .SetShapeFn(shape_inference::UnchangedShape);

}  // namespace
}  // namespace headrace

// Schemas of control flow: branches, merges and loops.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// Outputs 0 and 1 are the data; the predicate is a scalar.
Status SwitchShape(InferenceContext* c) {
  Shape pred;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &pred));
  for (int i = 0; i < 2; ++i) {
    c->set_output(i, c->input(0));
    if (const auto* h = c->input_handle(0)) c->set_output_handle(i, *h);
  }
  return OkStatus();
}

// What all inputs agree on. The input that comes round a loop may not be
// connected yet: then nothing is known.
Status MergeShape(InferenceContext* c) {
  Shape out = c->input(0);
  for (int i = 1; i < c->num_inputs() && !out.unknown_rank(); ++i) {
    const Shape& s = c->input(i);
    if (s.unknown_rank() || s.dims() != out.dims()) {
      out = Shape::UnknownRank();
      break;
    }
    for (int d = 0; d < out.dims(); ++d) {
      if (out.dim_size(d) != s.dim_size(d)) out.set_dim(d, -1);
    }
  }
  c->set_output(0, out);
  c->set_output(1, Shape::Scalar());
  if (c->num_inputs() > 0) {
    if (const auto* h = c->input_handle(0)) c->set_output_handle(0, *h);
  }
  return OkStatus();
}

// The shape of a loop variable may change from one iteration to the next, so
// only a constant of the loop keeps what is known outside.
Status EnterShape(InferenceContext* c) {
  bool is_constant = false;
  HR_RETURN_IF_ERROR(c->GetAttr("is_constant", &is_constant));
  c->set_output(0, is_constant ? c->input(0) : Shape::UnknownRank());
  if (const auto* h = c->input_handle(0)) c->set_output_handle(0, *h);
  return OkStatus();
}

REGISTER_OP("Switch")
    .Input("data: T")
    .Input("pred: bool")
    .Output("output_false: T")
    .Output("output_true: T")
    .Attr("T: type")
    .SetShapeFn(SwitchShape)
    .Class(OpClass::kSwitch)
    .Outputs(OutputBuffer::kInput);
// The shape that all inputs have, if it is known.
Status RefSelectShape(InferenceContext* c) {
  PartialTensorShape index;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &index));
  const PartialTensorShape& first = c->input(1);
  bool same = first.IsFullyDefined();
  for (int i = 2; i < c->num_inputs(); ++i) {
    same = same && c->input(i) == first;
  }
  c->set_output(0, same ? first : PartialTensorShape());
  return OkStatus();
}

REGISTER_OP("RefSwitch")
    .Input("data: Ref(T)")
    .Input("pred: bool")
    .Output("output_false: Ref(T)")
    .Output("output_true: Ref(T)")
    .Attr("T: type")
    .SetAllowsUninitializedInput()
    .SetShapeFn(SwitchShape)
    .Class(OpClass::kSwitch)
    .Outputs(OutputBuffer::kInput);
REGISTER_OP("Merge")
    .Input("inputs: N * T")
    .Output("output: T")
    .Output("value_index: int32")
    .Attr("T: type")
    .Attr("N: int >= 1")
    .SetShapeFn(MergeShape)
    .Class(OpClass::kMerge);
REGISTER_OP("RefMerge")
    .Input("inputs: Ref(N * T)")
    .Output("output: Ref(T)")
    .Output("value_index: int32")
    .Attr("T: type")
    .Attr("N: int >= 1")
    .SetShapeFn(MergeShape)
    .Class(OpClass::kMerge);
REGISTER_OP("Enter")
    .Input("data: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("frame_name: string")
    .Attr("is_constant: bool = false")
    .Attr("parallel_iterations: int = 10")
    .SetShapeFn(EnterShape)
    .Class(OpClass::kEnter);
REGISTER_OP("RefEnter")
    .Input("data: Ref(T)")
    .Output("output: Ref(T)")
    .Attr("T: type")
    .Attr("frame_name: string")
    .Attr("is_constant: bool = false")
    .Attr("parallel_iterations: int = 10")
    .SetShapeFn(EnterShape)
    .Class(OpClass::kEnter);
REGISTER_OP("Exit")
    .Input("data: T")
    .Output("output: T")
    .Attr("T: type")
    .KeepsShape()
    .Class(OpClass::kExit);
REGISTER_OP("RefExit")
    .Input("data: Ref(T)")
    .Output("output: Ref(T)")
    .Attr("T: type")
    .KeepsShape()
    .Class(OpClass::kExit);
REGISTER_OP("NextIteration")
    .Input("data: T")
    .Output("output: T")
    .Attr("T: type")
    .KeepsShape()
    .Class(OpClass::kNextIteration);
REGISTER_OP("RefNextIteration")
    .Input("data: Ref(T)")
    .Output("output: Ref(T)")
    .Attr("T: type")
    .KeepsShape()
    .Class(OpClass::kNextIteration);
REGISTER_OP("LoopCond")
    .Input("input: bool")
    .Output("output: bool")
    .SetShapeFn([](InferenceContext* c) {
      return shape_inference::UnchangedShapeWithRank(c, 0);
    })
    .Class(OpClass::kLoopCond);
REGISTER_OP("Abort")
    .Attr("error_msg: string = ''")
    .Attr("exit_without_error: bool = false")
    .SetShapeFn(shape_inference::NoOutputs)
    .Stops();

REGISTER_OP("ControlTrigger")
    .SetShapeFn(shape_inference::NoOutputs)
    .Class(OpClass::kControlTrigger);

// Picks the input that `index` names.
REGISTER_OP("RefSelect")
    .Input("index: int32")
    .Input("inputs: Ref(N * T)")
    .Output("output: Ref(T)")
    .Attr("T: type")
    .Attr("N: int >= 1")
    .SetShapeFn(RefSelectShape);

}  // namespace
}  // namespace headrace

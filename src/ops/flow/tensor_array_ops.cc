// TensorArrays and stacks. What is known of an array's elements travels with
// its handle when the array promises that they are alike, so that reads have
// shapes at build time. A handle of strings has two of them; one that is a
// resource is a scalar, of which TensorFlow infers [2] all the same. Nothing is
// said of these, so that neither is contradicted.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;
using shape_inference::NoOutputs;
using shape_inference::ScalarShape;
using shape_inference::StringHandleShape;

Status ScalarInput(InferenceContext* c, int i) {
  Shape unused;
  return c->WithRank(c->input(i), 0, &unused);
}

// What the handle in input 0 tells of an element.
Shape ElementShape(InferenceContext* c) {
  const std::vector<DtypeAndShape>* h = c->input_handle(0);
  return h == nullptr || h->empty() ? c->UnknownShape() : h->front().shape;
}

Status TensorArrayShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(ScalarInput(c, 0));
  return StringHandleShape(c);
}

Status TensorArrayV3Shape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(ScalarInput(c, 0));
  bool identical = false;
  DtypeAndShape h;
  HR_RETURN_IF_ERROR(c->GetAttr("identical_element_shapes", &identical));
  HR_RETURN_IF_ERROR(c->GetAttr("dtype", &h.dtype));
  HR_RETURN_IF_ERROR(c->GetAttr("element_shape", &h.shape));
  c->set_output(0, c->UnknownShape());
  c->set_output(1, c->Scalar());
  if (identical) c->set_output_handle(0, {h});
  return OkStatus();
}

Status GradV3Shape(InferenceContext* c) {
  c->set_output(0, c->UnknownShape());
  c->set_output(1, c->Scalar());
  // With a shape to prepend the elements differ from the array's.
  if (const auto* h = c->input_handle(0); h && c->num_inputs() == 2) {
    c->set_output_handle(0, *h);
  }
  return OkStatus();
}

Status WriteShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(ScalarInput(c, 1));
  HR_RETURN_IF_ERROR(ScalarInput(c, 3));
  Shape unused;
  HR_RETURN_IF_ERROR(c->Merge(c->input(2), ElementShape(c), &unused));
  return ScalarShape(c);
}

Status TensorArrayReadShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(ScalarInput(c, 1));
  c->set_output(0, ElementShape(c));
  return OkStatus();
}

// [number of indices] and an element, by the attr as well as by the handle.
Status GatherShape(InferenceContext* c) {
  Shape indices = Shape::UnknownDims(1), element;
  if (c->num_inputs() == 3) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &indices));
  }
  HR_RETURN_IF_ERROR(c->GetAttr("element_shape", &element));
  HR_RETURN_IF_ERROR(c->Merge(element, ElementShape(c), &element));
  Shape out;
  HR_RETURN_IF_ERROR(c->Concatenate(indices, element, &out));
  c->set_output(0, out);
  return OkStatus();
}

Status ConcatShape(InferenceContext* c) {
  Shape rest, out;
  HR_RETURN_IF_ERROR(c->GetAttr("element_shape_except0", &rest));
  HR_RETURN_IF_ERROR(c->Concatenate(c->Vector(-1), rest, &out));
  c->set_output(0, out);
  c->set_output(1, c->Vector(-1));
  return OkStatus();
}

// Scatter and Unpack: the value is input n - 2.
Status TensorArrayScatterShape(InferenceContext* c) {
  Shape value, unused;
  const int at = c->num_inputs() - 2;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(at), 1, &value));
  if (at == 2) {
    Shape indices;
    int64_t n;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &indices));
    HR_RETURN_IF_ERROR(c->MergeDims(c->Dim(indices, 0), c->Dim(value, 0), &n));
  }
  if (c->RankKnown(value)) {
    HR_RETURN_IF_ERROR(c->Subshape(value, 1, &value));
    HR_RETURN_IF_ERROR(c->Merge(value, ElementShape(c), &unused));
  }
  return ScalarShape(c);
}

Status TensorArraySplitShape(InferenceContext* c) {
  Shape unused;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(1), 1, &unused));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &unused));
  HR_RETURN_IF_ERROR(ScalarInput(c, 3));
  return ScalarShape(c);
}

Status StackV2Shape(InferenceContext* c) {
  c->set_output(0, c->UnknownShape());
  return OkStatus();
}

Status StackPushShape(InferenceContext* c) {
  c->set_output(0, c->input(1));
  return OkStatus();
}

REGISTER_OP("TensorArray")
    .Input("size: int32")
    .Output("handle: Ref(string)")
    .Attr("dtype: type")
    .Attr("dynamic_size: bool = false")
    .Attr("clear_after_read: bool = true")
    .Attr("tensor_array_name: string = ''")
    .Attr("element_shape: shape = { unknown_rank: true }")
    .SetIsStateful()
    .Deprecated(16, "Use TensorArrayV3")
    .SetShapeFn(TensorArrayShape)
    .WritesState();
REGISTER_OP("TensorArrayV2")
    .Input("size: int32")
    .Output("handle: string")
    .Attr("dtype: type")
    .Attr("element_shape: shape = { unknown_rank: true }")
    .Attr("dynamic_size: bool = false")
    .Attr("clear_after_read: bool = true")
    .Attr("tensor_array_name: string = ''")
    .SetIsStateful()
    .Deprecated(26, "Use TensorArrayV3")
    .SetShapeFn(TensorArrayShape)
    .WritesState();
REGISTER_OP("TensorArrayV3")
    .Input("size: int32")
    .Output("handle: resource")
    .Output("flow: float")
    .Attr("dtype: type")
    .Attr("element_shape: shape = { unknown_rank: true }")
    .Attr("dynamic_size: bool = false")
    .Attr("clear_after_read: bool = true")
    .Attr("identical_element_shapes: bool = false")
    .Attr("tensor_array_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(TensorArrayV3Shape)
    .WritesState();
REGISTER_OP("TensorArrayGrad")
    .Input("handle: string")
    .Input("flow_in: float")
    .Output("grad_handle: Ref(string)")
    .Attr("source: string")
    .SetIsStateful()
    .Deprecated(16, "Use TensorArrayGradV3")
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("TensorArrayGradV2")
    .Input("handle: string")
    .Input("flow_in: float")
    .Output("grad_handle: string")
    .Attr("source: string")
    .SetIsStateful()
    .Deprecated(26, "Use TensorArrayGradV3")
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("TensorArrayGradV3")
    .Input("handle: resource")
    .Input("flow_in: float")
    .Output("grad_handle: resource")
    .Output("flow_out: float")
    .Attr("source: string")
    .SetIsStateful()
    .SetShapeFn(GradV3Shape)
    .WritesState();
REGISTER_OP("TensorArrayGradWithShape")
    .Input("handle: resource")
    .Input("flow_in: float")
    .Input("shape_to_prepend: int32")
    .Output("grad_handle: resource")
    .Output("flow_out: float")
    .Attr("source: string")
    .SetIsStateful()
    .SetShapeFn(GradV3Shape)
    .WritesState();
REGISTER_OP("TensorArrayWrite")
    .Input("handle: Ref(string)")
    .Input("index: int32")
    .Input("value: T")
    .Input("flow_in: float")
    .Output("flow_out: float")
    .Attr("T: type")
    .Deprecated(16, "Use TensorArrayWriteV3")
    .SetShapeFn(WriteShape)
    .WritesState();
REGISTER_OP("TensorArrayRead")
    .Input("handle: Ref(string)")
    .Input("index: int32")
    .Input("flow_in: float")
    .Output("value: dtype")
    .Attr("dtype: type")
    .Deprecated(16, "Use TensorArrayReadV3")
    .SetShapeFn(TensorArrayReadShape)
    .WritesState();
REGISTER_OP("TensorArrayGather")
    .Input("handle: Ref(string)")
    .Input("indices: int32")
    .Input("flow_in: float")
    .Output("value: dtype")
    .Attr("dtype: type")
    .Attr("element_shape: shape = { unknown_rank: true }")
    .Deprecated(16, "Use TensorArrayGatherV3")
    .SetShapeFn(GatherShape)
    .WritesState();
REGISTER_OP("TensorArrayScatter")
    .Input("handle: Ref(string)")
    .Input("indices: int32")
    .Input("value: T")
    .Input("flow_in: float")
    .Output("flow_out: float")
    .Attr("T: type")
    .Deprecated(19, "Use TensorArrayScatterV3")
    .SetShapeFn(TensorArrayScatterShape)
    .WritesState();
REGISTER_OP("TensorArrayConcat")
    .Input("handle: Ref(string)")
    .Input("flow_in: float")
    .Output("value: dtype")
    .Output("lengths: int64")
    .Attr("dtype: type")
    .Attr("element_shape_except0: shape = { unknown_rank: true }")
    .Deprecated(16, "Use TensorArrayConcatV3")
    .SetShapeFn(ConcatShape)
    .WritesState();
REGISTER_OP("TensorArraySplit")
    .Input("handle: Ref(string)")
    .Input("value: T")
    .Input("lengths: int64")
    .Input("flow_in: float")
    .Output("flow_out: float")
    .Attr("T: type")
    .Deprecated(16, "Use TensorArraySplitV3")
    .SetShapeFn(TensorArraySplitShape)
    .WritesState();
REGISTER_OP("TensorArraySize")
    .Input("handle: Ref(string)")
    .Input("flow_in: float")
    .Output("size: int32")
    .Deprecated(16, "Use TensorArraySizeV3")
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("TensorArrayClose")
    .Input("handle: Ref(string)")
    .Deprecated(16, "Use TensorArrayCloseV3")
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("TensorArrayWriteV2")
    .Input("handle: string")
    .Input("index: int32")
    .Input("value: T")
    .Input("flow_in: float")
    .Output("flow_out: float")
    .Attr("T: type")
    .Deprecated(26, "Use TensorArrayWriteV3")
    .SetShapeFn(WriteShape)
    .WritesState();
REGISTER_OP("TensorArrayReadV2")
    .Input("handle: string")
    .Input("index: int32")
    .Input("flow_in: float")
    .Output("value: dtype")
    .Attr("dtype: type")
    .Deprecated(26, "Use TensorArrayReadV3")
    .SetShapeFn(TensorArrayReadShape)
    .WritesState();
REGISTER_OP("TensorArrayGatherV2")
    .Input("handle: string")
    .Input("indices: int32")
    .Input("flow_in: float")
    .Output("value: dtype")
    .Attr("dtype: type")
    .Attr("element_shape: shape = { unknown_rank: true }")
    .Deprecated(26, "Use TensorArrayGatherV3")
    .SetShapeFn(GatherShape)
    .WritesState();
REGISTER_OP("TensorArrayScatterV2")
    .Input("handle: string")
    .Input("indices: int32")
    .Input("value: T")
    .Input("flow_in: float")
    .Output("flow_out: float")
    .Attr("T: type")
    .Deprecated(26, "Use TensorArrayScatterV3")
    .SetShapeFn(TensorArrayScatterShape)
    .WritesState();
REGISTER_OP("TensorArrayConcatV2")
    .Input("handle: string")
    .Input("flow_in: float")
    .Output("value: dtype")
    .Output("lengths: int64")
    .Attr("dtype: type")
    .Attr("element_shape_except0: shape = { unknown_rank: true }")
    .SetShapeFn(ConcatShape)
    .WritesState();
REGISTER_OP("TensorArraySplitV2")
    .Input("handle: string")
    .Input("value: T")
    .Input("lengths: int64")
    .Input("flow_in: float")
    .Output("flow_out: float")
    .Attr("T: type")
    .Deprecated(26, "Use TensorArraySplitV3")
    .SetShapeFn(TensorArraySplitShape)
    .WritesState();
REGISTER_OP("TensorArraySizeV2")
    .Input("handle: string")
    .Input("flow_in: float")
    .Output("size: int32")
    .Deprecated(26, "Use TensorArraySizeV3")
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("TensorArrayCloseV2")
    .Input("handle: string")
    .Deprecated(26, "Use TensorArrayCloseV3")
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("TensorArrayWriteV3")
    .Input("handle: resource")
    .Input("index: int32")
    .Input("value: T")
    .Input("flow_in: float")
    .Output("flow_out: float")
    .Attr("T: type")
    .SetIsStateful()
    .SetShapeFn(WriteShape)
    .WritesState();
REGISTER_OP("TensorArrayReadV3")
    .Input("handle: resource")
    .Input("index: int32")
    .Input("flow_in: float")
    .Output("value: dtype")
    .Attr("dtype: type")
    .SetIsStateful()
    .SetShapeFn(TensorArrayReadShape)
    .WritesState();
REGISTER_OP("TensorArrayGatherV3")
    .Input("handle: resource")
    .Input("indices: int32")
    .Input("flow_in: float")
    .Output("value: dtype")
    .Attr("dtype: type")
    .Attr("element_shape: shape = { unknown_rank: true }")
    .SetIsStateful()
    .SetShapeFn(GatherShape)
    .WritesState();
REGISTER_OP("TensorArrayScatterV3")
    .Input("handle: resource")
    .Input("indices: int32")
    .Input("value: T")
    .Input("flow_in: float")
    .Output("flow_out: float")
    .Attr("T: type")
    .SetIsStateful()
    .SetShapeFn(TensorArrayScatterShape)
    .WritesState();
REGISTER_OP("TensorArrayConcatV3")
    .Input("handle: resource")
    .Input("flow_in: float")
    .Output("value: dtype")
    .Output("lengths: int64")
    .Attr("dtype: type")
    .Attr("element_shape_except0: shape = { unknown_rank: true }")
    .SetIsStateful()
    .SetShapeFn(ConcatShape)
    .WritesState();
REGISTER_OP("TensorArraySplitV3")
    .Input("handle: resource")
    .Input("value: T")
    .Input("lengths: int64")
    .Input("flow_in: float")
    .Output("flow_out: float")
    .Attr("T: type")
    .SetIsStateful()
    .SetShapeFn(TensorArraySplitShape)
    .WritesState();
REGISTER_OP("TensorArraySizeV3")
    .Input("handle: resource")
    .Input("flow_in: float")
    .Output("size: int32")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("TensorArrayCloseV3")
    .Input("handle: resource")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("TensorArrayPack")
    .Input("handle: Ref(string)")
    .Input("flow_in: float")
    .Output("value: dtype")
    .Attr("dtype: type")
    .Attr("element_shape: shape = { unknown_rank: true }")
    .Deprecated(16, "Use TensorArrayGatherV3 with RangeOp")
    .SetShapeFn(GatherShape)
    .WritesState();
REGISTER_OP("TensorArrayUnpack")
    .Input("handle: Ref(string)")
    .Input("value: T")
    .Input("flow_in: float")
    .Output("flow_out: float")
    .Attr("T: type")
    .Deprecated(20, "Use TensorArrayScatterV3 with RangeOp")
    .SetShapeFn(TensorArrayScatterShape)
    .WritesState();
REGISTER_OP("Stack")
    .Output("handle: Ref(string)")
    .Attr("elem_type: type")
    .Attr("stack_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(StringHandleShape)
    .WritesState();
REGISTER_OP("StackPush")
    .Input("handle: Ref(string)")
    .Input("elem: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("swap_memory: bool = false")
    .SetShapeFn(StackPushShape)
    .WritesState();
REGISTER_OP("StackPop")
    .Input("handle: Ref(string)")
    .Output("elem: elem_type")
    .Attr("elem_type: type")
    .SetShapeFn(shape_inference::UnknownShape)
    .WritesState();
REGISTER_OP("StackClose")
    .Input("handle: Ref(string)")
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("StackV2")
    .Input("max_size: int32")
    .Output("handle: resource")
    .Attr("elem_type: type")
    .Attr("stack_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(StackV2Shape)
    .WritesState();
REGISTER_OP("StackPushV2")
    .Input("handle: resource")
    .Input("elem: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("swap_memory: bool = false")
    .SetIsStateful()
    .SetShapeFn(StackPushShape)
    .WritesState();
REGISTER_OP("StackPopV2")
    .Input("handle: resource")
    .Output("elem: elem_type")
    .Attr("elem_type: type")
    .SetIsStateful()
    .SetShapeFn(shape_inference::UnknownShape)
    .WritesState();
REGISTER_OP("StackCloseV2")
    .Input("handle: resource")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();

}  // namespace
}  // namespace headrace

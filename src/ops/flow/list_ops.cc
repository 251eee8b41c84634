// TensorLists: lists of tensors as values, in DT_VARIANT scalars. Type and
// shape of the elements travel with the handle.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;
using shape_inference::ScalarShape;

// The shape that input i spells out; a scalar -1 is an unknown rank.
Status ShapeInput(InferenceContext* c, int i, Shape* out) {
  *out = c->UnknownShape();
  if (!c->RankKnown(c->input(i)) || c->Rank(c->input(i)) == 0) {
    return OkStatus();
  }
  return c->MakeShapeFromInput(i, out);
}

// What the handle in input 0 and the shape in input i, if i is not negative,
// tell of an element.
Status Element(InferenceContext* c, int i, Shape* out) {
  *out = c->UnknownShape();
  if (i >= 0) HR_RETURN_IF_ERROR(ShapeInput(c, i, out));
  const std::vector<DtypeAndShape>* h = c->input_handle(0);
  if (h == nullptr || h->empty()) return OkStatus();
  return c->Merge(*out, h->front().shape, out);
}

// A list of elements of this shape in output 0.
Status SetList(InferenceContext* c, const Shape& element) {
  DtypeAndShape h;
  HR_RETURN_IF_ERROR(c->GetAttr("element_dtype", &h.dtype));
  h.shape = element;
  c->set_output(0, c->Scalar());
  c->set_output_handle(0, {h});
  return OkStatus();
}

Status PassHandle(InferenceContext* c) {
  c->set_output(0, c->input(0));
  if (const auto* h = c->input_handle(0)) c->set_output_handle(0, *h);
  return OkStatus();
}

Status EmptyListShape(InferenceContext* c) {
  Shape element;
  HR_RETURN_IF_ERROR(ShapeInput(c, 0, &element));
  return SetList(c, element);
}
Status ReserveShape(InferenceContext* c) { return EmptyListShape(c); }

Status PushBackShape(InferenceContext* c) {
  Shape element, unused;
  HR_RETURN_IF_ERROR(Element(c, -1, &element));
  HR_RETURN_IF_ERROR(c->Merge(element, c->input(1), &unused));
  return SetList(c, element);
}

Status PushBackBatchShape(InferenceContext* c) {
  c->set_output(0, c->input(0));
  return OkStatus();
}

Status PopBackShape(InferenceContext* c) {
  Shape element;
  HR_RETURN_IF_ERROR(Element(c, 1, &element));
  HR_RETURN_IF_ERROR(SetList(c, element));
  c->set_output(1, element);
  return OkStatus();
}

Status ElementShapeShape(InferenceContext* c) {
  Shape element;
  HR_RETURN_IF_ERROR(Element(c, -1, &element));
  // A list of unknown rank answers with a scalar.
  c->set_output(
      0, c->RankKnown(element) ? c->Vector(element.dims()) : c->UnknownShape());
  return OkStatus();
}

Status GetItemShape(InferenceContext* c) {
  Shape element;
  HR_RETURN_IF_ERROR(Element(c, 2, &element));
  c->set_output(0, element);
  return OkStatus();
}

Status StackShape(InferenceContext* c) {
  Shape element, out;
  int64_t n = -1;
  HR_RETURN_IF_ERROR(Element(c, 1, &element));
  HR_RETURN_IF_ERROR(c->GetAttr("num_elements", &n));
  HR_RETURN_IF_ERROR(c->Concatenate(c->Vector(n), element, &out));
  c->set_output(0, out);
  return OkStatus();
}

Status GatherShape(InferenceContext* c) {
  Shape element, out;
  HR_RETURN_IF_ERROR(Element(c, 2, &element));
  HR_RETURN_IF_ERROR(c->Concatenate(c->input(1), element, &out));
  c->set_output(0, out);
  return OkStatus();
}

Status Concatenated(InferenceContext* c, Shape element) {
  Shape out;
  if (c->RankKnown(element)) {
    HR_RETURN_IF_ERROR(c->WithRankAtLeast(element, 1, &element));
    HR_RETURN_IF_ERROR(c->Subshape(element, 1, &element));
  }
  HR_RETURN_IF_ERROR(c->Concatenate(c->Vector(-1), element, &out));
  c->set_output(0, out);
  c->set_output(1, c->Vector(-1));
  return OkStatus();
}
Status ConcatShape(InferenceContext* c) {
  Shape element;
  HR_RETURN_IF_ERROR(c->GetAttr("element_shape", &element));
  return Concatenated(c, element);
}
Status ConcatV2Shape(InferenceContext* c) {
  Shape element;
  HR_RETURN_IF_ERROR(ShapeInput(c, 1, &element));
  return Concatenated(c, element);
}

// FromTensor, Split and Scatter: the element shape is input "element_shape".
Status FromTensorShape(InferenceContext* c) {
  Shape element, unused;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &unused));
  HR_RETURN_IF_ERROR(
      ShapeInput(c, c->op_def().FindInput("element_shape"), &element));
  return SetList(c, element);
}

REGISTER_OP("EmptyTensorList")
    .Input("element_shape: shape_type")
    .Input("max_num_elements: int32")
    .Output("handle: variant")
    .Attr("element_dtype: type")
    .Attr("shape_type: {int32, int64}")
    .SetShapeFn(EmptyListShape);
REGISTER_OP("TensorListReserve")
    .Input("element_shape: shape_type")
    .Input("num_elements: int32")
    .Output("handle: variant")
    .Attr("element_dtype: type")
    .Attr("shape_type: {int32, int64}")
    .SetShapeFn(ReserveShape);
REGISTER_OP("TensorListPushBack")
    .Input("input_handle: variant")
    .Input("tensor: element_dtype")
    .Output("output_handle: variant")
    .Attr("element_dtype: type")
    .SetShapeFn(PushBackShape);
REGISTER_OP("TensorListPopBack")
    .Input("input_handle: variant")
    .Input("element_shape: int32")
    .Output("output_handle: variant")
    .Output("tensor: element_dtype")
    .Attr("element_dtype: type")
    .SetShapeFn(PopBackShape);
REGISTER_OP("TensorListPushBackBatch")
    .Input("input_handles: variant")
    .Input("tensor: element_dtype")
    .Output("output_handles: variant")
    .Attr("element_dtype: type")
    .SetShapeFn(PushBackBatchShape);
REGISTER_OP("TensorListConcatLists")
    .Input("input_a: variant")
    .Input("input_b: variant")
    .Output("output: variant")
    .Attr("element_dtype: type")
    .SetShapeFn(PassHandle);
REGISTER_OP("TensorListLength")
    .Input("input_handle: variant")
    .Output("length: int32")
    .SetShapeFn(ScalarShape);
REGISTER_OP("TensorListElementShape")
    .Input("input_handle: variant")
    .Output("element_shape: shape_type")
    .Attr("shape_type: {int32, int64}")
    .SetShapeFn(ElementShapeShape);
REGISTER_OP("TensorListResize")
    .Input("input_handle: variant")
    .Input("size: int32")
    .Output("output_handle: variant")
    .SetShapeFn(PassHandle);
REGISTER_OP("TensorListGetItem")
    .Input("input_handle: variant")
    .Input("index: int32")
    .Input("element_shape: Tshape")
    .Output("item: element_dtype")
    .Attr("element_dtype: type")
    .Attr("Tshape: {int32, int64} = DT_INT32")
    .SetShapeFn(GetItemShape);
REGISTER_OP("TensorListSetItem")
    .Input("input_handle: variant")
    .Input("index: int32")
    .Input("item: element_dtype")
    .Output("output_handle: variant")
    .Attr("element_dtype: type")
    .Attr("resize_if_index_out_of_bounds: bool = false")
    .SetShapeFn(PassHandle);
REGISTER_OP("TensorListStack")
    .Input("input_handle: variant")
    .Input("element_shape: int32")
    .Output("tensor: element_dtype")
    .Attr("element_dtype: type")
    .Attr("num_elements: int = -1")
    .SetShapeFn(StackShape);
REGISTER_OP("TensorListGather")
    .Input("input_handle: variant")
    .Input("indices: int32")
    .Input("element_shape: int32")
    .Output("values: element_dtype")
    .Attr("element_dtype: type")
    .SetShapeFn(GatherShape);
REGISTER_OP("TensorListConcat")
    .Input("input_handle: variant")
    .Output("tensor: element_dtype")
    .Output("lengths: int64")
    .Attr("element_dtype: type")
    .Attr("element_shape: shape = { unknown_rank: true }")
    .SetShapeFn(ConcatShape);
REGISTER_OP("TensorListConcatV2")
    .Input("input_handle: variant")
    .Input("element_shape: shape_type")
    .Input("leading_dims: int64")
    .Output("tensor: element_dtype")
    .Output("lengths: int64")
    .Attr("element_dtype: type")
    .Attr("shape_type: {int32, int64}")
    .SetShapeFn(ConcatV2Shape);
REGISTER_OP("TensorListFromTensor")
    .Input("tensor: element_dtype")
    .Input("element_shape: shape_type")
    .Output("output_handle: variant")
    .Attr("element_dtype: type")
    .Attr("shape_type: {int32, int64}")
    .SetShapeFn(FromTensorShape);
REGISTER_OP("TensorListSplit")
    .Input("tensor: element_dtype")
    .Input("element_shape: shape_type")
    .Input("lengths: int64")
    .Output("output_handle: variant")
    .Attr("element_dtype: type")
    .Attr("shape_type: {int32, int64}")
    .SetShapeFn(FromTensorShape);
REGISTER_OP("TensorListScatter")
    .Input("tensor: element_dtype")
    .Input("indices: int32")
    .Input("element_shape: shape_type")
    .Output("output_handle: variant")
    .Attr("element_dtype: type")
    .Attr("shape_type: {int32, int64}")
    .SetShapeFn(FromTensorShape);
REGISTER_OP("TensorListScatterV2")
    .Input("tensor: element_dtype")
    .Input("indices: int32")
    .Input("element_shape: shape_type")
    .Input("num_elements: int32")
    .Output("output_handle: variant")
    .Attr("element_dtype: type")
    .Attr("shape_type: {int32, int64}")
    .SetShapeFn(FromTensorShape);
REGISTER_OP("TensorListScatterIntoExistingList")
    .Input("input_handle: variant")
    .Input("tensor: element_dtype")
    .Input("indices: int32")
    .Output("output_handle: variant")
    .Attr("element_dtype: type")
    .SetShapeFn(PassHandle);

}  // namespace
}  // namespace headrace

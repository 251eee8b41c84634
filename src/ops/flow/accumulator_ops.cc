// Conditional accumulators: gradients of many workers, taken as one.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;
using shape_inference::NoOutputs;
using shape_inference::ScalarShape;

Status AccumulatorShape(InferenceContext* c) {
  c->set_output(0, c->Vector(2));
  return OkStatus();
}

// The handle is a scalar. TensorFlow infers [2], the shape of older handles;
// nothing is said, so that neither is contradicted.
Status ResourceAccumulatorShape(InferenceContext* c) {
  DtypeAndShape h;
  HR_RETURN_IF_ERROR(c->GetAttr("dtype", &h.dtype));
  HR_RETURN_IF_ERROR(c->GetAttr("shape", &h.shape));
  c->set_output(0, c->UnknownShape());
  c->set_output_handle(0, {h});
  return OkStatus();
}

Status ScalarSecondInput(InferenceContext* c) {
  Shape unused;
  return c->WithRank(c->input(1), 0, &unused);
}

Status TakeShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(ScalarSecondInput(c));
  const std::vector<DtypeAndShape>* h = c->input_handle(0);
  c->set_output(0, h != nullptr && h->size() == 1 ? h->front().shape : Shape());
  return OkStatus();
}

REGISTER_OP("ConditionalAccumulator")
    .Output("handle: Ref(string)")
    .Attr(
        "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .Attr("shape: shape")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'")
    .SetIsStateful()
    .SetShapeFn(AccumulatorShape)
    .WritesState();
REGISTER_OP("ResourceConditionalAccumulator")
    .Output("handle: resource")
    .Attr(
        "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .Attr("shape: shape")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'")
    .SetIsStateful()
    .SetShapeFn(ResourceAccumulatorShape)
    .WritesState();
REGISTER_OP("AccumulatorApplyGradient")
    .Input("handle: Ref(string)")
    .Input("local_step: int64")
    .Input("gradient: dtype")
    .Attr(
        "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .SetShapeFn(ScalarSecondInput)
    .WritesState();
REGISTER_OP("AccumulatorNumAccumulated")
    .Input("handle: Ref(string)")
    .Output("num_accumulated: int32")
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("AccumulatorSetGlobalStep")
    .Input("handle: Ref(string)")
    .Input("new_global_step: int64")
    .SetShapeFn(ScalarSecondInput)
    .WritesState();
REGISTER_OP("AccumulatorTakeGradient")
    .Input("handle: Ref(string)")
    .Input("num_required: int32")
    .Output("average: dtype")
    .Attr(
        "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .SetShapeFn(TakeShape)
    .WritesState();
REGISTER_OP("ResourceAccumulatorApplyGradient")
    .Input("handle: resource")
    .Input("local_step: int64")
    .Input("gradient: dtype")
    .Attr(
        "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .SetIsStateful()
    .SetShapeFn(ScalarSecondInput)
    .WritesState();
REGISTER_OP("ResourceAccumulatorNumAccumulated")
    .Input("handle: resource")
    .Output("num_accumulated: int32")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("ResourceAccumulatorSetGlobalStep")
    .Input("handle: resource")
    .Input("new_global_step: int64")
    .SetIsStateful()
    .SetShapeFn(ScalarSecondInput)
    .WritesState();
REGISTER_OP("ResourceAccumulatorTakeGradient")
    .Input("handle: resource")
    .Input("num_required: int32")
    .Output("average: dtype")
    .Attr(
        "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .SetIsStateful()
    .SetShapeFn(TakeShape)
    .WritesState();
REGISTER_OP("SparseConditionalAccumulator")
    .Output("handle: Ref(string)")
    .Attr(
        "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .Attr("shape: shape")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'")
    .SetIsStateful()
    .SetShapeFn(AccumulatorShape)
    .WritesState();
REGISTER_OP("SparseAccumulatorApplyGradient")
    .Input("handle: Ref(string)")
    .Input("local_step: int64")
    .Input("gradient_indices: int64")
    .Input("gradient_values: dtype")
    .Input("gradient_shape: int64")
    .Attr(
        "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .Attr("has_known_shape: bool")
    .SetShapeFn(ScalarSecondInput)
    .WritesState();
REGISTER_OP("SparseAccumulatorTakeGradient")
    .Input("handle: Ref(string)")
    .Input("num_required: int32")
    .Output("indices: int64")
    .Output("values: dtype")
    .Output("shape: int64")
    .Attr(
        "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .SetShapeFn([](InferenceContext* c) -> Status {
      HR_RETURN_IF_ERROR(ScalarSecondInput(c));
      c->set_output(0, c->Vector(-1));
      c->set_output(1, Shape());
      c->set_output(2, c->Vector(-1));
      return OkStatus();
    })
    .WritesState();

}  // namespace
}  // namespace headrace

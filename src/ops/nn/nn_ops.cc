// Schemas of activations, softmax, bias, top-k and data-format helpers.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using shape_inference::MergeBothInputs;

Status SoftmaxShape(InferenceContext* c) {
  PartialTensorShape logits;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &logits));
  c->set_output(0, logits);
  return OkStatus();
}

// Values and indices: the input with k as its last dimension.
Status TopKShapeFor(InferenceContext* c, int64_t k) {
  PartialTensorShape input, output;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &input));
  const int64_t last = InferenceContext::Dim(input, -1);
  if (last >= 0 && k >= 0 && last < k) {
    return errors::InvalidArgument("input must have last dimension >= k = ", k,
                                   " but is ", last);
  }
  if (input.unknown_rank()) {
    output = InferenceContext::UnknownShape();
  } else {
    HR_RETURN_IF_ERROR(c->ReplaceDim(input, input.dims() - 1, k, &output));
  }
  c->set_output(0, output);
  c->set_output(1, output);
  return OkStatus();
}

Status TopKShape(InferenceContext* c) {
  int64_t k;
  HR_RETURN_IF_ERROR(c->GetAttr("k", &k));
  return TopKShapeFor(c, k);
}

Status TopKV2Shape(InferenceContext* c) {
  PartialTensorShape scalar;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &scalar));
  int64_t k;
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(1, &k));
  return TopKShapeFor(c, k);
}

Status InTopKShape(InferenceContext* c) {
  PartialTensorShape predictions, targets;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &predictions));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &targets));
  int64_t batch;
  HR_RETURN_IF_ERROR(c->MergeDims(InferenceContext::Dim(predictions, 0),
                                  InferenceContext::Dim(targets, 0), &batch));
  c->set_output(0, InferenceContext::Vector(batch));
  return OkStatus();
}

Status NthElementShape(InferenceContext* c) {
  PartialTensorShape input, scalar, output;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &input));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &scalar));
  int64_t n;
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(1, &n));
  const int64_t last = InferenceContext::Dim(input, -1);
  if (last >= 0 && n >= 0 && last <= n) {
    return errors::InvalidArgument("Input must have last dimension > n = ", n,
                                   " but is ", last);
  }
  HR_RETURN_IF_ERROR(c->Subshape(input, 0, -1, &output));
  c->set_output(0, output);
  return OkStatus();
}

}  // namespace

#define HR_REAL_TYPES                                                    \
  "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, " \
  "half, uint32, uint64}"
#define HR_NUMBER_TYPES                                                   \
  "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, "  \
  "quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, " \
  "uint32, uint64}"

REGISTER_OP("Relu")
    .Input("features: T")
    .Output("activations: T")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64, qint8}")
    .KeepsShape()
    .Elementwise()
    .Activation({ActivationTraits::kRelu});

REGISTER_OP("ReluGrad")
    .Input("gradients: T")
    .Input("features: T")
    .Output("backprops: T")
    .Attr("T: " HR_REAL_TYPES)
    .SetShapeFn(MergeBothInputs)
    .SymbolicShape(KeepSymbolicShape);

REGISTER_OP("Relu6")
    .Input("features: T")
    .Output("activations: T")
    .Attr("T: " HR_REAL_TYPES)
    .KeepsShape()
    .Elementwise()
    .Activation({ActivationTraits::kRelu6});

REGISTER_OP("Relu6Grad")
    .Input("gradients: T")
    .Input("features: T")
    .Output("backprops: T")
    .Attr("T: " HR_REAL_TYPES)
    .SetShapeFn(MergeBothInputs)
    .SymbolicShape(KeepSymbolicShape);

REGISTER_OP("LeakyRelu")
    .Input("features: T")
    .Output("activations: T")
    .Attr("alpha: float = 0.2")
    .Attr("T: {half, bfloat16, float, double} = DT_FLOAT")
    .KeepsShape()
    .Activation(ActivationFunction("alpha"));

REGISTER_OP("LeakyReluGrad")
    .Input("gradients: T")
    .Input("features: T")
    .Output("backprops: T")
    .Attr("alpha: float = 0.2")
    .Attr("T: {half, bfloat16, float, double} = DT_FLOAT")
    .SetShapeFn(MergeBothInputs)
    .SymbolicShape(KeepSymbolicShape);

REGISTER_OP("Elu")
    .Input("features: T")
    .Output("activations: T")
    .Attr("T: {half, bfloat16, float, double}")
    .KeepsShape()
    .Elementwise()
    .Activation(ActivationFunction());

REGISTER_OP("EluGrad")
    .Input("gradients: T")
    .Input("outputs: T")
    .Output("backprops: T")
    .Attr("T: {half, bfloat16, float, double}")
    .SetShapeFn(MergeBothInputs)
    .SymbolicShape(KeepSymbolicShape);

REGISTER_OP("Selu")
    .Input("features: T")
    .Output("activations: T")
    .Attr("T: {half, bfloat16, float, double}")
    .KeepsShape()
    .Elementwise();

REGISTER_OP("SeluGrad")
    .Input("gradients: T")
    .Input("outputs: T")
    .Output("backprops: T")
    .Attr("T: {half, bfloat16, float, double}")
    .SetShapeFn(MergeBothInputs)
    .SymbolicShape(KeepSymbolicShape);

REGISTER_OP("Softplus")
    .Input("features: T")
    .Output("activations: T")
    .Attr("T: {half, bfloat16, float, double}")
    .KeepsShape()
    .Elementwise();

REGISTER_OP("SoftplusGrad")
    .Input("gradients: T")
    .Input("features: T")
    .Output("backprops: T")
    .Attr("T: {half, bfloat16, float, double}")
    .SetShapeFn(MergeBothInputs)
    .SymbolicShape(KeepSymbolicShape);

REGISTER_OP("Softsign")
    .Input("features: T")
    .Output("activations: T")
    .Attr("T: {half, bfloat16, float, double}")
    .KeepsShape()
    .Elementwise();

REGISTER_OP("SoftsignGrad")
    .Input("gradients: T")
    .Input("features: T")
    .Output("backprops: T")
    .Attr("T: {half, bfloat16, float, double}")
    .SetShapeFn(MergeBothInputs)
    .SymbolicShape(KeepSymbolicShape);

REGISTER_OP("Softmax")
    .Input("logits: T")
    .Output("softmax: T")
    .Attr("T: {half, bfloat16, float, double}")
    .SetShapeFn(SoftmaxShape);

REGISTER_OP("LogSoftmax")
    .Input("logits: T")
    .Output("logsoftmax: T")
    .Attr("T: {half, bfloat16, float, double}")
    .SetShapeFn(SoftmaxShape);

REGISTER_OP("BiasAdd")
    .Input("value: T")
    .Input("bias: T")
    .Output("output: T")
    .Attr("T: " HR_NUMBER_TYPES)
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .SetShapeFn(shape_inference::BiasAddShape)
    .KeepsShapeOfInput()
    .Computes(ArithmeticOp::kBiasAdd);

REGISTER_OP("BiasAddV1")
    .Input("value: T")
    .Input("bias: T")
    .Output("output: T")
    .Attr("T: " HR_NUMBER_TYPES)
    .SetShapeFn(shape_inference::BiasAddShape)
    .KeepsShapeOfInput()
    .Computes(ArithmeticOp::kBiasAdd);

REGISTER_OP("BiasAddGrad")
    .Input("out_backprop: T")
    .Output("output: T")
    .Attr("T: " HR_NUMBER_TYPES)
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .SetShapeFn(shape_inference::BiasAddGradShape);

REGISTER_OP("TopK")
    .Input("input: T")
    .Output("values: T")
    .Output("indices: int32")
    .Attr("k: int >= 0")
    .Attr("sorted: bool = true")
    .Attr("T: " HR_REAL_TYPES)
    .Deprecated(7, "Use TopKV2 instead")
    .SetShapeFn(TopKShape);

REGISTER_OP("TopKV2")
    .Input("input: T")
    .Input("k: Tk")
    .Output("values: T")
    .Output("indices: index_type")
    .Attr("sorted: bool = true")
    .Attr("T: " HR_REAL_TYPES)
    .Attr("Tk: {int16, int32, int64} = DT_INT32")
    .Attr("index_type: {int16, int32, int64} = DT_INT32")
    .SetShapeFn(TopKV2Shape);

REGISTER_OP("InTopK")
    .Input("predictions: float")
    .Input("targets: T")
    .Output("precision: bool")
    .Attr("k: int")
    .Attr("T: {int32, int64} = DT_INT32")
    .SetShapeFn(InTopKShape);

REGISTER_OP("InTopKV2")
    .Input("predictions: float")
    .Input("targets: T")
    .Input("k: T")
    .Output("precision: bool")
    .Attr("T: {int32, int64} = DT_INT32")
    .SetShapeFn(InTopKShape);

REGISTER_OP("NthElement")
    .Input("input: T")
    .Input("n: int32")
    .Output("values: T")
    .Attr("reverse: bool = false")
    .Attr("T: " HR_REAL_TYPES)
    .SetShapeFn(NthElementShape);

REGISTER_OP("DataFormatDimMap")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {int32, int64} = DT_INT32")
    .Attr("src_format: string = 'NHWC'")
    .Attr("dst_format: string = 'NCHW'")
    .KeepsShape();

REGISTER_OP("DataFormatVecPermute")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {int32, int64} = DT_INT32")
    .Attr("src_format: string = 'NHWC'")
    .Attr("dst_format: string = 'NCHW'")
    .KeepsShape();
#undef HR_REAL_TYPES
#undef HR_NUMBER_TYPES

}  // namespace headrace

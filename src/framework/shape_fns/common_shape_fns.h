// Shape functions that many ops share, and the arithmetic of windows that shape
// functions and kernels share.
#ifndef HEADRACE_FRAMEWORK_SHAPE_FNS_COMMON_SHAPE_FNS_H_
#define HEADRACE_FRAMEWORK_SHAPE_FNS_COMMON_SHAPE_FNS_H_

#include "headrace/shape_inference.h"

namespace headrace {

enum class Padding : uint8_t { kValid = 1, kSame = 2, kExplicit = 3 };
Status ParsePadding(absl::string_view s, Padding* out);

enum class DataFormat : uint8_t { kNHWC, kNCHW };
// "NHWC"/"NDHWC"/"NWC" and "NCHW"/"NCDHW"/"NCW".
Status ParseDataFormat(absl::string_view s, DataFormat* out);
// Index of the channel and spatial dims in a tensor of `rank` dims.
inline int ChannelDim(DataFormat f, int rank) {
  return f == DataFormat::kNHWC ? rank - 1 : 1;
}
inline int SpatialDim(DataFormat f, int i) {
  return f == DataFormat::kNHWC ? 1 + i : 2 + i;
}

// One dimension of a convolution or pooling window; formulas in
// docs/semantics: SAME ceil(in/stride), VALID (in - e + stride)/stride with e
// the dilated filter. For kExplicit pad_before and pad_after are inputs, else
// outputs. InvalidArgument for a stride or dilation below 1 or a negative size.
Status WindowedOutputSize(int64_t in, int64_t filter, int64_t dilation,
                          int64_t stride, Padding padding, int64_t* out,
                          int64_t* pad_before, int64_t* pad_after);

// The broadcast of two shapes by NumPy's rules.
Status BroadcastShapes(const PartialTensorShape& a, const PartialTensorShape& b,
                       PartialTensorShape* out);

namespace shape_inference {

Status UnknownShape(InferenceContext* c);    // all outputs unknown
Status UnchangedShape(InferenceContext* c);  // output 0 = input 0
Status UnchangedShapeWithRank(InferenceContext* c, int rank);
Status ScalarShape(InferenceContext* c);        // output 0 = []
Status StringHandleShape(InferenceContext* c);  // output 0 = [2]
Status NoOutputs(InferenceContext* c);
// An attr of type int that fits an int, as the size of a list of inputs does.
Status IntAttr(const InferenceContext& c, const char* attr, int* n);
Status MergeBothInputs(InferenceContext* c);  // unary gradients: merge(0, 1)
Status BroadcastBinaryOp(InferenceContext* c);
Status MatMulShape(InferenceContext* c);
Status BatchMatMulShape(InferenceContext* c);  // V1 and V2: broadcasts for V2
Status BiasAddShape(InferenceContext* c);
Status BiasAddGradShape(InferenceContext* c);
Status Conv2DShape(InferenceContext* c);
Status UngroupedConv2DShape(InferenceContext* c);  // NHWC, filter as deep as x
Status Conv3DShape(InferenceContext* c);
Status DepthwiseConv2DNativeShape(InferenceContext* c);
Status AvgPoolShape(InferenceContext* c);  // ksize/strides attrs
Status MaxPoolShape(InferenceContext* c);
Status FusedBatchNormShape(InferenceContext* c);
Status FusedBatchNormGradShape(InferenceContext* c);
Status ReductionShape(InferenceContext* c);  // input 1: axes; keep_dims
Status ConcatShape(InferenceContext* c);     // axis first
Status ConcatV2Shape(InferenceContext* c);   // axis last
// Output 0 has the shape that input 0 spells out (Fill, RandomUniform, ...).
Status ShapeFromInput0(InferenceContext* c);
// From the attr "shape".
Status ExplicitShape(InferenceContext* c);

}  // namespace shape_inference
}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_SHAPE_FNS_COMMON_SHAPE_FNS_H_

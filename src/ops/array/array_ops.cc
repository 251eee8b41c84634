// Constants, placeholders, identities, and what asks for or changes a tensor's
// shape alone.
#include "framework/shape_fns/common_shape_fns.h"
#include "framework/shape_fns/shape_value_fns.h"
#include "headrace/op.h"

namespace headrace {

using shape_inference::NoOutputs;
using shape_inference::ScalarShape;

namespace {

using Shape = PartialTensorShape;

Status ConstShape(InferenceContext* c) {
  Tensor value;
  HR_RETURN_IF_ERROR(c->GetAttr("value", &value));
  c->set_output(0, value.shape());
  return OkStatus();
}

// Input 0 must be as the attr "shape" says; the output is what both tell.
Status PlaceholderWithDefaultShape(InferenceContext* c) {
  Shape wanted, merged;
  HR_RETURN_IF_ERROR(c->GetAttr("shape", &wanted));
  HR_RETURN_IF_ERROR(c->Merge(c->input(0), wanted, &merged));
  // A fed value may be of any shape that the attr allows.
  c->set_output(0, wanted);
  return OkStatus();
}

Status EnsureShapeShape(InferenceContext* c) {
  Shape wanted, merged;
  HR_RETURN_IF_ERROR(c->GetAttr("shape", &wanted));
  HR_RETURN_IF_ERROR(c->Merge(c->input(0), wanted, &merged));
  c->set_output(0, merged);
  return OkStatus();
}

Status EachUnchanged(InferenceContext* c) {
  for (int i = 0; i < c->num_inputs(); ++i) {
    c->set_output(i, c->input(i));
    if (const auto* h = c->input_handle(i)) c->set_output_handle(i, *h);
  }
  return OkStatus();
}

// A vector with as many elements as the input has dims.
Status ShapeOfShape(InferenceContext* c) {
  for (int i = 0; i < c->num_inputs(); ++i) {
    c->set_output(i, c->Vector(c->Rank(c->input(i))));
  }
  return OkStatus();
}

Status ReshapeShape(InferenceContext* c) {
  Shape out;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(1, &out));
  const Shape& in = c->input(0);
  if (out.unknown_rank()) {
    c->set_output(0, out);
    return OkStatus();
  }
  // One unknown dim follows from the rest if the input's size is known.
  int unknown = -1;
  int num_unknown = 0;
  int64_t known = 1;
  for (int i = 0; i < out.dims(); ++i) {
    if (out.dim_size(i) < 0) {
      unknown = i;
      ++num_unknown;
    } else {
      known = MultiplyWithoutOverflow(known, out.dim_size(i));
      if (known < 0) {
        return errors::InvalidArgument("Reshape: the requested shape ",
                                       out.DebugString(), " overflows");
      }
    }
  }
  const int64_t have = in.num_elements();
  if (have >= 0 && num_unknown == 0 && have != known) {
    return errors::InvalidArgument("Cannot reshape a tensor with ", have,
                                   " elements to shape ", out.DebugString(),
                                   " (", known, " elements)");
  }
  if (have >= 0 && num_unknown == 1 && known > 0) {
    if (have % known != 0) {
      return errors::InvalidArgument(
          "Dimension size must be evenly divisible by ", known, " but is ",
          have, ": cannot reshape ", in.DebugString(), " to ",
          out.DebugString());
    }
    out.set_dim(unknown, have / known);
  }
  c->set_output(0, out);
  return OkStatus();
}

Status SqueezeShape(InferenceContext* c) {
  const Shape& in = c->input(0);
  std::vector<int64_t> axes;
  HR_RETURN_IF_ERROR(c->GetAttr("squeeze_dims", &axes));
  if (in.unknown_rank()) {
    c->set_output(0, c->UnknownShape());
    return OkStatus();
  }
  std::vector<bool> squeeze(in.dims(), false);
  for (int64_t a : axes) {
    if (a < -in.dims() || a >= in.dims()) {
      return errors::InvalidArgument("squeeze_dims[", a, "] not in [",
                                     -in.dims(), ",", in.dims(), ").");
    }
    squeeze[a < 0 ? a + in.dims() : a] = true;
  }
  DimVector out;
  for (int i = 0; i < in.dims(); ++i) {
    const int64_t d = in.dim_size(i);
    if (axes.empty()) {
      if (d < 0) {  // whether it goes is not known: nor is the rank
        c->set_output(0, c->UnknownShape());
        return OkStatus();
      }
      if (d != 1) out.push_back(d);
    } else if (!squeeze[i]) {
      out.push_back(d);
    } else if (d >= 0 && d != 1) {
      return errors::InvalidArgument("Can not squeeze dim[", i,
                                     "], expected a dimension of 1, got ", d);
    }
  }
  c->set_output(0, Shape(out));
  return OkStatus();
}

Status ExpandDimsShape(InferenceContext* c) {
  const Shape& in = c->input(0);
  int64_t axis;
  const Tensor* value = c->input_tensor(1);
  if (value != nullptr && value->NumElements() != 1) {
    return errors::InvalidArgument(
        "'dim' input must be a tensor with a single value, got shape ",
        value->shape().DebugString());
  }
  if (in.unknown_rank() || !c->ScalarInput(1, &axis)) {
    c->set_output(0, in.unknown_rank() ? c->UnknownShape()
                                       : c->UnknownShapeOfRank(in.dims() + 1));
    return OkStatus();
  }
  if (axis < -in.dims() - 1 || axis > in.dims()) {
    return errors::InvalidArgument("dim ", axis, " not in the interval [",
                                   -in.dims() - 1, ", ", in.dims(), "].");
  }
  if (axis < 0) axis += in.dims() + 1;
  DimVector out(in.dim_sizes().begin(), in.dim_sizes().end());
  out.insert(out.begin() + axis, 1);
  c->set_output(0, Shape(out));
  return OkStatus();
}

// Elements of a smaller type add a last dim, those of a larger one consume it.
Status BitcastShape(InferenceContext* c) {
  DataType from, to;
  HR_RETURN_IF_ERROR(c->GetAttr("T", &from));
  HR_RETURN_IF_ERROR(c->GetAttr("type", &to));
  const Shape& in = c->input(0);
  const int64_t from_size = DataTypeSize(from), to_size = DataTypeSize(to);
  if (from_size == 0 || to_size == 0) {
    return errors::InvalidArgument("Cannot bitcast type ", DataTypeString(from),
                                   " to ", DataTypeString(to));
  }
  Shape out = in;
  if (!in.unknown_rank() && from_size > to_size) {
    out.AddDim(from_size / to_size);
  } else if (!in.unknown_rank() && from_size < to_size) {
    if (in.dims() == 0) {
      return errors::InvalidArgument("Cannot bitcast a scalar of type ",
                                     DataTypeString(from), " to the larger ",
                                     DataTypeString(to));
    }
    const int64_t last = in.dim_size(in.dims() - 1);
    if (last >= 0 && last != to_size / from_size) {
      return errors::InvalidArgument(
          "Cannot bitcast from ", DataTypeString(from), " to ",
          DataTypeString(to), " due to shape. The last dimension is ", last,
          ", wanted ", to_size / from_size);
    }
    HR_RETURN_IF_ERROR(c->Subshape(in, 0, -1, &out));
  }
  c->set_output(0, out);
  return OkStatus();
}

Status FillShape(InferenceContext* c) {
  Shape out, scalar;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &out));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &scalar));
  std::vector<int64_t> dims;
  if (c->IntInputs(0, &dims)) {
    // -1 is no size that is not known yet, as it is for other ops.
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] >= 0) continue;
      return errors::InvalidArgument("Fill dimensions must be >= 0, got dims[",
                                     i, "] = ", dims[i]);
    }
  }
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(0, &out));
  c->set_output(0, out);
  return OkStatus();
}

}  // namespace

REGISTER_OP("Const")
    .Output("output: dtype")
    .Attr("value: tensor")
    .Attr("dtype: type")
    .SetShapeFn(ConstShape)
    .Class(OpClass::kConstant);

REGISTER_OP("ImmutableConst")
    .Output("tensor: dtype")
    .Attr("dtype: type")
    .Attr("shape: shape")
    .Attr("memory_region_name: string")
    .SetShapeFn(shape_inference::ExplicitShape)
    .Outputs(OutputBuffer::kStored)
    .ReadsFiles()
    .FileNameAttr("memory_region_name");

REGISTER_OP("Placeholder")
    .Output("output: dtype")
    .Attr("dtype: type")
    .Attr("shape: shape = { unknown_rank: true }")
    .SetShapeFn(shape_inference::ExplicitShape)
    .Class(OpClass::kPlaceholder)
    .Transfers();

REGISTER_OP("PlaceholderV2")
    .Output("output: dtype")
    .Attr("dtype: type")
    .Attr("shape: shape")
    .Deprecated(23, "Placeholder now behaves the same as PlaceholderV2.")
    .SetShapeFn(shape_inference::ExplicitShape)
    .Class(OpClass::kPlaceholder)
    .Transfers();

REGISTER_OP("PlaceholderWithDefault")
    .Input("input: dtype")
    .Output("output: dtype")
    .Attr("dtype: type")
    .Attr("shape: shape")
    .SetShapeFn(PlaceholderWithDefaultShape)
    .Outputs(OutputBuffer::kInput)
    .IsNoOpWhen(NoOpWhen::kAlways)
    .Transfers();

REGISTER_OP("Identity")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: type")
    .KeepsShape()
    .Class(OpClass::kIdentity)
    .Outputs(OutputBuffer::kInput)
    .IsNoOpWhen(NoOpWhen::kAlways)
    .ShapeValue(ForwardedValue, ForwardedMatrix);

REGISTER_OP("RefIdentity")
    .Input("input: Ref(T)")
    .Output("output: Ref(T)")
    .Attr("T: type")
    .SetAllowsUninitializedInput()
    .KeepsShape();

REGISTER_OP("IdentityN")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: list(type)")
    .SetShapeFn(EachUnchanged)
    .Outputs(OutputBuffer::kEachInput)
    .IsNoOpWhen(NoOpWhen::kAlways);

REGISTER_OP("Snapshot")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: type")
    .KeepsShape()
    .Outputs(OutputBuffer::kInput)
    .IsNoOpWhen(NoOpWhen::kAlways)
    .ShapeValue(ForwardedValue);

REGISTER_OP("NoOp").SetShapeFn(NoOutputs).Class(OpClass::kNoOp);

REGISTER_OP("StopGradient")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: type")
    .KeepsShape()
    .Outputs(OutputBuffer::kInput)
    .IsNoOpWhen(NoOpWhen::kAlways)
    .ShapeValue(ForwardedValue);

REGISTER_OP("PreventGradient")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("message: string = ''")
    .KeepsShape()
    .Outputs(OutputBuffer::kInput)
    .IsNoOpWhen(NoOpWhen::kAlways)
    .ShapeValue(ForwardedValue);

REGISTER_OP("GuaranteeConst")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: type")
    .SetIsStateful()
    .KeepsShape()
    .Outputs(OutputBuffer::kInput)
    .IsNoOpWhen(NoOpWhen::kAlways)
    .HasNoEffects();

REGISTER_OP("DeepCopy")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: type")
    .SetIsStateful()
    .KeepsShape()
    .HasNoEffects();

REGISTER_OP("Shape")
    .Input("input: T")
    .Output("output: out_type")
    .Attr("T: type")
    .Attr("out_type: {int32, int64} = DT_INT32")
    .SetShapeFn(ShapeOfShape)
    .ValueOfShapes(ShapeOfInput);

REGISTER_OP("ShapeN")
    .Input("input: N * T")
    .Output("output: N * out_type")
    .Attr("N: int >= 1")
    .Attr("T: type")
    .Attr("out_type: {int32, int64} = DT_INT32")
    .SetShapeFn(ShapeOfShape)
    .ValueOfShapes(ShapeOfInput);

REGISTER_OP("Rank")
    .Input("input: T")
    .Output("output: int32")
    .Attr("T: type")
    .SetShapeFn(ScalarShape)
    .ValueOfShapes(RankOfInput);

REGISTER_OP("Size")
    .Input("input: T")
    .Output("output: out_type")
    .Attr("T: type")
    .Attr("out_type: {int32, int64} = DT_INT32")
    .SetShapeFn(ScalarShape)
    .ValueOfShapes(SizeOfInput);

REGISTER_OP("Reshape")
    .Input("tensor: T")
    .Input("shape: Tshape")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tshape: {int32, int64} = DT_INT32")
    .SetShapeFn(ReshapeShape)
    .IsNoOpWhen(NoOpWhen::kShapeIsKept)
    .Outputs(OutputBuffer::kView)
    .ShapeValue(ReshapedValue, ReshapedMatrix)
    .FloatsNeverFail();

REGISTER_OP("Squeeze")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("squeeze_dims: list(int) >= 0 = []")
    .SetShapeFn(SqueezeShape)
    .IsNoOpWhen(NoOpWhen::kShapeIsKept)
    .Outputs(OutputBuffer::kView)
    .ShapeValue(ReshapedValue);

REGISTER_OP("ExpandDims")
    .Input("input: T")
    .Input("dim: Tdim")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tdim: {int32, int64} = DT_INT32")
    .SetShapeFn(ExpandDimsShape)
    .IsNoOpWhen(NoOpWhen::kShapeIsKept)
    .Outputs(OutputBuffer::kView)
    .ShapeValue(ReshapedValue);

REGISTER_OP("EnsureShape")
    .Input("input: T")
    .Output("output: T")
    .Attr("shape: shape")
    .Attr("T: type")
    .SetShapeFn(EnsureShapeShape);

REGISTER_OP("Bitcast")
    .Input("input: T")
    .Output("output: type")
    .Attr(
        "T: {bfloat16, half, float, double, int64, int32, uint8, uint16, "
        "uint32, uint64, int8, int16, complex64, complex128, qint8, quint8, "
        "qint16, quint16, qint32}")
    .Attr(
        "type: {bfloat16, half, float, double, int64, int32, uint8, uint16, "
        "uint32, uint64, int8, int16, complex64, complex128, qint8, quint8, "
        "qint16, quint16, qint32}")
    .SetShapeFn(BitcastShape)
    .IsNoOpWhen(NoOpWhen::kTypeIsKept)
    .Outputs(OutputBuffer::kView);

REGISTER_OP("Fill")
    .Input("dims: index_type")
    .Input("value: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("index_type: {int32, int64} = DT_INT32")
    .SetShapeFn(FillShape);

REGISTER_OP("ZerosLike")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: type")
    .KeepsShape();

REGISTER_OP("OnesLike")
    .Input("x: T")
    .Output("y: T")
    .Attr(
        "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, "
        "uint32, int64, uint64, complex64, complex128, bool}")
    .KeepsShape();

}  // namespace headrace

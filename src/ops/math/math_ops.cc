// Element-wise arithmetic, comparison and selection: schemas and shapes.
#include "framework/shape_fns/common_shape_fns.h"
#include "framework/shape_fns/shape_value_fns.h"
#include "headrace/op.h"

namespace headrace {

namespace {
using Shape = PartialTensorShape;

// With incompatible_shape_error=false operands that do not fit are answered by
// a scalar; whether they fit may only be known at run time.
Status EqualShape(InferenceContext* c) {
  bool refuse = true;
  if (c->attrs().Find("incompatible_shape_error") != nullptr) {
    HR_RETURN_IF_ERROR(c->GetAttr("incompatible_shape_error", &refuse));
  }
  if (refuse) return shape_inference::BroadcastBinaryOp(c);
  const Shape &x = c->input(0), &y = c->input(1);
  Shape out;
  if (!x.IsFullyDefined() || !y.IsFullyDefined()) {
    out = Shape::UnknownRank();
  } else if (!BroadcastShapes(x, y, &out).ok()) {
    out = Shape::Scalar();
  }
  c->set_output(0, out);
  return OkStatus();
}

// Every argument is a scalar or has the one shape of the others.
Status BetaincShape(InferenceContext* c) {
  Shape out = Shape::Scalar();
  bool scalar_so_far = true, unknown = false;
  for (int i = 0; i < 3; ++i) {
    const Shape& s = c->input(i);
    if (s.unknown_rank()) {
      unknown = true;
    } else if (s.dims() > 0) {
      if (scalar_so_far) {
        out = s;
        scalar_so_far = false;
      } else {
        HR_RETURN_IF_ERROR(c->Merge(out, s, &out));
      }
    }
  }
  if (scalar_so_far && unknown) out = Shape::UnknownRank();
  c->set_output(0, out);
  return OkStatus();
}

// The attr says it, and what is known of the inputs. The kernel looks at the
// inputs alone: nothing is said if these contradict the attr.
Status AccumulateNShape(InferenceContext* c) {
  Shape out;
  HR_RETURN_IF_ERROR(c->GetAttr("shape", &out));
  for (int i = 0; i < c->num_inputs(); ++i) {
    if (!c->Merge(out, c->input(i), &out).ok()) {
      return shape_inference::UnknownShape(c);
    }
  }
  c->set_output(0, out);
  return OkStatus();
}

Status AddNShape(InferenceContext* c) {
  Shape out = Shape::UnknownRank();
  for (int i = 0; i < c->num_inputs(); ++i) {
    const Status s = c->Merge(out, c->input(i), &out);
    if (!s.ok()) {
      return errors::InvalidArgument(
          s.message(), ": inputs must have the same size and shape; input ", i,
          " is ", c->input(i).DebugString());
    }
  }
  c->set_output(0, out);
  return OkStatus();
}

Status ClipByValueShape(InferenceContext* c) {
  Shape out = c->input(0);
  for (int i = 1; i < 3; ++i) {
    if (c->input(i).unknown_rank() || c->input(i).dims() == 0) continue;
    // One-element bounds serve any tensor.
    if (c->input(i).num_elements() == 1) continue;
    HR_RETURN_IF_ERROR(c->Merge(out, c->input(i), &out));
  }
  c->set_output(0, c->input(0));
  return OkStatus();
}

// The condition is a scalar, a vector over axis 0, or of the branches' shape.
Status SelectShape(InferenceContext* c) {
  Shape out;
  HR_RETURN_IF_ERROR(c->Merge(c->input(1), c->input(2), &out));
  const Shape& cond = c->input(0);
  if (!cond.unknown_rank() && !out.unknown_rank() && cond.dims() != 0) {
    if (cond.dims() == 1 && out.dims() != 1) {
      if (out.dims() == 0) {
        return errors::InvalidArgument(
            "Shape must be rank 0 but is rank 1 for condition ",
            cond.DebugString());
      }
      int64_t rows;
      HR_RETURN_IF_ERROR(
          c->MergeDims(cond.dim_size(0), out.dim_size(0), &rows));
      HR_RETURN_IF_ERROR(c->ReplaceDim(out, 0, rows, &out));
    } else {
      HR_RETURN_IF_ERROR(c->Merge(out, cond, &out));
    }
  }
  c->set_output(0, out);
  return OkStatus();
}

Status SelectV2Shape(InferenceContext* c) {
  Shape branches, out;
  HR_RETURN_IF_ERROR(BroadcastShapes(c->input(1), c->input(2), &branches));
  HR_RETURN_IF_ERROR(BroadcastShapes(c->input(0), branches, &out));
  c->set_output(0, out);
  return OkStatus();
}

Status CrossShape(InferenceContext* c) {
  Shape a, b;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &a));
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(1), 1, &b));
  HR_RETURN_IF_ERROR(c->Merge(a, b, &a));
  int64_t last;
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(a, -1), 3, &last));
  c->set_output(0, a);
  return OkStatus();
}
}  // namespace

REGISTER_OP("Abs")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, int8, int16, int32, int64}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Neg")
    .Input("x: T")
    .Output("y: T")
    .Attr(
        "T: {bfloat16, half, float, double, int8, int16, int32, int64, "
        "complex64, complex128}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Sign")
    .Input("x: T")
    .Output("y: T")
    .Attr(
        "T: {bfloat16, half, float, double, int8, int16, int32, int64, "
        "complex64, complex128}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Inv")
    .Input("x: T")
    .Output("y: T")
    .Attr(
        "T: {bfloat16, half, float, double, int8, int16, int32, int64, "
        "complex64, complex128}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Reciprocal")
    .Input("x: T")
    .Output("y: T")
    .Attr(
        "T: {bfloat16, half, float, double, int8, int16, int32, int64, "
        "complex64, complex128}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Square")
    .Input("x: T")
    .Output("y: T")
    .Attr(
        "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, "
        "uint16, uint32, uint64, complex64, complex128}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Sqrt")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Rsqrt")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Round")
    .Input("x: T")
    .Output("y: T")
    .Attr(
        "T: {bfloat16, half, float, double, int8, int16, int32, int64, "
        "complex64, complex128}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Rint")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Exp")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Expm1")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Log")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Log1p")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Sin")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Cos")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Tan")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape();
REGISTER_OP("Asin")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape();
REGISTER_OP("Acos")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape();
REGISTER_OP("Atan")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape();
REGISTER_OP("Sinh")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape();
REGISTER_OP("Cosh")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape();
REGISTER_OP("Tanh")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape()
    .Elementwise()
    .Activation(ActivationFunction());
REGISTER_OP("Asinh")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape();
REGISTER_OP("Acosh")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape();
REGISTER_OP("Atanh")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape();
REGISTER_OP("Sigmoid")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .KeepsShape()
    .Elementwise()
    .Activation(ActivationFunction());
REGISTER_OP("Erf")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Erfc")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Erfinv")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("Ndtri")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("Lgamma")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("Digamma")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("BesselI0e")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("BesselI1e")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("BesselI0")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("BesselI1")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("BesselJ0")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("BesselJ1")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("BesselK0")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("BesselK0e")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("BesselK1")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("BesselK1e")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("BesselY0")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("BesselY1")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("Spence")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("Dawsn")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("Expint")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("FresnelCos")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("FresnelSin")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("Ceil")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("Floor")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape()
    .Elementwise();
REGISTER_OP("IsNan")
    .Input("x: T")
    .Output("y: bool")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("IsInf")
    .Input("x: T")
    .Output("y: bool")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("IsFinite")
    .Input("x: T")
    .Output("y: bool")
    .Attr("T: {bfloat16, half, float, double}")
    .KeepsShape();
REGISTER_OP("LogicalNot").Input("x: bool").Output("y: bool").KeepsShape();
REGISTER_OP("Conj")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: {complex64, complex128, variant} = DT_COMPLEX64")
    .KeepsShape();
REGISTER_OP("Real")
    .Input("input: T")
    .Output("output: Tout")
    .Attr("T: {complex64, complex128} = DT_COMPLEX64")
    .Attr("Tout: {float, double} = DT_FLOAT")
    .KeepsShape();
REGISTER_OP("Imag")
    .Input("input: T")
    .Output("output: Tout")
    .Attr("T: {complex64, complex128} = DT_COMPLEX64")
    .Attr("Tout: {float, double} = DT_FLOAT")
    .KeepsShape();
REGISTER_OP("Angle")
    .Input("input: T")
    .Output("output: Tout")
    .Attr("T: {complex64, complex128} = DT_COMPLEX64")
    .Attr("Tout: {float, double} = DT_FLOAT")
    .KeepsShape();
REGISTER_OP("ComplexAbs")
    .Input("x: T")
    .Output("y: Tout")
    .Attr("T: {complex64, complex128} = DT_COMPLEX64")
    .Attr("Tout: {float, double} = DT_FLOAT")
    .KeepsShape();
REGISTER_OP("Cast")
    .Input("x: SrcT")
    .Output("y: DstT")
    .Attr("SrcT: type")
    .Attr("DstT: type")
    .Attr("Truncate: bool = false")
    .KeepsShape()
    .IsNoOpWhen(NoOpWhen::kTypeIsKept)
    .ShapeValue(CastValue);
REGISTER_OP("CheckNumerics")
    .Input("tensor: T")
    .Output("output: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("message: string")
    .SetIsStateful()
    .KeepsShape()
    .Stops();
REGISTER_OP("CheckNumericsV2")
    .Input("tensor: T")
    .Output("output: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("message: string")
    .SetIsStateful()
    .KeepsShape()
    .Stops();
REGISTER_OP("Bucketize")
    .Input("input: T")
    .Output("output: int32")
    .Attr("T: {int32, int64, float, double}")
    .Attr("boundaries: list(float)")
    .KeepsShape();
REGISTER_OP("SigmoidGrad")
    .Input("y: T")
    .Input("dy: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .SetShapeFn(shape_inference::MergeBothInputs);
REGISTER_OP("TanhGrad")
    .Input("y: T")
    .Input("dy: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .SetShapeFn(shape_inference::MergeBothInputs);
REGISTER_OP("SqrtGrad")
    .Input("y: T")
    .Input("dy: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .SetShapeFn(shape_inference::MergeBothInputs);
REGISTER_OP("RsqrtGrad")
    .Input("y: T")
    .Input("dy: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .SetShapeFn(shape_inference::MergeBothInputs);
REGISTER_OP("ReciprocalGrad")
    .Input("y: T")
    .Input("dy: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .SetShapeFn(shape_inference::MergeBothInputs);
REGISTER_OP("InvGrad")
    .Input("y: T")
    .Input("dy: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .SetShapeFn(shape_inference::MergeBothInputs);
REGISTER_OP("ApproximateEqual")
    .Input("x: T")
    .Input("y: T")
    .Output("z: bool")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .Attr("tolerance: float = 1e-05")
    .SetIsCommutative()
    .SetShapeFn(shape_inference::MergeBothInputs);
REGISTER_OP("Complex")
    .Input("real: T")
    .Input("imag: T")
    .Output("out: Tout")
    .Attr("T: {float, double} = DT_FLOAT")
    .Attr("Tout: {complex64, complex128} = DT_COMPLEX64")
    .Broadcasts();
REGISTER_OP("Add")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr(
        "T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, "
        "complex64, complex128, string}")
    .Broadcasts()
    .Computes(ArithmeticOp::kAdd)
    .ShapeValue(AddValue)
    .Elementwise();
REGISTER_OP("AddV2")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr(
        "T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, "
        "int8, int16, int32, int64, complex64, complex128}")
    .SetIsCommutative()
    .SetIsAggregate()
    .Broadcasts()
    .Computes(ArithmeticOp::kAdd)
    .ShapeValue(AddValue)
    .Elementwise();
REGISTER_OP("Sub")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr(
        "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, "
        "int64, complex64, complex128, uint32, uint64}")
    .Broadcasts()
    .IsNoOpWhen(NoOpWhen::kSecondIsZero)
    .Computes(ArithmeticOp::kSub)
    .ShapeValue(SubValue)
    .Elementwise();
REGISTER_OP("Mul")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr(
        "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, "
        "uint32, uint64, int64, complex64, complex128}")
    .SetIsCommutative()
    .Broadcasts()
    .IsNoOpWhen(NoOpWhen::kOtherIsOne)
    .Computes(ArithmeticOp::kMul)
    .ShapeValue(MulValue)
    .Elementwise();
REGISTER_OP("Div")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr(
        "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, "
        "uint32, uint64, int64, complex64, complex128}")
    .Broadcasts()
    .IsNoOpWhen(NoOpWhen::kSecondIsOne)
    .Computes(ArithmeticOp::kDiv)
    .ShapeValue(DivValue)
    .Elementwise();
REGISTER_OP("RealDiv")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr(
        "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, "
        "uint32, uint64, int64, complex64, complex128}")
    .Broadcasts()
    .IsNoOpWhen(NoOpWhen::kSecondIsOne)
    .Computes(ArithmeticOp::kDiv)
    .ShapeValue(DivValue)
    .Elementwise();
REGISTER_OP("FloorDiv")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr(
        "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, "
        "uint32, uint64, int64, complex64, complex128}")
    .Broadcasts()
    .ShapeValue(DivValue);
REGISTER_OP("TruncateDiv")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr(
        "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, "
        "uint32, uint64, int64, complex64, complex128}")
    .Broadcasts();
REGISTER_OP("Mod")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr("T: {int32, int64, half, bfloat16, float, double}")
    .Broadcasts();
REGISTER_OP("FloorMod")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr(
        "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64, "
        "bfloat16, half, float, double}")
    .Broadcasts();
REGISTER_OP("TruncateMod")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr("T: {int32, int64, bfloat16, half, float, double}")
    .Broadcasts();
REGISTER_OP("Pow")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr(
        "T: {bfloat16, float, half, double, int8, int16, int32, int64, "
        "complex64, complex128}")
    .Broadcasts()
    .Elementwise();
REGISTER_OP("Maximum")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr(
        "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, "
        "uint32, int64, uint64}")
    .Broadcasts()
    .ShapeValue(MaximumValue)
    .Elementwise();
REGISTER_OP("Minimum")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr(
        "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, "
        "uint32, int64, uint64}")
    .Broadcasts()
    .ShapeValue(MinimumValue)
    .Elementwise();
REGISTER_OP("SquaredDifference")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr(
        "T: {bfloat16, half, float, double, int32, int64, complex64, "
        "complex128}")
    .SetIsCommutative()
    .Broadcasts()
    .Elementwise();
REGISTER_OP("DivNoNan")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr("T: {half, float, bfloat16, double, complex64, complex128}")
    .Broadcasts()
    .Elementwise();
REGISTER_OP("MulNoNan")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .Broadcasts()
    .Elementwise();
REGISTER_OP("Xdivy")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr("T: {half, bfloat16, float, double, complex64, complex128}")
    .Broadcasts();
REGISTER_OP("Xlogy")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr("T: {half, bfloat16, float, double, complex64, complex128}")
    .Broadcasts();
REGISTER_OP("Xlog1py")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Attr("T: {half, bfloat16, float, double, complex64, complex128}")
    .Broadcasts();
REGISTER_OP("Atan2")
    .Input("y: T")
    .Input("x: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Broadcasts();
REGISTER_OP("Igamma")
    .Input("a: T")
    .Input("x: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Broadcasts();
REGISTER_OP("Igammac")
    .Input("a: T")
    .Input("x: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Broadcasts();
REGISTER_OP("IgammaGradA")
    .Input("a: T")
    .Input("x: T")
    .Output("z: T")
    .Attr("T: {float, double}")
    .Broadcasts();
REGISTER_OP("RandomGammaGrad")
    .Input("alpha: T")
    .Input("sample: T")
    .Output("output: T")
    .Attr("T: {float, double}")
    .Broadcasts();
REGISTER_OP("Zeta")
    .Input("x: T")
    .Input("q: T")
    .Output("z: T")
    .Attr("T: {float, double}")
    .Broadcasts();
REGISTER_OP("Polygamma")
    .Input("a: T")
    .Input("x: T")
    .Output("z: T")
    .Attr("T: {float, double}")
    .Broadcasts();
REGISTER_OP("NextAfter")
    .Input("x1: T")
    .Input("x2: T")
    .Output("output: T")
    .Attr("T: {double, float} = DT_FLOAT")
    .Broadcasts();
REGISTER_OP("LogicalAnd")
    .Input("x: bool")
    .Input("y: bool")
    .Output("z: bool")
    .SetIsCommutative()
    .Broadcasts();
REGISTER_OP("LogicalOr")
    .Input("x: bool")
    .Input("y: bool")
    .Output("z: bool")
    .SetIsCommutative()
    .Broadcasts();
REGISTER_OP("Less")
    .Input("x: T")
    .Input("y: T")
    .Output("z: bool")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64}")
    .Broadcasts();
REGISTER_OP("LessEqual")
    .Input("x: T")
    .Input("y: T")
    .Output("z: bool")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64}")
    .Broadcasts();
REGISTER_OP("Greater")
    .Input("x: T")
    .Input("y: T")
    .Output("z: bool")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64}")
    .Broadcasts();
REGISTER_OP("GreaterEqual")
    .Input("x: T")
    .Input("y: T")
    .Output("z: bool")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64}")
    .Broadcasts();
REGISTER_OP("Equal")
    .Input("x: T")
    .Input("y: T")
    .Output("z: bool")
    .Attr("T: type")
    .Attr("incompatible_shape_error: bool = true")
    .SetIsCommutative()
    .SetShapeFn(EqualShape);
REGISTER_OP("NotEqual")
    .Input("x: T")
    .Input("y: T")
    .Output("z: bool")
    .Attr("T: type")
    .Attr("incompatible_shape_error: bool = true")
    .SetIsCommutative()
    .SetShapeFn(EqualShape);
REGISTER_OP("Betainc")
    .Input("a: T")
    .Input("b: T")
    .Input("x: T")
    .Output("z: T")
    .Attr("T: {float, double}")
    .SetShapeFn(BetaincShape);
REGISTER_OP("AddN")
    .Input("inputs: N * T")
    .Output("sum: T")
    .Attr("N: int >= 1")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64, variant}")
    .SetIsCommutative()
    .SetIsAggregate()
    .SetShapeFn(AddNShape)
    .IsNoOpWhen(NoOpWhen::kOnlyInput);
REGISTER_OP("AccumulateNV2")
    .Input("inputs: N * T")
    .Output("sum: T")
    .Attr("N: int >= 1")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .Attr("shape: shape")
    .SetIsCommutative()
    .SetIsAggregate()
    .SetShapeFn(AccumulateNShape);
REGISTER_OP("ClipByValue")
    .Input("t: T")
    .Input("clip_value_min: T")
    .Input("clip_value_max: T")
    .Output("output: T")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .SetShapeFn(ClipByValueShape);
REGISTER_OP("Select")
    .Input("condition: bool")
    .Input("t: T")
    .Input("e: T")
    .Output("output: T")
    .Attr("T: type")
    .SetShapeFn(SelectShape);
REGISTER_OP("SelectV2")
    .Input("condition: bool")
    .Input("t: T")
    .Input("e: T")
    .Output("output: T")
    .Attr("T: type")
    .SetShapeFn(SelectV2Shape);
REGISTER_OP("Cross")
    .Input("a: T")
    .Input("b: T")
    .Output("product: T")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64}")
    .SetShapeFn(CrossShape);

}  // namespace headrace

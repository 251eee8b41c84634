// Element-wise arithmetic and comparison of two tensors, and the gradients of
// unary functions: schemas and shapes.
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
}  // namespace

REGISTER_OP("SigmoidGrad")
    .Input("y: T")
    .Input("dy: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .SetShapeFn(shape_inference::MergeBothInputs)
    .SymbolicShape(KeepSymbolicShape);
REGISTER_OP("TanhGrad")
    .Input("y: T")
    .Input("dy: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .SetShapeFn(shape_inference::MergeBothInputs)
    .SymbolicShape(KeepSymbolicShape);
REGISTER_OP("SqrtGrad")
    .Input("y: T")
    .Input("dy: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .SetShapeFn(shape_inference::MergeBothInputs)
    .SymbolicShape(KeepSymbolicShape);
REGISTER_OP("RsqrtGrad")
    .Input("y: T")
    .Input("dy: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .SetShapeFn(shape_inference::MergeBothInputs)
    .SymbolicShape(KeepSymbolicShape);
REGISTER_OP("ReciprocalGrad")
    .Input("y: T")
    .Input("dy: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .SetShapeFn(shape_inference::MergeBothInputs)
    .SymbolicShape(KeepSymbolicShape);
REGISTER_OP("InvGrad")
    .Input("y: T")
    .Input("dy: T")
    .Output("z: T")
    .Attr("T: {bfloat16, half, float, double, complex64, complex128}")
    .SetShapeFn(shape_inference::MergeBothInputs)
    .SymbolicShape(KeepSymbolicShape);
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
    .SetShapeFn(shape_inference::MergeBothInputs)
    .SymbolicShape(KeepSymbolicShape);
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
    .Elementwise()
    .Computes(ArithmeticOp::kPower);
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
    .Elementwise()
    .Computes(ArithmeticOp::kSquaredDifference);
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

}  // namespace headrace

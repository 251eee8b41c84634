// Sums of several tensors, selection, and functions of three tensors: schemas
// and shapes.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {

namespace {
using Shape = PartialTensorShape;

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

// The condition is a scalar, a vector over axis 0, or of the branches' shape. A
// vector must fit axis 0 but does not make it known: as in TensorFlow.
Status SelectShape(InferenceContext* c) {
  Shape out;
  HR_RETURN_IF_ERROR(c->Merge(c->input(1), c->input(2), &out));
  const Shape& cond = c->input(0);
  if (!cond.unknown_rank() && !out.unknown_rank() && cond.dims() != 0) {
    if (cond.dims() == 1) {
      if (out.dims() == 0) {
        return errors::InvalidArgument(
            "Shape must be rank 0 but is rank 1 for condition ",
            cond.DebugString());
      }
      int64_t rows;
      HR_RETURN_IF_ERROR(
          c->MergeDims(cond.dim_size(0), out.dim_size(0), &rows));
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
    .SymbolicShape(KeepSymbolicShape)
    .IsNoOpWhen(NoOpWhen::kOnlyInput)
    .FloatsNeverFail();
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

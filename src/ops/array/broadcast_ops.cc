// Broadcasting as data, and sequences: schemas and shapes.
#include <cmath>
#include <type_traits>

#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {

namespace {
using Shape = PartialTensorShape;

Status BroadcastArgsShape(InferenceContext* c) {
  int64_t rank = 0;
  for (int i = 0; i < 2; ++i) {
    Shape s;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &s));
    const int64_t n = c->Dim(s, 0);
    rank = n < 0 || rank < 0 ? -1 : n > rank ? n : rank;
  }
  c->set_output(0, c->Vector(rank));
  return OkStatus();
}

Status BroadcastGradientArgsShape(InferenceContext* c) {
  for (int i = 0; i < 2; ++i) {
    Shape s;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &s));
    c->set_output(i, c->Vector(-1));
  }
  return OkStatus();
}

Status BroadcastToShape(InferenceContext* c) {
  Shape spec, out;
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(1), 1, &spec));
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(1, &out));
  const Shape& in = c->input(0);
  if (!in.unknown_rank() && !out.unknown_rank()) {
    if (in.dims() > out.dims()) {
      return errors::InvalidArgument("Shape must be at least rank ", in.dims(),
                                     " but is rank ", out.dims(), ": input ",
                                     in.DebugString(), ", shape ",
                                     out.DebugString());
    }
    for (int i = 1; i <= in.dims(); ++i) {
      const int64_t from = c->Dim(in, -i), to = c->Dim(out, -i);
      if (from > 1 && to >= 0 && from != to) {
        return errors::InvalidArgument(
            "Incompatible shapes: ", in.DebugString(), " vs. ",
            out.DebugString());
      }
      if (from > 1) out.set_dim(out.dims() - i, from);
    }
  }
  c->set_output(0, out);
  return OkStatus();
}

// The length of a range of floats, by the kernel's arithmetic; -1 if it is not
// known or the kernel will refuse it.
template <typename T>
int64_t FloatRangeLength(InferenceContext* c) {
  using C = std::conditional_t<sizeof(T) == 2, float, T>;
  const auto rounded = [](C x) { return static_cast<C>(static_cast<T>(x)); };
  C ends[3];
  for (int i = 0; i < 3; ++i) {
    const Tensor* const t = c->input_tensor(i);
    if (t == nullptr || t->NumElements() != 1) return -1;
    ends[i] = static_cast<C>(*t->data<T>());
  }
  const auto [start, limit, delta] = ends;
  if (!(delta > 0 ? start <= limit : delta < 0 && start >= limit)) return -1;
  const C n = std::ceil(std::abs(rounded(rounded(limit - start) / delta)));
  return n < C(9.2e18) ? static_cast<int64_t>(n) : -1;
}

// The kernel checks the values; here only the length is wanted.
Status RangeShape(InferenceContext* c) {
  for (int i = 0; i < 3; ++i) {
    Shape s;
    const Status status = c->WithRank(c->input(i), 0, &s);
    if (!status.ok()) {
      return errors::InvalidArgument(status.message(), " for argument ",
                                     c->op_def().inputs[i].name);
    }
  }
  int64_t start, limit, delta, length = -1;
  if (c->ScalarInput(0, &start) && c->ScalarInput(1, &limit) &&
      c->ScalarInput(2, &delta)) {
    if (delta == 0) {
      return errors::InvalidArgument("Requires delta != 0");
    }
    if (delta > 0 ? start > limit : start < limit) {
      return errors::InvalidArgument(
          "Requires start ", delta > 0 ? "<=" : ">=", " limit when delta ",
          delta > 0 ? ">" : "<", " 0: ", start, delta > 0 ? ">" : "<", limit);
    }
    using I = __int128;
    I span = I{limit} - start;
    I step = delta;
    if (step < 0) {
      span = -span;
      step = -step;
    }
    const I n = (span + step - 1) / step;
    if (n > INT64_MAX) {
      return errors::InvalidArgument("Requires ((limit - start) / delta) <= ",
                                     INT64_MAX);
    }
    length = static_cast<int64_t>(n);
  }
  DataType dtype;
  HR_RETURN_IF_ERROR(c->GetAttr("Tidx", &dtype));
  if (dtype == DT_FLOAT) length = FloatRangeLength<float>(c);
  if (dtype == DT_DOUBLE) length = FloatRangeLength<double>(c);
  if (dtype == DT_HALF) length = FloatRangeLength<half>(c);
  if (dtype == DT_BFLOAT16) length = FloatRangeLength<bfloat16>(c);
  c->set_output(0, c->Vector(length));
  return OkStatus();
}

Status LinSpaceShape(InferenceContext* c) {
  for (int i = 0; i < 3; ++i) {
    Shape s;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &s));
  }
  int64_t n;
  if (!c->ScalarInput(2, &n)) {
    n = -1;
  } else if (n <= 0) {
    return errors::InvalidArgument("Requires num > 0: ", n);
  }
  c->set_output(0, c->Vector(n));
  return OkStatus();
}
}  // namespace

REGISTER_OP("BroadcastArgs")
    .Input("s0: T")
    .Input("s1: T")
    .Output("r0: T")
    .Attr("T: {int32, int64} = DT_INT32")
    .SetShapeFn(BroadcastArgsShape);
REGISTER_OP("BroadcastGradientArgs")
    .Input("s0: T")
    .Input("s1: T")
    .Output("r0: T")
    .Output("r1: T")
    .Attr("T: {int32, int64} = DT_INT32")
    .SetShapeFn(BroadcastGradientArgsShape);
REGISTER_OP("BroadcastTo")
    .Input("input: T")
    .Input("shape: Tidx")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(BroadcastToShape)
    .FloatsNeverFail();
REGISTER_OP("Range")
    .Input("start: Tidx")
    .Input("limit: Tidx")
    .Input("delta: Tidx")
    .Output("output: Tidx")
    .Attr(
        "Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, "
        "uint16, uint32, uint64} = DT_INT32")
    .SetShapeFn(RangeShape);
REGISTER_OP("LinSpace")
    .Input("start: T")
    .Input("stop: T")
    .Input("num: Tidx")
    .Output("output: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(LinSpaceShape);

}  // namespace headrace

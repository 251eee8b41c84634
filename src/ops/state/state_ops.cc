// Variables by reference: Variable, Assign, Scatter* and their kin.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// GraphDefs of the first releases write "no shape" as a scalar's.
Status VariableV1Shape(InferenceContext* c) {
  Shape s;
  HR_RETURN_IF_ERROR(c->GetAttr("shape", &s));
  c->set_output(0, s.dims() <= 0 ? c->UnknownShape() : s);
  return OkStatus();
}

Status AssignShape(InferenceContext* c) {
  bool validate = true;
  HR_RETURN_IF_ERROR(c->GetAttr("validate_shape", &validate));
  Shape s = c->input(1);
  if (validate) HR_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &s));
  c->set_output(0, s);
  return OkStatus();
}

Status ScalarCountShape(InferenceContext* c) {
  Shape s;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &s));
  c->set_output(0, s);
  return OkStatus();
}

// params, indices, updates: updates are indices.shape + params.shape[1:], or a
// scalar.
Status ScatterShape(InferenceContext* c) {
  Shape params, rest, want, unused;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &params));
  HR_RETURN_IF_ERROR(c->Subshape(params, 1, &rest));
  HR_RETURN_IF_ERROR(c->Concatenate(c->input(1), rest, &want));
  if (c->Rank(c->input(2)) != 0) {
    HR_RETURN_IF_ERROR(c->Merge(c->input(2), want, &unused));
  }
  c->set_output(0, params);
  return OkStatus();
}

Status ScatterNdShape(InferenceContext* c) {
  Shape params, indices, unused;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &params));
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(1), 1, &indices));
  const int64_t depth = c->Dim(indices, -1);
  if (c->RankKnown(params) && depth >= 0) {
    Shape outer, inner, want;
    if (depth > params.dims()) {
      return errors::InvalidArgument(
          "the last dimension of indices, ", depth,
          ", is more than the rank of the variable, ", params.DebugString());
    }
    HR_RETURN_IF_ERROR(c->Subshape(indices, 0, -1, &outer));
    HR_RETURN_IF_ERROR(c->Subshape(params, depth, &inner));
    HR_RETURN_IF_ERROR(c->Concatenate(outer, inner, &want));
    HR_RETURN_IF_ERROR(c->Merge(c->input(2), want, &unused));
  }
  c->set_output(0, params);
  return OkStatus();
}

REGISTER_OP("Variable")
    .Output("ref: Ref(dtype)")
    .Attr("shape: shape")
    .Attr("dtype: type")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(VariableV1Shape)
    .Variable(VariableUse::kHolds)
    .WritesState();

REGISTER_OP("VariableV2")
    .Output("ref: Ref(dtype)")
    .Attr("shape: shape")
    .Attr("dtype: type")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ExplicitShape)
    .Variable(VariableUse::kHolds)
    .WritesState();

REGISTER_OP("IsVariableInitialized")
    .Input("ref: Ref(dtype)")
    .Output("is_initialized: bool")
    .Attr("dtype: type")
    .SetAllowsUninitializedInput()
    .SetShapeFn(shape_inference::ScalarShape)
    .ReadsState();

REGISTER_OP("TemporaryVariable")
    .Output("ref: Ref(dtype)")
    .Attr("shape: shape")
    .Attr("dtype: type")
    .Attr("var_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ExplicitShape)
    .WritesState();

REGISTER_OP("DestroyTemporaryVariable")
    .Input("ref: Ref(T)")
    .Output("value: T")
    .Attr("T: type")
    .Attr("var_name: string")
    .KeepsShape()
    .WritesState();

REGISTER_OP("Assign")
    .Input("ref: Ref(T)")
    .Input("value: T")
    .Output("output_ref: Ref(T)")
    .Attr("T: type")
    .Attr("validate_shape: bool = true")
    .Attr("use_locking: bool = true")
    .SetAllowsUninitializedInput()
    .SetShapeFn(AssignShape)
    .Variable(VariableUse::kInitializes)
    .WritesState()
    .Updates(VariableUpdate::kSet);

REGISTER_OP("AssignAdd")
    .Input("ref: Ref(T)")
    .Input("value: T")
    .Output("output_ref: Ref(T)")
    .Attr("T: numbertype")
    .Attr("use_locking: bool = false")
    .SetShapeFn(shape_inference::MergeBothInputs)
    .WritesState()
    .Updates(VariableUpdate::kAdd);

REGISTER_OP("AssignSub")
    .Input("ref: Ref(T)")
    .Input("value: T")
    .Output("output_ref: Ref(T)")
    .Attr("T: numbertype")
    .Attr("use_locking: bool = false")
    .SetShapeFn(shape_inference::MergeBothInputs)
    .WritesState()
    .Updates(VariableUpdate::kSubtract);

// Assign, AssignAdd or AssignSub, as "update" says, of what "ops" make of x
// (as in _FusedElementwise).
REGISTER_OP("_FusedAssign")
    .Input("ref: Ref(T)")
    .Input("x: T")
    .Input("args: num_args * T")
    .Output("output_ref: Ref(T)")
    .Attr("T: {float, double}")
    .Attr("num_args: int >= 0")
    .Attr("ops: list(string) >= 1")
    .Attr("sides: list(int)")
    .Attr("update: {'Assign', 'AssignAdd', 'AssignSub'}")
    .Attr("validate_shape: bool = true")
    .SetAllowsUninitializedInput()
    .SetShapeFn(AssignShape)
    .Variable(VariableUse::kInitializes)
    .WritesState();

REGISTER_OP("CountUpTo")
    .Input("ref: Ref(T)")
    .Output("output: T")
    .Attr("limit: int")
    .Attr("T: {int32, int64}")
    .SetShapeFn(ScalarCountShape)
    .WritesState();

REGISTER_OP("ResourceCountUpTo")
    .Input("resource: resource")
    .Output("output: T")
    .Attr("limit: int")
    .Attr("T: {int32, int64}")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape)
    .WritesState();

#define SCATTER_OP(NAME, TYPES, LOCKING)    \
  REGISTER_OP(NAME)                         \
      .Input("ref: Ref(T)")                 \
      .Input("indices: Tindices")           \
      .Input("updates: T")                  \
      .Output("output_ref: Ref(T)")         \
      .Attr("T: " TYPES)                    \
      .Attr("Tindices: {int32, int64}")     \
      .Attr("use_locking: bool = " LOCKING) \
      .SetShapeFn(ScatterShape)
SCATTER_OP("ScatterUpdate", "type", "true").WritesState();
SCATTER_OP("ScatterAdd", "numbertype", "false").WritesState();
SCATTER_OP("ScatterSub", "numbertype", "false").WritesState();
SCATTER_OP("ScatterMul", "numbertype", "false").WritesState();
SCATTER_OP("ScatterDiv", "numbertype", "false").WritesState();
SCATTER_OP("ScatterMin", "{half, bfloat16, float, double, int32, int64}",
           "false")
    .WritesState();
SCATTER_OP("ScatterMax", "{half, bfloat16, float, double, int32, int64}",
           "false")
    .WritesState();

#define SCATTER_ND_OP(NAME, TYPES, LOCKING)    \
  REGISTER_OP(NAME)                            \
      .Input("ref: Ref(T)")                    \
      .Input("indices: Tindices")              \
      .Input("updates: T")                     \
      .Output("output_ref: Ref(T)")            \
      .Attr("T: " TYPES)                       \
      .Attr("Tindices: {int32, int64}")        \
      .Attr("use_locking: bool = " LOCKING)    \
      .Attr("bad_indices_policy: string = ''") \
      .SetShapeFn(ScatterNdShape)
SCATTER_ND_OP("ScatterNdUpdate", "type", "true").WritesState();
SCATTER_ND_OP("ScatterNdAdd", "numbertype", "false").WritesState();
SCATTER_ND_OP("ScatterNdSub", "numbertype", "false").WritesState();
SCATTER_ND_OP("ScatterNdMin", "numbertype", "false").WritesState();
SCATTER_ND_OP("ScatterNdMax", "numbertype", "false").WritesState();
#undef SCATTER_OP
#undef SCATTER_ND_OP

}  // namespace
}  // namespace headrace

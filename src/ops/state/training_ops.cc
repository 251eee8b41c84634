// One step of an optimizer: ApplyAdam, ResourceSparseApplyFtrl and their like.
// Variables and slots come first, all of one shape: references, or handles in
// the Resource ops. Hyper-parameters are scalars. The sparse ops take gradient
// rows and the indices of the rows that they belong to.
//
// An optimizer is a table's line: its slots after `var`, its other inputs in
// TensorFlow's order, and its attrs.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// The shape of variable input i.
Status VariableShape(InferenceContext* c, int i, Shape* shape) {
  if (c->op_def().inputs[i].type != DT_RESOURCE) {
    *shape = c->input(i);
    return OkStatus();
  }
  const std::vector<DtypeAndShape>* known = c->input_handle(i);
  *shape = known == nullptr || known->empty() ? c->UnknownShape()
                                              : known->front().shape;
  return OkStatus();
}

Status ApplyShape(InferenceContext* c) {
  const OpDef& op = c->op_def();
  Shape var, unused;
  HR_RETURN_IF_ERROR(VariableShape(c, 0, &var));
  int grad = -1, indices = -1;
  for (int i = 1; i < c->num_inputs(); ++i) {
    const OpDef::Arg& arg = op.inputs[i];
    if (arg.is_ref || arg.type == DT_RESOURCE) {
      Shape slot;
      HR_RETURN_IF_ERROR(VariableShape(c, i, &slot));
      HR_RETURN_IF_ERROR(c->Merge(var, slot, &var));
    } else if (arg.name == "grad" || arg.name == "delta") {
      grad = i;
    } else if (arg.name == "indices") {
      indices = i;
    } else {
      HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
    }
  }
  if (grad >= 0 && indices < 0) {
    HR_RETURN_IF_ERROR(c->Merge(var, c->input(grad), &var));
  } else if (grad >= 0) {
    Shape at, rows;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(indices), 1, &at));
    HR_RETURN_IF_ERROR(c->WithRankAtLeast(var, 1, &var));
    if (c->RankKnown(var)) {
      HR_RETURN_IF_ERROR(c->ReplaceDim(var, 0, c->Dim(at, 0), &rows));
      HR_RETURN_IF_ERROR(c->Merge(rows, c->input(grad), &unused));
    }
  }
  if (c->num_outputs() > 0) c->set_output(0, var);
  return OkStatus();
}

#define REFERENCE(NAME) .Input(NAME ": Ref(T)")
#define HANDLE(NAME) .Input(NAME ": resource")
#define IN(NAME) .Input(NAME ": T")
#define GLOBAL_STEP .Input("global_step: int64")
#define ROWS IN("grad").Input("indices: Tindices")

// SLOTS(KIND): the inputs behind `var`. INPUTS: those behind the slots. The
// rest of the arguments are attrs.
#define REF_OP(NAME, SLOTS, INPUTS, INDICES, ...)   \
  REGISTER_OP(NAME)                                 \
  REFERENCE("var")                                  \
  SLOTS(REFERENCE)                                  \
  INPUTS.Output("out: Ref(T)")                      \
      .Attr("T: numbertype")                        \
          INDICES.Attr("use_locking: bool = false") \
              __VA_ARGS__.SetShapeFn(ApplyShape)    \
      .WritesState();
#define RESOURCE_OP(NAME, SLOTS, INPUTS, INDICES, ...)                      \
  REGISTER_OP(NAME)                                                         \
  HANDLE("var")                                                             \
  SLOTS(HANDLE)                                                             \
  INPUTS.Attr("T: numbertype")                                              \
      INDICES.Attr("use_locking: bool = false") __VA_ARGS__.SetIsStateful() \
          .SetShapeFn(ApplyShape)                                           \
          .WritesState();
#define NO_INDICES
#define INDICES .Attr("Tindices: {int32, int64}")

#define RESOURCE_DENSE(NAME, SLOTS, INPUTS, ...) \
  RESOURCE_OP("ResourceApply" NAME, SLOTS, INPUTS, NO_INDICES, __VA_ARGS__)
#define RESOURCE_SPARSE(NAME, SLOTS, INPUTS, ...) \
  RESOURCE_OP("ResourceSparseApply" NAME, SLOTS, INPUTS, INDICES, __VA_ARGS__)
#define DENSE(NAME, SLOTS, INPUTS, ...)                        \
  REF_OP("Apply" NAME, SLOTS, INPUTS, NO_INDICES, __VA_ARGS__) \
  RESOURCE_DENSE(NAME, SLOTS, INPUTS, __VA_ARGS__)
#define SPARSE(NAME, SLOTS, INPUTS, ...)                          \
  REF_OP("SparseApply" NAME, SLOTS, INPUTS, INDICES, __VA_ARGS__) \
  RESOURCE_SPARSE(NAME, SLOTS, INPUTS, __VA_ARGS__)

#define NESTEROV .Attr("use_nesterov: bool = false")
#define UPDATE_SLOTS .Attr("update_slots: bool = true")
#define LINEAR_BY_LR .Attr("multiply_linear_by_lr: bool = false")

#define M_V_SLOTS(KIND) KIND("m") KIND("v")
#define ADADELTA_SLOTS(KIND) KIND("accum") KIND("accum_update")
#define ACCUM_SLOT(KIND) KIND("accum")
#define ADAGRAD_DA_SLOTS(KIND) \
  KIND("gradient_accumulator") KIND("gradient_squared_accumulator")
#define M_SLOT(KIND) KIND("m")
#define MG_MS_MOM_SLOTS(KIND) KIND("mg") KIND("ms") KIND("mom")
#define FTRL_SLOTS(KIND) KIND("accum") KIND("linear")
#define NO_SLOTS(KIND)
#define MS_MOM_SLOTS(KIND) KIND("ms") KIND("mom")
#define M_V_VHAT_SLOTS(KIND) KIND("m") KIND("v") KIND("vhat")

DENSE("AdaMax", M_V_SLOTS,
      IN("beta1_power") IN("lr") IN("beta1") IN("beta2") IN("epsilon")
          IN("grad"))
DENSE("Adadelta", ADADELTA_SLOTS, IN("lr") IN("rho") IN("epsilon") IN("grad"))
DENSE("Adagrad", ACCUM_SLOT, IN("lr") IN("grad"), UPDATE_SLOTS)
DENSE("AdagradDA", ADAGRAD_DA_SLOTS,
      IN("grad") IN("lr") IN("l1") IN("l2") GLOBAL_STEP)
DENSE("AdagradV2", ACCUM_SLOT, IN("lr") IN("epsilon") IN("grad"), UPDATE_SLOTS)
DENSE("Adam", M_V_SLOTS,
      IN("beta1_power") IN("beta2_power") IN("lr") IN("beta1") IN("beta2")
          IN("epsilon") IN("grad"),
      NESTEROV)
DENSE("AddSign", M_SLOT,
      IN("lr") IN("alpha") IN("sign_decay") IN("beta") IN("grad"))
DENSE("CenteredRMSProp", MG_MS_MOM_SLOTS,
      IN("lr") IN("rho") IN("momentum") IN("epsilon") IN("grad"))
DENSE("Ftrl", FTRL_SLOTS, IN("grad") IN("lr") IN("l1") IN("l2") IN("lr_power"),
      LINEAR_BY_LR)
DENSE("FtrlV2", FTRL_SLOTS,
      IN("grad") IN("lr") IN("l1") IN("l2") IN("l2_shrinkage") IN("lr_power"),
      LINEAR_BY_LR)
DENSE("GradientDescent", NO_SLOTS, IN("alpha") IN("delta"))
DENSE("Momentum", ACCUM_SLOT, IN("lr") IN("grad") IN("momentum"), NESTEROV)
DENSE("PowerSign", M_SLOT,
      IN("lr") IN("logbase") IN("sign_decay") IN("beta") IN("grad"))
DENSE("ProximalAdagrad", ACCUM_SLOT, IN("lr") IN("l1") IN("l2") IN("grad"))
DENSE("ProximalGradientDescent", NO_SLOTS,
      IN("alpha") IN("l1") IN("l2") IN("delta"))
DENSE("RMSProp", MS_MOM_SLOTS,
      IN("lr") IN("rho") IN("momentum") IN("epsilon") IN("grad"))
RESOURCE_DENSE("AdamWithAmsgrad", M_V_VHAT_SLOTS,
               IN("beta1_power") IN("beta2_power") IN("lr") IN("beta1")
                   IN("beta2") IN("epsilon") IN("grad"))
RESOURCE_DENSE("KerasMomentum", ACCUM_SLOT, IN("lr") IN("grad") IN("momentum"),
               NESTEROV)
SPARSE("Adadelta", ADADELTA_SLOTS, IN("lr") IN("rho") IN("epsilon") ROWS)
SPARSE("Adagrad", ACCUM_SLOT, IN("lr") ROWS, UPDATE_SLOTS)
SPARSE("AdagradDA", ADAGRAD_DA_SLOTS,
       ROWS IN("lr") IN("l1") IN("l2") GLOBAL_STEP)
SPARSE("AdagradV2", ACCUM_SLOT, IN("lr") IN("epsilon") ROWS, UPDATE_SLOTS)
SPARSE("CenteredRMSProp", MG_MS_MOM_SLOTS,
       IN("lr") IN("rho") IN("momentum") IN("epsilon") ROWS)
SPARSE("Ftrl", FTRL_SLOTS, ROWS IN("lr") IN("l1") IN("l2") IN("lr_power"),
       LINEAR_BY_LR)
SPARSE("FtrlV2", FTRL_SLOTS,
       ROWS IN("lr") IN("l1") IN("l2") IN("l2_shrinkage") IN("lr_power"),
       LINEAR_BY_LR)
RESOURCE_SPARSE("KerasMomentum", ACCUM_SLOT, IN("lr") ROWS IN("momentum"),
                NESTEROV)
SPARSE("Momentum", ACCUM_SLOT, IN("lr") ROWS IN("momentum"), NESTEROV)
SPARSE("ProximalAdagrad", ACCUM_SLOT, IN("lr") IN("l1") IN("l2") ROWS)
SPARSE("ProximalGradientDescent", NO_SLOTS, IN("alpha") IN("l1") IN("l2") ROWS)
SPARSE("RMSProp", MS_MOM_SLOTS,
       IN("lr") IN("rho") IN("momentum") IN("epsilon") ROWS)

#undef REFERENCE
#undef HANDLE
#undef IN
#undef GLOBAL_STEP
#undef ROWS
#undef REF_OP
#undef RESOURCE_OP
#undef NO_INDICES
#undef INDICES
#undef RESOURCE_DENSE
#undef RESOURCE_SPARSE
#undef DENSE
#undef SPARSE
#undef NESTEROV
#undef UPDATE_SLOTS
#undef LINEAR_BY_LR
#undef M_V_SLOTS
#undef ADADELTA_SLOTS
#undef ACCUM_SLOT
#undef ADAGRAD_DA_SLOTS
#undef M_SLOT
#undef MG_MS_MOM_SLOTS
#undef FTRL_SLOTS
#undef NO_SLOTS
#undef MS_MOM_SLOTS
#undef M_V_VHAT_SLOTS

}  // namespace
}  // namespace headrace

// One pass over a variable, its slots and the gradient: a step of an optimizer
// (kernels/state/optimizer_rules.h), or of AssignAdd and AssignSub.
#ifndef HEADRACE_KERNELS_GPU_UPDATE_FUNCTORS_H_
#define HEADRACE_KERNELS_GPU_UPDATE_FUNCTORS_H_

#include "kernels/gpu/grid.h"
#include "kernels/state/optimizer_rules.h"

namespace headrace::gpu {

// The rules that have kernels here: Apply<Rule> and ResourceApply<Rule>, the
// last two as ResourceApply<Rule> alone.
// clang-format off
#define HR_GPU_REF_OPTIMIZERS(M) \
  M(GradientDescent) M(Momentum) M(Adagrad) M(AdagradV2) M(Adadelta) M(Ftrl) \
  M(FtrlV2) M(Adam) M(AdaMax) M(RMSProp) M(CenteredRMSProp)
#define HR_GPU_OPTIMIZERS(M) \
  HR_GPU_REF_OPTIMIZERS(M) M(KerasMomentum) M(AdamWithAmsgrad)
// Those that update some rows: SparseApply<Rule> and ResourceSparseApply<Rule>,
// the last one as ResourceSparseApply<Rule> alone.
#define HR_GPU_SPARSE_REF_OPTIMIZERS(M) \
  M(Momentum) M(Adagrad) M(AdagradV2) M(Adadelta) M(Ftrl) M(FtrlV2) \
  M(RMSProp) M(CenteredRMSProp)
#define HR_GPU_SPARSE_OPTIMIZERS(M) \
  HR_GPU_SPARSE_REF_OPTIMIZERS(M) M(KerasMomentum)
// clang-format on

// The hyper-parameters are scalars on the device.
template <template <typename> class RuleOf, typename T>
struct OptimizerStep {
  using A = ComputeType<T>;
  using Rule = RuleOf<A>;
  static constexpr int kMaxScalars = 8, kMaxVars = 4;
  T* var[kMaxVars];
  const T* grad;
  const T* scalar[kMaxScalars];
  int scalars;
  optimizer_rules::OptimizerFlags flags;

  HR_HOST_DEVICE void operator()(int64_t i) const { At(i, i); }
  // Element `to` of the variables, by element `from` of the gradient.
  HR_HOST_DEVICE void At(int64_t to, int64_t from) const {
    A s[kMaxScalars];
    for (int k = 0; k < kMaxScalars; ++k) {
      s[k] = k < scalars ? Load(*scalar[k]) : A(0);
    }
    Rule rule;
    rule.Load(s, flags);
    A v[kMaxVars];
    for (int k = 0; k < Rule::kVars; ++k) v[k] = Load(var[k][to]);
    const A g = Load(grad[from]);
    if constexpr (Rule::kVars == 1) rule.Step(g, v[0]);
    if constexpr (Rule::kVars == 2) rule.Step(g, v[0], v[1]);
    if constexpr (Rule::kVars == 3) rule.Step(g, v[0], v[1], v[2]);
    if constexpr (Rule::kVars == 4) rule.Step(g, v[0], v[1], v[2], v[3]);
    for (int k = 0; k < Rule::kVars; ++k) var[k][to] = Store<T>(v[k]);
  }
};

// var += value, or -=.
template <typename T, bool kSubtract>
struct AddTo {
  T* var;
  const T* value;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    const ComputeType<T> a = Load(var[i]), b = Load(value[i]);
    var[i] = Store<T>(kSubtract ? a - b : a + b);
  }
};

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_UPDATE_FUNCTORS_H_

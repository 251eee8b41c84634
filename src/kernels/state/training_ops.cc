// Apply<Rule>, ResourceApply<Rule>, SparseApply<Rule>,
// ResourceSparseApply<Rule>: one step of an optimizer. A rule updates one
// element of the variable and of its slots with the gradient at that place.
// Dense ops apply it to all elements. Sparse ops apply it to the rows in
// `indices`, in order; a row that occurs twice is updated twice.
// The rules are in optimizer_rules.h.
#include <algorithm>
#include <cmath>
#include <utility>

#include "headrace/op_kernel.h"
#include "headrace/simd.h"
#include "kernels/lib/scalar_update.h"
#include "kernels/lib/variable_access.h"
#include "kernels/state/optimizer_rules.h"

namespace headrace {
namespace {

using namespace optimizer_rules;  // NOLINT

using Flags = OptimizerFlags;

constexpr int kMaxScalars = 8;
constexpr int kMaxVars = 4;
// Elements of half or bfloat16 that are made float at a time.
constexpr int64_t kBlock = 1024;

// half and bfloat16 are computed in float.
template <typename T>
using ComputedIn = std::conditional_t<kIsSmallFloat<T>, float, T>;

// All but the rule itself, which is the only part that is compiled for each.
class ApplyOpBase : public OpKernel {
 public:
  ApplyOpBase(OpKernelConstruction* ctx, int num_vars)
      : OpKernel(ctx), num_vars_(num_vars) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("T", &dtype_));
    const OpDef& op = ctx->op_def();
    for (int i = num_vars; i < ctx->num_inputs(); ++i) {
      const std::string& name = op.inputs[i].name;
      if (name == "grad" || name == "delta") {
        grad_ = i;
      } else if (name == "indices") {
        indices_ = i;
      } else {
        scalars_.push_back(i);
      }
    }
    if (ctx->HasAttr("use_nesterov")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("use_nesterov", &flags_.use_nesterov));
    }
    if (ctx->HasAttr("update_slots")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("update_slots", &flags_.update_slots));
    }
    if (ctx->HasAttr("multiply_linear_by_lr")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("multiply_linear_by_lr",
                                       &flags_.multiply_linear_by_lr));
    }
  }

  void Compute(OpKernelContext* ctx) override {
    VariableWriter writer;
    OP_REQUIRES_OK(ctx, writer.Lock(ctx, 0, num_vars_, dtype_));
    OP_REQUIRES_OK(ctx, CheckShapes(ctx, &writer));
    switch (dtype_) {
#define HR_CASE(T)               \
  case DataTypeToEnum<T>::value: \
    return Update<T>(ctx, &writer);
      HR_CALL_FLOAT_TYPES(HR_CASE)
      HR_CALL_COMPLEX_TYPES(HR_CASE)
#undef HR_CASE
      default:
        ctx->SetStatus(errors::Unimplemented("T is ", DataTypeString(dtype_)));
    }
  }

 protected:
  const Flags& flags() const { return flags_; }

  // Steps n elements. scalars are of the type A that the rule computes in, and
  // so are the elements.
  virtual void Step(const void* scalars, void* const* vars, const void* grad,
                    int64_t n) const = 0;

 private:
  static int64_t IndexAt(const Tensor& indices, int64_t i) {
    return indices.dtype() == DT_INT32 ? indices.data<int32_t>()[i]
                                       : indices.data<int64_t>()[i];
  }

  template <typename T>
  void Update(OpKernelContext* ctx, VariableWriter* writer) {
    using A = ComputedIn<T>;
    A scalars[kMaxScalars] = {};
    for (size_t k = 0; k < scalars_.size(); ++k) {
      const Tensor& t = ctx->input(scalars_[k]);
      scalars[k] = t.dtype() == DT_INT64 ? static_cast<A>(t.scalar<int64_t>())
                                         : static_cast<A>(t.scalar<T>());
    }
    T* vars[kMaxVars] = {};
    for (int i = 0; i < num_vars_; ++i) {
      OP_REQUIRES_OK(ctx, writer->PrepareToWrite(i));
    }
    for (int i = 0; i < num_vars_; ++i) vars[i] = writer->tensor(i)->data<T>();
    const T* grad = ctx->input(grad_).data<T>();
    if (indices_ < 0) {
      ctx->ParallelFor(writer->tensor(0)->NumElements(), 0.5 * num_vars_,
                       [&](int64_t begin, int64_t end) {
                         StepRange<T, A>(scalars, vars, begin, grad + begin,
                                         end - begin);
                       });
    } else {
      const Tensor& indices = ctx->input(indices_);
      const int64_t row =
          writer->tensor(0)->shape().ProductOf(1, writer->tensor(0)->dims());
      for (int64_t i = 0; i < indices.NumElements(); ++i) {
        StepRange<T, A>(scalars, vars, IndexAt(indices, i) * row,
                        grad + i * row, row);
      }
    }
    if (num_outputs() > 0) ctx->forward_ref_input_to_ref_output(0, 0);
  }

  // Steps n elements of the variables from `begin` on.
  template <typename T, typename A>
  void StepRange(const A* scalars, T* const* vars, int64_t begin, const T* grad,
                 int64_t n) const {
    void* at[kMaxVars];
    if constexpr (std::is_same_v<T, A>) {
      for (int v = 0; v < num_vars_; ++v) at[v] = vars[v] + begin;
      Step(scalars, at, grad, n);
    } else {
      A wide[kMaxVars][kBlock], wide_grad[kBlock];
      for (int64_t done = 0; done < n; done += kBlock) {
        const int64_t count = std::min(kBlock, n - done);
        std::copy_n(grad + done, count, wide_grad);
        for (int v = 0; v < num_vars_; ++v) {
          std::copy_n(vars[v] + begin + done, count, wide[v]);
          at[v] = wide[v];
        }
        Step(scalars, at, wide_grad, count);
        for (int v = 0; v < num_vars_; ++v) {
          T* to = vars[v] + begin + done;
          for (int64_t i = 0; i < count; ++i)
            to[i] = static_cast<T>(wide[v][i]);
        }
      }
    }
  }

  Status CheckShapes(OpKernelContext* ctx, VariableWriter* writer) const {
    const TensorShape& var = writer->tensor(0)->shape();
    for (int i = 1; i < num_vars_; ++i) {
      if (writer->tensor(i)->shape() != var) {
        return errors::InvalidArgument(
            "var and slot ", i, " do not have the same shape",
            var.DebugString(), " ", writer->tensor(i)->shape().DebugString());
      }
    }
    for (const int i : scalars_) {
      if (ctx->input(i).dims() != 0) {
        return errors::InvalidArgument("input ", i,
                                       ", a hyper-parameter, is not a scalar: ",
                                       ctx->input(i).shape().DebugString());
      }
    }
    const TensorShape& grad = ctx->input(grad_).shape();
    if (indices_ < 0) {
      if (grad == var) return OkStatus();
      return errors::InvalidArgument("var and grad do not have the same shape",
                                     var.DebugString(), " ",
                                     grad.DebugString());
    }
    const Tensor& indices = ctx->input(indices_);
    if (var.dims() < 1 || indices.dims() != 1) {
      return errors::InvalidArgument(
          "var must be at least 1 dimensional and indices a vector, got ",
          var.DebugString(), " and ", indices.shape().DebugString());
    }
    TensorShape want = var;
    want.set_dim(0, indices.dim_size(0));
    if (grad != want) {
      return errors::InvalidArgument(
          "grad must have one row for each index and the variable's other "
          "dimensions, ",
          want.DebugString(), ", got ", grad.DebugString());
    }
    for (int64_t i = 0; i < indices.NumElements(); ++i) {
      const int64_t at = IndexAt(indices, i);
      if (at < 0 || at >= var.dim_size(0)) {
        return errors::InvalidArgument("Index ", at, " at offset ", i,
                                       " in indices is out of range [0, ",
                                       var.dim_size(0), ")");
      }
    }
    return OkStatus();
  }

  const int num_vars_;
  DataType dtype_ = DT_INVALID;
  Flags flags_;
  int grad_ = -1, indices_ = -1;
  absl::InlinedVector<int, kMaxScalars> scalars_;
};

template <typename A, template <typename> class RuleOf>
class ApplyOp : public ApplyOpBase {
 public:
  using Rule = RuleOf<A>;

  explicit ApplyOp(OpKernelConstruction* ctx) : ApplyOpBase(ctx, Rule::kVars) {}

 private:
  void Step(const void* scalars, void* const* vars, const void* grad,
            int64_t n) const override {
    constexpr int k = Rule::kVars;
    Rule rule;
    rule.Load(static_cast<const A*>(scalars), flags());
    const A* g = static_cast<const A*>(grad);
    A* const a = static_cast<A*>(vars[0]);
    A* const b = k > 1 ? static_cast<A*>(vars[1]) : nullptr;
    A* const c = k > 2 ? static_cast<A*>(vars[2]) : nullptr;
    A* const d = k > 3 ? static_cast<A*>(vars[3]) : nullptr;
    // By value, so that the writes of a step cannot change the rule's numbers.
    const auto loop = [=] {
      for (int64_t i = 0; i < n; ++i) {
        if constexpr (k == 1) rule.Step(g[i], a[i]);
        if constexpr (k == 2) rule.Step(g[i], a[i], b[i]);
        if constexpr (k == 3) rule.Step(g[i], a[i], b[i], c[i]);
        if constexpr (k == 4) rule.Step(g[i], a[i], b[i], c[i], d[i]);
      }
    };
    if constexpr (std::is_floating_point_v<A>) {
      RunSimd(loop);
    } else {
      loop();
    }
  }
};

#define REGISTER_ONE(OP, RULE, T)                                             \
  REGISTER_KERNEL_BUILDER(Name(OP).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          ApplyOp<ComputedIn<T>, RULE>)
#define REGISTER_REF(RULE, T) REGISTER_ONE("Apply" #RULE, RULE, T)
#define REGISTER_RESOURCE(RULE, T) REGISTER_ONE("ResourceApply" #RULE, RULE, T)
#define REGISTER_DENSE(RULE, T) \
  REGISTER_REF(RULE, T);        \
  REGISTER_RESOURCE(RULE, T)
#define REGISTER_RESOURCE_SPARSE(RULE, T) \
  REGISTER_ONE("ResourceSparseApply" #RULE, RULE, T)
#define REGISTER_SPARSE(RULE, T)              \
  REGISTER_ONE("SparseApply" #RULE, RULE, T); \
  REGISTER_RESOURCE_SPARSE(RULE, T)
#define REGISTER(T)                            \
  REGISTER_DENSE(GradientDescent, T);          \
  REGISTER_DENSE(ProximalGradientDescent, T);  \
  REGISTER_DENSE(Momentum, T);                 \
  REGISTER_RESOURCE(KerasMomentum, T);         \
  REGISTER_DENSE(Adagrad, T);                  \
  REGISTER_DENSE(AdagradV2, T);                \
  REGISTER_DENSE(ProximalAdagrad, T);          \
  REGISTER_DENSE(AdagradDA, T);                \
  REGISTER_DENSE(Adadelta, T);                 \
  REGISTER_DENSE(Ftrl, T);                     \
  REGISTER_DENSE(FtrlV2, T);                   \
  REGISTER_DENSE(Adam, T);                     \
  REGISTER_RESOURCE(AdamWithAmsgrad, T);       \
  REGISTER_DENSE(AdaMax, T);                   \
  REGISTER_DENSE(RMSProp, T);                  \
  REGISTER_DENSE(CenteredRMSProp, T);          \
  REGISTER_DENSE(AddSign, T);                  \
  REGISTER_DENSE(PowerSign, T);                \
  REGISTER_SPARSE(ProximalGradientDescent, T); \
  REGISTER_SPARSE(Momentum, T);                \
  REGISTER_RESOURCE_SPARSE(KerasMomentum, T);  \
  REGISTER_SPARSE(Adagrad, T);                 \
  REGISTER_SPARSE(AdagradV2, T);               \
  REGISTER_SPARSE(ProximalAdagrad, T);         \
  REGISTER_SPARSE(AdagradDA, T);               \
  REGISTER_SPARSE(Adadelta, T);                \
  REGISTER_SPARSE(Ftrl, T);                    \
  REGISTER_SPARSE(FtrlV2, T);                  \
  REGISTER_SPARSE(RMSProp, T);                 \
  REGISTER_SPARSE(CenteredRMSProp, T);
HR_CALL_FLOAT_TYPES(REGISTER)
// Squares stay squares, not magnitudes, and roots are complex, as in
// TensorFlow.
#define REGISTER_COMPLEX(T)                   \
  REGISTER_DENSE(GradientDescent, T);         \
  REGISTER_DENSE(Momentum, T);                \
  REGISTER_RESOURCE(KerasMomentum, T);        \
  REGISTER_DENSE(Adagrad, T);                 \
  REGISTER_DENSE(AdagradV2, T);               \
  REGISTER_DENSE(Adadelta, T);                \
  REGISTER_DENSE(Adam, T);                    \
  REGISTER_DENSE(RMSProp, T);                 \
  REGISTER_DENSE(CenteredRMSProp, T);         \
  REGISTER_SPARSE(Momentum, T);               \
  REGISTER_RESOURCE_SPARSE(KerasMomentum, T); \
  REGISTER_SPARSE(Adagrad, T);                \
  REGISTER_SPARSE(AdagradV2, T);              \
  REGISTER_SPARSE(Adadelta, T);               \
  REGISTER_SPARSE(RMSProp, T);                \
  REGISTER_SPARSE(CenteredRMSProp, T);
HR_CALL_COMPLEX_TYPES(REGISTER_COMPLEX)
#undef REGISTER_ONE
#undef REGISTER_REF
#undef REGISTER_RESOURCE
#undef REGISTER_DENSE
#undef REGISTER_RESOURCE_SPARSE
#undef REGISTER_SPARSE
#undef REGISTER
#undef REGISTER_COMPLEX

}  // namespace
}  // namespace headrace

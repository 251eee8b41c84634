// Apply<Rule>, ResourceApply<Rule>, SparseApply<Rule>,
// ResourceSparseApply<Rule>: one step of an optimizer. A rule updates one
// element of the variable and of its slots with the gradient at that place.
// Dense ops apply it to all elements. Sparse ops apply it to the rows in
// `indices`, in order; a row that occurs twice is updated twice.
//
// Do not "simplify" the formulas: trained models depend on the place of epsilon
// (inside the root for RMSProp, outside for Adam), on which accumulator is the
// old one (Adadelta), and on Adam's beta powers being inputs that these ops do
// not update.
#include <algorithm>
#include <cmath>
#include <utility>

#include "headrace/op_kernel.h"
#include "kernels/lib/scalar_update.h"
#include "kernels/lib/simd.h"
#include "kernels/lib/variable_access.h"

namespace headrace {
namespace {

struct Flags {
  bool use_nesterov = false;
  bool update_slots = true;
  bool multiply_linear_by_lr = false;
};

template <typename A>
A Sign(A x) {
  return static_cast<A>((x > A(0)) - (x < A(0)));
}
// x moved towards zero by `by`, at most to zero.
template <typename A>
A Shrink(A x, A by) {
  return Sign(x) * std::max(std::abs(x) - by, A(0));
}

// Each rule: kVars variables, the scalars in the order of the op's inputs
// (Load), and Step, which gets the gradient and the variables' elements.

template <typename A>
struct GradientDescent {
  static constexpr int kVars = 1;
  A alpha;
  void Load(const A* s, const Flags&) { alpha = s[0]; }
  void Step(A g, A& var) const { var -= g * alpha; }
};

template <typename A>
struct ProximalGradientDescent {
  static constexpr int kVars = 1;
  A alpha, l1, l2;
  void Load(const A* s, const Flags&) { alpha = s[0], l1 = s[1], l2 = s[2]; }
  void Step(A g, A& var) const {
    const A x = var - g * alpha;
    var = (l1 > A(0) ? Shrink(x, alpha * l1) : x) / (A(1) + l2 * alpha);
  }
};

template <typename A>
struct Momentum {
  static constexpr int kVars = 2;
  A lr, momentum;
  bool nesterov;
  void Load(const A* s, const Flags& f) {
    lr = s[0], momentum = s[1], nesterov = f.use_nesterov;
  }
  void Step(A g, A& var, A& accum) const {
    accum = accum * momentum + g;
    var -= nesterov ? g * lr + accum * momentum * lr : accum * lr;
  }
};

template <typename A>
struct KerasMomentum {
  static constexpr int kVars = 2;
  A lr, momentum;
  bool nesterov;
  void Load(const A* s, const Flags& f) {
    lr = s[0], momentum = s[1], nesterov = f.use_nesterov;
  }
  void Step(A g, A& var, A& accum) const {
    accum = accum * momentum - g * lr;
    var += nesterov ? accum * momentum - g * lr : accum;
  }
};

template <typename A>
struct Adagrad {
  static constexpr int kVars = 2;
  A lr;
  bool update;
  void Load(const A* s, const Flags& f) { lr = s[0], update = f.update_slots; }
  void Step(A g, A& var, A& accum) const {
    accum = update ? accum + g * g : accum;
    var -= g * lr / std::sqrt(accum);
  }
};

template <typename A>
struct AdagradV2 {
  static constexpr int kVars = 2;
  A lr, epsilon;
  bool update;
  void Load(const A* s, const Flags& f) {
    lr = s[0], epsilon = s[1], update = f.update_slots;
  }
  void Step(A g, A& var, A& accum) const {
    accum = update ? accum + g * g : accum;
    var -= g * lr / (std::sqrt(accum) + epsilon);
  }
};

template <typename A>
struct ProximalAdagrad {
  static constexpr int kVars = 2;
  A lr, l1, l2;
  void Load(const A* s, const Flags&) { lr = s[0], l1 = s[1], l2 = s[2]; }
  void Step(A g, A& var, A& accum) const {
    accum += g * g;
    const A rate = lr / std::sqrt(accum);
    const A x = var - g * rate;
    var = (l1 > A(0) ? Shrink(x, rate * l1) : x) / (A(1) + l2 * rate);
  }
};

template <typename A>
struct AdagradDA {
  static constexpr int kVars = 3;
  A lr, l1, l2, step;
  void Load(const A* s, const Flags&) {
    lr = s[0], l1 = s[1], l2 = s[2], step = s[3];
  }
  void Step(A g, A& var, A& sum, A& squares) const {
    sum += g;
    squares += g * g;
    const A x = l1 > A(0) ? Shrink(sum, l1 * step) : sum;
    var = -lr * x / (l2 * step * lr + std::sqrt(squares));
  }
};

template <typename A>
struct Adadelta {
  static constexpr int kVars = 3;
  A lr, rho, epsilon;
  void Load(const A* s, const Flags&) { lr = s[0], rho = s[1], epsilon = s[2]; }
  void Step(A g, A& var, A& accum, A& accum_update) const {
    accum = accum * rho + g * g * (A(1) - rho);
    const A update =
        std::sqrt(accum_update + epsilon) / std::sqrt(accum + epsilon) * g;
    var -= update * lr;
    accum_update = accum_update * rho + update * update * (A(1) - rho);
  }
};

// s: lr, l1, l2, [l2_shrinkage,] lr_power.
template <typename A, bool v2>
struct FtrlBase {
  static constexpr int kVars = 3;
  A lr, l1, l2, shrinkage, lr_power;
  bool multiply;
  void Load(const A* s, const Flags& f) {
    lr = s[0], l1 = s[1], l2 = s[2];
    shrinkage = v2 ? s[3] : A(0);
    lr_power = s[v2 ? 4 : 3];
    multiply = f.multiply_linear_by_lr;
  }
  A Power(A x) const {
    return lr_power == A(-0.5) ? std::sqrt(x) : std::pow(x, -lr_power);
  }
  void Step(A g, A& var, A& accum, A& linear) const {
    const A shrunk = v2 ? g + A(2) * shrinkage * var : g;
    const A sum = accum + g * g;
    const A new_power = Power(sum);
    const A change = new_power - Power(accum);
    A quadratic, limit;
    if (multiply) {
      linear += shrunk * lr - change * var;
      quadratic = new_power + A(2) * l2 * lr;
      limit = l1 * lr;
    } else {
      linear += shrunk - change / lr * var;
      quadratic = new_power / lr + A(2) * l2;
      limit = l1;
    }
    var = std::abs(linear) > limit ? (Sign(linear) * limit - linear) / quadratic
                                   : A(0);
    accum = sum;
  }
};
template <typename A>
using Ftrl = FtrlBase<A, false>;
template <typename A>
using FtrlV2 = FtrlBase<A, true>;

template <typename A>
struct Adam {
  static constexpr int kVars = 3;
  A alpha, beta1, beta2, epsilon;
  bool nesterov;
  void Load(const A* s, const Flags& f) {
    alpha = s[2] * std::sqrt(A(1) - s[1]) / (A(1) - s[0]);
    beta1 = s[3], beta2 = s[4], epsilon = s[5], nesterov = f.use_nesterov;
  }
  void Step(A g, A& var, A& m, A& v) const {
    m += (g - m) * (A(1) - beta1);
    v += (g * g - v) * (A(1) - beta2);
    const A direction = nesterov ? g * (A(1) - beta1) + beta1 * m : m;
    var -= direction * alpha / (std::sqrt(v) + epsilon);
  }
};

template <typename A>
struct AdamWithAmsgrad {
  static constexpr int kVars = 4;
  A alpha, beta1, beta2, epsilon;
  void Load(const A* s, const Flags&) {
    alpha = s[2] * std::sqrt(A(1) - s[1]) / (A(1) - s[0]);
    beta1 = s[3], beta2 = s[4], epsilon = s[5];
  }
  void Step(A g, A& var, A& m, A& v, A& vhat) const {
    m += (g - m) * (A(1) - beta1);
    v += (g * g - v) * (A(1) - beta2);
    vhat = std::max(vhat, v);
    var -= m * alpha / (std::sqrt(vhat) + epsilon);
  }
};

template <typename A>
struct AdaMax {
  static constexpr int kVars = 3;
  A alpha, beta1, beta2, epsilon;
  void Load(const A* s, const Flags&) {
    alpha = s[1] / (A(1) - s[0]);
    beta1 = s[2], beta2 = s[3], epsilon = s[4];
  }
  void Step(A g, A& var, A& m, A& v) const {
    m += (g - m) * (A(1) - beta1);
    v = std::max(beta2 * v, std::abs(g));
    var -= alpha * (m / (v + epsilon));
  }
};

template <typename A>
struct RMSProp {
  static constexpr int kVars = 3;
  A lr, rho, momentum, epsilon;
  void Load(const A* s, const Flags&) {
    lr = s[0], rho = s[1], momentum = s[2], epsilon = s[3];
  }
  void Step(A g, A& var, A& ms, A& mom) const {
    ms += (g * g - ms) * (A(1) - rho);
    mom = mom * momentum + g * lr / std::sqrt(ms + epsilon);
    var -= mom;
  }
};

template <typename A>
struct CenteredRMSProp {
  static constexpr int kVars = 4;
  A lr, rho, momentum, epsilon;
  void Load(const A* s, const Flags&) {
    lr = s[0], rho = s[1], momentum = s[2], epsilon = s[3];
  }
  void Step(A g, A& var, A& mg, A& ms, A& mom) const {
    ms += (g * g - ms) * (A(1) - rho);
    mg += (g - mg) * (A(1) - rho);
    mom = mom * momentum + g * lr / std::sqrt(ms - mg * mg + epsilon);
    var -= mom;
  }
};

template <typename A>
struct AddSign {
  static constexpr int kVars = 2;
  A lr, alpha, sign_decay, beta;
  void Load(const A* s, const Flags&) {
    lr = s[0], alpha = s[1], sign_decay = s[2], beta = s[3];
  }
  void Step(A g, A& var, A& m) const {
    m = m * beta + g * (A(1) - beta);
    var -= lr * (alpha + sign_decay * Sign(g) * Sign(m)) * g;
  }
};

template <typename A>
struct PowerSign {
  static constexpr int kVars = 2;
  A lr, logbase, sign_decay, beta;
  void Load(const A* s, const Flags&) {
    lr = s[0], logbase = s[1], sign_decay = s[2], beta = s[3];
  }
  void Step(A g, A& var, A& m) const {
    m = m * beta + g * (A(1) - beta);
    var -= lr * std::exp(logbase * sign_decay * Sign(g) * Sign(m)) * g;
  }
};

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

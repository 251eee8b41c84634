// Activations and their gradients, elementwise: Relu, Relu6, LeakyRelu, Elu,
// Selu, Softplus, Softsign.
//
// What a reader would get wrong: NaN passes through every activation, because
// the comparisons are written so that NaN takes the branch that keeps x, and
// -0 stays -0. ReluGrad and Relu6Grad multiply by 0 or 1 rather than select, so
// a NaN or infinite gradient stays NaN where the feature was negative.
// LeakyReluGrad and EluGrad select. EluGrad and SeluGrad read the forward op's
// output, not its input.

// Floating-point exceptions are ignored. The compiler may then compute both
// sides of a conditional, which lets its loop become vector code. The pragma is
// before all includes, so that it also applies to their inline functions.
#pragma GCC optimize("no-trapping-math")

#include <cmath>
#include <cstdint>
#include <limits>

#include "headrace/op_kernel.h"
#include "headrace/simd.h"
#include "kernels/lib/elementwise.h"
#include "kernels/lib/nn_math.h"

namespace headrace {
namespace {

// A functor is made of the kernel's construction (for attrs) and computes in
// C = ComputeType<T>. kCost is ns per element, roughly.

template <typename T>
struct Relu {
  using C = ComputeType<T>;
  static constexpr double kCost = 0.2;
  explicit Relu(OpKernelConstruction*) {}
  C operator()(C x) const { return x < C(0) ? C(0) : x; }
};

template <typename T>
struct ReluGrad {
  using C = ComputeType<T>;
  static constexpr double kCost = 0.3;
  explicit ReluGrad(OpKernelConstruction*) {}
  C operator()(C g, C x) const { return g * (x > C(0) ? C(1) : C(0)); }
};

template <typename T>
struct Relu6 {
  using C = ComputeType<T>;
  static constexpr double kCost = 0.2;
  explicit Relu6(OpKernelConstruction*) {}
  C operator()(C x) const {
    const C y = x < C(0) ? C(0) : x;
    return y > C(6) ? C(6) : y;
  }
};

template <typename T>
struct Relu6Grad {
  using C = ComputeType<T>;
  static constexpr double kCost = 0.3;
  explicit Relu6Grad(OpKernelConstruction*) {}
  C operator()(C g, C x) const {
    const C low = x > C(0) ? C(1) : C(0);
    return g * (x < C(6) ? low : C(0));
  }
};

template <typename T>
struct LeakyRelu {
  using C = ComputeType<T>;
  static constexpr double kCost = 0.2;
  explicit LeakyRelu(OpKernelConstruction* ctx) {
    float a = 0.2f;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("alpha", &a));
    alpha = static_cast<C>(static_cast<T>(a));
  }
  explicit LeakyRelu(float a) : alpha(static_cast<C>(a)) {}
  C operator()(C x) const {
    const C scaled = alpha * x;
    return x > C(0) ? x : scaled;
  }
  C operator()(C g, C x) const {
    const C scaled = alpha * g;
    return x > C(0) ? g : scaled;
  }
  C alpha = 0;
};

template <typename T>
struct Elu {
  using C = ComputeType<T>;
  static constexpr double kCost = 1;
  explicit Elu(OpKernelConstruction*) {}
  C operator()(C x) const { return x < C(0) ? vec::Expm1(x) : x; }
};

template <typename T>
struct EluGrad {
  using C = ComputeType<T>;
  static constexpr double kCost = 0.3;
  explicit EluGrad(OpKernelConstruction*) {}
  C operator()(C g, C y) const {
    const C scaled = g * (y + C(1));
    return y < C(0) ? scaled : g;
  }
};

constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

template <typename T>
struct Selu {
  using C = ComputeType<T>;
  static constexpr double kCost = 1;
  explicit Selu(OpKernelConstruction*) {}
  C operator()(C x) const {
    return x < C(0) ? C(kSeluScaleAlpha) * vec::Expm1(x) : C(kSeluScale) * x;
  }
};

template <typename T>
struct SeluGrad {
  using C = ComputeType<T>;
  static constexpr double kCost = 0.3;
  explicit SeluGrad(OpKernelConstruction*) {}
  C operator()(C g, C y) const {
    const C curved = g * (y + C(kSeluScaleAlpha));
    const C linear = g * C(kSeluScale);
    return y < C(0) ? curved : linear;
  }
};

// log(1 + exp(x)). exp overflows for large x, where y == x anyway; both tails
// are cut where T cannot tell the difference, as TF 1.x does.
template <typename T>
struct Softplus {
  using C = ComputeType<T>;
  static constexpr double kCost = 2;
  explicit Softplus(OpKernelConstruction*) {
    threshold = static_cast<C>(
        std::log(static_cast<double>(Eigen::NumTraits<T>::epsilon())) + 2.0);
  }
  C operator()(C x) const {
    const C e = vec::Exp(x);
    const C y = x < threshold ? e : vec::Log1pNonNegative(e);
    return x > -threshold ? x : y;
  }
  C threshold;  // negative
};

template <typename T>
struct SoftplusGrad {
  using C = ComputeType<T>;
  static constexpr double kCost = 1;
  explicit SoftplusGrad(OpKernelConstruction*) {}
  C operator()(C g, C x) const { return g / (vec::Exp(-x) + C(1)); }
};

template <typename T>
struct Softsign {
  using C = ComputeType<T>;
  static constexpr double kCost = 0.4;
  explicit Softsign(OpKernelConstruction*) {}
  C operator()(C x) const { return x / (C(1) + std::abs(x)); }
};

template <typename T>
struct SoftsignGrad {
  using C = ComputeType<T>;
  static constexpr double kCost = 0.5;
  explicit SoftsignGrad(OpKernelConstruction*) {}
  C operator()(C g, C x) const {
    const C d = C(1) + std::abs(x);
    return g / (d * d);
  }
};

// Only float and double are worth three copies of the code.
template <typename T>
constexpr bool kVectorised =
    std::is_same_v<T, float> || std::is_same_v<T, double>;

template <typename T, typename F>
void Loop(const F& f) {
  if constexpr (kVectorised<T>) {
    RunSimd(f);
  } else {
    f();
  }
}

template <typename T, typename Functor>
void RunActivation(const Functor& functor, const T* x, T* y, int64_t n) {
  Loop<T>([&functor, x, y, n] {
    using C = ComputeType<T>;
    const Functor f = functor;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      y[i] = static_cast<T>(f(static_cast<C>(x[i])));
    }
  });
}

template <typename T, template <typename> class Functor>
class UnaryActivationOp : public OpKernel {
 public:
  explicit UnaryActivationOp(OpKernelConstruction* ctx)
      : OpKernel(ctx), functor_(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    const T* x = input.data<T>();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0}, 0, input.shape(), &output));
    T* y = output->data<T>();
    ctx->ParallelFor(output->NumElements(), Functor<T>::kCost,
                     [this, x, y](int64_t begin, int64_t end) {
                       RunActivation(functor_, x + begin, y + begin,
                                     end - begin);
                     });
  }

 private:
  const Functor<T> functor_;
};

template <typename T, template <typename> class Functor>
class ActivationGradOp : public OpKernel {
 public:
  explicit ActivationGradOp(OpKernelConstruction* ctx)
      : OpKernel(ctx), functor_(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& gradients = ctx->input(0);
    const Tensor& features = ctx->input(1);
    OP_REQUIRES(
        ctx, gradients.shape() == features.shape(),
        errors::InvalidArgument(type_string(), ": gradients and ",
                                "features must have the same shape, got ",
                                gradients.shape().DebugString(), " and ",
                                features.shape().DebugString()));
    const T* g = gradients.data<T>();
    const T* x = features.data<T>();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0, 1}, 0, gradients.shape(), &output));
    T* dx = output->data<T>();
    ctx->ParallelFor(output->NumElements(), Functor<T>::kCost,
                     [this, g, x, dx](int64_t begin, int64_t end) {
                       Loop<T>([this, g, x, dx, begin, end] {
                         using C = ComputeType<T>;
                         const Functor<T> f = functor_;
#pragma GCC ivdep
                         for (int64_t i = begin; i < end; ++i) {
                           dx[i] = static_cast<T>(
                               f(static_cast<C>(g[i]), static_cast<C>(x[i])));
                         }
                       });
                     });
  }

 private:
  const Functor<T> functor_;
};

#define REGISTER_ACTIVATION(op, Kernel, Functor, T)                           \
  REGISTER_KERNEL_BUILDER(Name(op).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          Kernel<T, Functor>)

#define REGISTER_REAL(T)                                          \
  REGISTER_ACTIVATION("Relu", UnaryActivationOp, Relu, T);        \
  REGISTER_ACTIVATION("ReluGrad", ActivationGradOp, ReluGrad, T); \
  REGISTER_ACTIVATION("Relu6", UnaryActivationOp, Relu6, T);      \
  REGISTER_ACTIVATION("Relu6Grad", ActivationGradOp, Relu6Grad, T);
HR_CALL_REAL_NUMBER_TYPES(REGISTER_REAL)

#define REGISTER_FLOAT(T)                                                 \
  REGISTER_ACTIVATION("LeakyRelu", UnaryActivationOp, LeakyRelu, T);      \
  REGISTER_ACTIVATION("LeakyReluGrad", ActivationGradOp, LeakyRelu, T);   \
  REGISTER_ACTIVATION("Elu", UnaryActivationOp, Elu, T);                  \
  REGISTER_ACTIVATION("EluGrad", ActivationGradOp, EluGrad, T);           \
  REGISTER_ACTIVATION("Selu", UnaryActivationOp, Selu, T);                \
  REGISTER_ACTIVATION("SeluGrad", ActivationGradOp, SeluGrad, T);         \
  REGISTER_ACTIVATION("Softplus", UnaryActivationOp, Softplus, T);        \
  REGISTER_ACTIVATION("SoftplusGrad", ActivationGradOp, SoftplusGrad, T); \
  REGISTER_ACTIVATION("Softsign", UnaryActivationOp, Softsign, T);        \
  REGISTER_ACTIVATION("SoftsignGrad", ActivationGradOp, SoftsignGrad, T);
HR_CALL_FLOAT_TYPES(REGISTER_FLOAT)

// For fused nodes (see elementwise.h).
template <typename T, template <typename> class Functor>
constexpr UnaryLoop kActivationLoop = {
    [](const void* x, void* y, int64_t n, ElementwiseState*) {
      RunActivation(Functor<T>(nullptr), static_cast<const T*>(x),
                    static_cast<T*>(y), n);
    },
    sizeof(T),
    sizeof(T),
    true,
    Functor<T>::kCost,
    nullptr};
template <template <typename> class Functor>
constexpr NamedLoops<UnaryLoop> NameActivation(const char* op) {
  return {op, &kActivationLoop<float, Functor>,
          &kActivationLoop<double, Functor>};
}
template <typename T>
constexpr UnaryLoop kLeakyReluLoop = {
    [](const void* x, void* y, int64_t n, ElementwiseState* s) {
      RunActivation(LeakyRelu<T>(s->param), static_cast<const T*>(x),
                    static_cast<T*>(y), n);
    },
    sizeof(T),
    sizeof(T),
    true,
    LeakyRelu<T>::kCost,
    nullptr};
constinit NamedLoops<UnaryLoop> activation_loops[] = {
    {"LeakyRelu", &kLeakyReluLoop<float>, &kLeakyReluLoop<double>},
    NameActivation<Relu>("Relu"),
    NameActivation<Relu6>("Relu6"),
    NameActivation<Elu>("Elu"),
    NameActivation<Selu>("Selu"),
    NameActivation<Softplus>("Softplus"),
    NameActivation<Softsign>("Softsign"),
};
[[maybe_unused]] const bool named = [] {
  for (NamedLoops<UnaryLoop>& loops : activation_loops) NameLoops(&loops);
  return true;
}();
#undef REGISTER_ACTIVATION
#undef REGISTER_REAL
#undef REGISTER_FLOAT

}  // namespace
}  // namespace headrace

// The rules of optimizers: how a step changes one element of a variable and of
// its slots. training_ops.cc has the ops that apply them on the CPU, the
// kernels of GPUs apply the same.
//
// Do not "simplify" the formulas: trained models depend on the place of epsilon
// (inside the root for RMSProp, outside for Adam), on which accumulator is the
// old one (Adadelta), and on Adam's beta powers being inputs that these ops do
// not update.
#ifndef HEADRACE_KERNELS_STATE_OPTIMIZER_RULES_H_
#define HEADRACE_KERNELS_STATE_OPTIMIZER_RULES_H_

#include <cmath>

#ifndef HR_HOST_DEVICE
#ifdef __CUDACC__
#define HR_HOST_DEVICE __host__ __device__
#else
#define HR_HOST_DEVICE
#endif
#endif

namespace headrace::optimizer_rules {

struct OptimizerFlags {
  bool use_nesterov = false;
  bool update_slots = true;
  bool multiply_linear_by_lr = false;
};

// As std::max.
template <typename A>
HR_HOST_DEVICE A Larger(A x, A y) {
  return x < y ? y : x;
}
template <typename A>
HR_HOST_DEVICE A Sign(A x) {
  return static_cast<A>((x > A(0)) - (x < A(0)));
}
// x moved towards zero by `by`, at most to zero.
template <typename A>
HR_HOST_DEVICE A Shrink(A x, A by) {
  return Sign(x) * Larger(std::abs(x) - by, A(0));
}

// Each rule: kVars variables, the scalars in the order of the op's inputs
// (Load), and Step, which gets the gradient and the variables' elements. After
// Load, which one thread calls, any threads may call Step on other elements.

template <typename A>
struct GradientDescent {
  static constexpr int kVars = 1;
  A alpha;
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags&) { alpha = s[0]; }
  HR_HOST_DEVICE void Step(A g, A& var) const { var -= g * alpha; }
};

template <typename A>
struct ProximalGradientDescent {
  static constexpr int kVars = 1;
  A alpha, l1, l2;
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags&) {
    alpha = s[0], l1 = s[1], l2 = s[2];
  }
  HR_HOST_DEVICE void Step(A g, A& var) const {
    const A x = var - g * alpha;
    var = (l1 > A(0) ? Shrink(x, alpha * l1) : x) / (A(1) + l2 * alpha);
  }
};

template <typename A>
struct Momentum {
  static constexpr int kVars = 2;
  A lr, momentum;
  bool nesterov;
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags& f) {
    lr = s[0], momentum = s[1], nesterov = f.use_nesterov;
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& accum) const {
    accum = accum * momentum + g;
    var -= nesterov ? g * lr + accum * momentum * lr : accum * lr;
  }
};

template <typename A>
struct KerasMomentum {
  static constexpr int kVars = 2;
  A lr, momentum;
  bool nesterov;
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags& f) {
    lr = s[0], momentum = s[1], nesterov = f.use_nesterov;
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& accum) const {
    accum = accum * momentum - g * lr;
    var += nesterov ? accum * momentum - g * lr : accum;
  }
};

template <typename A>
struct Adagrad {
  static constexpr int kVars = 2;
  A lr;
  bool update;
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags& f) {
    lr = s[0], update = f.update_slots;
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& accum) const {
    accum = update ? accum + g * g : accum;
    var -= g * lr / std::sqrt(accum);
  }
};

template <typename A>
struct AdagradV2 {
  static constexpr int kVars = 2;
  A lr, epsilon;
  bool update;
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags& f) {
    lr = s[0], epsilon = s[1], update = f.update_slots;
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& accum) const {
    accum = update ? accum + g * g : accum;
    var -= g * lr / (std::sqrt(accum) + epsilon);
  }
};

template <typename A>
struct ProximalAdagrad {
  static constexpr int kVars = 2;
  A lr, l1, l2;
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags&) {
    lr = s[0], l1 = s[1], l2 = s[2];
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& accum) const {
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
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags&) {
    lr = s[0], l1 = s[1], l2 = s[2], step = s[3];
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& sum, A& squares) const {
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
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags&) {
    lr = s[0], rho = s[1], epsilon = s[2];
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& accum, A& accum_update) const {
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
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags& f) {
    lr = s[0], l1 = s[1], l2 = s[2];
    shrinkage = v2 ? s[3] : A(0);
    lr_power = s[v2 ? 4 : 3];
    multiply = f.multiply_linear_by_lr;
  }
  HR_HOST_DEVICE A Power(A x) const {
    return lr_power == A(-0.5) ? std::sqrt(x) : std::pow(x, -lr_power);
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& accum, A& linear) const {
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
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags& f) {
    alpha = s[2] * std::sqrt(A(1) - s[1]) / (A(1) - s[0]);
    beta1 = s[3], beta2 = s[4], epsilon = s[5], nesterov = f.use_nesterov;
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& m, A& v) const {
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
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags&) {
    alpha = s[2] * std::sqrt(A(1) - s[1]) / (A(1) - s[0]);
    beta1 = s[3], beta2 = s[4], epsilon = s[5];
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& m, A& v, A& vhat) const {
    m += (g - m) * (A(1) - beta1);
    v += (g * g - v) * (A(1) - beta2);
    vhat = Larger(vhat, v);
    var -= m * alpha / (std::sqrt(vhat) + epsilon);
  }
};

template <typename A>
struct AdaMax {
  static constexpr int kVars = 3;
  A alpha, beta1, beta2, epsilon;
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags&) {
    alpha = s[1] / (A(1) - s[0]);
    beta1 = s[2], beta2 = s[3], epsilon = s[4];
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& m, A& v) const {
    m += (g - m) * (A(1) - beta1);
    v = Larger(beta2 * v, A(std::abs(g)));
    var -= alpha * (m / (v + epsilon));
  }
};

template <typename A>
struct RMSProp {
  static constexpr int kVars = 3;
  A lr, rho, momentum, epsilon;
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags&) {
    lr = s[0], rho = s[1], momentum = s[2], epsilon = s[3];
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& ms, A& mom) const {
    ms += (g * g - ms) * (A(1) - rho);
    mom = mom * momentum + g * lr / std::sqrt(ms + epsilon);
    var -= mom;
  }
};

template <typename A>
struct CenteredRMSProp {
  static constexpr int kVars = 4;
  A lr, rho, momentum, epsilon;
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags&) {
    lr = s[0], rho = s[1], momentum = s[2], epsilon = s[3];
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& mg, A& ms, A& mom) const {
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
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags&) {
    lr = s[0], alpha = s[1], sign_decay = s[2], beta = s[3];
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& m) const {
    m = m * beta + g * (A(1) - beta);
    var -= lr * (alpha + sign_decay * Sign(g) * Sign(m)) * g;
  }
};

template <typename A>
struct PowerSign {
  static constexpr int kVars = 2;
  A lr, logbase, sign_decay, beta;
  HR_HOST_DEVICE void Load(const A* s, const OptimizerFlags&) {
    lr = s[0], logbase = s[1], sign_decay = s[2], beta = s[3];
  }
  HR_HOST_DEVICE void Step(A g, A& var, A& m) const {
    m = m * beta + g * (A(1) - beta);
    var -= lr * std::exp(logbase * sign_decay * Sign(g) * Sign(m)) * g;
  }
};

}  // namespace headrace::optimizer_rules

#endif  // HEADRACE_KERNELS_STATE_OPTIMIZER_RULES_H_

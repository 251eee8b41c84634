// Special functions, element-wise. All are computed in double and rounded to
// the tensor's type; the incomplete gamma and beta functions, Bessel's and zeta
// are Eigen's. Igamma and Igammac are NaN for a <= 0 or x < 0, but that the
// integral from 0 to 0 is 0 for every a; Lgamma is inf at its poles and Digamma
// NaN.
#include <cmath>
#include <complex>
#include <limits>
#include <unsupported/Eigen/SpecialFunctions>

#include "kernels/lib/elementwise.h"

namespace headrace {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Reflection for x < 0, recurrence up to 10, then the asymptotic series.
double Digamma(double x) {
  if (x == 0 || (x < 0 && std::floor(x) == x)) return kNan;
  double r = 0;
  if (x < 0) {
    // tan of the fraction alone: pi * x loses the digits that matter.
    r = -M_PI / std::tan(M_PI * (x - std::round(x)));
    x = 1 - x;
  }
  if (std::isinf(x)) return x;
  for (; x < 10; x += 1) r -= 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z *
      (1. / 12 -
       z * (1. / 120 -
            z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 -
                                                                 z / 12))))));
  return r + std::log(x) - 0.5 / x - series;
}

double Lgamma(double x) {
  int sign;  // std::lgamma writes a global
  return lgamma_r(x, &sign);
}

double Igamma(double a, double x) {
  if (x == 0) return 0;
  if (!(a > 0) || !(x >= 0)) return kNan;
  return Eigen::numext::igamma(a, x);
}
double Igammac(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return kNan;
  if (x == 0) return 1;
  return Eigen::numext::igammac(a, x);
}
double IgammaGradA(double a, double x) {
  if (x == 0) return 0;
  if (!(a > 0) || !(x >= 0)) return kNan;
  return Eigen::numext::igamma_der_a(a, x);
}
// How a gamma sample moves with the distribution's shape.
double RandomGammaGrad(double alpha, double sample) {
  if (sample == 0) return 0;
  if (!(alpha > 0) || !(sample >= 0)) return kNan;
  return Eigen::numext::gamma_sample_der_alpha(alpha, sample);
}
// Hurwitz's zeta function, sum over n of (q + n)^-x. Eigen's divides by the
// first term; where that is too small for a double, the sum is its integral.
double Zeta(double x, double q) {
  if (x > 1 && q > 1 && std::pow(q, -x) == 0) {
    return std::pow(q, 1 - x) / (x - 1);
  }
  return Eigen::numext::zeta(x, q);
}
// The quantile of the normal distribution; NaN outside [0, 1].
double Ndtri(double x) {
  return x >= 0 && x <= 1 ? Eigen::numext::ndtri(x) : kNan;
}

// The dilogarithm of 1 - x. The series is for x near 1. Identities for 1 - x
// and 1 / x reduce the other arguments to that case.
double Spence(double x) {
  if (!(x >= 0) || std::isinf(x)) return kNan;
  if (x == 0) return M_PI * M_PI / 6;
  if (x > 1.5) return -0.5 * std::log(x) * std::log(x) - Spence(1 / x);
  if (x < 0.5) {
    return M_PI * M_PI / 6 - std::log(x) * std::log1p(-x) - Spence(1 - x);
  }
  double sum = 0, power = 1;
  for (int k = 1; k < 60; ++k) {
    power *= 1 - x;
    sum += power / (k * k);
  }
  return sum;
}

// Dawson's integral exp(-x^2) int_0^x exp(t^2) dt: by Rybicki's sum over odd
// multiples of a step, whose error is exp(-(pi / (2 step))^2); near 0 by its
// series.
double Dawsn(double x) {
  const double a = std::abs(x);
  if (std::isnan(x)) return x;
  if (a > 1e7) return 0.5 / x;
  if (a < 0.2) {
    double sum = 1;
    for (int k = 25; k >= 3; k -= 2) sum = 1 - sum * 2 * x * x / k;
    return x * sum;
  }
  constexpr double kStep = 0.2;
  // The even multiple that is nearest; 33 more on each side are enough.
  const double middle = 2 * std::round(a / (2 * kStep));
  double sum = 0;
  for (int k = -33; k <= 33; k += 2) {
    const double d = a - (middle + k) * kStep;
    sum += std::exp(-d * d) / (middle + k);
  }
  return std::copysign(sum / std::sqrt(M_PI), x);
}

// The exponential integral Ei, for x >= 0: its series, or from 40 on the
// asymptotic one, of which the first terms are beyond double's precision.
double Expint(double x) {
  constexpr double kEuler = 0.57721566490153286061;
  if (!(x >= 0)) return kNan;
  if (x < 40) {
    double sum = 0, term = 1;
    for (int k = 1; k < 200; ++k) {
      term *= x / k;
      sum += term / k;
      if (term < 1e-20 * sum) break;
    }
    return kEuler + std::log(x) + sum;
  }
  double sum = 1, term = 1;
  for (int k = 1; k < 40; ++k) {
    term *= k / x;
    sum += term;
  }
  return std::exp(x) / x * sum;
}

// C(x) + i S(x), int_0^x exp(i pi t^2 / 2) dt: the series near 0, else the
// continued fraction of erfc, evaluated from the front after Lentz.
std::complex<double> Fresnel(double x) {
  using Complex = std::complex<double>;
  const double a = std::abs(x);
  Complex out;
  if (std::isnan(x)) {
    return {x, x};
  } else if (a > 4e4) {
    out = {0.5, 0.5};
  } else if (a < 1.6) {
    const Complex square(0, M_PI / 2 * a * a);
    Complex term = a;
    for (int k = 1; k < 60; ++k) {
      out += term / (2.0 * k - 1);
      term *= square / static_cast<double>(k);
    }
  } else {
    Complex b(1, -M_PI * a * a), c = 1e300, d = 1.0 / b, h = d;
    for (int n = 1; n < 400; n += 2) {
      const double factor = -n * (n + 1.0);
      b += 4;
      d = 1.0 / (factor * d + b);
      c = b + factor / c;
      h *= c * d;
      if (std::abs(c * d - 1.0) < 1e-16) break;
    }
    const double angle = M_PI / 2 * std::fmod(a * a, 4);
    out =
        Complex(0.5, 0.5) * (1.0 - std::polar(1.0, angle) * Complex(a, -a) * h);
  }
  return x < 0 ? -out : out;
}

double Erfinv(double x) { return Ndtri((x + 1) / 2) * M_SQRT1_2; }
// x log(y) and x log(1 + y), 0 where x is 0.
struct XlogyFn {
  static constexpr double kCost = 10;
  template <typename T>
  static T Apply(T x, T y) {
    return x == T(0) ? T(0) : x * std::log(y);
  }
};
struct Xlog1pyFn {
  static constexpr double kCost = 12;
  template <typename T>
  static T Apply(T x, T y) {
    if (x == T(0)) return T(0);
    if constexpr (kIsComplex<T>) {
      return x * std::log(T(1) + y);
    } else {
      return x * std::log1p(y);
    }
  }
};
struct Atan2Fn {
  static constexpr double kCost = 15;
  template <typename T>
  static T Apply(T y, T x) {
    return std::atan2(y, x);
  }
};
struct NextAfterFn {
  static constexpr double kCost = 4;
  template <typename T>
  static T Apply(T x, T y) {
    return std::nextafter(x, y);
  }
};
#define HR_DEFINE_SPECIAL1(NAME, EXPRESSION)      \
  struct NAME##Fn {                               \
    static constexpr double kCost = 30;           \
    template <typename T>                         \
    static T Apply(T x_in) {                      \
      const double x = static_cast<double>(x_in); \
      return static_cast<T>(EXPRESSION);          \
    }                                             \
  };                                              \
  HR_REGISTER_UNARY(#NAME, NAME##Fn, HR_TYPES_FLOAT)
#define HR_DEFINE_SPECIAL2(NAME, EXPRESSION, ...) \
  struct NAME##Fn {                               \
    static constexpr double kCost = 200;          \
    template <typename T>                         \
    static T Apply(T a_in, T x_in) {              \
      const double a = static_cast<double>(a_in); \
      const double x = static_cast<double>(x_in); \
      return static_cast<T>(EXPRESSION);          \
    }                                             \
  };                                              \
  HR_REGISTER_BINARY(#NAME, NAME##Fn, __VA_ARGS__)

HR_DEFINE_SPECIAL1(Lgamma, Lgamma(x));
HR_DEFINE_SPECIAL1(Digamma, Digamma(x));
HR_DEFINE_SPECIAL1(Erfinv, Erfinv(x));
HR_DEFINE_SPECIAL1(Ndtri, Ndtri(x));
HR_DEFINE_SPECIAL1(BesselI0e, Eigen::numext::bessel_i0e(x));
HR_DEFINE_SPECIAL1(BesselI1e, Eigen::numext::bessel_i1e(x));
HR_DEFINE_SPECIAL1(BesselI0, Eigen::numext::bessel_i0(x));
HR_DEFINE_SPECIAL1(BesselI1, Eigen::numext::bessel_i1(x));
HR_DEFINE_SPECIAL1(BesselJ0, Eigen::numext::bessel_j0(x));
HR_DEFINE_SPECIAL1(BesselJ1, Eigen::numext::bessel_j1(x));
HR_DEFINE_SPECIAL1(BesselK0, Eigen::numext::bessel_k0(x));
HR_DEFINE_SPECIAL1(BesselK0e, Eigen::numext::bessel_k0e(x));
HR_DEFINE_SPECIAL1(BesselK1, Eigen::numext::bessel_k1(x));
HR_DEFINE_SPECIAL1(BesselK1e, Eigen::numext::bessel_k1e(x));
HR_DEFINE_SPECIAL1(BesselY0, Eigen::numext::bessel_y0(x));
HR_DEFINE_SPECIAL1(BesselY1, Eigen::numext::bessel_y1(x));
HR_DEFINE_SPECIAL1(Spence, Spence(x));
HR_DEFINE_SPECIAL1(Dawsn, Dawsn(x));
HR_DEFINE_SPECIAL1(Expint, Expint(x));
HR_DEFINE_SPECIAL1(FresnelCos, Fresnel(x).real());
HR_DEFINE_SPECIAL1(FresnelSin, Fresnel(x).imag());
HR_DEFINE_SPECIAL2(Igamma, Igamma(a, x), HR_TYPES_FLOAT);
HR_DEFINE_SPECIAL2(Igammac, Igammac(a, x), HR_TYPES_FLOAT);
HR_DEFINE_SPECIAL2(IgammaGradA, IgammaGradA(a, x), float, double);
HR_DEFINE_SPECIAL2(RandomGammaGrad, RandomGammaGrad(a, x), float, double);
HR_DEFINE_SPECIAL2(Zeta, Zeta(a, x), float, double);
HR_DEFINE_SPECIAL2(Polygamma, Eigen::numext::polygamma(a, x), float, double);
#undef HR_DEFINE_SPECIAL1
#undef HR_DEFINE_SPECIAL2
HR_REGISTER_BINARY("Xlogy", XlogyFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_BINARY("Xlog1py", Xlog1pyFn, HR_TYPES_FLOAT, HR_TYPES_COMPLEX);
HR_REGISTER_BINARY("Atan2", Atan2Fn, HR_TYPES_FLOAT);
HR_REGISTER_BINARY("NextAfter", NextAfterFn, float, double);

// The regularised incomplete beta function. Its arguments are scalars or of one
// shape; there is no other broadcasting.
template <typename T>
class BetaincOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    TensorShape shape;
    for (int i = 0; i < 3; ++i) {
      const TensorShape& s = ctx->input(i).shape();
      if (s.dims() == 0) continue;
      OP_REQUIRES(ctx, shape.dims() == 0 || shape == s,
                  errors::InvalidArgument("Shapes of a, b and x must match or "
                                          "be scalars; got ",
                                          shape.DebugString(), " and ",
                                          s.DebugString()));
      shape = s;
    }
    Tensor* z = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0, 1, 2}, 0, shape, &z));
    const T* in[3];
    int64_t step[3];
    for (int i = 0; i < 3; ++i) {
      in[i] = ctx->input(i).data<T>();
      step[i] = ctx->input(i).dims() == 0 ? 0 : 1;
    }
    T* out = z->data<T>();
    ctx->ParallelFor(z->NumElements(), 300, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double a = in[0][i * step[0]], b = in[1][i * step[1]],
                     x = in[2][i * step[2]];
        out[i] = a > 0 && b > 0 && x >= 0 && x <= 1
                     ? static_cast<T>(Eigen::numext::betainc(a, b, x))
                     : static_cast<T>(kNan);
      }
    });
  }
};
REGISTER_KERNEL_BUILDER(
    Name("Betainc").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    BetaincOp<float>);
REGISTER_KERNEL_BUILDER(
    Name("Betainc").Device(DEVICE_CPU).TypeConstraint<double>("T"),
    BetaincOp<double>);

}  // namespace
}  // namespace headrace

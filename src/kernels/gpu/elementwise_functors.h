// Element-wise functors: unary and binary functions, broadcast; chains of them;
// casts, biases, selections, fills, ranges, sums of several tensors.
//
// HR_GPU_UNARY_OPS, HR_GPU_BINARY_OPS and HR_GPU_GRAD_OPS are the lists of ops
// that elementwise_ops.cc registers and elementwise.cu compiles.
#ifndef HEADRACE_KERNELS_GPU_ELEMENTWISE_FUNCTORS_H_
#define HEADRACE_KERNELS_GPU_ELEMENTWISE_FUNCTORS_H_

#include "device/gpu/tail.h"
#include "kernels/gpu/grid.h"

namespace headrace::gpu {

// clang-format off
#define HR_GPU_UNARY_OPS(M) \
  M(Abs) M(Neg) M(Sign) M(Reciprocal) M(Square) M(Sqrt) M(Rsqrt) M(Round) \
  M(Ceil) M(Floor) M(Exp) M(Expm1) M(Log) M(Log1p) M(Tanh) M(Sigmoid) M(Erf) \
  M(Erfc) M(Sin) M(Cos) M(Relu) M(Relu6) M(Elu) M(Selu) M(Softplus) \
  M(Softsign)
#define HR_GPU_BINARY_OPS(M) \
  M(AddV2) M(Sub) M(Mul) M(MulNoNan) M(SquaredDifference) M(Maximum) \
  M(Minimum) M(Pow) M(RealDiv) M(FloorDiv) M(FloorMod) M(DivNoNan) M(Xdivy)
// Those that int64 has, too.
#define HR_GPU_INT_BINARY_OPS(M) \
  M(AddV2) M(Sub) M(Mul) M(SquaredDifference) M(Maximum) M(Minimum)
#define HR_GPU_COMPARE_OPS(M) \
  M(Equal) M(NotEqual) M(Less) M(LessEqual) M(Greater) M(GreaterEqual)
// Of one number, with a bool for a result.
#define HR_GPU_TEST_OPS(M) M(IsNan) M(IsInf) M(IsFinite)
// Two operands of one shape.
#define HR_GPU_GRAD_OPS(M) \
  M(SigmoidGrad) M(TanhGrad) M(SqrtGrad) M(RsqrtGrad) M(ReciprocalGrad) \
  M(ReluGrad) M(Relu6Grad) M(EluGrad) M(SeluGrad) M(SoftplusGrad) \
  M(SoftsignGrad)
// clang-format on

// The functions, of values in the type that they are computed in. `fn` is the
// number of the function in a chain.
enum class Fn : int {
#define HR_GPU_NAME(OP) k##OP,
  HR_GPU_UNARY_OPS(HR_GPU_NAME) HR_GPU_BINARY_OPS(HR_GPU_NAME)
      HR_GPU_COMPARE_OPS(HR_GPU_NAME) HR_GPU_GRAD_OPS(HR_GPU_NAME)
          HR_GPU_TEST_OPS(HR_GPU_NAME)
#undef HR_GPU_NAME
};

inline constexpr double kSeluScale = 1.0507009873554804934193349852946;
inline constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

template <Fn fn, typename C>
HR_HOST_DEVICE inline C Unary(C x) {
  if constexpr (fn == Fn::kAbs) return x < C(0) ? -x : x == C(0) ? C(0) : x;
  if constexpr (fn == Fn::kNeg) return -x;
  if constexpr (fn == Fn::kSign) {
    return x == x ? static_cast<C>((x > C(0)) - (x < C(0))) : x;
  }
  if constexpr (fn == Fn::kReciprocal) return C(1) / x;
  if constexpr (fn == Fn::kSquare) return x * x;
  if constexpr (fn == Fn::kRelu) return x < C(0) ? C(0) : x;
  if constexpr (fn == Fn::kRelu6) return x < C(0) ? C(0) : x > C(6) ? C(6) : x;
  if constexpr (!std::is_integral_v<C>) {
    if constexpr (fn == Fn::kSqrt) return Sqrt(x);
    if constexpr (fn == Fn::kRsqrt) return C(1) / Sqrt(x);
    if constexpr (fn == Fn::kRound) return NearbyInt(x);
    if constexpr (fn == Fn::kCeil) return Ceil(x);
    if constexpr (fn == Fn::kFloor) return Floor(x);
    if constexpr (fn == Fn::kExp) return Exp(x);
    if constexpr (fn == Fn::kExpm1) return Expm1(x);
    if constexpr (fn == Fn::kLog) return Log(x);
    if constexpr (fn == Fn::kLog1p) return Log1p(x);
    if constexpr (fn == Fn::kTanh) return Tanh(x);
    if constexpr (fn == Fn::kSigmoid) return C(1) / (C(1) + Exp(-x));
    if constexpr (fn == Fn::kErf) return Erf(x);
    if constexpr (fn == Fn::kErfc) return Erfc(x);
    if constexpr (fn == Fn::kSin) return Sin(x);
    if constexpr (fn == Fn::kCos) return Cos(x);
    if constexpr (fn == Fn::kElu) return x < C(0) ? Expm1(x) : x;
    if constexpr (fn == Fn::kSelu) {
      return x < C(0) ? C(kSeluScaleAlpha) * Expm1(x) : C(kSeluScale) * x;
    }
    if constexpr (fn == Fn::kSoftplus) {
      return MaxOf(x, C(0)) + Log1p(Exp(x > C(0) ? -x : x));
    }
    if constexpr (fn == Fn::kSoftsign) return x / (C(1) + Abs(x));
  }
  return x;
}

template <Fn fn, typename C>
HR_HOST_DEVICE inline C Binary(C x, C y) {
  if constexpr (fn == Fn::kAddV2) return x + y;
  if constexpr (fn == Fn::kSub) return x - y;
  if constexpr (fn == Fn::kMul) return x * y;
  if constexpr (fn == Fn::kMulNoNan) return y == C(0) ? C(0) : x * y;
  if constexpr (fn == Fn::kSquaredDifference) return (x - y) * (x - y);
  if constexpr (fn == Fn::kMaximum) return MaxOf(x, y);
  if constexpr (fn == Fn::kMinimum) return MinOf(x, y);
  if constexpr (fn == Fn::kRealDiv) return x / y;
  if constexpr (fn == Fn::kDivNoNan) return y == C(0) ? C(0) : x / y;
  if constexpr (fn == Fn::kXdivy) return x == C(0) ? C(0) : x / y;
  // Gradients: (y, dy) of the functions that keep their output, (dy, x) or
  // (dy, y) of the activations.
  if constexpr (fn == Fn::kSigmoidGrad) return y * x * (C(1) - x);
  if constexpr (fn == Fn::kTanhGrad) return y * (C(1) - x * x);
  if constexpr (fn == Fn::kSqrtGrad) return C(0.5) * y / x;
  if constexpr (fn == Fn::kRsqrtGrad) return C(-0.5) * (y * x) * (x * x);
  if constexpr (fn == Fn::kReciprocalGrad) return -x * x * y;
  if constexpr (fn == Fn::kReluGrad) {
    return x * (y > C(0) ? C(1) : C(0));  // NaN stays
  }
  if constexpr (fn == Fn::kRelu6Grad) {
    return x * (y > C(0) && y < C(6) ? C(1) : C(0));
  }
  if constexpr (!std::is_integral_v<C>) {
    if constexpr (fn == Fn::kPow) return Pow(x, y);
    if constexpr (fn == Fn::kFloorDiv) return Floor(x / y);
    if constexpr (fn == Fn::kFloorMod) {
      const C r = Fmod(x, y);
      return r != C(0) && (r < C(0)) != (y < C(0)) ? r + y : r;
    }
    if constexpr (fn == Fn::kEluGrad) return y < C(0) ? x * (y + C(1)) : x;
    if constexpr (fn == Fn::kSeluGrad) {
      return y < C(0) ? x * (y + C(kSeluScaleAlpha)) : x * C(kSeluScale);
    }
    if constexpr (fn == Fn::kSoftplusGrad) return x / (Exp(-y) + C(1));
    if constexpr (fn == Fn::kSoftsignGrad) {
      const C d = C(1) + Abs(y);
      return x / (d * d);
    }
  }
  return x;
}

template <Fn fn, typename C>
HR_HOST_DEVICE inline bool Compare(C x, C y) {
  if constexpr (fn == Fn::kEqual) return x == y;
  if constexpr (fn == Fn::kNotEqual) return x != y;
  if constexpr (fn == Fn::kLess) return x < y;
  if constexpr (fn == Fn::kLessEqual) return x <= y;
  if constexpr (fn == Fn::kGreater) return x > y;
  return x >= y;
}

template <Fn fn, typename T>
struct UnaryMap {
  const T* x;
  T* y;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    y[i] = Store<T>(Unary<fn>(Load(x[i])));
  }
};

template <Fn fn, typename T>
struct TestMap {
  const T* x;
  bool* y;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    using C = ComputeType<T>;
    const C v = Load(x[i]);
    const C a = Abs(v);
    if constexpr (fn == Fn::kIsNan) y[i] = v != v;
    if constexpr (fn == Fn::kIsInf) y[i] = a == Limits<C>::Infinity();
    if constexpr (fn == Fn::kIsFinite) y[i] = a < Limits<C>::Infinity();
  }
};

template <typename T>
struct LeakyRelu {
  const T* x;
  T* y;
  float alpha;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    using C = ComputeType<T>;
    const C v = Load(x[i]);
    y[i] = Store<T>(v > C(0) ? v : v * static_cast<C>(alpha));
  }
};
template <typename T>
struct LeakyReluGrad {
  const T *dy, *x;
  T* dx;
  float alpha;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    using C = ComputeType<T>;
    const C g = Load(dy[i]);
    dx[i] = Store<T>(Load(x[i]) > C(0) ? g : g * static_cast<C>(alpha));
  }
};

// Operands as the loops see them: an operand's stride is 0 for a single
// element, 1 for one of the result's shape; else `box` says where it is.
struct Broadcast {
  bool flat = true;
  int64_t x_stride = 1, y_stride = 1;
  StridedBox<2> box;

  HR_HOST_DEVICE void At(int64_t i, int64_t* x, int64_t* y) const {
    if (flat) {
      *x = i * x_stride;
      *y = i * y_stride;
    } else {
      int64_t offsets[2];
      box.Offsets(i, offsets);
      *x = offsets[0];
      *y = offsets[1];
    }
  }
};

template <Fn fn, typename T>
struct BinaryMap {
  const T *x, *y;
  T* z;
  Broadcast b;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    int64_t ix, iy;
    b.At(i, &ix, &iy);
    z[i] = Store<T>(Binary<fn>(Load(x[ix]), Load(y[iy])));
  }
};
template <Fn fn, typename T>
struct CompareMap {
  const T *x, *y;
  bool* z;
  Broadcast b;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    int64_t ix, iy;
    b.At(i, &ix, &iy);
    z[i] = Compare<fn>(Load(x[ix]), Load(y[iy]));
  }
};
// 0: and, 1: or.
template <int kOp>
struct LogicalMap {
  const bool *x, *y;
  bool* z;
  Broadcast b;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    int64_t ix, iy;
    b.At(i, &ix, &iy);
    z[i] = kOp == 0 ? x[ix] && y[iy] : x[ix] || y[iy];
  }
};
struct LogicalNotMap {
  const bool* x;
  bool* y;
  HR_HOST_DEVICE void operator()(int64_t i) const { y[i] = !x[i]; }
};

// A chain: the value of an element goes through the steps in a register. The
// other operand of a binary step is arg[i % period].
template <typename T>
struct Chain {
  static constexpr int kMaxSteps = 24;
  struct Step {
    Fn fn;
    int side;  // 0: unary; 1: the value is the first operand; 2: the second
    const T* arg;
    int64_t period;
  };
  const T* x;
  T* y;
  int steps;
  Step step[kMaxSteps];

  using C = ComputeType<T>;
  HR_HOST_DEVICE static C Apply(Fn fn, C a, C b) {
    switch (fn) {
#define HR_GPU_CASE(OP) \
  case Fn::k##OP:       \
    return Unary<Fn::k##OP>(a);
      HR_GPU_UNARY_OPS(HR_GPU_CASE)
#undef HR_GPU_CASE
#define HR_GPU_CASE(OP) \
  case Fn::k##OP:       \
    return Binary<Fn::k##OP>(a, b);
      HR_GPU_BINARY_OPS(HR_GPU_CASE)
      HR_GPU_GRAD_OPS(HR_GPU_CASE)
#undef HR_GPU_CASE
      default:
        return a;
    }
  }
  HR_HOST_DEVICE void operator()(int64_t i) const {
    C v = Load(x[i]);
    for (int s = 0; s < steps; ++s) {
      const Step& t = step[s];
      C other = C(0);
      if (t.side != 0) {
        const int64_t at =
            t.period == 1 ? 0 : i - Divide(i, t.period) * t.period;
        other = Load(t.arg[at]);
      }
      v = t.side == 2 ? Apply(t.fn, other, v) : Apply(t.fn, v, other);
    }
    y[i] = Store<T>(v);
  }
};

template <typename From, typename To>
struct CastMap {
  const From* x;
  To* y;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    if constexpr (std::is_same_v<To, bool>) {
      y[i] = Load(x[i]) != ComputeType<From>(0);
    } else {
      y[i] = Store<To>(Load(x[i]));
    }
  }
};

// From and to every one of these.
// clang-format off
#define HR_GPU_CASTS_FROM(M, FROM) \
  M(FROM, float) M(FROM, Half) M(FROM, Bfloat16) M(FROM, int32_t) \
  M(FROM, int64_t) M(FROM, uint8_t) M(FROM, bool) M(FROM, double)
#define HR_GPU_CASTS(M) \
  HR_GPU_CASTS_FROM(M, float) HR_GPU_CASTS_FROM(M, Half) \
  HR_GPU_CASTS_FROM(M, Bfloat16) HR_GPU_CASTS_FROM(M, int32_t) \
  HR_GPU_CASTS_FROM(M, int64_t) HR_GPU_CASTS_FROM(M, uint8_t) \
  HR_GPU_CASTS_FROM(M, bool) HR_GPU_CASTS_FROM(M, double)
// clang-format on

// The activation that follows a product or a convolution.
template <typename C>
HR_HOST_DEVICE inline C ApplyTail(Tail tail, float alpha, C v) {
  switch (tail) {
    case Tail::kRelu:
      return Unary<Fn::kRelu>(v);
    case Tail::kRelu6:
      return Unary<Fn::kRelu6>(v);
    case Tail::kLeakyRelu:
      return v > C(0) ? v : v * static_cast<C>(alpha);
    case Tail::kElu:
      return Unary<Fn::kElu>(v);
    case Tail::kTanh:
      return Unary<Fn::kTanh>(v);
    case Tail::kSigmoid:
      return Unary<Fn::kSigmoid>(v);
    default:
      return v;
  }
}

// y = tail(x * scale[c] + bias[c] + addend), c = i / inner % channels. scale,
// bias and addend may be null. Writes over x if x == y.
template <typename T>
struct BiasTail {
  const T* x;
  T* y;
  const ComputeType<T>* scale;      // already wide: batch norm made it
  const ComputeType<T>* wide_bias;  // one of the two biases at most
  const T *bias, *addend;
  int64_t channels, inner;
  Tail tail;
  float alpha;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = inner == 1 ? i : Divide(i, inner);
    const int64_t c = row - Divide(row, channels) * channels;
    ComputeType<T> v = Load(x[i]);
    if (scale != nullptr) v *= scale[c];
    if (wide_bias != nullptr) v += wide_bias[c];
    if (bias != nullptr) v += Load(bias[c]);
    if (addend != nullptr) v += Load(addend[i]);
    y[i] = Store<T>(ApplyTail(tail, alpha, v));
  }
};
// Of FusedBatchNorm in inference, after a factor that may be null:
// scale = mul * gamma / sqrt(variance + epsilon), bias = beta - mean * gamma /
// sqrt(..). mul alone becomes a scale.
template <typename T>
struct FoldBatchNorm {
  const T *mul, *gamma, *beta, *mean, *variance;  // gamma null: mul alone
  ComputeType<T>*scale, *bias;
  float epsilon;
  HR_HOST_DEVICE void operator()(int64_t c) const {
    using C = ComputeType<T>;
    C factor = C(1);
    if (gamma != nullptr) {
      factor =
          Load(gamma[c]) / Sqrt(Load(variance[c]) + static_cast<C>(epsilon));
      bias[c] = Load(beta[c]) - Load(mean[c]) * factor;
    }
    scale[c] = mul != nullptr ? factor * Load(mul[c]) : factor;
  }
};

// The widths of elements that are moved without regard to what they mean.
#define HR_GPU_WIDTHS(M) M(1) M(2) M(4) M(8) M(16)
template <int kBytes>
struct alignas(kBytes < 16 ? kBytes : 16) Element {
  char bytes[kBytes];
};

template <typename E>
struct SelectMap {
  const bool* condition;
  const E *x, *y;
  E* z;
  StridedBox<3> box;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    int64_t at[3];
    box.Offsets(i, at);
    z[i] = condition[at[0]] ? x[at[1]] : y[at[2]];
  }
};
template <typename E>
struct FillMap {
  const E* value;
  E* y;
  HR_HOST_DEVICE void operator()(int64_t i) const { y[i] = *value; }
};
template <typename E>
struct SetMap {
  E value;
  E* y;
  HR_HOST_DEVICE void operator()(int64_t i) const { y[i] = value; }
};
// start + i * delta, summed as the CPU's Range does: with one rounding each.
template <typename T>
struct RangeMap {
  T start, delta;
  T* y;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    y[i] = start + static_cast<T>(i) * delta;
  }
};

// Sums of up to kMax tensors, left to right.
template <typename T>
struct AddNMap {
  static constexpr int kMax = 16;
  const T* x[kMax];
  int count;
  T* y;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    ComputeType<T> sum = Load(x[0][i]);
    for (int k = 1; k < count; ++k) sum += Load(x[k][i]);
    y[i] = Store<T>(sum);
  }
};

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_ELEMENTWISE_FUNCTORS_H_

// What needs all elements of a row or column: reductions, softmax, cross
// entropy, norms. The cooperative part is ReducePhase alone; everything else
// is indexing. Sums are made in a fixed order: the same result in each run.
#ifndef HEADRACE_KERNELS_GPU_REDUCE_FUNCTORS_H_
#define HEADRACE_KERNELS_GPU_REDUCE_FUNCTORS_H_

#include "kernels/gpu/grid.h"

namespace headrace::gpu {

// ---- Operations -------------------------------------------------------------

template <typename A>
struct SumOp {
  using C = A;
  HR_HOST_DEVICE static C Init() { return C(0); }
  HR_HOST_DEVICE C operator()(C x, C y) const { return x + y; }
};
template <typename A>
struct ProdOp {
  using C = A;
  HR_HOST_DEVICE static C Init() { return C(1); }
  HR_HOST_DEVICE C operator()(C x, C y) const { return x * y; }
};
template <typename A>
struct MaxOp {
  using C = A;
  HR_HOST_DEVICE static C Init() {
    if constexpr (std::is_integral_v<C>) return Limits<C>::Lowest();
    if constexpr (!std::is_integral_v<C>) return -Limits<C>::Infinity();
  }
  HR_HOST_DEVICE C operator()(C x, C y) const { return MaxOf(x, y); }
};
template <typename A>
struct MinOp {
  using C = A;
  HR_HOST_DEVICE static C Init() { return Limits<C>::Infinity(); }
  HR_HOST_DEVICE C operator()(C x, C y) const { return MinOf(x, y); }
};
struct AllOp {
  using C = bool;
  HR_HOST_DEVICE static C Init() { return true; }
  HR_HOST_DEVICE C operator()(C x, C y) const { return x && y; }
};
struct AnyOp {
  using C = bool;
  HR_HOST_DEVICE static C Init() { return false; }
  HR_HOST_DEVICE C operator()(C x, C y) const { return x || y; }
};

// The phases in which a block brings one value of each thread together.
template <int kThreads>
inline constexpr int kReducePhases = kCombinePhases<kThreads> + 2;

// Phase 0 takes value() of each thread, the last one leaves all of them,
// combined, in *result. `v` has kThreads places.
template <int kThreads, typename Op, typename V, typename Value>
HR_HOST_DEVICE inline void ReducePhase(int phase, int thread, V* v, V* result,
                                       const Value& value) {
  if (phase == 0) {
    v[thread] = value();
  } else if (phase <= kCombinePhases<kThreads>) {
    CombinePhase<kThreads>(phase - 1, thread, v, Op());
  } else if (thread == 0) {
    *result = v[0];
  }
}

// ---- What is reduced --------------------------------------------------------

// Elements as they are. `o` is the number of the result.
template <typename T>
struct LoadElement {
  const T* x;
  HR_HOST_DEVICE ComputeType<T> operator()(int64_t at, int64_t) const {
    return Load(x[at]);
  }
};
template <typename T>
struct LoadSquare {
  const T* x;
  HR_HOST_DEVICE ComputeType<T> operator()(int64_t at, int64_t) const {
    const ComputeType<T> v = Load(x[at]);
    return v * v;
  }
};
// (x - mean)^2, the mean that of the result.
template <typename T>
struct LoadDeviation {
  const T* x;
  const float* mean;
  HR_HOST_DEVICE float operator()(int64_t at, int64_t o) const {
    const float d = Load(x[at]) - mean[o];
    return d * d;
  }
};
template <typename T>
struct LoadProduct {  // dy * (x - mean)
  const T *dy, *x;
  const float* mean;
  HR_HOST_DEVICE float operator()(int64_t at, int64_t o) const {
    return Load(dy[at]) * (Load(x[at]) - mean[o]);
  }
};

// |x - y|, or |x| where y is null.
template <typename T>
struct LoadDifference {
  const T *x, *y;
  HR_HOST_DEVICE float operator()(int64_t at, int64_t) const {
    const float d = Load(x[at]) - (y == nullptr ? 0.0f : Load(y[at]));
    return Abs(d);
  }
};

// Result o has the elements at kept.Offset(o) + reduced.Offset(r), r < count.
// The elements of a result may be cut into parts of part_size, which a second
// pass brings together: y is [parts, outputs] then.
struct ReduceShape {
  StridedBox<1> kept, reduced;
  int64_t outputs = 1, count = 1, parts = 1, part_size = 1;
};

// A block reduces a part of one result: for elements that lie side by side.
template <typename Loader, typename Op, typename Out>
struct RowReduce {
  using C = typename Op::C;
  static constexpr int kThreads = 256, kPhases = kReducePhases<kThreads>;
  struct Shared {
    C v[kThreads], all;
  };
  Loader load;
  ReduceShape shape;
  C divisor;
  bool divides;
  Out* y;

  HR_HOST_DEVICE void Run(int phase, int64_t block, int thread,
                          Shared* s) const {
    ReducePhase<kThreads, Op>(phase, thread, s->v, &s->all, [&] {
      const int64_t part = Divide(block, shape.outputs);
      const int64_t o = block - part * shape.outputs;
      const int64_t base = shape.kept.Offset(o);
      const int64_t begin = part * shape.part_size;
      const int64_t end = begin + shape.part_size < shape.count
                              ? begin + shape.part_size
                              : shape.count;
      C sum = Op::Init();
      for (int64_t r = begin + thread; r < end; r += kThreads) {
        sum = Op()(sum, load(base + shape.reduced.Offset(r), o));
      }
      return sum;
    });
    if (phase == kPhases - 1 && thread == 0) {
      if constexpr (!std::is_same_v<C, bool>) {
        y[block] = Store<Out>(divides ? s->all / divisor : s->all);
      } else {
        y[block] = s->all;
      }
    }
  }
};

// A block reduces a part of kColumns neighbouring results: for results whose
// elements lie side by side.
template <typename Loader, typename Op, typename Out>
struct ColumnReduce {
  using C = typename Op::C;
  static constexpr int kColumns = 32, kRows = 8;
  static constexpr int kThreads = kColumns * kRows;
  static constexpr int kPhases = 2;
  struct Shared {
    C v[kThreads];
  };
  Loader load;
  ReduceShape shape;
  C divisor;
  bool divides;
  Out* y;

  HR_HOST_DEVICE void Run(int phase, int64_t block, int thread,
                          Shared* s) const {
    const int64_t groups = (shape.outputs + kColumns - 1) / kColumns;
    const int64_t part = Divide(block, groups);
    const int64_t o = (block - part * groups) * kColumns + thread % kColumns;
    if (o >= shape.outputs) return;
    const int row = thread / kColumns;
    if (phase == 0) {
      const int64_t base = shape.kept.Offset(o);
      const int64_t begin = part * shape.part_size;
      const int64_t end = begin + shape.part_size < shape.count
                              ? begin + shape.part_size
                              : shape.count;
      C sum = Op::Init();
      for (int64_t r = begin + row; r < end; r += kRows) {
        sum = Op()(sum, load(base + shape.reduced.Offset(r), o));
      }
      s->v[thread] = sum;
    } else if (row == 0) {
      C sum = s->v[thread];
      for (int k = 1; k < kRows; ++k) {
        sum = Op()(sum, s->v[k * kColumns + thread]);
      }
      Out* const to = y + part * shape.outputs + o;
      if constexpr (!std::is_same_v<C, bool>) {
        *to = Store<Out>(divides ? sum / divisor : sum);
      } else {
        *to = sum;
      }
    }
  }
};

// The index of the first greatest (or smallest) element of x[outer, axis,
// inner].
template <typename T, typename Index, bool kMax>
struct ArgExtreme {
  const T* x;
  Index* y;
  int64_t axis, inner;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t outer = Divide(i, inner);
    const T* at = x + outer * axis * inner + (i - outer * inner);
    int64_t best = 0;
    ComputeType<T> value = Load(at[0]);
    for (int64_t k = 1; k < axis; ++k) {
      const ComputeType<T> v = Load(at[k * inner]);
      if (kMax ? v > value : v < value) value = v, best = k;
    }
    y[i] = static_cast<Index>(best);
  }
};

// ---- Rows -------------------------------------------------------------------

// What a block of a row functor shares.
template <typename C, int kThreads>
struct RowShared {
  C v[kThreads], max, sum, loss;
};

// y = exp(x - max) / sum or x - max - log(sum), along rows of n. y may be x.
template <typename T, bool kLog>
struct SoftmaxRow {
  using C = ComputeType<T>;
  static constexpr int kThreads = 128, kReduce = kReducePhases<kThreads>;
  static constexpr int kPhases = 2 * kReduce + 1;
  using Shared = RowShared<C, kThreads>;
  const T* x;
  T* y;
  int64_t n;

  HR_HOST_DEVICE void Run(int phase, int64_t row, int thread, Shared* s) const {
    const T* from = x + row * n;
    if (phase < kReduce) {
      ReducePhase<kThreads, MaxOp<C>>(phase, thread, s->v, &s->max, [&] {
        C max = MaxOp<C>::Init();
        for (int64_t i = thread; i < n; i += kThreads) {
          max = MaxOf(max, Load(from[i]));
        }
        return max;
      });
    } else if (phase < 2 * kReduce) {
      ReducePhase<kThreads, SumOp<C>>(
          phase - kReduce, thread, s->v, &s->sum, [&] {
            C sum = 0;
            for (int64_t i = thread; i < n; i += kThreads) {
              sum += Exp(Load(from[i]) - s->max);
            }
            return sum;
          });
    } else {
      T* const to = y + row * n;
      const C log_sum = kLog ? Log(s->sum) : C(0);
      for (int64_t i = thread; i < n; i += kThreads) {
        const C shifted = Load(from[i]) - s->max;
        to[i] = Store<T>(kLog ? shifted - log_sum : Exp(shifted) / s->sum);
      }
    }
  }
};

// Softmax cross entropy. x and l are matrices with strides, which are 0 where
// they broadcast; loss is [rows], backprop [rows, n].
template <typename T>
struct XentRow {
  using C = ComputeType<T>;
  static constexpr int kThreads = 128, kReduce = kReducePhases<kThreads>;
  static constexpr int kPhases = 3 * kReduce + 1;
  using Shared = RowShared<C, kThreads>;
  const T *x, *l;
  int64_t x_row, x_column, l_row, l_column, n;
  T *loss, *backprop;

  HR_HOST_DEVICE C X(int64_t row, int64_t i) const {
    return Load(x[row * x_row + i * x_column]);
  }
  HR_HOST_DEVICE C Label(int64_t row, int64_t i) const {
    return Load(l[row * l_row + i * l_column]);
  }
  HR_HOST_DEVICE void Run(int phase, int64_t row, int thread, Shared* s) const {
    if (phase < kReduce) {
      ReducePhase<kThreads, MaxOp<C>>(phase, thread, s->v, &s->max, [&] {
        C max = MaxOp<C>::Init();
        for (int64_t i = thread; i < n; i += kThreads) {
          max = MaxOf(max, X(row, i));
        }
        return max;
      });
    } else if (phase < 2 * kReduce) {
      ReducePhase<kThreads, SumOp<C>>(
          phase - kReduce, thread, s->v, &s->sum, [&] {
            C sum = 0;
            for (int64_t i = thread; i < n; i += kThreads) {
              sum += Exp(X(row, i) - s->max);
            }
            return sum;
          });
    } else if (phase < 3 * kReduce) {
      ReducePhase<kThreads, SumOp<C>>(
          phase - 2 * kReduce, thread, s->v, &s->loss, [&] {
            const C log_sum = Log(s->sum);
            C sum = 0;
            for (int64_t i = thread; i < n; i += kThreads) {
              sum += Label(row, i) * (log_sum - (X(row, i) - s->max));
            }
            return sum;
          });
    } else {
      if (thread == 0) loss[row] = Store<T>(s->loss);
      for (int64_t i = thread; i < n; i += kThreads) {
        backprop[row * n + i] =
            Store<T>(Exp(X(row, i) - s->max) / s->sum - Label(row, i));
      }
    }
  }
};

// The same with one label for each row. A label outside of [0, n) gives NaN, as
// on TensorFlow's GPUs: the host does not see it.
template <typename T, typename Index>
struct SparseXentRow {
  using C = ComputeType<T>;
  static constexpr int kThreads = 128, kReduce = kReducePhases<kThreads>;
  static constexpr int kPhases = 2 * kReduce + 1;
  using Shared = RowShared<C, kThreads>;
  const T* x;
  const Index* labels;
  int64_t n;
  T *loss, *backprop;

  HR_HOST_DEVICE void Run(int phase, int64_t row, int thread, Shared* s) const {
    const T* from = x + row * n;
    if (phase < kReduce) {
      ReducePhase<kThreads, MaxOp<C>>(phase, thread, s->v, &s->max, [&] {
        C max = MaxOp<C>::Init();
        for (int64_t i = thread; i < n; i += kThreads) {
          max = MaxOf(max, Load(from[i]));
        }
        return max;
      });
    } else if (phase < 2 * kReduce) {
      ReducePhase<kThreads, SumOp<C>>(
          phase - kReduce, thread, s->v, &s->sum, [&] {
            C sum = 0;
            for (int64_t i = thread; i < n; i += kThreads) {
              sum += Exp(Load(from[i]) - s->max);
            }
            return sum;
          });
    } else {
      const int64_t label = labels[row];
      const bool valid = label >= 0 && label < n;
      const C nan = static_cast<C>(FloatOf(0x7fc00000u));
      if (thread == 0) {
        loss[row] =
            Store<T>(valid ? Log(s->sum) - (Load(from[label]) - s->max) : nan);
      }
      for (int64_t i = thread; i < n; i += kThreads) {
        const C p = Exp(Load(from[i]) - s->max) / s->sum;
        backprop[row * n + i] =
            Store<T>(valid ? p - (i == label ? C(1) : C(0)) : nan);
      }
    }
  }
};

// y = (x - mean) / sqrt(variance + epsilon) * scale + offset, along rows of n.
// Element i has scale[i % scale_size]; scale and offset may be null.
template <typename T>
struct LayerNormRow {
  using C = ComputeType<T>;
  static constexpr int kThreads = 128, kReduce = kReducePhases<kThreads>;
  static constexpr int kPhases = 2 * kReduce + 1;
  using Shared = RowShared<C, kThreads>;
  const T *x, *scale, *offset;
  T* y;
  int64_t n, scale_size, offset_size;
  float epsilon;

  HR_HOST_DEVICE void Run(int phase, int64_t row, int thread, Shared* s) const {
    const T* from = x + row * n;
    if (phase < kReduce) {
      ReducePhase<kThreads, SumOp<C>>(phase, thread, s->v, &s->sum, [&] {
        C sum = 0;
        for (int64_t i = thread; i < n; i += kThreads) sum += Load(from[i]);
        return sum;
      });
    } else if (phase < 2 * kReduce) {
      // s->loss: the sum of squares.
      ReducePhase<kThreads, SumOp<C>>(
          phase - kReduce, thread, s->v, &s->loss, [&] {
            const C mean = s->sum / static_cast<C>(n);
            C sum = 0;
            for (int64_t i = thread; i < n; i += kThreads) {
              const C d = Load(from[i]) - mean;
              sum += d * d;
            }
            return sum;
          });
    } else {
      const C mean = s->sum / static_cast<C>(n);
      const C variance = s->loss / static_cast<C>(n);
      const C r = C(1) / Sqrt(variance + static_cast<C>(epsilon));
      for (int64_t i = thread; i < n; i += kThreads) {
        C v = (Load(from[i]) - mean) * r;
        if (scale != nullptr) {
          v *= Load(scale[i - Divide(i, scale_size) * scale_size]);
        }
        if (offset != nullptr) {
          v += Load(offset[i - Divide(i, offset_size) * offset_size]);
        }
        y[row * n + i] = Store<T>(v);
      }
    }
  }
};

// ---- Batch norm -------------------------------------------------------------

// What a channel's statistics become. `mean` and `variance` (biased) are of the
// batch; count is the number of elements of a channel.
struct BatchNormStats {
  const float *mean, *variance;          // of the batch, or given
  const float *old_mean, *old_variance;  // for blending, or null
  float *out_mean, *out_variance, *reserve_1, *reserve_2;
  int64_t count;
  float factor;  // of the new value in the blend
  bool training;
  HR_HOST_DEVICE void operator()(int64_t c) const {
    const float m = mean[c], v = variance[c];
    float to_mean = m, to_variance = v;
    if (training) {
      to_variance =
          v * (static_cast<float>(count) /
               static_cast<float>(count > 1 ? count - 1 : int64_t{1}));
      if (old_mean != nullptr) {
        to_mean = (1.0f - factor) * old_mean[c] + factor * to_mean;
        to_variance = (1.0f - factor) * old_variance[c] + factor * to_variance;
      }
    }
    out_mean[c] = to_mean;
    out_variance[c] = to_variance;
    reserve_1[c] = m;
    reserve_2[c] = v;
  }
};

template <typename T>
struct BatchNormApply {
  const T* x;
  const float *mean, *variance, *scale, *offset;
  T* y;
  int64_t channels, inner;
  float epsilon;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = inner == 1 ? i : Divide(i, inner);
    const int64_t c = row - Divide(row, channels) * channels;
    const float factor = scale[c] / Sqrt(variance[c] + epsilon);
    y[i] = Store<T>((Load(x[i]) - mean[c]) * factor + offset[c]);
  }
};

// dx = a dy + b (x - mean) + c, with what the CPU's kernel says of a, b, c.
template <typename T>
struct BatchNormGradInput {
  const T *dy, *x;
  const float *scale, *mean, *variance, *sum_dy, *sum_dyx;
  T* dx;
  int64_t channels, inner, count;
  float epsilon;
  bool training;
  HR_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = inner == 1 ? i : Divide(i, inner);
    const int64_t c = row - Divide(row, channels) * channels;
    const float r = 1.0f / Sqrt(variance[c] + epsilon);
    const float a = scale[c] * r;
    float v = a * Load(dy[i]);
    if (training) {
      const float inverse = 1.0f / static_cast<float>(count);
      v += -a * r * r * sum_dyx[c] * inverse * (Load(x[i]) - mean[c]) -
           a * sum_dy[c] * inverse;
    }
    dx[i] = Store<T>(v);
  }
};
struct BatchNormGradScale {
  const float *sum_dy, *sum_dyx, *variance;
  float *dscale, *doffset;
  float epsilon;
  HR_HOST_DEVICE void operator()(int64_t c) const {
    dscale[c] = sum_dyx[c] / Sqrt(variance[c] + epsilon);
    doffset[c] = sum_dy[c];
  }
};

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_REDUCE_FUNCTORS_H_

#include "kernels/nn/fused_batch_norm.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "base/thread_pool.h"
#include "headrace/simd.h"
#include "kernels/lib/nn_math.h"

namespace headrace {
namespace {

// Reference: any layout, one channel after the other, sums in double.

template <typename T, typename Fn>
inline void ForChannel(const BatchNormView& v, int64_t c, const Fn& fn) {
  for (int64_t o = 0; o < v.outer; ++o) {
    const int64_t base = (o * v.channels + c) * v.inner;
    for (int64_t i = 0; i < v.inner; ++i) fn(base + i);
  }
}

double ChannelCost(const BatchNormView& v, double ns) {
  return ns * static_cast<double>(v.count());
}

template <typename T>
Status MomentsReference(OpKernelContext* ctx, const BatchNormView& v,
                        const T* x, float* mean, float* variance) {
  ctx->ParallelFor(v.channels, ChannelCost(v, 2), [=](int64_t b, int64_t e) {
    const double n = static_cast<double>(v.count());
    for (int64_t c = b; c < e; ++c) {
      double sum = 0, squares = 0;
      ForChannel<T>(v, c, [&](int64_t i) { sum += static_cast<double>(x[i]); });
      const double m = sum / n;
      ForChannel<T>(v, c, [&](int64_t i) {
        const double d = static_cast<double>(x[i]) - m;
        squares += d * d;
      });
      mean[c] = static_cast<float>(m);
      variance[c] = static_cast<float>(squares / n);
    }
  });
  return OkStatus();
}

template <typename T>
void NormalizeReference(OpKernelContext* ctx, const BatchNormView& v,
                        const T* x, const float* mean, const float* factor,
                        const float* offset, T* y) {
  ctx->ParallelFor(v.channels, ChannelCost(v, 1), [=](int64_t b, int64_t e) {
    for (int64_t c = b; c < e; ++c) {
      ForChannel<T>(v, c, [=](int64_t i) {
        y[i] = static_cast<T>((static_cast<float>(x[i]) - mean[c]) * factor[c] +
                              offset[c]);
      });
    }
  });
}

template <typename T>
Status GradSumsReference(OpKernelContext* ctx, const BatchNormView& v,
                         const T* dy, const T* x, const float* mean,
                         float* sum_dy, float* sum_dyx) {
  ctx->ParallelFor(v.channels, ChannelCost(v, 2), [=](int64_t b, int64_t e) {
    for (int64_t c = b; c < e; ++c) {
      double s = 0, sx = 0;
      ForChannel<T>(v, c, [&](int64_t i) {
        const double d = static_cast<double>(dy[i]);
        s += d;
        sx += d * (static_cast<double>(x[i]) - mean[c]);
      });
      sum_dy[c] = static_cast<float>(s);
      sum_dyx[c] = static_cast<float>(sx);
    }
  });
  return OkStatus();
}

template <typename T>
void GradInputReference(OpKernelContext* ctx, const BatchNormView& v,
                        const T* dy, const T* x, const float* mean,
                        const float* a, const float* b, const float* c, T* dx) {
  ctx->ParallelFor(
      v.channels, ChannelCost(v, 1), [=](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
          ForChannel<T>(v, k, [=](int64_t i) {
            dx[i] = static_cast<T>(a[k] * static_cast<float>(dy[i]) +
                                   b[k] * (static_cast<float>(x[i]) - mean[k]) +
                                   c[k]);
          });
        }
      });
}

// NHWC: the data are rows of contiguous channels, so loops go along rows and
// keep sums for all channels.
//
// Few channels make short rows, so several pixels are taken as one row of
// `lanes` floats; the last pixels, too few for a row, are a shorter row.
// Statistics are taken block by block: a block stays in the cache for both of
// its passes, and blocks are merged in order in double by Chan's formula, so
// the data is read from memory once and nothing cancels.

struct Rows {
  explicit Rows(const BatchNormView& v)
      : channels(v.channels),
        lanes(v.channels < 32 ? v.channels * (32 / v.channels) : v.channels),
        total(v.outer * v.channels),
        rows((total + lanes - 1) / lanes),
        block(std::max<int64_t>({1, 16384 / lanes, (rows + 1023) / 1024})),
        blocks((rows + block - 1) / block) {}
  // Elements of row r: `lanes`, fewer in the last.
  int64_t Length(int64_t r) const { return std::min(lanes, total - r * lanes); }
  // Pixels in block k.
  int64_t Pixels(int64_t k) const {
    return (std::min((k + 1) * block * lanes, total) - k * block * lanes) /
           channels;
  }
  // `v` for every lane.
  std::vector<float> Repeat(const float* v) const {
    std::vector<float> out(lanes);
    for (int64_t l = 0; l < lanes; ++l) out[l] = v[l % channels];
    return out;
  }
  int64_t channels, lanes, total, rows, block, blocks;
};

// Half precision is slower to convert than to compute with; only float gets
// code for each instruction set.
template <typename T, typename F>
void Loop(const F& f) {
  if constexpr (std::is_same_v<T, float>) {
    RunSimd(f);
  } else {
    f();
  }
}

template <typename T>
bool NhwcAccepts(const BatchNormView& v) {
  return v.inner == 1;
}

template <typename T>
Status MomentsNhwc(OpKernelContext* ctx, const BatchNormView& v, const T* x,
                   float* mean, float* variance) {
  const Rows rows(v);
  // For each block: the sums, then the squared deviations from the block's
  // mean.
  Tensor scratch;
  HR_RETURN_IF_ERROR(
      ctx->allocate_temp(DT_FLOAT, TensorShape({rows.blocks, 2, rows.lanes}),
                         &scratch, Tensor::kHeap));
  float* partial = scratch.data<float>();
  ctx->thread_pool()->ParallelFor(
      rows.blocks, 1, [&rows, x, partial](int64_t first, int64_t last) {
        for (int64_t k = first; k < last; ++k) {
          Loop<T>([&rows, x, partial, k] {
            const int64_t lanes = rows.lanes, channels = rows.channels;
            float* sum = partial + 2 * k * lanes;
            float* squares = sum + lanes;
            const int64_t end = std::min(rows.rows, (k + 1) * rows.block);
            for (int64_t l = 0; l < 2 * lanes; ++l) sum[l] = 0;
            for (int64_t r = k * rows.block; r < end; ++r) {
              const T* row = x + r * lanes;
              const int64_t n = rows.Length(r);
#pragma GCC ivdep
              for (int64_t l = 0; l < n; ++l) {
                sum[l] += static_cast<float>(row[l]);
              }
            }
            for (int64_t l = channels; l < lanes; ++l) {
              sum[l % channels] += sum[l];
            }
            // From here on sum holds the block's mean, in every lane.
            const float inverse = 1.0f / static_cast<float>(rows.Pixels(k));
            for (int64_t l = 0; l < channels; ++l) sum[l] *= inverse;
            for (int64_t l = channels; l < lanes; ++l) {
              sum[l] = sum[l % channels];
            }
            for (int64_t r = k * rows.block; r < end; ++r) {
              const T* row = x + r * lanes;
              const int64_t n = rows.Length(r);
#pragma GCC ivdep
              for (int64_t l = 0; l < n; ++l) {
                const float d = static_cast<float>(row[l]) - sum[l];
                squares[l] += d * d;
              }
            }
            for (int64_t l = channels; l < lanes; ++l) {
              squares[l % channels] += squares[l];
            }
          });
        }
      });
  for (int64_t c = 0; c < rows.channels; ++c) {
    double n = 0, m = 0, m2 = 0;
    for (int64_t k = 0; k < rows.blocks; ++k) {
      const double pixels = static_cast<double>(rows.Pixels(k));
      const double block_mean = partial[2 * k * rows.lanes + c];
      const double delta = block_mean - m;
      const double both = n + pixels;
      m += delta * pixels / both;
      m2 += partial[(2 * k + 1) * rows.lanes + c] +
            delta * delta * n * pixels / both;
      n = both;
    }
    mean[c] = static_cast<float>(m);
    variance[c] = static_cast<float>(m2 / n);
  }
  return OkStatus();
}

template <typename T>
void NormalizeNhwc(OpKernelContext* ctx, const BatchNormView& v, const T* x,
                   const float* mean, const float* factor, const float* offset,
                   T* y) {
  const Rows rows(v);
  const std::vector<float> m = rows.Repeat(mean), f = rows.Repeat(factor),
                           o = rows.Repeat(offset);
  ctx->ParallelFor(
      rows.rows, 0.3 * static_cast<double>(rows.lanes),
      [&](int64_t begin, int64_t end) {
        Loop<T>([&, x, y, begin, end] {
          const float *mean = m.data(), *factor = f.data(), *offset = o.data();
          for (int64_t r = begin; r < end; ++r) {
            const T* in = x + r * rows.lanes;
            T* out = y + r * rows.lanes;
            const int64_t n = rows.Length(r);
#pragma GCC ivdep
            for (int64_t l = 0; l < n; ++l) {
              out[l] = static_cast<T>((static_cast<float>(in[l]) - mean[l]) *
                                          factor[l] +
                                      offset[l]);
            }
          }
        });
      });
}

template <typename T>
Status GradSumsNhwc(OpKernelContext* ctx, const BatchNormView& v, const T* dy,
                    const T* x, const float* mean, float* sum_dy,
                    float* sum_dyx) {
  const Rows rows(v);
  const std::vector<float> means = rows.Repeat(mean);
  Tensor scratch;
  HR_RETURN_IF_ERROR(
      ctx->allocate_temp(DT_FLOAT, TensorShape({rows.blocks, 2, rows.lanes}),
                         &scratch, Tensor::kHeap));
  float* partial = scratch.data<float>();
  ctx->thread_pool()->ParallelFor(
      rows.blocks, 1,
      [&rows, &means, dy, x, partial](int64_t first, int64_t last) {
        for (int64_t k = first; k < last; ++k) {
          Loop<T>([&rows, &means, dy, x, partial, k] {
            const int64_t lanes = rows.lanes;
            const float* m = means.data();
            float* s = partial + 2 * k * lanes;
            float* sx = s + lanes;
            const int64_t end = std::min(rows.rows, (k + 1) * rows.block);
            for (int64_t l = 0; l < 2 * lanes; ++l) s[l] = 0;
            for (int64_t r = k * rows.block; r < end; ++r) {
              const T* dy_row = dy + r * lanes;
              const T* x_row = x + r * lanes;
              const int64_t n = rows.Length(r);
#pragma GCC ivdep
              for (int64_t l = 0; l < n; ++l) {
                const float d = static_cast<float>(dy_row[l]);
                s[l] += d;
                sx[l] += d * (static_cast<float>(x_row[l]) - m[l]);
              }
            }
          });
        }
      });
  for (int64_t c = 0; c < rows.channels; ++c) {
    double s = 0, sx = 0;
    for (int64_t k = 0; k < rows.blocks; ++k) {
      const float* block = partial + 2 * k * rows.lanes;
      for (int64_t l = c; l < rows.lanes; l += rows.channels) {
        s += block[l];
        sx += block[rows.lanes + l];
      }
    }
    sum_dy[c] = static_cast<float>(s);
    sum_dyx[c] = static_cast<float>(sx);
  }
  return OkStatus();
}

template <typename T>
void GradInputNhwc(OpKernelContext* ctx, const BatchNormView& v, const T* dy,
                   const T* x, const float* mean, const float* a,
                   const float* b, const float* c, T* dx) {
  const Rows rows(v);
  const std::vector<float> means = rows.Repeat(mean), as = rows.Repeat(a),
                           bs = rows.Repeat(b), cs = rows.Repeat(c);
  ctx->ParallelFor(rows.rows, 0.5 * static_cast<double>(rows.lanes),
                   [&](int64_t begin, int64_t end) {
                     Loop<T>([&, dy, x, dx, begin, end] {
                       const float *m = means.data(), *pa = as.data(),
                                   *pb = bs.data(), *pc = cs.data();
                       for (int64_t r = begin; r < end; ++r) {
                         const T* dy_row = dy + r * rows.lanes;
                         const T* x_row = x + r * rows.lanes;
                         T* out = dx + r * rows.lanes;
                         const int64_t n = rows.Length(r);
#pragma GCC ivdep
                         for (int64_t l = 0; l < n; ++l) {
                           out[l] = static_cast<T>(
                               pa[l] * static_cast<float>(dy_row[l]) +
                               pb[l] * (static_cast<float>(x_row[l]) - m[l]) +
                               pc[l]);
                         }
                       }
                     });
                   });
}

}  // namespace

template <typename T>
absl::Span<const BatchNormImplementation<T>> BatchNormImplementations() {
  static const BatchNormImplementation<T> list[] = {
      {"nhwc_vector", NhwcAccepts<T>, MomentsNhwc<T>, NormalizeNhwc<T>,
       GradSumsNhwc<T>, GradInputNhwc<T>},
      {"reference", [](const BatchNormView&) { return true; },
       MomentsReference<T>, NormalizeReference<T>, GradSumsReference<T>,
       GradInputReference<T>},
  };
  return list;
}
template absl::Span<const BatchNormImplementation<half>>
BatchNormImplementations<half>();
template absl::Span<const BatchNormImplementation<bfloat16>>
BatchNormImplementations<bfloat16>();
template absl::Span<const BatchNormImplementation<float>>
BatchNormImplementations<float>();

}  // namespace headrace

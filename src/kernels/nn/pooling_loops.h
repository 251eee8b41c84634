// The loops over windows that max and average pooling share. A Rule says how
// the elements of a window are combined:
//
//   struct Rule<T> {
//     using Sum = ...;             // what elements are gathered in
//     static Sum Start();
//     template <typename Vector>
//     static void Add(const typename Vector::Type& v,
//                     typename Vector::Type* sum);
//     template <typename Vector>
//     static void Finish(Sum count, typename Vector::Type* sum);
//   };
//
// `count` is the number of the window's elements inside the image. Vector is a
// VectorOf or ScalarOf<Sum> (simd_width.h). Both loops combine elements in the
// order plane, row, column, channel, so they give equal bits.
//
// Thread-safe: each call fills one output.
#ifndef HEADRACE_KERNELS_NN_POOLING_LOOPS_H_
#define HEADRACE_KERNELS_NN_POOLING_LOOPS_H_

#include <cstdint>
#include <type_traits>

#include "headrace/simd.h"
#include "kernels/lib/narrow_float.h"
#include "kernels/lib/simd_width.h"
#include "kernels/nn/pooling.h"

namespace headrace {

// RunSimdWide for float and double. It does not help integers.
template <typename T, typename F>
void RunPoolLoop(const F& f) {
  if constexpr (std::is_floating_point_v<T>) {
    RunSimdWide(f);
  } else {
    f(std::integral_constant<int, 16>());
  }
}

// The image, plane and row for a row's index.
struct PoolRow {
  int64_t b, p, r;
  PoolRow(int64_t index, int64_t planes, int64_t rows)
      : b(index / (planes * rows)), p(index / rows % planes), r(index % rows) {}
};

// Handles any layout and type, one element at a time.
template <typename T, typename Rule>
void PoolReference(OpKernelContext* ctx, const PoolGeometry& g, const T* in,
                   T* out) {
  using Sum = typename Rule::Sum;
  const PoolLayout &x = g.in_layout, &y = g.out_layout;
  const int64_t depth = g.depth_window;
  ctx->ParallelFor(
      g.batch * g.out[0] * g.out[1],
      PoolCost(g, 1.0) * static_cast<double>(g.out[2] * g.channels),
      [&g, &x, &y, in, out, depth](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const PoolRow at(i, g.out[0], g.out[1]);
          int64_t p0, p1, r0, r1, c0, c1;
          g.Range(0, at.p, &p0, &p1);
          g.Range(1, at.r, &r0, &r1);
          for (int64_t col = 0; col < g.out[2]; ++col) {
            g.Range(2, col, &c0, &c1);
            const Sum count =
                static_cast<Sum>((p1 - p0) * (r1 - r0) * (c1 - c0) * depth);
            T* to = out + at.b * y.batch + at.p * y.plane + at.r * y.row +
                    col * y.col;
            for (int64_t ch = 0; ch < g.out_channels(); ++ch) {
              Sum sum = Rule::Start();
              const T* from = in + at.b * x.batch + ch * depth * x.channel;
              for (int64_t p = p0; p < p1; ++p) {
                for (int64_t r = r0; r < r1; ++r) {
                  for (int64_t c = c0; c < c1; ++c) {
                    for (int64_t d = 0; d < depth; ++d) {
                      Rule::template Add<ScalarOf<Sum>>(
                          static_cast<Sum>(from[p * x.plane + r * x.row +
                                                c * x.col + d * x.channel]),
                          &sum);
                    }
                  }
                }
              }
              Rule::template Finish<ScalarOf<Sum>>(count, &sum);
              to[ch * y.channel] = static_cast<T>(sum);
            }
          }
        }
      });
}

// A gradient in any layout, gathered from the input's side, so that each
// element is one sum and rows are independent: in_grad[i] is the sum of
// terms(p, r, c)(i, o) over the output positions (p, r, c) of which the window
// holds i. o is the element at that position. `cost` in ns of one term.
template <typename T, typename Terms>
void GatherPoolGrad(OpKernelContext* ctx, const PoolGeometry& g, double cost,
                    T* in_grad, const Terms& terms) {
  ctx->ParallelFor(
      g.batch * g.in[0] * g.in[1],
      PoolCost(g, cost) * static_cast<double>(g.in[2] * g.channels),
      [&g, &terms, in_grad](int64_t begin, int64_t end) {
        const PoolLayout &x = g.in_layout, &y = g.out_layout;
        int64_t p0, p1, r0, r1, c0, c1;
        for (int64_t i = begin; i < end; ++i) {
          const PoolRow at(i, g.in[0], g.in[1]);
          g.Covering(0, at.p, &p0, &p1);
          g.Covering(1, at.r, &r0, &r1);
          const int64_t row = at.b * x.batch + at.p * x.plane + at.r * x.row;
          for (int64_t col = 0; col < g.in[2]; ++col) {
            g.Covering(2, col, &c0, &c1);
            for (int64_t ch = 0; ch < g.channels; ++ch) {
              const int64_t to = row + col * x.col + ch * x.channel;
              const int64_t from = at.b * y.batch + ch * y.channel;
              ComputeType<T> sum = ComputeType<T>(0);
              for (int64_t p = p0; p < p1; ++p) {
                for (int64_t r = r0; r < r1; ++r) {
                  for (int64_t c = c0; c < c1; ++c) {
                    sum += terms(p, r, c)(
                        to, from + p * y.plane + r * y.row + c * y.col);
                  }
                }
              }
              in_grad[to] = static_cast<T>(sum);
            }
          }
        }
      });
}

// The same for float and double in NHWC order: channels are contiguous.
template <typename T, typename Terms>
void GatherPoolGradNhwc(OpKernelContext* ctx, const PoolGeometry& g,
                        double cost, T* in_grad, const Terms& terms) {
  const int64_t channels = g.channels;
  ctx->ParallelFor(g.batch * g.in[0] * g.in[1],
                   PoolCost(g, cost) * static_cast<double>(g.in[2] * channels),
                   [&g, &terms, in_grad, channels](int64_t begin, int64_t end) {
                     RunSimd([&g, &terms, in_grad, channels, begin, end] {
                       const PoolLayout &x = g.in_layout, &y = g.out_layout;
                       int64_t p0, p1, r0, r1, c0, c1;
                       for (int64_t i = begin; i < end; ++i) {
                         const PoolRow at(i, g.in[0], g.in[1]);
                         g.Covering(0, at.p, &p0, &p1);
                         g.Covering(1, at.r, &r0, &r1);
                         for (int64_t col = 0; col < g.in[2]; ++col) {
                           g.Covering(2, col, &c0, &c1);
                           const int64_t to = at.b * x.batch + at.p * x.plane +
                                              at.r * x.row + col * x.col;
                           for (int64_t k = 0; k < channels; ++k)
                             in_grad[to + k] = T(0);
                           for (int64_t p = p0; p < p1; ++p) {
                             for (int64_t r = r0; r < r1; ++r) {
                               for (int64_t c = c0; c < c1; ++c) {
                                 const auto term = terms(p, r, c);
                                 const int64_t from = at.b * y.batch +
                                                      p * y.plane + r * y.row +
                                                      c * y.col;
#pragma GCC ivdep
                                 for (int64_t k = 0; k < channels; ++k) {
                                   in_grad[to + k] += term(to + k, from + k);
                                 }
                               }
                             }
                           }
                         }
                       }
                     });
                   });
}

// NHWC without a depth window; T is Rule::Sum. Channels are contiguous: kLine
// channels at a time stay in registers over the window.
template <typename T, typename Rule>
void PoolNhwc(OpKernelContext* ctx, const PoolGeometry& g, const T* in,
              T* out) {
  const int64_t channels = g.channels;
  ctx->ParallelFor(
      g.batch * g.out[0] * g.out[1],
      PoolCost(g, 0.15) * static_cast<double>(g.out[2] * channels),
      [&g, in, out, channels](int64_t begin, int64_t end) {
        RunPoolLoop<T>([&g, in, out, channels, begin, end](auto bytes) {
          using Vector = VectorOf<decltype(bytes)::value, T>;
          using V = typename Vector::Type;
          constexpr int64_t kLine = 64 / sizeof(T);
          constexpr int kParts = kLine / Vector::kLanes;
          const PoolLayout &x = g.in_layout, &y = g.out_layout;
          const T start = Rule::Start();
          for (int64_t i = begin; i < end; ++i) {
            const PoolRow at(i, g.out[0], g.out[1]);
            int64_t p0, p1, r0, r1, c0, c1;
            g.Range(0, at.p, &p0, &p1);
            g.Range(1, at.r, &r0, &r1);
            const T* from = in + at.b * x.batch;
            T* to = out + at.b * y.batch + at.p * y.plane + at.r * y.row;
            for (int64_t col = 0; col < g.out[2]; ++col, to += channels) {
              g.Range(2, col, &c0, &c1);
              const T count = static_cast<T>((p1 - p0) * (r1 - r0) * (c1 - c0));
              int64_t ch = 0;
              for (; ch + kLine <= channels; ch += kLine) {
                V sum[kParts];
                for (V& s : sum) s = V{} + start;
                for (int64_t p = p0; p < p1; ++p) {
                  for (int64_t r = r0; r < r1; ++r) {
                    const T* pixel = from + p * x.plane + r * x.row + ch;
                    for (int64_t c = c0; c < c1; ++c) {
                      for (int k = 0; k < kParts; ++k) {
                        Rule::template Add<Vector>(
                            Vector::At(pixel + c * channels +
                                       k * Vector::kLanes),
                            &sum[k]);
                      }
                    }
                  }
                }
                for (int k = 0; k < kParts; ++k) {
                  Rule::template Finish<Vector>(count, &sum[k]);
                  Vector::At(to + ch + k * Vector::kLanes) = sum[k];
                }
              }
              if (ch == channels) continue;
              for (int64_t k = ch; k < channels; ++k) to[k] = start;
              for (int64_t p = p0; p < p1; ++p) {
                for (int64_t r = r0; r < r1; ++r) {
                  for (int64_t c = c0; c < c1; ++c) {
                    const T* pixel =
                        from + p * x.plane + r * x.row + c * channels;
                    for (int64_t k = ch; k < channels; ++k) {
                      Rule::template Add<ScalarOf<T>>(pixel[k], to + k);
                    }
                  }
                }
              }
              for (int64_t k = ch; k < channels; ++k) {
                Rule::template Finish<ScalarOf<T>>(count, to + k);
              }
            }
          }
        });
      });
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_NN_POOLING_LOOPS_H_

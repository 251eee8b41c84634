// Reduces a tensor over some of its axes with any associative operation.
//
// Neighbouring axes that are both reduced or both kept are merged. Two cases
// remain: the innermost axis is reduced (contiguous runs are combined), or it
// is kept (whole rows are combined). In both, elements are combined in a tree
// that depends only on the tensor's shape. The result is therefore equal for
// any number of threads and any vector width, and the error of a float sum
// grows with the depth of the tree.
//
// Only two small loops are compiled per operation and type. The walk over the
// tensor is written once, over bytes.
#ifndef HEADRACE_KERNELS_MATH_REDUCTION_H_
#define HEADRACE_KERNELS_MATH_REDUCTION_H_

#include <cstdint>
#include <type_traits>

#include "headrace/op_kernel.h"
#include "headrace/simd.h"
#include "kernels/lib/broadcast.h"
#include "kernels/lib/narrow_float.h"

namespace headrace {

// The resolved axes of a reduction, and the division of the work. Depends only
// on the shape.
struct ReductionPlan {
  static constexpr int64_t kColumns = 512;

  // `axes` is an int32 or int64 tensor of any shape; negative axes count from
  // the end. InvalidArgument for an axis out of range. An axis that occurs
  // twice is reduced once.
  Status Init(const TensorShape& shape, const Tensor& axes, bool keep_dims);

  // The merged dims, outermost first. Only stride[0] is used. Neither list is
  // empty.
  absl::InlinedVector<BCast::Dim, 4> kept, reduced;
  bool inner_reduced = true;
  int64_t outputs = 1;  // product of kept
  int64_t count = 1;    // product of reduced: elements per result
  TensorShape output_shape;
  // If there are few results, the elements of each result are divided into
  // parts.
  int64_t parts = 1;
  int64_t part_size = 1;
  // Units of work per part: one result, or up to kColumns neighbouring results.
  int64_t units = 1;
};

// The loops of one operation. A is the accumulator's type, at most 16 bytes. T
// is the type of elements; float for narrow floats.
struct ReductionLoops {
  // out[i] = all of x[i * stride .. i * stride + n), for i < count.
  using Runs = void (*)(const void* x, int64_t n, int64_t count, int64_t stride,
                        void* out);
  // acc[j] = acc[j] and all of x[i * stride + j], i < count, for j < n.
  using Rows = void (*)(const void* x, int64_t n, int64_t count, int64_t stride,
                        void* acc);
  Runs runs;  // of T
  Rows rows;
  Runs fold;  // of A
  Rows merge;
  void (*init)(void* acc, int64_t n);  // neutral elements
  int acc_size, element_size;
};

// Reduces `x`, of type `dtype`, into results[0, plan.outputs) of type A. With
// several parts, `partial` has space for parts * outputs values.
void Reduce(OpKernelContext* ctx, const ReductionPlan& plan,
            const ReductionLoops& loops, DataType dtype, const void* x,
            void* results, void* partial);

namespace reduction_internal {

template <typename T>
constexpr bool UseSimd() {
  return std::is_same_v<T, float> || std::is_same_v<T, double> ||
         std::is_same_v<T, int32_t>;
}

// Long runs are combined in a fixed number of lanes, for any vector width. The
// lanes are then combined in a tree.
template <typename Op, typename A, typename T>
void RunsLoop(const void* xv, int64_t n, int64_t count, int64_t stride,
              void* out) {
  auto body = [=] {
    constexpr int kLanes = sizeof(A) >= 16 ? 4 : 128 / sizeof(A);
    const T* x = static_cast<const T*>(xv);
    A* results = static_cast<A*>(out);
    for (int64_t r = 0; r < count; ++r, x += stride) {
      A result = Op::template Init<A>();
      if (n < kLanes) {
        for (int64_t i = 0; i < n; ++i) {
          result = Op::Combine(result, Op::template Load<A>(x[i]));
        }
      } else {
        A lane[kLanes];
        for (int l = 0; l < kLanes; ++l) lane[l] = Op::template Load<A>(x[l]);
        int64_t i = kLanes;
        if (n >= 4 * kLanes) {
          // Twice the lanes, because a combination has a longer latency than a
          // load.
          A other[kLanes];
          for (int l = 0; l < kLanes; ++l) {
            other[l] = Op::template Load<A>(x[i + l]);
          }
          for (i += kLanes; i + 2 * kLanes <= n; i += 2 * kLanes) {
            for (int l = 0; l < kLanes; ++l) {
              lane[l] = Op::Combine(lane[l], Op::template Load<A>(x[i + l]));
            }
            for (int l = 0; l < kLanes; ++l) {
              other[l] = Op::Combine(other[l],
                                     Op::template Load<A>(x[i + kLanes + l]));
            }
          }
          for (int l = 0; l < kLanes; ++l) {
            lane[l] = Op::Combine(lane[l], other[l]);
          }
        }
        for (; i + kLanes <= n; i += kLanes) {
          for (int l = 0; l < kLanes; ++l) {
            lane[l] = Op::Combine(lane[l], Op::template Load<A>(x[i + l]));
          }
        }
        for (int l = 0; l < n - i; ++l) {
          lane[l] = Op::Combine(lane[l], Op::template Load<A>(x[i + l]));
        }
#pragma GCC unroll 1
        for (int w = kLanes / 2; w > 0; w /= 2) {
          for (int l = 0; l < w; ++l) {
            lane[l] = Op::Combine(lane[l], lane[l + w]);
          }
        }
        result = lane[0];
      }
      results[r] = result;
    }
  };
  if constexpr (UseSimd<T>()) {
    RunSimd(body);
  } else {
    body();
  }
}

// Takes four rows at a time, in order, to save loads of the accumulators.
template <typename Op, typename A, typename T>
void RowsLoop(const void* xv, int64_t n, int64_t count, int64_t stride,
              void* out) {
  auto body = [=] {
    const T* x = static_cast<const T*>(xv);
    A* acc = static_cast<A*>(out);
    const int64_t width = n;
    int64_t r = 0;
    for (; r + 4 <= count; r += 4, x += 4 * stride) {
      const T *b = x + stride, *c = b + stride, *d = c + stride;
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j) {
        A v = Op::Combine(acc[j], Op::template Load<A>(x[j]));
        v = Op::Combine(v, Op::template Load<A>(b[j]));
        v = Op::Combine(v, Op::template Load<A>(c[j]));
        acc[j] = Op::Combine(v, Op::template Load<A>(d[j]));
      }
    }
    for (; r < count; ++r, x += stride) {
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j) {
        acc[j] = Op::Combine(acc[j], Op::template Load<A>(x[j]));
      }
    }
  };
  if constexpr (UseSimd<T>()) {
    RunSimd(body);
  } else {
    body();
  }
}

template <typename Op, typename A>
void InitLoop(void* out, int64_t n) {
  A* acc = static_cast<A*>(out);
  for (int64_t i = 0; i < n; ++i) acc[i] = Op::template Init<A>();
}

}  // namespace reduction_internal

// Op has, for the accumulator A and elements T:
//   Init<A>()      the neutral element
//   Load<A>(T x)   an element as A
//   Combine(a, b)
//   Merge          the operation on accumulators: Op itself if Load is a cast
template <typename Op, typename A, typename T>
inline constexpr ReductionLoops kReductionLoops = {
    &reduction_internal::RunsLoop<Op, A, T>,
    &reduction_internal::RowsLoop<Op, A, T>,
    &reduction_internal::RunsLoop<typename Op::Merge, A, A>,
    &reduction_internal::RowsLoop<typename Op::Merge, A, A>,
    &reduction_internal::InitLoop<Op, A>,
    sizeof(A),
    sizeof(T)};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_MATH_REDUCTION_H_

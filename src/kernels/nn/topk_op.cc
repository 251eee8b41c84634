// TopK and TopKV2: the k largest of each row (last axis) and where they stand.
// Equal values come by lower index first. With sorted=false the order is free;
// this gives the sorted one.
//
// TensorFlow takes NaN for equal to every number, which is no order: what comes
// out of a row with NaN depends on the steps of its selection. TopWithNan takes
// the same steps.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>

#include "headrace/op_kernel.h"
#include "kernels/lib/top_k.h"
#include "kernels/nn/block_scratch.h"
#include "kernels/nn/total_order.h"

namespace headrace {
namespace {

// Longer rows are sorted by another algorithm, which cannot be followed safely:
// they come with NaN in front.
constexpr int64_t kMaxInsertion = 16;

template <typename T>
bool HasNan(const T* x, int64_t n) {
  if constexpr (std::is_integral_v<T>) return false;
  return std::any_of(x, x + n, [](const T& v) { return v != v; });
}

// Heaps and insertion stay within bounds whatever `before` says, as std::sort
// does not.
template <typename T, typename Index>
void TopWithNan(const T* x, int64_t n, int64_t k, Index* order,
                Index* indices) {
  const auto before = [x](Index a, Index b) {
    if (x[a] > x[b]) return true;
    if (x[b] > x[a]) return false;
    return a < b;
  };
  std::iota(order, order + n, Index(0));
  if (k == n) {
    for (int64_t i = 1; i < n; ++i) {
      // Moves it to the front, or past its neighbours one by one until it is in
      // place; the first element then stops it.
      const Index moved = order[i];
      int64_t to = i;
      if (before(moved, order[0])) {
        to = 0;
      } else {
        while (before(moved, order[to - 1])) --to;
      }
      std::move_backward(order + to, order + i, order + i + 1);
      order[to] = moved;
    }
    std::copy(order, order + n, indices);
    return;
  }
  // A heap of k + 1, whose worst element stands last.
  Index* const end = order + k + 1;
  std::make_heap(order, end, before);
  std::pop_heap(order, end, before);
  for (int64_t i = k + 1; i < n; ++i) {
    if (!before(static_cast<Index>(i), order[0])) continue;
    order[k] = static_cast<Index>(i);
    std::push_heap(order, end, before);
    std::pop_heap(order, end, before);
  }
  std::sort_heap(order, order + k, before);
  std::copy(order, order + k, indices);
}

template <typename T, typename Index>
void TopRow(const T* x, int64_t n, int64_t k, Index* order, T* values,
            Index* indices) {
  auto before = [x](Index a, Index b) {
    if (TotalGreater(x[a], x[b])) return true;
    if (TotalGreater(x[b], x[a])) return false;
    return a < b;
  };
  if (k == 1) {
    Index best = 0;
    for (int64_t i = 1; i < n; ++i) {
      if (x[i] > x[best] || (x[best] != x[best] && x[i] == x[i])) {
        best = static_cast<Index>(i);
      }
    }
    indices[0] = best;
  } else if ((k < n || n <= kMaxInsertion) && HasNan(x, n)) {
    TopWithNan(x, n, k, order, indices);
  } else {
    std::iota(order, order + n, Index(0));
    if (k < n / 16) {
      std::partial_sort(order, order + k, order + n, before);
    } else {
      if (k < n) {
        std::nth_element(order, order + k, order + n, before);
      }
      std::sort(order, order + k, before);
    }
    std::copy(order, order + k, indices);
  }
  for (int64_t i = 0; i < k; ++i) values[i] = x[indices[i]];
}

// Computes with indices of type Index, and gives them as Result.
template <typename T, typename Index, typename Result = Index>
class TopKOp : public OpKernel {
 public:
  explicit TopKOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (ctx->num_inputs() == 1) OP_REQUIRES_OK(ctx, ctx->GetAttr("k", &k_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TopKShape(ctx, k_, output_type(1), &shape));
    Tensor *values = nullptr, *indices = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &values));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, shape, &indices));
    if (values->NumElements() == 0) return;
    const int64_t n = input.dim_size(input.dims() - 1);
    const int64_t k = shape.dim_size(shape.dims() - 1);
    const T* x = input.data<T>();
    T* v = values->data<T>();
    Result* at = indices->data<Result>();
    constexpr bool kNarrow = !std::is_same_v<Index, Result>;
    const int64_t rows = values->NumElements() / k;
    const double cost = static_cast<double>(n) * (k == 1 ? 1.0 : 8.0);
    BlockScratch<Index> order;
    const int64_t sorted = k == 1 ? 0 : n;
    OP_REQUIRES_OK(ctx,
                   order.Allocate(ctx, rows, cost, sorted + (kNarrow ? k : 0)));
    ctx->ParallelFor(
        rows, cost, [&, x, v, at, n, k](int64_t begin, int64_t end) {
          Index* const scratch = order.For(begin);
          for (int64_t r = begin; r < end; ++r) {
            if constexpr (kNarrow) {
              Index* const wide = scratch + sorted;
              TopRow(x + r * n, n, k, scratch, v + r * k, wide);
              std::copy_n(wide, k, at + r * k);
            } else {
              TopRow(x + r * n, n, k, scratch, v + r * k, at + r * k);
            }
          }
        });
  }

 private:
  int64_t k_ = 0;
};

#define REGISTER_TOPK(T)                                              \
  REGISTER_KERNEL_BUILDER(                                            \
      Name("TopK").Device(DEVICE_CPU).TypeConstraint<T>("T"),         \
      TopKOp<T, int32_t>);                                            \
  REGISTER_KERNEL_BUILDER(Name("TopKV2")                              \
                              .Device(DEVICE_CPU)                     \
                              .TypeConstraint<T>("T")                 \
                              .TypeConstraint<int16_t>("index_type"), \
                          TopKOp<T, int64_t, int16_t>);               \
  REGISTER_KERNEL_BUILDER(Name("TopKV2")                              \
                              .Device(DEVICE_CPU)                     \
                              .TypeConstraint<T>("T")                 \
                              .TypeConstraint<int32_t>("index_type"), \
                          TopKOp<T, int32_t>);                        \
  REGISTER_KERNEL_BUILDER(Name("TopKV2")                              \
                              .Device(DEVICE_CPU)                     \
                              .TypeConstraint<T>("T")                 \
                              .TypeConstraint<int64_t>("index_type"), \
                          TopKOp<T, int64_t>);
HR_CALL_REAL_NUMBER_TYPES(REGISTER_TOPK)
#undef REGISTER_TOPK

}  // namespace
}  // namespace headrace

// FractionalMaxPool, FractionalAvgPool and their gradients: windows of two
// sizes that differ by one, in an order drawn for rows and for columns. A
// sequence holds where windows begin, and at last where they end; windows that
// overlap also take in the first row (column) of the next one.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/random_stream.h"

namespace headrace {
namespace {

// [begin, end)
struct FractionalWindow {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};
FractionalWindow WindowAt(const int64_t* sequence, int64_t i, bool overlapping,
                          int64_t size) {
  return {sequence[i], std::min(size, sequence[i + 1] + (overlapping ? 1 : 0))};
}

Philox::Counter SequenceBlocks(int64_t out, bool pseudo_random) {
  return pseudo_random ? 1 : static_cast<Philox::Counter>((out + 3) / 4);
}

// Window i begins at ceil(alpha (i + u)) - 1: so far apart are the windows, so
// far they are shifted, that neither the first nor the last becomes too large.
void PseudoRandomSequence(int64_t in, int64_t out, PhiloxWords* next,
                          int64_t* sequence) {
  const double alpha = static_cast<double>(in) / static_cast<double>(out);
  const int64_t k = in / out;
  const double most = std::min(
      static_cast<double>(k + 2) / alpha - 1,
      static_cast<double>(in + 1 - k) / alpha - static_cast<double>(out - 1));
  const uint32_t high = (*next)(), low = (*next)();
  const double u = UniformDouble(high, low) * most;
  for (int64_t i = 1; i < out; ++i) {
    sequence[i] =
        static_cast<int64_t>(std::ceil(alpha * (static_cast<double>(i) + u))) -
        1;
  }
}

// The larger windows and the smaller ones, shuffled.
void RandomSequence(int64_t in, int64_t out, PhiloxWords* next,
                    int64_t* sequence) {
  std::vector<int64_t> sizes(out, in / out);
  std::fill_n(sizes.begin(), in % out, in / out + 1);
  for (int64_t i = 0; i + 1 < out; ++i) {
    const int64_t rest = out - i;
    std::swap(sizes[i], sizes[i + (*next)() % rest]);
  }
  for (int64_t i = 1; i < out; ++i) {
    sequence[i] = sequence[i - 1] + sizes[i - 1];
  }
}

// Sums of integers wrap around.
template <typename T>
T WrappingSum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

template <typename T>
T Saturated(double v) {
  if constexpr (std::is_integral_v<T>) {
    if (std::isnan(v)) return 0;
    if (v >= static_cast<double>(std::numeric_limits<T>::max())) {
      return std::numeric_limits<T>::max();
    }
    if (v <= static_cast<double>(std::numeric_limits<T>::min())) {
      return std::numeric_limits<T>::min();
    }
  }
  return static_cast<T>(v);
}

template <typename T, bool kMax>
class FractionalPoolOp : public OpKernel {
 public:
  explicit FractionalPoolOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("pooling_ratio", &ratio_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("pseudo_random", &pseudo_random_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("overlapping", &overlapping_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("deterministic", &deterministic_));
    OP_REQUIRES(ctx, ratio_.size() == 4,
                errors::InvalidArgument("pooling_ratio must have 4 elements, "
                                        "got ",
                                        ratio_.size()));
    for (const float r : ratio_) {
      OP_REQUIRES(ctx, std::isfinite(r) && r >= 1,
                  errors::InvalidArgument(
                      "pooling_ratio cannot be smaller than 1, got: ", r));
    }
    OP_REQUIRES(ctx, ratio_[0] == 1 && ratio_[3] == 1,
                errors::Unimplemented("fractional pooling over the batch or "
                                      "the channels: pooling_ratio must be "
                                      "[1, rows, columns, 1]"));
    int64_t seed = 0, seed2 = 0;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("seed", &seed));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("seed2", &seed2));
    OP_REQUIRES(ctx, deterministic_ || (seed == 0 && seed2 == 0),
                errors::InvalidArgument("Both seed and seed2 should be 0 if "
                                        "deterministic is false, got ",
                                        seed, " and ", seed2));
    stream_.Init(seed, seed2);
    first_ = stream_.Reserve(0);
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() == 4,
                errors::InvalidArgument("value must be 4-dimensional, got "
                                        "shape ",
                                        in.shape().DebugString()));
    int64_t size[4];
    for (int d = 0; d < 4; ++d) {
      OP_REQUIRES(
          ctx,
          ratio_[d] == 1 || static_cast<float>(in.dim_size(d)) >= ratio_[d],
          errors::InvalidArgument(
              "Pooling ratio is higher than input dimension size for "
              "dimension ",
              d, ": ratio ", ratio_[d], ", value of shape ",
              in.shape().DebugString()));
      size[d] = in.dim_size(d);
      if (ratio_[d] == 1) continue;
      const float fewer = static_cast<float>(size[d]) / ratio_[d];
      size[d] = std::clamp<int64_t>(static_cast<int64_t>(fewer), 1, size[d]);
    }
    Tensor *out = nullptr, *rows = nullptr, *columns = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(
                 0, TensorShape({size[0], size[1], size[2], size[3]}), &out));
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_output(1, TensorShape({size[1] + 1}), &rows));
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(2, TensorShape({size[2] + 1}), &columns));
    const Philox::Counter row_blocks = SequenceBlocks(size[1], pseudo_random_);
    Philox stream =
        deterministic_
            ? first_
            : stream_.Reserve(row_blocks +
                              SequenceBlocks(size[2], pseudo_random_));
    Draw(in.dim_size(1), size[1], stream, rows->data<int64_t>());
    stream.Skip(row_blocks);
    Draw(in.dim_size(2), size[2], stream, columns->data<int64_t>());
    Pool(ctx, in, rows->data<int64_t>(), columns->data<int64_t>(), size,
         out->data<T>());
  }

 private:
  void Draw(int64_t in, int64_t out, const Philox& stream,
            int64_t* sequence) const {
    PhiloxWords next(stream);
    sequence[0] = 0;
    (pseudo_random_ ? PseudoRandomSequence : RandomSequence)(in, out, &next,
                                                             sequence);
    sequence[out] = in;
  }

  void Pool(OpKernelContext* ctx, const Tensor& in, const int64_t* row_sequence,
            const int64_t* column_sequence, const int64_t* size, T* out) const {
    const int64_t rows = in.dim_size(1), columns = in.dim_size(2);
    const int64_t depth = in.dim_size(3);
    const T* const x = in.data<T>();
    const double work = 2.0 * ratio_[1] * static_cast<double>(columns * depth);
    ctx->ParallelFor(size[0] * size[1], work, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const FractionalWindow high =
            WindowAt(row_sequence, r % size[1], overlapping_, rows);
        const T* const image = x + r / size[1] * rows * columns * depth;
        for (int64_t c = 0; c < size[2]; ++c) {
          const FractionalWindow wide =
              WindowAt(column_sequence, c, overlapping_, columns);
          T* const y = out + (r * size[2] + c) * depth;
          std::copy_n(image + (high.begin * columns + wide.begin) * depth,
                      depth, y);
          for (int64_t i = high.begin; i < high.end; ++i) {
            for (int64_t j = wide.begin; j < wide.end; ++j) {
              if (i == high.begin && j == wide.begin) continue;
              const T* const pixel = image + (i * columns + j) * depth;
              for (int64_t k = 0; k < depth; ++k) {
                y[k] = kMax ? std::max(y[k], pixel[k])
                            : WrappingSum(y[k], pixel[k]);
              }
            }
          }
          if (kMax) continue;
          const T count = static_cast<T>(high.size() * wide.size());
          for (int64_t k = 0; k < depth; ++k) y[k] /= count;
        }
      }
    });
  }

  std::vector<float> ratio_;
  bool pseudo_random_ = false, overlapping_ = false, deterministic_ = false;
  GuardedPhilox stream_;
  Philox first_;
};

// Input `i`, for `windows` windows over an input of `size`.
Status ReadSequence(const OpKernelContext& ctx, int i, const char* name,
                    int64_t windows, int64_t size, const int64_t** out) {
  const Tensor& t = ctx.input(i);
  if (t.dims() != 1 || t.NumElements() != windows + 1) {
    return errors::InvalidArgument(
        name, " must be a vector of ", windows + 1, " elements for ", windows,
        " windows, got shape ", t.shape().DebugString());
  }
  const int64_t* const s = t.data<int64_t>();
  for (int64_t k = 0; k <= windows; ++k) {
    if (s[k] < (k == 0 ? 0 : s[k - 1] + 1) || s[k] > size) {
      return errors::InvalidArgument(name, " must rise within [0, ", size,
                                     "], got ", s[k], " at ", k);
    }
  }
  *out = s;
  return OkStatus();
}

// The inputs of both gradients. `in` is the shape of the forward op's input.
struct FractionalGrad {
  TensorShape in;
  const int64_t *rows = nullptr, *columns = nullptr;

  // The gradient is input `grad`, the sequences come behind it.
  Status Read(const OpKernelContext& ctx, int grad) {
    const TensorShape& g = ctx.input(grad).shape();
    if (in.dims() != 4 || g.dims() != 4 || g.dim_size(0) != in.dim_size(0) ||
        g.dim_size(3) != in.dim_size(3) || g.num_elements() == 0) {
      return errors::InvalidArgument(
          "out_backprop must be 4-dimensional and not empty, with the batch "
          "and the channels of the pooled tensor; got shapes ",
          g.DebugString(), " and ", in.DebugString());
    }
    HR_RETURN_IF_ERROR(ReadSequence(ctx, grad + 1, "row_pooling_sequence",
                                    g.dim_size(1), in.dim_size(1), &rows));
    return ReadSequence(ctx, grad + 2, "col_pooling_sequence", g.dim_size(2),
                        in.dim_size(2), &columns);
  }
};

// The gradient goes to the first of the largest elements of each window.
template <typename T>
class FractionalMaxPoolGradOp : public OpKernel {
 public:
  explicit FractionalMaxPoolGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("overlapping", &overlapping_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const Tensor& pooled = ctx->input(1);
    const Tensor& grad = ctx->input(2);
    FractionalGrad g{in.shape()};
    OP_REQUIRES_OK(ctx, g.Read(*ctx, 2));
    OP_REQUIRES(
        ctx, pooled.shape() == grad.shape(),
        errors::InvalidArgument(
            "orig_output and out_backprop must have the same shape, "
            "got ",
            pooled.shape().DebugString(), " and ", grad.shape().DebugString()));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    std::fill_n(out->data<T>(), out->NumElements(), T(0));
    std::atomic<bool> differs = false;
    const int64_t batch = in.dim_size(0);
    const int64_t in_image = in.NumElements() / batch;
    const int64_t out_image = grad.NumElements() / batch;
    ctx->ParallelFor(batch, 3.0 * static_cast<double>(in_image),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t b = begin; b < end; ++b) {
                         if (!Image(g, grad.dim_size(1), grad.dim_size(2),
                                    in.data<T>() + b * in_image,
                                    pooled.data<T>() + b * out_image,
                                    grad.data<T>() + b * out_image,
                                    out->data<T>() + b * in_image)) {
                           differs = true;
                         }
                       }
                     });
    OP_REQUIRES(ctx, !differs,
                errors::InvalidArgument("orig_output is not what pooling "
                                        "orig_input by the sequences gives"));
  }

 private:
  // False if `pooled` is not the maximum of some window.
  bool Image(const FractionalGrad& g, int64_t high, int64_t wide, const T* x,
             const T* pooled, const T* grad, T* out) const {
    const int64_t columns = g.in.dim_size(2), depth = g.in.dim_size(3);
    bool same = true;
    for (int64_t w = 0; w < high * wide; ++w) {
      const FractionalWindow r =
          WindowAt(g.rows, w / wide, overlapping_, g.in.dim_size(1));
      const FractionalWindow c =
          WindowAt(g.columns, w % wide, overlapping_, columns);
      for (int64_t k = 0; k < depth; ++k) {
        int64_t at = (r.begin * columns + c.begin) * depth + k;
        for (int64_t i = r.begin; i < r.end; ++i) {
          for (int64_t j = c.begin; j < c.end; ++j) {
            const int64_t here = (i * columns + j) * depth + k;
            if (x[here] > x[at]) at = here;
          }
        }
        const T y = pooled[w * depth + k];
        same = same && (x[at] == y || (x[at] != x[at] && y != y));
        out[at] = WrappingSum(out[at], grad[w * depth + k]);
      }
    }
    return same;
  }

  bool overlapping_ = false;
};

// Each element of a window gets the same share; shares are added up in double
// precision, in the order of the windows.
template <typename T>
class FractionalAvgPoolGradOp : public OpKernel {
 public:
  explicit FractionalAvgPoolGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("overlapping", &overlapping_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& shape = ctx->input(0);
    const Tensor& grad = ctx->input(1);
    OP_REQUIRES(ctx, shape.dims() == 1 && shape.NumElements() == 4,
                errors::InvalidArgument("orig_input_tensor_shape must be a "
                                        "vector of 4 elements, got shape ",
                                        shape.shape().DebugString()));
    FractionalGrad g;
    OP_REQUIRES_OK(
        ctx, TensorShape::Build({shape.data<int64_t>(), size_t{4}}, &g.in));
    OP_REQUIRES_OK(ctx, g.Read(*ctx, 1));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, g.in, &out));
    const int64_t rows = g.in.dim_size(1), columns = g.in.dim_size(2);
    const int64_t depth = g.in.dim_size(3);
    const int64_t high = grad.dim_size(1), wide = grad.dim_size(2);
    const T* const from = grad.data<T>();
    T* const to = out->data<T>();
    ctx->ParallelFor(
        g.in.dim_size(0) * rows, 3.0 * static_cast<double>(columns * depth),
        [&](int64_t begin, int64_t end) {
          for (int64_t at = begin; at < end; ++at) {
            const FractionalWindow r = Covering(g.rows, high, at % rows);
            for (int64_t j = 0; j < columns; ++j) {
              const FractionalWindow c = Covering(g.columns, wide, j);
              for (int64_t k = 0; k < depth; ++k) {
                double sum = 0;
                for (int64_t a = r.begin; a < r.end; ++a) {
                  for (int64_t b = c.begin; b < c.end; ++b) {
                    const int64_t w = (at / rows * high + a) * wide + b;
                    sum += static_cast<double>(from[w * depth + k]) /
                           static_cast<double>(Count(g, a, b));
                  }
                }
                to[(at * columns + j) * depth + k] = Saturated<T>(sum);
              }
            }
          }
        });
  }

 private:
  // The windows that take in row (column) `i`: at most two.
  FractionalWindow Covering(const int64_t* sequence, int64_t windows,
                            int64_t i) const {
    const int64_t* const next =
        std::upper_bound(sequence, sequence + windows + 1, i);
    const int64_t last = next - sequence - 1;
    FractionalWindow w = {last, std::min(windows, last + 1)};
    if (overlapping_ && last > 0 && sequence[last] == i) --w.begin;
    if (last < 0) w.begin = w.end = 0;
    return w;
  }
  int64_t Count(const FractionalGrad& g, int64_t a, int64_t b) const {
    return WindowAt(g.rows, a, overlapping_, g.in.dim_size(1)).size() *
           WindowAt(g.columns, b, overlapping_, g.in.dim_size(2)).size();
  }

  bool overlapping_ = false;
};

#define HR_REGISTER_AS(NAME, T, ...) \
  REGISTER_KERNEL_BUILDER(           \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<T>("T"), __VA_ARGS__)
#define HR_REGISTER(T)                                                    \
  HR_REGISTER_AS("FractionalMaxPool", T, FractionalPoolOp<T, true>);      \
  HR_REGISTER_AS("FractionalAvgPool", T, FractionalPoolOp<T, false>);     \
  HR_REGISTER_AS("FractionalMaxPoolGrad", T, FractionalMaxPoolGradOp<T>); \
  HR_REGISTER_AS("FractionalAvgPoolGrad", T, FractionalAvgPoolGradOp<T>)
HR_REGISTER(float);
HR_REGISTER(double);
HR_REGISTER(int32_t);
HR_REGISTER(int64_t);
#undef HR_REGISTER
#undef HR_REGISTER_AS

}  // namespace
}  // namespace headrace

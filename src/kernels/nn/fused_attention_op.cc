// _FusedAttention: softmax(query key^T * scale + mask) value, for each element
// of the batch dims. Attrs say which dim of an operand is which
// (framework/shape_fns/attention_labels.h), so nothing is transposed.
//
// Scores exist for a block of queries and keys only. For the queries of a block
// the maximum, the sum of exponentials and the weighted values of the keys so
// far are kept; where a later block of keys has a larger maximum, both are
// scaled down. Blocks depend on the sizes alone, and so do results.
//
// A row of scores that are all -inf, or of which one is +inf or NaN, gives NaN,
// as Softmax does.
//
// exp uses fused multiply-add if the processor has it. The pragma is before all
// includes, so that it also applies to their inline functions.
#pragma GCC optimize("no-trapping-math", "fp-contract=fast")

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "framework/shape_fns/attention_labels.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/gemm.h"
#include "kernels/lib/simd_width.h"
#include "kernels/nn/block_scratch.h"
#include "kernels/nn/row_math.h"

namespace headrace {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// Elements from one index of a dim to the next; 0 where it is repeated.
struct Strides {
  std::vector<int64_t> batch;
  int64_t t = 0, s = 0, h = 0, d = 0;
};

class FusedAttentionOp : public OpKernel {
 public:
  explicit FusedAttentionOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string labels, scores;
    bool has_mask = false;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("labels", &labels));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("scores", &scores));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("scale", &scale_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("repeats", &repeats_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("has_mask", &has_mask));
    OP_REQUIRES_OK(ctx, AttentionLabels::Parse(labels, scores, &labels_));
    OP_REQUIRES(ctx, num_inputs() == (has_mask ? 4 : 3),
                errors::InvalidArgument("has_mask wants ", has_mask ? 1 : 0,
                                        " masks, got ", num_inputs() - 3));
  }

  void Compute(OpKernelContext* ctx) override {
    Sizes z;
    OP_REQUIRES_OK(ctx, Measure(ctx, &z));
    TensorShape shape;
    for (const char label : labels_.result) shape.AddDim(z.of[Index(label)]);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &output));
    if (output->NumElements() == 0) return;
    for (const int64_t size : z.batch_dims) z.batch *= size;
    if (z.s == 0) {
      std::fill_n(output->data<float>(), output->NumElements(), 0.0f);
      return;
    }
    Problem p = {.z = z, .scale = scale_};
    p.query = StridesOf(labels_.query, ctx->input(0).shape(), z);
    p.key = StridesOf(labels_.key, ctx->input(1).shape(), z);
    p.value = StridesOf(labels_.value, ctx->input(2).shape(), z);
    p.result = StridesOf(labels_.result, shape, z);
    p.q = ctx->input(0).data<float>();
    p.k = ctx->input(1).data<float>();
    p.v = ctx->input(2).data<float>();
    p.out = output->data<float>();
    if (num_inputs() > 3) {
      const TensorShape& mask = ctx->input(3).shape();
      p.mask = StridesOf(
          labels_.scores.substr(labels_.scores.size() - mask.dims()), mask, z);
      p.m = ctx->input(3).data<float>();
    }
    const int64_t rows = std::min(z.t, kRows), keys = std::min(z.s, kKeys);
    const int64_t blocks = (z.t + rows - 1) / rows;
    const double cost =
        100.0 + static_cast<double>(rows * z.s) *
                    (0.5 + 0.02 * static_cast<double>(z.h + z.d));
    BlockScratch<float> scratch;
    OP_REQUIRES_OK(ctx, scratch.Allocate(ctx, z.batch * blocks, cost,
                                         rows * keys + 2 * rows));
    CancellableLoops cancellable(ctx);
    ctx->ParallelFor(z.batch * blocks, cost, [&](int64_t begin, int64_t end) {
      float* const scores = scratch.For(begin);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % blocks * rows;
        Block(p, i / blocks, first, std::min(rows, z.t - first), keys, scores);
      }
    });
  }

 private:
  // Queries and keys of a block.
  static constexpr int64_t kRows = 64;
  static constexpr int64_t kKeys = 256;
  // From so many scores on a row is worth a loop of its own.
  static constexpr int64_t kLongRow = 256;

  struct Sizes {
    int64_t of[26] = {};  // by label
    int64_t batch = 1, t = 0, s = 0, h = 0, d = 0;
    std::vector<int64_t> batch_dims;
  };
  struct Problem {
    Sizes z;
    Strides query, key, value, mask, result;
    const float *q = nullptr, *k = nullptr, *v = nullptr, *m = nullptr;
    float* out = nullptr;
    float scale = 1;
  };

  static int Index(char label) { return label - 'a'; }
  static bool IsBatch(char c) {
    return c != 't' && c != 's' && c != 'h' && c != 'd';
  }

  // Sizes of one label are equal, or 1 where that is repeated: in masks, and in
  // other operands if attr "repeats" says so.
  Status Measure(OpKernelContext* ctx, Sizes* z) const {
    std::fill(std::begin(z->of), std::end(z->of), 1);
    bool seen[26] = {};
    const std::string* operands[] = {&labels_.query, &labels_.key,
                                     &labels_.value, &labels_.scores};
    for (int i = 0; i < num_inputs(); ++i) {
      const TensorShape& shape = ctx->input(i).shape();
      const int rank = static_cast<int>(operands[i]->size());
      if (i < 3 ? shape.dims() != rank : shape.dims() > rank) {
        return errors::InvalidArgument(InputName(i), " must have ",
                                       i < 3 ? "" : "at most ", rank,
                                       " dims, got ", shape.DebugString());
      }
      for (int d = 0; d < shape.dims(); ++d) {
        const char label = (*operands[i])[rank - shape.dims() + d];
        int64_t& size = z->of[Index(label)];
        const bool may_differ = repeats_ || i == 3 || !seen[Index(label)];
        if (size == 1 && may_differ) size = shape.dim_size(d);
        if (shape.dim_size(d) != size &&
            (shape.dim_size(d) != 1 || !may_differ)) {
          return errors::InvalidArgument(
              InputName(i), ": dim ", d, " must have size ",
              may_differ ? "1 or " : "", size, ", as another input has, got ",
              shape.DebugString());
        }
        seen[Index(label)] = true;
      }
    }
    // Products are over all of what both have.
    const auto size = [&](int i, char label) {
      return ctx->input(i).dim_size(static_cast<int>(operands[i]->find(label)));
    };
    if (size(0, 'h') != size(1, 'h')) {
      return errors::InvalidArgument(
          "query and key must have as many elements "
          "each, got ",
          size(0, 'h'), " and ", size(1, 'h'));
    }
    z->t = z->of[Index('t')];
    z->s = z->of[Index('s')];
    z->h = z->of[Index('h')];
    z->d = z->of[Index('d')];
    if (size(2, 's') != z->s) {
      return errors::InvalidArgument("value must have ", z->s,
                                     " rows, one for each key, got ",
                                     size(2, 's'));
    }
    for (const char label : labels_.scores) {
      if (IsBatch(label)) z->batch_dims.push_back(z->of[Index(label)]);
    }
    return OkStatus();
  }

  static const char* InputName(int i) {
    static constexpr const char* kNames[] = {"query", "key", "value", "mask"};
    return kNames[i];
  }

  Strides StridesOf(const std::string& labels, const TensorShape& shape,
                    const Sizes& z) const {
    int64_t by_label[26] = {};
    int64_t stride = 1;
    for (int d = shape.dims() - 1; d >= 0; --d) {
      const int at = Index(labels[d]);
      const bool repeated = shape.dim_size(d) == 1 && z.of[at] != 1;
      by_label[at] = repeated ? 0 : stride;
      stride *= shape.dim_size(d);
    }
    Strides s = {.t = by_label[Index('t')],
                 .s = by_label[Index('s')],
                 .h = by_label[Index('h')],
                 .d = by_label[Index('d')]};
    for (const char label : labels_.scores) {
      if (IsBatch(label)) s.batch.push_back(by_label[Index(label)]);
    }
    return s;
  }

  static int64_t Offset(const Strides& s, const Sizes& z, int64_t element) {
    if (s.batch.empty()) return 0;
    int64_t offset = 0;
    for (size_t i = z.batch_dims.size(); i-- > 0;) {
      offset += element % z.batch_dims[i] * s.batch[i];
      element /= z.batch_dims[i];
    }
    return offset;
  }

  // `rows` queries from the `first` on, of one batch element. `scratch` holds
  // their scores with `keys` keys, their maxima and their sums.
  static void Block(const Problem& p, int64_t element, int64_t first,
                    int64_t rows, int64_t keys, float* scratch) {
    const Sizes& z = p.z;
    const float* const q =
        p.q + Offset(p.query, z, element) + first * p.query.t;
    const float* const k = p.k + Offset(p.key, z, element);
    const float* const v = p.v + Offset(p.value, z, element);
    const float* const mask =
        p.m == nullptr ? nullptr
                       : p.m + Offset(p.mask, z, element) + first * p.mask.t;
    float* const out =
        p.out + Offset(p.result, z, element) + first * p.result.t;
    float* const scores = scratch;
    float* const most = scratch + rows * keys;
    float* const sums = most + rows;

    GemmArgs<float> qk = {.m = rows, .k = z.h, .a = q, .ldc = keys};
    qk.transpose_a = p.query.h != 1 && z.h != 1;
    qk.lda = qk.transpose_a ? p.query.h : p.query.t;
    qk.transpose_b = p.key.h == 1 || z.h == 1;
    qk.ldb = qk.transpose_b ? p.key.s : p.key.h;
    qk.c = scores;
    GemmArgs<float> pv = {.m = rows, .n = z.d, .a = scores, .lda = keys};
    pv.transpose_b = p.value.d != 1 && z.d != 1;
    pv.ldb = pv.transpose_b ? p.value.d : p.value.s;
    pv.c = out;
    pv.ldc = p.result.t;
    for (int64_t key = 0; key < z.s; key += keys) {
      const int64_t n = std::min(keys, z.s - key);
      qk.n = n;
      qk.b = k + key * p.key.s;
      Gemm<float>(nullptr, qk);
      RunSimd([&] {
        for (int64_t i = 0; i < rows; ++i) {
          Scale(
              p.scale,
              mask == nullptr ? nullptr : mask + i * p.mask.t + key * p.mask.s,
              p.mask.s, n, scores + i * keys);
        }
        Exponentiate(scores, n, keys, rows, key == 0, out, p.result.t, z.d,
                     most, sums);
      });
      pv.k = n;
      pv.b = v + key * p.value.s;
      pv.accumulate = key > 0;
      Gemm<float>(nullptr, pv);
    }
    RunSimd([&] {
      for (int64_t i = 0; i < rows; ++i) {
        float* const row = out + i * p.result.t;
        const float share = 1.0f / sums[i];
#pragma GCC ivdep
        for (int64_t j = 0; j < z.d; ++j) row[j] *= share;
      }
    });
  }

  static inline void Scale(float scale, const float* mask, int64_t step,
                           int64_t n, float* row) {
    if (mask == nullptr) {
      if (scale == 1.0f) return;
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) row[j] *= scale;
    } else if (step == 0) {
      const float added = *mask;
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) row[j] = row[j] * scale + added;
    } else {
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) row[j] = row[j] * scale + mask[j];
    }
  }

  // Makes exponentials of rows of n scores; keeps their maxima and sums, and
  // what is in `out` of the keys before, at one scale. exp runs over all rows
  // at once where they are short.
  static inline void Exponentiate(float* scores, int64_t n, int64_t step,
                                  int64_t rows, bool is_first, float* out,
                                  int64_t out_step, int64_t d, float* most,
                                  float* sums) {
    const bool are_short = n < kLongRow && n == step;
    for (int64_t i = 0; i < rows; ++i) {
      float* const row = scores + i * step;
      const float here = row_math::Max<float>(row, n);
      const float before = is_first ? -kInf : most[i];
      const float max = here > before ? here : before;
      // Of no scores but -inf the maximum is no number to subtract.
      const float shift = max == -kInf ? 0.0f : max;
      most[i] = max;
      if (!is_first) {
        const float share = vec::Exp(before - shift);
        sums[i] *= share;
        float* const there = out + i * out_step;
#pragma GCC ivdep
        for (int64_t j = 0; j < d; ++j) there[j] *= share;
      }
      if (are_short) {
#pragma GCC ivdep
        for (int64_t j = 0; j < n; ++j) row[j] -= shift;
      } else {
        const float sum = row_math::ExpAndSum(row, n, shift, row);
        sums[i] = is_first ? sum : sums[i] + sum;
      }
    }
    if (!are_short) return;
    const int64_t all = rows * n;
#pragma GCC ivdep
    for (int64_t j = 0; j < all; ++j) scores[j] = vec::Exp(scores[j]);
    for (int64_t i = 0; i < rows; ++i) {
      const float sum = row_math::Sum(scores + i * step, n);
      sums[i] = is_first ? sum : sums[i] + sum;
    }
  }

  AttentionLabels labels_;
  float scale_ = 1;
  bool repeats_ = false;
};
REGISTER_KERNEL_BUILDER(
    Name("_FusedAttention").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    FusedAttentionOp);

}  // namespace
}  // namespace headrace

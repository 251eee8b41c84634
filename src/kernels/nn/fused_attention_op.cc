// _FusedAttention: softmax(mask(query key^T * scale)) value, for each element
// of the batch dims. Attrs say which dim of an operand is which
// (framework/shape_fns/attention_labels.h), so nothing is transposed, and which
// steps mask the scores.
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
    std::vector<std::string> steps;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("labels", &labels));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("scores", &scores));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("scale", &scale_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("repeats", &repeats_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("steps", &steps));
    OP_REQUIRES_OK(ctx, AttentionLabels::Parse(labels, scores, &labels_));
    std::vector<DataType> wanted, got;
    for (const std::string& name : steps) {
      StepKind kind;
      OP_REQUIRES_OK(ctx, ReadStep(name, &kind));
      if (kind.op == StepOp::kWhere) wanted.push_back(DT_BOOL);
      wanted.push_back(DT_FLOAT);
      steps_.push_back(kind);
    }
    for (int i = 3; i < num_inputs(); ++i) got.push_back(input_type(i));
    OP_REQUIRES(ctx, got == wanted,
                errors::InvalidArgument("args: steps want ",
                                        DataTypeSliceString(wanted), ", got ",
                                        DataTypeSliceString(got)));
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
    int input = 3;
    for (const StepKind& kind : steps_) {
      Step step = {.kind = kind};
      if (kind.op == StepOp::kWhere) {
        step.condition = StridesOfMask(ctx->input(input).shape(), z);
        step.c = ctx->input(input++).data<bool>();
      }
      step.value = StridesOfMask(ctx->input(input).shape(), z);
      step.v = ctx->input(input++).data<float>();
      p.steps.push_back(std::move(step));
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
  // What a step makes of a score. kWhere: the score where the condition is
  // `keeps_where`, else the value.
  enum class StepOp { kAdd, kSub, kMul, kDiv, kWhere };
  struct StepKind {
    StepOp op = StepOp::kAdd;
    bool keeps_where = true;
    bool is_strict = false;  // only scalars are repeated
  };
  struct Step {
    StepKind kind;
    Strides condition, value;
    const bool* c = nullptr;
    const float* v = nullptr;
  };
  struct Problem {
    Sizes z;
    Strides query, key, value, result;
    const float *q = nullptr, *k = nullptr, *v = nullptr;
    std::vector<Step> steps;
    float* out = nullptr;
    float scale = 1;
  };

  static Status ReadStep(const std::string& name, StepKind* kind) {
    static constexpr struct {
      const char* name;
      StepKind kind;
    } kSteps[] = {
        {"add", {StepOp::kAdd}},
        {"sub", {StepOp::kSub}},
        {"mul", {StepOp::kMul}},
        {"div", {StepOp::kDiv}},
        {"where", {StepOp::kWhere, true}},
        {"where_not", {StepOp::kWhere, false}},
        {"select", {StepOp::kWhere, true, true}},
        {"select_not", {StepOp::kWhere, false, true}},
    };
    for (const auto& step : kSteps) {
      if (name == step.name) {
        *kind = step.kind;
        return OkStatus();
      }
    }
    return errors::InvalidArgument(
        "steps: got ", name,
        ", wanted add, sub, mul, div, where, where_not, select or select_not");
  }

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
                                     &labels_.value};
    const auto measure = [&](int i) {
      return MeasureInput(*operands[i], ctx->input(i).shape(), InputName(i),
                          repeats_, seen, z);
    };
    HR_RETURN_IF_ERROR(measure(0));
    HR_RETURN_IF_ERROR(measure(1));
    int input = 3;
    for (const StepKind& step : steps_) {
      for (int i = 0; i < (step.op == StepOp::kWhere ? 2 : 1); ++i) {
        const TensorShape& shape = ctx->input(input++).shape();
        const int rank = static_cast<int>(labels_.scores.size());
        if (shape.dims() > rank ||
            (step.is_strict && shape.dims() != 0 && shape.dims() != rank)) {
          return errors::InvalidArgument(InputName(3), " must have ",
                                         step.is_strict ? "0 or " : "at most ",
                                         rank, " dims, got ",
                                         shape.DebugString());
        }
        HR_RETURN_IF_ERROR(
            MeasureInput(labels_.scores.substr(rank - shape.dims()), shape,
                         InputName(3), !step.is_strict, seen, z));
      }
    }
    HR_RETURN_IF_ERROR(measure(2));
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

  static Status MeasureInput(const std::string& labels,
                             const TensorShape& shape, const char* name,
                             bool repeats, bool* seen, Sizes* z) {
    const int rank = static_cast<int>(labels.size());
    if (shape.dims() != rank) {
      return errors::InvalidArgument(name, " must have ", rank, " dims, got ",
                                     shape.DebugString());
    }
    for (int d = 0; d < rank; ++d) {
      const int at = Index(labels[d]);
      int64_t& size = z->of[at];
      const bool may_differ = repeats || !seen[at];
      if (size == 1 && may_differ) size = shape.dim_size(d);
      if (shape.dim_size(d) != size &&
          (shape.dim_size(d) != 1 || !may_differ)) {
        return errors::InvalidArgument(
            name, ": dim ", d, " must have size ", may_differ ? "1 or " : "",
            size, ", as another input has, got ", shape.DebugString());
      }
      seen[at] = true;
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

  // Of what has the last dims of the scores.
  Strides StridesOfMask(const TensorShape& shape, const Sizes& z) const {
    return StridesOf(
        labels_.scores.substr(labels_.scores.size() - shape.dims()), shape, z);
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
        Mask(p, element, first, rows, key, n, keys, scores);
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

  // Scales and masks scores of `rows` queries from the `first` on with n keys
  // from `key` on.
  static inline void Mask(const Problem& p, int64_t element, int64_t first,
                          int64_t rows, int64_t key, int64_t n, int64_t step,
                          float* scores) {
    const bool adds = !p.steps.empty() && p.steps[0].kind.op == StepOp::kAdd;
    if (!adds && p.scale != 1.0f) {
      const float scale = p.scale;
      for (int64_t i = 0; i < rows; ++i) {
        float* const row = scores + i * step;
#pragma GCC ivdep
        for (int64_t j = 0; j < n; ++j) row[j] *= scale;
      }
    }
    for (size_t k = 0; k < p.steps.size(); ++k) {
      const Step& s = p.steps[k];
      const auto at = [&](const Strides& strides) {
        return Offset(strides, p.z, element) + first * strides.t +
               key * strides.s;
      };
      const float* const value = s.v + at(s.value);
      const bool* const condition =
          s.c == nullptr ? nullptr : s.c + at(s.condition);
      for (int64_t i = 0; i < rows; ++i) {
        float* const row = scores + i * step;
        const float* const v = value + i * s.value.t;
        const int64_t v_step = s.value.s;
        switch (s.kind.op) {
          case StepOp::kAdd: {
            const float scale = k == 0 ? p.scale : 1.0f;
            Combine(row, n, v, v_step,
                    [scale](float x, float y) { return x * scale + y; });
            break;
          }
          case StepOp::kSub:
            Combine(row, n, v, v_step, [](float x, float y) { return x - y; });
            break;
          case StepOp::kMul:
            Combine(row, n, v, v_step, [](float x, float y) { return x * y; });
            break;
          case StepOp::kDiv:
            Combine(row, n, v, v_step, [](float x, float y) { return x / y; });
            break;
          case StepOp::kWhere:
            Choose(row, n, condition + i * s.condition.t, s.condition.s,
                   s.kind.keeps_where, v, v_step);
            break;
        }
      }
    }
  }

  // A step of an operand along a row is 1, or 0 where it is repeated.
  template <typename F>
  static inline void Combine(float* row, int64_t n, const float* value,
                             int64_t step, const F& f) {
    if (step == 0) {
      const float y = *value;
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) row[j] = f(row[j], y);
    } else {
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) row[j] = f(row[j], value[j]);
    }
  }

  static inline void Choose(float* row, int64_t n, const bool* condition,
                            int64_t condition_step, bool keeps_where,
                            const float* value, int64_t step) {
    if (condition_step == 0) {
      if (*condition == keeps_where) return;
      Combine(row, n, value, step, [](float, float y) { return y; });
      return;
    }
    // As numbers, which are compared in vectors.
    const auto* const c = reinterpret_cast<const uint8_t*>(condition);
    const int kept = keeps_where ? 1 : 0;
    if (step == 0) {
      const float y = *value;
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) row[j] = c[j] == kept ? row[j] : y;
    } else {
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) {
        row[j] = c[j] == kept ? row[j] : value[j];
      }
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
  std::vector<StepKind> steps_;
  float scale_ = 1;
  bool repeats_ = false;
};
REGISTER_KERNEL_BUILDER(
    Name("_FusedAttention").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    FusedAttentionOp);

}  // namespace
}  // namespace headrace

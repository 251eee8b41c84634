// _FusedLSTM: N steps of a basic LSTM cell, one after the other, as pass
// fuse_lstm finds them in graphs that spell the cell out:
//
//   [i, j, f, o] = [x, h_prev] w + b      (in the order of attr gate_order)
//   cs = cs_prev sigmoid(f + forget_bias) + sigmoid(i) tanh(j)
//   h = tanh(cs) sigmoid(o)
//
// The products of x by its rows of w are those of many steps at once; only the
// products of h_prev wait for the step before, and read their half of w again.
// One step is one product.
//
// What a reader would get wrong: the element-wise ops of the graph broadcast,
// so cs_prev may have one row where x has many, and the other way round.

// Floating-point exceptions are not looked at: both sides of a conditional may
// be computed, which lets its loop become vector code. Before all includes, so
// that what they define inline has it too.
#pragma GCC optimize("no-trapping-math")

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "framework/op_kernel.h"
#include "framework/stored_constant.h"
#include "kernels/cancellable_loops.h"
#include "kernels/gemm.h"
#include "kernels/nn_math.h"
#include "kernels/simd.h"

namespace headrace {
namespace {

// Where each gate stands in a row of w, in cells.
struct GateOrder {
  int64_t i = 0, j = 1, f = 2, o = 3;
};

// One row of one step; the gates come without their bias.
void CellRow(const GateOrder& at, int64_t cells, const float* gates,
             const float* bias, float forget_bias, const float* cs_prev,
             float* cs, float* h) {
  const float *gi = gates + at.i * cells, *gj = gates + at.j * cells,
              *gf = gates + at.f * cells, *go = gates + at.o * cells;
  const float *bi = bias + at.i * cells, *bj = bias + at.j * cells,
              *bf = bias + at.f * cells, *bo = bias + at.o * cells;
#pragma GCC ivdep
  for (int64_t k = 0; k < cells; ++k) {
    const float kept = cs_prev[k] * vec::Sigmoid(gf[k] + bf[k] + forget_bias);
    const float added = vec::Sigmoid(gi[k] + bi[k]) * vec::Tanh(gj[k] + bj[k]);
    cs[k] = kept + added;
  }
#pragma GCC ivdep
  for (int64_t k = 0; k < cells; ++k) {
    h[k] = vec::Tanh(cs[k]) * vec::Sigmoid(go[k] + bo[k]);
  }
}

class FusedLstmOp : public OpKernel, public StoredConstantReader {
 public:
  explicit FusedLstmOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::vector<int64_t> order;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("forget_bias", &forget_bias_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("gate_order", &order));
    std::vector<int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    OP_REQUIRES(ctx, sorted == std::vector<int64_t>({0, 1, 2, 3}),
                errors::InvalidArgument("gate_order must have each of 0, 1, 2 "
                                        "and 3 once"));
    order_ = {order[0], order[1], order[2], order[3]};
    steps_ = num_inputs() - 4;
  }

  bool TakesStoredConstant(int input) const override {
    return input == steps_ + 2;
  }

  void Compute(OpKernelContext* ctx) override {
    Sizes s;
    OP_REQUIRES_OK(ctx, Check(ctx, &s));
    std::vector<float*> cs(steps_), h(steps_);
    const TensorShape state({s.state_rows, s.cells});
    for (int t = 0; t < 2 * steps_; ++t) {
      Tensor* out = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(t, state, &out));
      (t < steps_ ? cs[t] : h[t - steps_]) = out->data<float>();
    }
    if (state.num_elements() == 0) return;

    const int64_t columns = 4 * s.cells, depth = s.inputs + s.h_size;
    const int64_t most =
        std::clamp<int64_t>(kRows / s.rows, 1, steps_);  // steps at once
    Tensor gates_tensor, joined_tensor;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_temp(DT_FLOAT, TensorShape({most * s.rows, columns}),
                                &gates_tensor, Tensor::kHeap));
    OP_REQUIRES_OK(
        ctx,
        ctx->allocate_temp(
            DT_FLOAT, TensorShape({s.rows, std::max(most * s.inputs, depth)}),
            &joined_tensor, Tensor::kHeap));
    float* const gates = gates_tensor.data<float>();
    float* const joined = joined_tensor.data<float>();
    const float* const w = ctx->input(steps_ + 2).data<float>();
    const float* h_prev = ctx->input(steps_).data<float>();
    const float* cs_prev = ctx->input(steps_ + 1).data<float>();
    int64_t cs_rows = ctx->input(steps_ + 1).dim_size(0);
    CancellableLoops cancellable(ctx);
    for (int64_t first = 0; first < steps_; first += most) {
      const int64_t count = std::min(most, steps_ - first);
      if (count > 1) {
        for (int64_t t = 0; t < count; ++t) {
          std::copy_n(X(ctx, first + t), s.rows * s.inputs,
                      joined + t * s.rows * s.inputs);
        }
        Multiply(ctx, count * s.rows, columns, s.inputs, joined, w, false,
                 gates);
      }
      for (int64_t t = first; t < first + count; ++t) {
        float* const g = gates + (t - first) * s.rows * columns;
        if (count > 1) {
          Multiply(ctx, s.rows, columns, s.h_size, h_prev,
                   w + s.inputs * columns, true, g);
        } else {
          for (int64_t r = 0; r < s.rows; ++r) {
            float* const row = joined + r * depth;
            std::copy_n(X(ctx, t) + r * s.inputs, s.inputs, row);
            std::copy_n(h_prev + r * s.h_size, s.h_size, row + s.inputs);
          }
          Multiply(ctx, s.rows, columns, depth, joined, w, false, g);
        }
        Cells(ctx, s, g, cs_prev, cs_rows, cs[t], h[t]);
        h_prev = h[t];
        cs_prev = cs[t];
        cs_rows = s.state_rows;
      }
    }
  }

 private:
  // So many rows of x are multiplied at once, which bounds the memory for the
  // gates; more rows would not be faster.
  static constexpr int64_t kRows = 128;

  struct Sizes {
    int64_t rows = 0;        // of x and h_prev
    int64_t state_rows = 0;  // of the results
    int64_t inputs = 0, h_size = 0, cells = 0;
  };

  static const float* X(OpKernelContext* ctx, int64_t t) {
    return ctx->input(static_cast<int>(t)).data<float>();
  }

  Status Check(OpKernelContext* ctx, Sizes* s) const {
    static constexpr std::array<const char*, 3> kMatrices = {"h_prev",
                                                             "cs_prev", "w"};
    for (int i = 0; i < steps_ + 3; ++i) {
      const Tensor& t = ctx->input(i);
      if (t.dims() != 2) {
        return errors::InvalidArgument(
            i < steps_ ? StrCat("x[", i, "]") : kMatrices[i - steps_],
            " must be a matrix, got shape ", t.shape().DebugString());
      }
    }
    const Tensor& h_prev = ctx->input(steps_);
    const Tensor& cs_prev = ctx->input(steps_ + 1);
    const Tensor& w = ctx->input(steps_ + 2);
    const Tensor& b = ctx->input(steps_ + 3);
    s->rows = h_prev.dim_size(0);
    s->h_size = h_prev.dim_size(1);
    s->cells = cs_prev.dim_size(1);
    s->inputs = ctx->input(0).dim_size(1);
    const TensorShape x({s->rows, s->inputs});
    for (int i = 0; i < steps_; ++i) {
      if (ctx->input(i).shape() != x) {
        return errors::InvalidArgument(
            "x[", i, "] must have the rows of h_prev and the columns of x[0], ",
            x.DebugString(), ", got ", ctx->input(i).shape().DebugString());
      }
    }
    const int64_t columns = MultiplyWithoutOverflow(s->cells, 4);
    if (w.dim_size(0) != AddWithoutOverflow(s->inputs, s->h_size) ||
        w.dim_size(1) != columns) {
      return errors::InvalidArgument(
          "w must have a row for each column of x[0] (", s->inputs,
          ") and h_prev (", s->h_size,
          ") and four columns for each of cs_prev (", s->cells, "), got shape ",
          w.shape().DebugString());
    }
    if (b.shape() != TensorShape({columns})) {
      return errors::InvalidArgument("b must have shape [", columns, "], got ",
                                     b.shape().DebugString());
    }
    const int64_t cs_rows = cs_prev.dim_size(0);
    s->state_rows = s->rows == 1 ? cs_rows : s->rows;
    if (cs_rows != 1 && cs_rows != s->state_rows) {
      return errors::InvalidArgument(
          "cs_prev must have one row or as many as x, got shape ",
          cs_prev.shape().DebugString(), " and x[0] ", x.DebugString());
    }
    if (steps_ > 1 && (s->state_rows != s->rows || s->h_size != s->cells)) {
      return errors::InvalidArgument(
          "the next step wants an h_prev like that of the first, ",
          h_prev.shape().DebugString(), ", and gets [", s->state_rows, ",",
          s->cells, "]");
    }
    return OkStatus();
  }

  static void Multiply(OpKernelContext* ctx, int64_t m, int64_t n, int64_t k,
                       const float* a, const float* w, bool accumulate,
                       float* c) {
    GemmArgs<float> g;
    g.m = m;
    g.n = n;
    g.k = k;
    g.a = a;
    g.lda = k;
    g.b = w;
    g.ldb = n;
    g.c = c;
    g.ldc = n;
    g.accumulate = accumulate;
    Gemm(ctx->thread_pool(), g);
  }

  void Cells(OpKernelContext* ctx, const Sizes& s, const float* gates,
             const float* cs_prev, int64_t cs_rows, float* cs, float* h) const {
    const float* const bias = ctx->input(steps_ + 3).data<float>();
    const int64_t n = s.cells;
    const int64_t gates_step = s.rows == 1 ? 0 : 4 * n;
    const int64_t cs_step = cs_rows == 1 ? 0 : n;
    const auto rows = [&](int64_t begin, int64_t end) {
      RunSimd([&] {
        for (int64_t r = begin; r < end; ++r) {
          CellRow(order_, n, gates + r * gates_step, bias, forget_bias_,
                  cs_prev + r * cs_step, cs + r * n, h + r * n);
        }
      });
    };
    ctx->ParallelFor(s.state_rows, 4.0 * static_cast<double>(n), rows);
  }

  float forget_bias_ = 0;
  GateOrder order_;
  int steps_ = 0;
};
REGISTER_KERNEL_BUILDER(
    Name("_FusedLSTM").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    FusedLstmOp);

}  // namespace
}  // namespace headrace

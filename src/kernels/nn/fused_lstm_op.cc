// _FusedLSTM: N steps of a basic LSTM cell, one after the other, as pass
// fuse_lstm finds them in graphs that spell the cell out:
//
//   [i, j, f, o] = [x, h_prev] w + b      (in the order of attr gate_order)
//   cs = cs_prev sigmoid(f + forget_bias) + sigmoid(i) tanh(j)
//   h = tanh(cs) sigmoid(o)
//
// The products of x by its rows of w are those of many steps at once; only the
// products of h_prev wait for the step before, and read their half of w again.
// A w that never changes is kept in the order in which steps read it, in panels
// (lstm_panels.h): a step is then one loop over these, with the cells' formulas
// while the gates are in the cache.
//
// What a reader would get wrong: the element-wise ops of the graph broadcast,
// so cs_prev may have one row where x has many, and the other way round. If the
// graph adds the products of x and of h_prev (attr rows_broadcast), the same
// holds for these two. Then the steps run one by one, on repeated rows.

// Floating-point exceptions are ignored. The compiler may then compute both
// sides of a conditional, which lets its loop become vector code. The pragma is
// before all includes, so that it also applies to their inline functions.
#pragma GCC optimize("no-trapping-math")

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "framework/tensor/stored_constant.h"
#include "headrace/op_kernel.h"
#include "headrace/simd.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/constant_forms.h"
#include "kernels/lib/gemm.h"
#include "kernels/lib/nn_math.h"
#include "kernels/nn/lstm_panels.h"

namespace headrace {
namespace {

// The gates of some cells, without their bias, and the bias.
struct Gates {
  const float *i, *j, *f, *o;

  // Those of all cells; `row` has them in a row of w's order.
  static Gates InRow(const float* row, const GateOrder& at, int64_t cells) {
    return {row + at.i * cells, row + at.j * cells, row + at.f * cells,
            row + at.o * cells};
  }
  static Gates InPanel(const float* row) {
    return InRow(row, GateOrder{}, kLstmPanelCells);
  }
  Gates From(int64_t cell) const {
    return {i + cell, j + cell, f + cell, o + cell};
  }
};

// One row of one step.
inline void CellRow(int64_t cells, const Gates& g, const Gates& bias,
                    float forget_bias, const float* cs_prev, float* cs,
                    float* h) {
#pragma GCC ivdep
  for (int64_t k = 0; k < cells; ++k) {
    const float kept =
        cs_prev[k] * vec::Sigmoid(g.f[k] + bias.f[k] + forget_bias);
    const float added =
        vec::Sigmoid(g.i[k] + bias.i[k]) * vec::Tanh(g.j[k] + bias.j[k]);
    cs[k] = kept + added;
  }
#pragma GCC ivdep
  for (int64_t k = 0; k < cells; ++k) {
    h[k] = vec::Tanh(cs[k]) * vec::Sigmoid(g.o[k] + bias.o[k]);
  }
}

class FusedLstmOp : public OpKernel, public StoredConstantReader {
 public:
  explicit FusedLstmOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::vector<int64_t> order;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("forget_bias", &forget_bias_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("rows_broadcast", &rows_broadcast_));
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
  void DescribeTraits(KernelTraits* traits) override {
    traits->stored_constant_reader = this;
  }
  void SetConstantInput(int i, const Tensor& value) override {
    if (i == steps_ + 2) constant_w_.Set(value);
  }

  void Compute(OpKernelContext* ctx) override {
    Sizes s;
    bool even = true;
    OP_REQUIRES_OK(ctx, Check(ctx, &s, &even));
    const Tensor& cs_prev = ctx->input(steps_ + 1);
    State before = {ctx->input(steps_).data<float>(), cs_prev.data<float>(),
                    cs_prev.dim_size(0)};
    if (even) {
      std::vector<const float*> x(steps_);
      for (int t = 0; t < steps_; ++t) x[t] = ctx->input(t).data<float>();
      OP_REQUIRES_OK(ctx, RunSteps(ctx, s, 0, x, &before));
      return;
    }
    int64_t h_rows = ctx->input(steps_).dim_size(0);
    for (int t = 0; t < steps_; ++t) {
      OP_REQUIRES_OK(ctx, SetRows(t, ctx->input(t).dim_size(0), h_rows,
                                  before.cs_rows, &s));
      OP_REQUIRES_OK(ctx, RunUnevenStep(ctx, s, t, h_rows, &before));
      h_rows = s.state_rows;
    }
  }

 private:
  // The number of rows of x that are multiplied together. It limits the memory
  // for the gates; more rows would not be faster.
  static constexpr int64_t kRows = 128;

  struct Sizes {
    int64_t rows = 0;        // of x and h_prev
    int64_t state_rows = 0;  // of the results
    int64_t inputs = 0, h_size = 0, cells = 0;
  };

  // The values that a step passes to the next one.
  struct State {
    const float *h, *cs;
    int64_t cs_rows;
  };
  // Steps whose x is multiplied together, when the first of them runs.
  struct Steps {
    int64_t first, count;
  };

  // The rows of step `t`, by those of x, h_prev and cs_prev.
  static Status SetRows(int t, int64_t x, int64_t h, int64_t cs, Sizes* s) {
    if (x != h && x != 1 && h != 1) {
      return errors::InvalidArgument(
          "x[", t, "] and h_prev must have equal rows or one of them one, got ",
          x, " and ", h);
    }
    s->rows = x == 1 ? h : x;
    s->state_rows = s->rows == 1 ? cs : s->rows;
    if (cs != 1 && cs != s->state_rows) {
      return errors::InvalidArgument(
          "cs_prev must have one row or as many as x and h_prev, got ", cs,
          " and ", s->rows, " in step ", t);
    }
    return OkStatus();
  }

  // The sizes of the first step; `even` tells whether all have the same rows.
  Status Check(OpKernelContext* ctx, Sizes* s, bool* even) const {
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
      const Tensor& t = ctx->input(i);
      if (t.dim_size(1) != s->inputs ||
          (!rows_broadcast_ && t.dim_size(0) != s->rows)) {
        return errors::InvalidArgument(
            "x[", i, "] must have the rows of h_prev and the columns of x[0], ",
            x.DebugString(), ", got ", t.shape().DebugString());
      }
      *even = *even && t.dim_size(0) == s->rows;
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
    if (rows_broadcast_) {
      if (steps_ > 1 && s->h_size != s->cells) {
        return errors::InvalidArgument("the next step wants an h_prev of ",
                                       s->h_size, " columns, and gets one of ",
                                       s->cells);
      }
      *even =
          *even && (steps_ == 1 || s->rows != 1 || cs_prev.dim_size(0) == 1);
      if (!*even) return OkStatus();
    }
    HR_RETURN_IF_ERROR(SetRows(0, s->rows, s->rows, cs_prev.dim_size(0), s));
    if (steps_ > 1 && (s->state_rows != s->rows || s->h_size != s->cells)) {
      return errors::InvalidArgument(
          "the next step wants an h_prev like that of the first, ",
          h_prev.shape().DebugString(), ", and gets [", s->state_rows, ",",
          s->cells, "]");
    }
    return OkStatus();
  }

  // Steps [first, first + x_of.size()), which all have the rows of `s`.
  // `before` is what goes into the first, then what the last gives.
  Status RunSteps(OpKernelContext* ctx, const Sizes& s, int first,
                  absl::Span<const float* const> x_of, State* before) {
    const int count = static_cast<int>(x_of.size());
    std::vector<float*> cs(count), h(count);
    const TensorShape state({s.state_rows, s.cells});
    for (int t = 0; t < count; ++t) {
      Tensor* out = nullptr;
      HR_RETURN_IF_ERROR(ctx->allocate_output(first + t, state, &out));
      cs[t] = out->data<float>();
      HR_RETURN_IF_ERROR(ctx->allocate_output(steps_ + first + t, state, &out));
      h[t] = out->data<float>();
    }
    if (state.num_elements() == 0) {
      *before = {h.back(), cs.back(), s.state_rows};
      return OkStatus();
    }
    const int64_t most =
        std::clamp<int64_t>(kRows / s.rows, 1, count);  // steps at once
    const int64_t columns = NumLstmPanels(s.cells) * kPanelColumns;
    Tensor gates_tensor, joined_tensor;
    HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_FLOAT,
                                          TensorShape({most * s.rows, columns}),
                                          &gates_tensor, Tensor::kHeap));
    HR_RETURN_IF_ERROR(ctx->allocate_temp(
        DT_FLOAT,
        TensorShape({s.rows, std::max(most * s.inputs, s.inputs + s.h_size)}),
        &joined_tensor, Tensor::kHeap));
    float* const gates = gates_tensor.data<float>();
    float* const joined = joined_tensor.data<float>();
    const float* const panels = Panels(ctx, s);
    CancellableLoops cancellable(ctx);
    for (int64_t begin = 0; begin < count; begin += most) {
      const Steps steps = {begin, std::min(most, count - begin)};
      const float* x = x_of[begin];
      if (steps.count > 1) {
        for (int64_t t = 0; t < steps.count; ++t) {
          std::copy_n(x_of[begin + t], s.rows * s.inputs,
                      joined + t * s.rows * s.inputs);
        }
        x = joined;
      }
      for (int64_t t = begin; t < begin + steps.count; ++t) {
        if (panels != nullptr) {
          StepByPanels(ctx, s, steps, t, x, panels, *before, gates, cs[t],
                       h[t]);
        } else {
          StepByGemm(ctx, s, steps, t, x, *before, gates, joined, cs[t], h[t]);
        }
        *before = {h[t], cs[t], s.state_rows};
      }
    }
    return OkStatus();
  }

  // Step `t`, whose x or h has one row where the other has s.rows.
  Status RunUnevenStep(OpKernelContext* ctx, const Sizes& s, int t,
                       int64_t h_rows, State* before) {
    Tensor many_x, many_h;
    const float* x = ctx->input(t).data<float>();
    HR_RETURN_IF_ERROR(RepeatRow(ctx, ctx->input(t).dim_size(0), s.rows,
                                 s.inputs, &many_x, &x));
    HR_RETURN_IF_ERROR(
        RepeatRow(ctx, h_rows, s.rows, s.h_size, &many_h, &before->h));
    return RunSteps(ctx, s, t, {&x, 1}, before);
  }

  // If a matrix has one row but `rows` are wanted, `values` becomes a matrix
  // in `memory` that repeats it.
  static Status RepeatRow(OpKernelContext* ctx, int64_t has, int64_t rows,
                          int64_t columns, Tensor* memory,
                          const float** values) {
    if (has == rows) return OkStatus();
    HR_RETURN_IF_ERROR(
        ctx->allocate_temp(DT_FLOAT, TensorShape({rows, columns}), memory));
    for (int64_t r = 0; r < rows; ++r) {
      std::copy_n(*values, columns, memory->data<float>() + r * columns);
    }
    *values = memory->data<float>();
    return OkStatus();
  }

  // Null if w may change.
  const float* Panels(OpKernelContext* ctx, const Sizes& s) {
    static constexpr char kKind = 0;
    const int64_t depth = s.inputs + s.h_size;
    const int64_t sizes[] = {depth,    s.cells,  order_.i,
                             order_.j, order_.f, order_.o};
    return static_cast<const float*>(constant_w_.Get(
        &kKind, sizes,
        NumLstmPanels(s.cells) * kPanelColumns * depth * sizeof(float),
        [&](const Tensor& w, void* form) {
          PackLstmPanels(ctx->thread_pool(), w.raw_data(), depth, s.cells,
                         order_, static_cast<float*>(form));
          return true;
        }));
  }

  // `gates` has a row for each step and row of x, panel by panel.
  void StepByPanels(OpKernelContext* ctx, const Sizes& s, const Steps& steps,
                    int64_t t, const float* x, const float* panels,
                    const State& before, float* gates, float* cs,
                    float* h) const {
    const Gates bias =
        Gates::InRow(ctx->input(steps_ + 3).data<float>(), order_, s.cells);
    const int64_t depth = s.inputs + s.h_size;
    const int64_t gates_step = s.rows == 1 ? 0 : kPanelColumns;
    const int64_t cs_step = before.cs_rows == 1 ? 0 : s.cells;
    const auto run = [&](int64_t begin, int64_t end) {
      for (int64_t panel = begin; panel < end; ++panel) {
        const float* const w = panels + panel * depth * kPanelColumns;
        float* const all = gates + panel * steps.count * s.rows * kPanelColumns;
        if (t == steps.first) {
          MultiplyPanel({.x = x,
                         .x_step = s.inputs,
                         .rows = steps.count * s.rows,
                         .panel = w,
                         .depth = s.inputs,
                         .sums = all,
                         .sums_step = kPanelColumns,
                         .fetch = panel + 1 < end ? depth : s.h_size});
        }
        float* const g = all + (t - steps.first) * s.rows * kPanelColumns;
        MultiplyPanel({.x = before.h,
                       .x_step = s.h_size,
                       .rows = s.rows,
                       .panel = w + s.inputs * kPanelColumns,
                       .depth = s.h_size,
                       .accumulate = true,
                       .sums = g,
                       .sums_step = kPanelColumns});
        const int64_t cell = panel * kLstmPanelCells;
        const int64_t n = std::min(kLstmPanelCells, s.cells - cell);
        RunSimd([&] {
          for (int64_t r = 0; r < s.state_rows; ++r) {
            CellRow(n, Gates::InPanel(g + r * gates_step), bias.From(cell),
                    forget_bias_, before.cs + r * cs_step + cell,
                    cs + r * s.cells + cell, h + r * s.cells + cell);
          }
        });
      }
    };
    // Blocks of about 5 us, at 50 bytes of weights per ns.
    const int64_t panel_bytes = depth * kPanelColumns * sizeof(float);
    const int64_t block = std::max<int64_t>(1, 250000 / panel_bytes);
    ctx->thread_pool()->ParallelFor(NumLstmPanels(s.cells), block, run);
  }

  // `joined` has room for a row of x and h.
  void StepByGemm(OpKernelContext* ctx, const Sizes& s, const Steps& steps,
                  int64_t t, const float* x, const State& before, float* gates,
                  float* joined, float* cs, float* h) const {
    const int64_t columns = 4 * s.cells, depth = s.inputs + s.h_size;
    const float* const w = ctx->input(steps_ + 2).data<float>();
    float* const g = gates + (t - steps.first) * s.rows * columns;
    if (steps.count > 1) {
      if (t == steps.first) {
        Multiply(ctx, steps.count * s.rows, columns, s.inputs, x, w, false,
                 gates);
      }
      Multiply(ctx, s.rows, columns, s.h_size, before.h, w + s.inputs * columns,
               true, g);
    } else {
      for (int64_t r = 0; r < s.rows; ++r) {
        float* const row = joined + r * depth;
        std::copy_n(x + r * s.inputs, s.inputs, row);
        std::copy_n(before.h + r * s.h_size, s.h_size, row + s.inputs);
      }
      Multiply(ctx, s.rows, columns, depth, joined, w, false, g);
    }
    const Gates bias =
        Gates::InRow(ctx->input(steps_ + 3).data<float>(), order_, s.cells);
    const int64_t gates_step = s.rows == 1 ? 0 : columns;
    const int64_t cs_step = before.cs_rows == 1 ? 0 : s.cells;
    const auto rows = [&](int64_t begin, int64_t end) {
      RunSimd([&] {
        for (int64_t r = begin; r < end; ++r) {
          CellRow(s.cells, Gates::InRow(g + r * gates_step, order_, s.cells),
                  bias, forget_bias_, before.cs + r * cs_step, cs + r * s.cells,
                  h + r * s.cells);
        }
      });
    };
    ctx->ParallelFor(s.state_rows, 4.0 * static_cast<double>(s.cells), rows);
  }

  static void Multiply(OpKernelContext* ctx, int64_t m, int64_t n, int64_t k,
                       const float* a, const float* w, bool accumulate,
                       float* c) {
    auto g = GemmArgs<float>::Dense(m, n, k).At(a, w, c);
    g.accumulate = accumulate;
    Gemm(ctx->thread_pool(), g);
  }

  ConstantForms constant_w_;
  float forget_bias_ = 0;
  GateOrder order_;
  bool rows_broadcast_ = false;
  int steps_ = 0;
};
REGISTER_KERNEL_BUILDER(
    Name("_FusedLSTM").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    FusedLstmOp);

}  // namespace
}  // namespace headrace

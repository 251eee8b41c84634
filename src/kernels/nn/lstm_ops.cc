// LSTMBlockCell, BlockLSTM, BlockLSTMV2 and their gradients: LSTM cells with
// all gates in one matrix product.
//
//   [gates] = [x, h_prev] w + b
//   i = sigmoid(i'), ci = tanh(c'), f = sigmoid(f' + forget_bias)
//   cs = ci i + cs_prev f, clipped to +-cell_clip if that is > 0
//   o = sigmoid(o'), co = tanh(cs), h = co o
// With peepholes i' and f' also get cs_prev * w, and o' the *new* cs * w.
//
// What a reader would get wrong: the gates stand in the order i, c, f, o, and
// i, f, c, o in the V2 ops; outputs are i, cs, f, o, ci, co, h. Steps from
// seq_len_max on are zeros. The gradient does not know about clipping.
//
// The part of the products that does not depend on the step before is one
// product for the whole sequence: x w_x forward; dx, dw and db backward.

// Floating-point exceptions are ignored. The compiler may then compute both
// sides of a conditional, which lets its loop become vector code. The pragma is
// before all includes, so that it also applies to their inline functions.
#pragma GCC optimize("no-trapping-math")

#include <algorithm>
#include <array>
#include <cstdint>

#include "headrace/op_kernel.h"
#include "headrace/simd.h"
#include "kernels/lib/gemm.h"
#include "kernels/lib/narrow_float.h"
#include "kernels/lib/nn_math.h"
#include "kernels/nn/wide_tensor.h"

namespace headrace {
namespace {

// Offsets of the gates in a row of w's columns, in cells.
struct GateOrder {
  int i = 0, c = 1, f = 2, o = 3;
};
constexpr GateOrder kIcfo;
constexpr GateOrder kIfco = {.i = 0, .c = 2, .f = 1, .o = 3};

struct LstmSizes {
  int64_t time = 1, batch = 0, input = 0, cell = 0;
  int64_t step() const { return batch * cell; }  // elements of one output step
};

// An input as floats; half is converted. Failure to find memory for that is
// left in *status.
class FloatView {
 public:
  FloatView(OpKernelContext* ctx, int index, Status* status) {
    const Tensor& t = ctx->input(index);
    if (t.dtype() == DT_FLOAT) {
      data_ = t.data<float>();
      return;
    }
    const Status s =
        ctx->allocate_temp(DT_FLOAT, t.shape(), &hold_, Tensor::kHeap);
    if (!s.ok()) {
      *status = s;
      return;
    }
    Widen(t.data<half>(), hold_.data<float>(), t.NumElements());
    data_ = hold_.data<float>();
  }
  FloatView(const FloatView&) = delete;
  const float* data() const { return data_; }

 private:
  const float* data_ = nullptr;
  Tensor hold_;
};

// An output written as float and stored as T by Finish. Starts as zeros from
// element `zero_from` on.
template <typename T>
class FloatOutput {
 public:
  Status Allocate(OpKernelContext* ctx, int index, const TensorShape& shape,
                  int64_t zero_from = 0) {
    Tensor* output = nullptr;
    HR_RETURN_IF_ERROR(ctx->allocate_output(index, shape, &output));
    HR_RETURN_IF_ERROR(wide_.Begin(ctx, output));
    data_ = wide_.out();
    std::fill(data_ + zero_from, data_ + output->NumElements(), 0.0f);
    return OkStatus();
  }
  void Finish() { wide_.Write(); }
  float* data() const { return data_; }

 private:
  WideTensor<T> wide_;
  float* data_ = nullptr;
};

void Multiply(OpKernelContext* ctx, int64_t m, int64_t n, int64_t k,
              const float* a, int64_t lda, bool transpose_a, const float* b,
              int64_t ldb, bool transpose_b, float* c, int64_t ldc,
              bool accumulate) {
  Gemm<float>(ctx->thread_pool(), {.m = m,
                                   .n = n,
                                   .k = k,
                                   .a = a,
                                   .lda = lda,
                                   .transpose_a = transpose_a,
                                   .b = b,
                                   .ldb = ldb,
                                   .transpose_b = transpose_b,
                                   .c = c,
                                   .ldc = ldc,
                                   .accumulate = accumulate});
}

Status CheckShape(const char* name, const Tensor& t, const TensorShape& want) {
  if (t.shape() == want) return OkStatus();
  return errors::InvalidArgument(name, " must have shape ", want.DebugString(),
                                 ", got ", t.shape().DebugString());
}

// Checks x, cs_prev, h_prev, w, wci, wcf, wco, b: inputs `at` and on. x is
// [batch, input], or [time, batch, input] for the block ops.
Status CheckInputs(OpKernelContext* ctx, int at, int x_rank, bool peephole,
                   LstmSizes* s) {
  const Tensor& x = ctx->input(at);
  const Tensor& cs_prev = ctx->input(at + 1);
  const Tensor& w = ctx->input(at + 3);
  if (x.dims() != x_rank) {
    return errors::InvalidArgument("x must be ", x_rank, "D, got shape ",
                                   x.shape().DebugString());
  }
  if (cs_prev.dims() != 2) {
    return errors::InvalidArgument("cs_prev must be 2D, got shape ",
                                   cs_prev.shape().DebugString());
  }
  s->time = x_rank == 3 ? x.dim_size(0) : 1;
  s->batch = x.dim_size(x_rank - 2);
  s->input = x.dim_size(x_rank - 1);
  s->cell = cs_prev.dim_size(1);
  const int64_t gates = MultiplyWithoutOverflow(s->cell, 4);
  const TensorShape state({s->batch, s->cell}), vector({s->cell});
  HR_RETURN_IF_ERROR(CheckShape("cs_prev", cs_prev, state));
  HR_RETURN_IF_ERROR(CheckShape("h_prev", ctx->input(at + 2), state));
  if (w.dims() != 2 || w.dim_size(1) != gates ||
      w.dim_size(0) != AddWithoutOverflow(s->input, s->cell)) {
    return errors::InvalidArgument(
        "w must have shape [input_size + cell_size, 4 * cell_size] with "
        "input_size ",
        s->input, " and cell_size ", s->cell, ", got ",
        w.shape().DebugString());
  }
  if (peephole) {
    HR_RETURN_IF_ERROR(CheckShape("wci", ctx->input(at + 4), vector));
    HR_RETURN_IF_ERROR(CheckShape("wcf", ctx->input(at + 5), vector));
    HR_RETURN_IF_ERROR(CheckShape("wco", ctx->input(at + 6), vector));
  }
  return CheckShape("b", ctx->input(at + 7), TensorShape({gates}));
}

// Forward: what a cell computes in one step, and the ops of one step and of
// many.

struct CellParams {
  GateOrder order;
  float forget_bias = 0, cell_clip = 0;
  const float* bias = nullptr;
  const float *wci = nullptr, *wcf = nullptr, *wco = nullptr;  // or all null
};

// Pointers to one step's outputs.
struct CellOutputs {
  float *i, *cs, *f, *o, *ci, *co, *h;
};

// One row of one step: `gates` holds [x, h_prev] w.
void CellRow(const CellParams& p, int64_t n, const float* gates,
             const float* cs_prev, const CellOutputs& out, int64_t row) {
  const float *gi = gates + p.order.i * n, *gc = gates + p.order.c * n,
              *gf = gates + p.order.f * n, *go = gates + p.order.o * n;
  const float *bi = p.bias + p.order.i * n, *bc = p.bias + p.order.c * n,
              *bf = p.bias + p.order.f * n, *bo = p.bias + p.order.o * n;
  float *i = out.i + row * n, *cs = out.cs + row * n, *f = out.f + row * n,
        *o = out.o + row * n, *ci = out.ci + row * n, *co = out.co + row * n,
        *h = out.h + row * n;
  const bool clip = p.cell_clip > 0;
  const float limit = clip ? p.cell_clip : 0.0f;
  if (p.wci != nullptr) {
    const float *wi = p.wci, *wf = p.wcf;
#pragma GCC ivdep
    for (int64_t k = 0; k < n; ++k) {
      i[k] = vec::Sigmoid(gi[k] + bi[k] + cs_prev[k] * wi[k]);
      f[k] = vec::Sigmoid(gf[k] + bf[k] + p.forget_bias + cs_prev[k] * wf[k]);
    }
  } else {
#pragma GCC ivdep
    for (int64_t k = 0; k < n; ++k) {
      i[k] = vec::Sigmoid(gi[k] + bi[k]);
      f[k] = vec::Sigmoid(gf[k] + bf[k] + p.forget_bias);
    }
  }
#pragma GCC ivdep
  for (int64_t k = 0; k < n; ++k) {
    const float c = vec::Tanh(gc[k] + bc[k]);
    const float raw = c * i[k] + cs_prev[k] * f[k];
    const float low = raw < -limit ? -limit : raw;
    const float clipped = low > limit ? limit : low;
    const float s = clip ? clipped : raw;
    ci[k] = c;
    cs[k] = s;
    co[k] = vec::Tanh(s);
  }
  if (p.wco != nullptr) {
    const float* wo = p.wco;
#pragma GCC ivdep
    for (int64_t k = 0; k < n; ++k) {
      o[k] = vec::Sigmoid(go[k] + bo[k] + cs[k] * wo[k]);
    }
  } else {
#pragma GCC ivdep
    for (int64_t k = 0; k < n; ++k) o[k] = vec::Sigmoid(go[k] + bo[k]);
  }
#pragma GCC ivdep
  for (int64_t k = 0; k < n; ++k) h[k] = co[k] * o[k];
}

void CellRows(OpKernelContext* ctx, const CellParams& p, const LstmSizes& s,
              const float* gates, const float* cs_prev,
              const CellOutputs& out) {
  const int64_t n = s.cell;
  ctx->ParallelFor(s.batch, 8.0 * static_cast<double>(n),
                   [&, gates, cs_prev, n](int64_t begin, int64_t end) {
                     RunSimd([&, gates, cs_prev, n, begin, end] {
                       for (int64_t r = begin; r < end; ++r) {
                         CellRow(p, n, gates + r * 4 * n, cs_prev + r * n, out,
                                 r);
                       }
                     });
                   });
}

// LSTMBlockCell (kBlock false: one step, no seq_len_max) and BlockLSTM.
template <typename T, bool kBlock, bool kV2 = false>
class LstmOp : public OpKernel {
 public:
  explicit LstmOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (!kV2) OP_REQUIRES_OK(ctx, ctx->GetAttr("forget_bias", &forget_bias_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("cell_clip", &cell_clip_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("use_peephole", &peephole_));
  }

  void Compute(OpKernelContext* ctx) override {
    constexpr int at = kBlock ? 1 : 0;
    LstmSizes s;
    OP_REQUIRES_OK(ctx, CheckInputs(ctx, at, kBlock ? 3 : 2, peephole_, &s));
    int64_t steps = 1;
    if (kBlock) {
      const Tensor& t = ctx->input(0);
      OP_REQUIRES(ctx, t.dims() == 0,
                  errors::InvalidArgument("seq_len_max must be a scalar, got "
                                          "shape ",
                                          t.shape().DebugString()));
      steps = t.data<int64_t>()[0];
      OP_REQUIRES(
          ctx, steps <= s.time,
          errors::InvalidArgument("seq_len_max ", steps,
                                  " exceeds the length of x, ", s.time));
      steps = std::max<int64_t>(steps, 0);
    }
    const TensorShape shape = kBlock ? TensorShape({s.time, s.batch, s.cell})
                                     : TensorShape({s.batch, s.cell});
    std::array<FloatOutput<T>, 7> out;
    for (int k = 0; k < 7; ++k) {
      OP_REQUIRES_OK(ctx, out[k].Allocate(ctx, k, shape, steps * s.step()));
    }
    if (shape.num_elements() == 0 || steps == 0) return Finish(&out);

    Status status;
    const FloatView x(ctx, at, &status), cs_prev(ctx, at + 1, &status),
        h_prev(ctx, at + 2, &status), w(ctx, at + 3, &status),
        wci(ctx, at + 4, &status), wcf(ctx, at + 5, &status),
        wco(ctx, at + 6, &status), bias(ctx, at + 7, &status);
    OP_REQUIRES_OK(ctx, status);
    CellParams p;
    p.order = kV2 ? kIfco : kIcfo;
    p.forget_bias = forget_bias_;
    p.cell_clip = cell_clip_;
    p.bias = bias.data();
    if (peephole_) {
      p.wci = wci.data();
      p.wcf = wcf.data();
      p.wco = wco.data();
    }
    const int64_t columns = 4 * s.cell;
    Tensor gates_tensor;
    OP_REQUIRES_OK(ctx, ctx->allocate_temp(
                            DT_FLOAT, TensorShape({steps, s.batch, columns}),
                            &gates_tensor, Tensor::kHeap));
    float* gates = gates_tensor.data<float>();
    Multiply(ctx, steps * s.batch, columns, s.input, x.data(), s.input, false,
             w.data(), columns, false, gates, columns, false);
    const float* w_h = w.data() + s.input * columns;
    const float* h = h_prev.data();
    const float* cs = cs_prev.data();
    for (int64_t t = 0; t < steps; ++t) {
      float* step_gates = gates + t * s.batch * columns;
      Multiply(ctx, s.batch, columns, s.cell, h, s.cell, false, w_h, columns,
               false, step_gates, columns, true);
      const int64_t offset = t * s.step();
      const CellOutputs step = {out[0].data() + offset, out[1].data() + offset,
                                out[2].data() + offset, out[3].data() + offset,
                                out[4].data() + offset, out[5].data() + offset,
                                out[6].data() + offset};
      CellRows(ctx, p, s, step_gates, cs, step);
      cs = step.cs;
      h = step.h;
    }
    Finish(&out);
  }

 private:
  static void Finish(std::array<FloatOutput<T>, 7>* out) {
    for (auto& o : *out) o.Finish();
  }

  float forget_bias_ = 0;
  float cell_clip_ = 0;
  bool peephole_ = false;
};

// Backward: the gradients of one step, and the ops that take them through one
// step and through many.

// The forward op's results for one step, and the incoming gradients.
struct CellGradInputs {
  const float *cs_prev, *i, *cs, *f, *o, *ci, *co;
  const float *cs_grad, *h_grad;  // both already summed with the next step's
};

// One row: writes the gradients of the gates before their nonlinearities and of
// cs_prev.
void CellGradRow(const CellParams& p, int64_t n, const CellGradInputs& in,
                 int64_t row, float* dgates, float* cs_prev_grad) {
  const int64_t at = row * n;
  float *di = dgates + p.order.i * n, *dc = dgates + p.order.c * n,
        *df = dgates + p.order.f * n, *dout = dgates + p.order.o * n;
  const bool peephole = p.wci != nullptr;
#pragma GCC ivdep
  for (int64_t k = 0; k < n; ++k) {
    const float i = in.i[at + k], f = in.f[at + k], o = in.o[at + k],
                ci = in.ci[at + k], co = in.co[at + k], dh = in.h_grad[at + k];
    const float d_o = o * (1.0f - o) * dh * co;
    float dcs = (1.0f - co * co) * dh * o + in.cs_grad[at + k];
    if (peephole) dcs += d_o * p.wco[k];
    const float d_i = i * (1.0f - i) * dcs * ci;
    const float d_f = f * (1.0f - f) * dcs * in.cs_prev[at + k];
    di[k] = d_i;
    dc[k] = (1.0f - ci * ci) * dcs * i;
    df[k] = d_f;
    dout[k] = d_o;
    float prev = dcs * f;
    if (peephole) prev += d_i * p.wci[k] + d_f * p.wcf[k];
    cs_prev_grad[at + k] = prev;
  }
}

void CellGradRows(OpKernelContext* ctx, const CellParams& p, const LstmSizes& s,
                  const CellGradInputs& in, float* dgates,
                  float* cs_prev_grad) {
  const int64_t n = s.cell;
  ctx->ParallelFor(s.batch, 4.0 * static_cast<double>(n),
                   [&, dgates, cs_prev_grad, n](int64_t begin, int64_t end) {
                     RunSimd([&, dgates, cs_prev_grad, n, begin, end] {
                       for (int64_t r = begin; r < end; ++r) {
                         CellGradRow(p, n, in, r, dgates + r * 4 * n,
                                     cs_prev_grad);
                       }
                     });
                   });
}

// Adds the peepholes' gradients of one step.
void AddPeepholeGrads(const GateOrder& order, const LstmSizes& s,
                      const float* dgates, const float* cs_prev,
                      const float* cs, float* wci, float* wcf, float* wco) {
  const int64_t n = s.cell;
  for (int64_t r = 0; r < s.batch; ++r) {
    const float* d = dgates + r * 4 * n;
    for (int64_t k = 0; k < n; ++k) {
      wci[k] += d[order.i * n + k] * cs_prev[r * n + k];
      wcf[k] += d[order.f * n + k] * cs_prev[r * n + k];
      wco[k] += d[order.o * n + k] * cs[r * n + k];
    }
  }
}

// Inputs x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad,
// h_grad; outputs cs_prev_grad, dicfo, wci_grad, wcf_grad, wco_grad.
template <typename T>
class LstmBlockCellGradOp : public OpKernel {
 public:
  explicit LstmBlockCellGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("use_peephole", &peephole_));
  }

  void Compute(OpKernelContext* ctx) override {
    LstmSizes s;
    OP_REQUIRES_OK(ctx, CheckInputs(ctx, 0, 2, peephole_, &s));
    const TensorShape state({s.batch, s.cell});
    static const char* const kNames[] = {"i",  "cs", "f",       "o",
                                         "ci", "co", "cs_grad", "h_grad"};
    for (int k = 0; k < 8; ++k) {
      OP_REQUIRES_OK(ctx, CheckShape(kNames[k], ctx->input(8 + k), state));
    }
    FloatOutput<T> cs_prev_grad, dicfo, wci_grad, wcf_grad, wco_grad;
    const TensorShape vector({s.cell});
    OP_REQUIRES_OK(ctx, cs_prev_grad.Allocate(ctx, 0, state));
    OP_REQUIRES_OK(ctx,
                   dicfo.Allocate(ctx, 1, TensorShape({s.batch, 4 * s.cell})));
    OP_REQUIRES_OK(ctx, wci_grad.Allocate(ctx, 2, vector));
    OP_REQUIRES_OK(ctx, wcf_grad.Allocate(ctx, 3, vector));
    OP_REQUIRES_OK(ctx, wco_grad.Allocate(ctx, 4, vector));
    if (state.num_elements() > 0) {
      Status status;
      const FloatView cs_prev(ctx, 1, &status), wci(ctx, 4, &status),
          wcf(ctx, 5, &status), wco(ctx, 6, &status), i(ctx, 8, &status),
          cs(ctx, 9, &status), f(ctx, 10, &status), o(ctx, 11, &status),
          ci(ctx, 12, &status), co(ctx, 13, &status), cs_grad(ctx, 14, &status),
          h_grad(ctx, 15, &status);
      OP_REQUIRES_OK(ctx, status);
      CellParams p;
      if (peephole_) {
        p.wci = wci.data();
        p.wcf = wcf.data();
        p.wco = wco.data();
      }
      const CellGradInputs in = {cs_prev.data(), i.data(),       cs.data(),
                                 f.data(),       o.data(),       ci.data(),
                                 co.data(),      cs_grad.data(), h_grad.data()};
      CellGradRows(ctx, p, s, in, dicfo.data(), cs_prev_grad.data());
      if (peephole_) {
        AddPeepholeGrads(p.order, s, dicfo.data(), cs_prev.data(), cs.data(),
                         wci_grad.data(), wcf_grad.data(), wco_grad.data());
      }
    }
    for (auto* out : {&cs_prev_grad, &dicfo, &wci_grad, &wcf_grad, &wco_grad}) {
      out->Finish();
    }
  }

 private:
  bool peephole_ = false;
};

// Inputs seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci,
// co, h, cs_grad, h_grad; outputs the gradients of x, cs_prev, h_prev, w, wci,
// wcf, wco, b.
template <typename T, bool kV2>
class BlockLstmGradOp : public OpKernel {
 public:
  explicit BlockLstmGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("use_peephole", &peephole_));
  }

  void Compute(OpKernelContext* ctx) override {
    LstmSizes s;
    OP_REQUIRES_OK(ctx, CheckInputs(ctx, 1, 3, peephole_, &s));
    const Tensor& length = ctx->input(0);
    OP_REQUIRES(ctx, length.dims() == 0,
                errors::InvalidArgument("seq_len_max must be a scalar, got "
                                        "shape ",
                                        length.shape().DebugString()));
    OP_REQUIRES(
        ctx, length.data<int64_t>()[0] <= s.time,
        errors::InvalidArgument("seq_len_max ", length.data<int64_t>()[0],
                                " exceeds the length of x, ", s.time));
    const int64_t steps = std::max<int64_t>(length.data<int64_t>()[0], 0);
    const TensorShape sequence({s.time, s.batch, s.cell});
    static const char* const kNames[] = {"i",  "cs", "f",       "o",     "ci",
                                         "co", "h",  "cs_grad", "h_grad"};
    for (int k = 0; k < 9; ++k) {
      OP_REQUIRES_OK(ctx, CheckShape(kNames[k], ctx->input(9 + k), sequence));
    }
    // Gradient k has the shape of input k + 1.
    std::array<FloatOutput<T>, 8> out;
    for (int k = 0; k < 8; ++k) {
      OP_REQUIRES_OK(ctx, out[k].Allocate(ctx, k, ctx->input(k + 1).shape()));
    }
    if (sequence.num_elements() > 0 && steps > 0) {
      const Status status = Backward(ctx, s, steps, out);
      OP_REQUIRES_OK(ctx, status);
    }
    for (auto& o : out) o.Finish();
  }

 private:
  Status Backward(OpKernelContext* ctx, const LstmSizes& s, int64_t steps,
                  const std::array<FloatOutput<T>, 8>& out) {
    Status status;
    const FloatView x(ctx, 1, &status), cs_prev(ctx, 2, &status),
        h_prev(ctx, 3, &status), w(ctx, 4, &status), wci(ctx, 5, &status),
        wcf(ctx, 6, &status), wco(ctx, 7, &status), i(ctx, 9, &status),
        cs(ctx, 10, &status), f(ctx, 11, &status), o(ctx, 12, &status),
        ci(ctx, 13, &status), co(ctx, 14, &status), h(ctx, 15, &status),
        cs_grad(ctx, 16, &status), h_grad(ctx, 17, &status);
    HR_RETURN_IF_ERROR(status);
    float *x_grad = out[0].data(), *cs_prev_grad = out[1].data(),
          *h_prev_grad = out[2].data(), *w_grad = out[3].data(),
          *b_grad = out[7].data();
    CellParams p;
    p.order = kV2 ? kIfco : kIcfo;
    if (peephole_) {
      p.wci = wci.data();
      p.wcf = wcf.data();
      p.wco = wco.data();
    }
    const int64_t columns = 4 * s.cell, step = s.step();
    const float* w_h = w.data() + s.input * columns;
    Tensor dgates_tensor, sums;
    HR_RETURN_IF_ERROR(
        ctx->allocate_temp(DT_FLOAT, TensorShape({steps, s.batch, columns}),
                           &dgates_tensor, Tensor::kHeap));
    HR_RETURN_IF_ERROR(ctx->allocate_temp(
        DT_FLOAT, TensorShape({2, s.batch, s.cell}), &sums, Tensor::kHeap));
    float* dgates = dgates_tensor.data<float>();
    float *dcs = sums.data<float>(), *dh = dcs + step;
    for (int64_t t = steps - 1; t >= 0; --t) {
      const int64_t at = t * step;
      // cs_prev_grad and h_prev_grad hold what step t + 1 passed back.
      for (int64_t k = 0; k < step; ++k) {
        dcs[k] = cs_grad.data()[at + k] + cs_prev_grad[k];
        dh[k] = h_grad.data()[at + k] + h_prev_grad[k];
      }
      const float* before = t == 0 ? cs_prev.data() : cs.data() + at - step;
      const CellGradInputs in = {before,         i.data() + at, cs.data() + at,
                                 f.data() + at,  o.data() + at, ci.data() + at,
                                 co.data() + at, dcs,           dh};
      float* d = dgates + t * s.batch * columns;
      CellGradRows(ctx, p, s, in, d, cs_prev_grad);
      Multiply(ctx, s.batch, s.cell, columns, d, columns, false, w_h, columns,
               true, h_prev_grad, s.cell, false);
      if (peephole_) {
        AddPeepholeGrads(p.order, s, d, before, cs.data() + at, out[4].data(),
                         out[5].data(), out[6].data());
      }
    }
    const int64_t rows = steps * s.batch;
    Multiply(ctx, rows, s.input, columns, dgates, columns, false, w.data(),
             columns, true, x_grad, s.input, false);
    Multiply(ctx, s.input, columns, rows, x.data(), s.input, true, dgates,
             columns, false, w_grad, columns, false);
    float* wh_grad = w_grad + s.input * columns;
    Multiply(ctx, s.cell, columns, s.batch, h_prev.data(), s.cell, true, dgates,
             columns, false, wh_grad, columns, false);
    if (steps > 1) {
      Multiply(ctx, s.cell, columns, rows - s.batch, h.data(), s.cell, true,
               dgates + s.batch * columns, columns, false, wh_grad, columns,
               true);
    }
    for (int64_t r = 0; r < rows; ++r) {
#pragma GCC ivdep
      for (int64_t k = 0; k < columns; ++k) {
        b_grad[k] += dgates[r * columns + k];
      }
    }
    return OkStatus();
  }

  bool peephole_ = false;
};

#define REGISTER(op, T, ...)                                                  \
  REGISTER_KERNEL_BUILDER(Name(op).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          __VA_ARGS__)
#define REGISTER_LSTM(T)                                    \
  REGISTER("LSTMBlockCell", T, LstmOp<T, false>);           \
  REGISTER("BlockLSTM", T, LstmOp<T, true>);                \
  REGISTER("BlockLSTMV2", T, LstmOp<T, true, true>);        \
  REGISTER("LSTMBlockCellGrad", T, LstmBlockCellGradOp<T>); \
  REGISTER("BlockLSTMGrad", T, BlockLstmGradOp<T, false>);  \
  REGISTER("BlockLSTMGradV2", T, BlockLstmGradOp<T, true>);
REGISTER_LSTM(half)
REGISTER_LSTM(float)
#undef REGISTER
#undef REGISTER_LSTM

}  // namespace
}  // namespace headrace

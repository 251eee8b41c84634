// GRUBlockCell and its gradient:
//   [r, u] = sigmoid([x, h_prev] w_ru + b_ru)
//   c = tanh([x, r * h_prev] w_c + b_c)
//   h = u * h_prev + (1 - u) * c
//
// The gates stand in the order r, u. The gradient gives the derivatives of the
// sums before the nonlinearities, c_bar and [r_bar, u_bar], from which the
// caller makes those of the weights:
//   d_c_bar = d_h (1 - u) (1 - c^2),   d_u_bar = d_h (h_prev - c) u (1 - u)
//   [d_x', d_rh] = d_c_bar w_c^T,      d_r_bar = d_rh h_prev r (1 - r)
//   [d_x'', d_h''] = [d_r_bar, d_u_bar] w_ru^T
//   d_x = d_x' + d_x'',   d_h_prev = d_h'' + d_rh r + d_h u

// Floating-point exceptions are ignored. The compiler may then compute both
// sides of a conditional, which lets its loop become vector code. The pragma is
// before all includes, so that it also applies to their inline functions.
#pragma GCC optimize("no-trapping-math")

#include <cstdint>

#include "headrace/op_kernel.h"
#include "headrace/simd.h"
#include "kernels/lib/gemm.h"
#include "kernels/lib/nn_math.h"

namespace headrace {
namespace {

struct GruSizes {
  int64_t batch = 0, input = 0, cell = 0;
};

Status CheckShape(const char* name, const Tensor& t, const TensorShape& want) {
  if (t.shape() == want) return OkStatus();
  return errors::InvalidArgument(name, " must have shape ", want.DebugString(),
                                 ", got ", t.shape().DebugString());
}

// Checks x, h_prev, w_ru, w_c, b_ru, b_c.
Status CheckInputs(OpKernelContext* ctx, GruSizes* s) {
  const Tensor& x = ctx->input(0);
  const Tensor& h = ctx->input(1);
  if (x.dims() != 2 || h.dims() != 2) {
    return errors::InvalidArgument("x and h_prev must be 2D, got shapes ",
                                   x.shape().DebugString(), " and ",
                                   h.shape().DebugString());
  }
  s->batch = x.dim_size(0);
  s->input = x.dim_size(1);
  s->cell = h.dim_size(1);
  const int64_t rows = AddWithoutOverflow(s->input, s->cell);
  const int64_t two = MultiplyWithoutOverflow(s->cell, 2);
  HR_RETURN_IF_ERROR(CheckShape("h_prev", h, TensorShape({s->batch, s->cell})));
  HR_RETURN_IF_ERROR(
      CheckShape("w_ru", ctx->input(2), TensorShape({rows, two})));
  HR_RETURN_IF_ERROR(
      CheckShape("w_c", ctx->input(3), TensorShape({rows, s->cell})));
  HR_RETURN_IF_ERROR(CheckShape("b_ru", ctx->input(4), TensorShape({two})));
  return CheckShape("b_c", ctx->input(5), TensorShape({s->cell}));
}

// c = a b (+ c): a is [m, k], b is [k, n] or, transposed, [n, k].
void Multiply(OpKernelContext* ctx, int64_t m, int64_t n, int64_t k,
              const float* a, const float* b, bool transpose_b, float* c,
              bool accumulate) {
  auto args = GemmArgs<float>::Dense(m, n, k, false, transpose_b).At(a, b, c);
  args.accumulate = accumulate;
  Gemm<float>(ctx->thread_pool(), args);
}

class GruBlockCellOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    GruSizes s;
    OP_REQUIRES_OK(ctx, CheckInputs(ctx, &s));
    const TensorShape state({s.batch, s.cell});
    Tensor* out[4];
    for (int k = 0; k < 4; ++k) {
      OP_REQUIRES_OK(ctx, ctx->allocate_output(k, state, &out[k]));
    }
    if (state.num_elements() == 0) return;
    Tensor scratch;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_temp(DT_FLOAT, TensorShape({4, s.batch, s.cell}),
                                &scratch, Tensor::kHeap));
    const int64_t n = s.cell, size = s.batch * n;
    float *ru = scratch.data<float>(), *rh = ru + 2 * size, *c_sum = rh + size;
    const float* x = ctx->input(0).data<float>();
    const float* h_prev = ctx->input(1).data<float>();
    const float* w_ru = ctx->input(2).data<float>();
    const float* w_c = ctx->input(3).data<float>();
    const float* b_ru = ctx->input(4).data<float>();
    const float* b_c = ctx->input(5).data<float>();
    float *r = out[0]->data<float>(), *u = out[1]->data<float>(),
          *c = out[2]->data<float>(), *h = out[3]->data<float>();
    Multiply(ctx, s.batch, 2 * n, s.input, x, w_ru, false, ru, false);
    Multiply(ctx, s.batch, 2 * n, n, h_prev, w_ru + s.input * 2 * n, false, ru,
             true);
    ctx->ParallelFor(s.batch, 4.0 * static_cast<double>(n),
                     [=](int64_t begin, int64_t end) {
                       RunSimd([=] {
                         for (int64_t b = begin; b < end; ++b) {
                           const float* sums = ru + b * 2 * n;
#pragma GCC ivdep
                           for (int64_t k = 0; k < n; ++k) {
                             const int64_t at = b * n + k;
                             r[at] = vec::Sigmoid(sums[k] + b_ru[k]);
                             u[at] = vec::Sigmoid(sums[n + k] + b_ru[n + k]);
                             rh[at] = r[at] * h_prev[at];
                           }
                         }
                       });
                     });
    Multiply(ctx, s.batch, n, s.input, x, w_c, false, c_sum, false);
    Multiply(ctx, s.batch, n, n, rh, w_c + s.input * n, false, c_sum, true);
    ctx->ParallelFor(
        s.batch, 3.0 * static_cast<double>(n), [=](int64_t begin, int64_t end) {
          RunSimd([=] {
            for (int64_t b = begin; b < end; ++b) {
#pragma GCC ivdep
              for (int64_t k = 0; k < n; ++k) {
                const int64_t at = b * n + k;
                c[at] = vec::Tanh(c_sum[at] + b_c[k]);
                h[at] = u[at] * h_prev[at] + (1.0f - u[at]) * c[at];
              }
            }
          });
        });
  }
};

// Inputs as the cell's, then r, u, c, d_h; outputs d_x, d_h_prev, d_c_bar,
// d_r_bar_u_bar.
class GruBlockCellGradOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    GruSizes s;
    OP_REQUIRES_OK(ctx, CheckInputs(ctx, &s));
    const TensorShape state({s.batch, s.cell});
    static const char* const kNames[] = {"r", "u", "c", "d_h"};
    for (int k = 0; k < 4; ++k) {
      OP_REQUIRES_OK(ctx, CheckShape(kNames[k], ctx->input(6 + k), state));
    }
    Tensor *d_x = nullptr, *d_h_prev = nullptr, *d_c_bar = nullptr,
           *d_ru_bar = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, ctx->input(0).shape(), &d_x));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, state, &d_h_prev));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, state, &d_c_bar));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            3, TensorShape({s.batch, 2 * s.cell}), &d_ru_bar));
    float *dx = d_x->data<float>(), *dh_prev = d_h_prev->data<float>(),
          *dc = d_c_bar->data<float>(), *dru = d_ru_bar->data<float>();
    const int64_t n = s.cell, size = s.batch * n;
    if (size == 0) {
      std::fill(dx, dx + d_x->NumElements(), 0.0f);
      return;
    }
    Tensor scratch;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_temp(DT_FLOAT, state, &scratch, Tensor::kHeap));
    float* d_rh = scratch.data<float>();
    const float* h_prev = ctx->input(1).data<float>();
    const float* w_ru = ctx->input(2).data<float>();
    const float* w_c = ctx->input(3).data<float>();
    const float* r = ctx->input(6).data<float>();
    const float* u = ctx->input(7).data<float>();
    const float* c = ctx->input(8).data<float>();
    const float* dh = ctx->input(9).data<float>();
    for (int64_t i = 0; i < size; ++i) {
      dc[i] = dh[i] * (1.0f - u[i]) * (1.0f - c[i] * c[i]);
    }
    Multiply(ctx, s.batch, n, n, dc, w_c + s.input * n, true, d_rh, false);
    for (int64_t b = 0; b < s.batch; ++b) {
      for (int64_t k = 0; k < n; ++k) {
        const int64_t i = b * n + k;
        dru[b * 2 * n + k] = d_rh[i] * h_prev[i] * r[i] * (1.0f - r[i]);
        dru[b * 2 * n + n + k] =
            dh[i] * (h_prev[i] - c[i]) * u[i] * (1.0f - u[i]);
      }
    }
    Multiply(ctx, s.batch, s.input, n, dc, w_c, true, dx, false);
    Multiply(ctx, s.batch, s.input, 2 * n, dru, w_ru, true, dx, true);
    Multiply(ctx, s.batch, n, 2 * n, dru, w_ru + s.input * 2 * n, true, dh_prev,
             false);
    for (int64_t i = 0; i < size; ++i) {
      dh_prev[i] += d_rh[i] * r[i] + dh[i] * u[i];
    }
  }
};

REGISTER_KERNEL_BUILDER(
    Name("GRUBlockCell").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    GruBlockCellOp);
REGISTER_KERNEL_BUILDER(
    Name("GRUBlockCellGrad").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    GruBlockCellGradOp);

}  // namespace
}  // namespace headrace

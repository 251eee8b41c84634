// Select (Where with three arguments): elements of `t` where the condition
// holds, of `e` elsewhere. In Select the condition is a scalar, of the
// branches' shape, or a vector over axis 0, which is not NumPy's rule; SelectV2
// broadcasts all three by NumPy's, where a vector runs over the last axis.
//
// Plain data is moved by element size, whatever its type.
#include <algorithm>
#include <cstring>

#include "framework/tensor/variant.h"
#include "headrace/op_kernel.h"
#include "headrace/resource_handle.h"
#include "headrace/simd.h"
#include "kernels/lib/broadcast.h"

namespace headrace {
namespace {

struct Element16 {
  uint64_t a, b;
};

template <typename E>
void Choose(const bool* c, const E* t, const E* e, E* out, int64_t n) {
  if constexpr (std::is_integral_v<E>) {
    // Uses masks: a branch on data is more expensive than reading both sides.
    RunSimd([=] {
      const bool* cond = c;
      const E *x = t, *y = e;
      E* z = out;
      const int64_t count = n;
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) {
        const E mask = static_cast<E>(-static_cast<E>(cond[i]));
        z[i] = static_cast<E>((x[i] & mask) | (y[i] & ~mask));
      }
    });
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = c[i] ? t[i] : e[i];
  }
}

// Calls `f` with a value of the stand-in type for elements of `t`.
template <typename F>
void WithValueOfType(DataType t, const F& f) {
  switch (t) {
    case DT_STRING:
      return f(tstring());
    case DT_RESOURCE:
      return f(ResourceHandle());
    case DT_VARIANT:
      return f(Variant());
    default:
      break;
  }
  switch (DataTypeSize(t)) {
    case 1:
      return f(uint8_t());
    case 2:
      return f(uint16_t());
    case 4:
      return f(uint32_t());
    case 8:
      return f(uint64_t());
    default:
      return f(Element16());
  }
}

class SelectOp : public OpKernel {
 public:
  explicit SelectOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &cond = ctx->input(0), &t = ctx->input(1), &e = ctx->input(2);
    OP_REQUIRES(
        ctx, t.shape() == e.shape(),
        errors::InvalidArgument(
            "'then' and 'else' must have the same size.  but received: ",
            t.shape().DebugString(), " vs. ", e.shape().DebugString()));
    if (cond.dims() == 0) {
      ctx->set_output(0, cond.scalar<bool>() ? t : e);
      return;
    }
    const bool same = cond.shape() == t.shape();
    const bool rows = !same && cond.dims() == 1 && t.dims() >= 1 &&
                      cond.dim_size(0) == t.dim_size(0);
    OP_REQUIRES(
        ctx, same || rows,
        errors::InvalidArgument(
            "'cond' must be a scalar, a vector over the first dimension, or of "
            "the same shape as 'then'; got cond ",
            cond.shape().DebugString(), ", then ", t.shape().DebugString()));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({1, 2}, 0, t.shape(), &out));
    const bool* c = cond.data<bool>();
    const int64_t n = same ? t.NumElements() : cond.NumElements();
    const int64_t row = n == 0 ? 0 : t.NumElements() / n;
    WithValueOfType(BaseType(t.dtype()), [&](auto element) {
      using E = decltype(element);
      const E* x = static_cast<const E*>(t.raw_data());
      const E* y = static_cast<const E*>(e.raw_data());
      E* z = static_cast<E*>(out->raw_data());
      if (same) {
        ctx->ParallelFor(n, 0.3, [&](int64_t begin, int64_t end) {
          Choose(c + begin, x + begin, y + begin, z + begin, end - begin);
        });
        return;
      }
      ctx->ParallelFor(n, 5 + 0.1 * row, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const E* from = (c[i] ? x : y) + i * row;
          if (from != z + i * row) std::copy(from, from + row, z + i * row);
        }
      });
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("Select").Device(DEVICE_CPU), SelectOp);

class SelectV2Op : public OpKernel {
 public:
  explicit SelectV2Op(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &cond = ctx->input(0), &t = ctx->input(1), &e = ctx->input(2);
    const BCast bcast({&cond.shape(), &t.shape(), &e.shape()});
    OP_REQUIRES_OK(ctx, bcast.status());
    const TensorShape& shape = bcast.output_shape();
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({1, 2}, 0, shape, &out));
    const int64_t total = out->NumElements();
    if (total == 0) return;
    const bool* c = cond.data<bool>();
    WithValueOfType(BaseType(t.dtype()), [&](auto element) {
      using E = decltype(element);
      const E* x = static_cast<const E*>(t.raw_data());
      const E* y = static_cast<const E*>(e.raw_data());
      E* z = static_cast<E*>(out->raw_data());
      if (cond.NumElements() == total && t.NumElements() == total &&
          e.NumElements() == total) {
        ctx->ParallelFor(total, 0.3, [&](int64_t begin, int64_t end) {
          Choose(c + begin, x + begin, y + begin, z + begin, end - begin);
        });
        return;
      }
      const BCast::Dim inner = bcast.dims().back();
      ctx->ParallelFor(total, 1.0, [&](int64_t begin, int64_t end) {
        int64_t at = begin % inner.size;
        BCastCursor row(bcast.dims().first(bcast.dims().size() - 1),
                        begin / inner.size);
        for (int64_t i = begin; i < end; row.Next()) {
          const int64_t m = std::min(end - i, inner.size - at);
          const bool* p = c + row.offset(0) + at * inner.stride[0];
          const E* q = x + row.offset(1) + at * inner.stride[1];
          const E* r = y + row.offset(2) + at * inner.stride[2];
          for (int64_t k = 0; k < m; ++k) {
            z[i + k] = *p ? *q : *r;
            p += inner.stride[0];
            q += inner.stride[1];
            r += inner.stride[2];
          }
          i += m;
          at = 0;
        }
      });
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("SelectV2").Device(DEVICE_CPU), SelectV2Op);

}  // namespace
}  // namespace headrace

#include "kernels/lib/elementwise.h"

#include <algorithm>
#include <cstring>

#include "headrace/op_traits.h"
#include "kernels/lib/broadcast.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/narrow_float.h"

namespace headrace {

namespace {

// Elements of a narrow float, or of operands laid out for a loop, at a time.
constexpr int64_t kBlock = 512;
// Loops shorter than this are not worth a call each.
constexpr int64_t kShortRow = 24;
// A row up to this length that goes with this many others is worth laying out.
constexpr int64_t kMediumRow = 256;
constexpr int64_t kFewRows = 8;
// Less work than this, in ns, runs on one thread.
constexpr double kInlineNs = 20000;

template <typename F>
void Split(OpKernelContext* ctx, int64_t n, double cost, const F& f) {
  if (static_cast<double>(n) * cost < kInlineNs) {
    if (n > 0) f(0, n);
  } else {
    CancellableLoops cancellable(ctx);
    ctx->ParallelFor(n, cost, f);
  }
}

[[gnu::noinline]] bool MakeInlineScalar(DataType type, const Tensor& x,
                                        Tensor* out) {
  if (type == x.dtype()) {
    *out = x;
  } else if (type == DT_BOOL) {
    *out = Tensor::Scalar(false);
  } else {
    return false;
  }
  return true;
}

// Makes output 0 a scalar with its element inside the object, as `x` is; null
// where that is not so simple. Graphs of scalars spend their time in allocation
// otherwise.
inline Tensor* InlineScalarOutput(OpKernelContext* ctx, const Tensor& x) {
  if (x.dims() != 0 || !x.IsInline()) return nullptr;
  const DataType type = ctx->expected_output_dtype(0);
  OutputSlot& slot = ctx->output_slot(0);
  // Often it is as an earlier call left it.
  if (slot.value.dtype() != type || slot.value.dims() != 0 ||
      !slot.value.IsInline()) [[unlikely]] {
    if (!MakeInlineScalar(type, x, &slot.value)) return nullptr;
  }
  slot.is_set = true;
  slot.value.AllowWrites();
  return &slot.value;
}

class UnaryKernel final : public OpKernel {
 public:
  UnaryKernel(OpKernelConstruction* ctx, const UnaryLoop* loop);
  void Compute(OpKernelContext* ctx) override;

 private:
  void Run(const char* x, char* y, int64_t n, ElementwiseState* s) const;

  const UnaryLoop& loop_;
  const DataType type_;
  const int in_size_, out_size_;  // as stored in the tensors
  float param_ = 0;
};

// Broadcasts its operands unless `same_shape` is set (gradient ops).
class BinaryKernel final : public OpKernel {
 public:
  BinaryKernel(OpKernelConstruction* ctx, const BinaryLoop* loop,
               bool same_shape);
  void Compute(OpKernelContext* ctx) override;

 private:
  void ComputeMany(OpKernelContext* ctx);
  void Broadcast(OpKernelContext* ctx, const Tensor& x, const Tensor& y,
                 ElementwiseState* s);
  int RepeatedRow(const BCast& bcast, int64_t total, const Tensor& x,
                  const Tensor& y) const;
  void RepeatRow(OpKernelContext* ctx, const BCast& bcast, int k, const char* a,
                 const char* b, char* c, int64_t total, ElementwiseState* s);
  void Run(const void* x, const void* y, void* z, int64_t n, LoopShape shape,
           ElementwiseState* s) const;
  void RunNarrow(const char* x, const char* y, char* z, int64_t n,
                 LoopShape shape, ElementwiseState* s) const;

  const BinaryLoop& loop_;
  const bool same_shape_, is_narrow_;
  const DataType type_;
  const int in_size_, out_size_;
  float param_ = 0;
  // The result of Equal and NotEqual with incompatible_shape_error=false for
  // shapes that do not fit. -1: such shapes are an error.
  int mismatch_ = -1;
};

UnaryKernel::UnaryKernel(OpKernelConstruction* ctx, const UnaryLoop* loop)
    : OpKernel(ctx),
      loop_(*loop),
      type_(BaseType(input_type(0))),
      in_size_(DataTypeObjectSize(type_)),
      out_size_(DataTypeObjectSize(output_type(0))) {
  expensive_ = false;
  const char* const parameter = ctx->op_def().traits->activation.parameter;
  if (parameter != nullptr) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr(parameter, &param_));
  }
}

void UnaryKernel::Compute(OpKernelContext* ctx) {
  const Tensor& x = ctx->input(0);
  const char* from = static_cast<const char*>(x.raw_data());
  ElementwiseState state;
  state.param = param_;
  Tensor* y = InlineScalarOutput(ctx, x);
  if (y != nullptr) {
    Run(from, static_cast<char*>(y->raw_data()), 1, &state);
    OP_REQUIRES(ctx, !state.failed, loop_.error());
    return;
  }
  OP_REQUIRES_OK(ctx,
                 ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
  char* to = static_cast<char*>(y->raw_data());
  Split(ctx, x.NumElements(), loop_.cost, [&](int64_t begin, int64_t end) {
    Run(from + begin * in_size_, to + begin * out_size_, end - begin, &state);
  });
  OP_REQUIRES(ctx, !state.failed, loop_.error());
}

void UnaryKernel::Run(const char* x, char* y, int64_t n,
                      ElementwiseState* s) const {
  if (!IsNarrowFloat(type_)) {
    loop_.run(x, y, n, s);
    return;
  }
  float wide[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t m = std::min(kBlock, n - i);
    Widen(type_, x + i * in_size_, wide, m);
    if (loop_.same_type) {
      loop_.run(wide, wide, m, s);
      Narrow(type_, wide, y + i * out_size_, m);
    } else {
      loop_.run(wide, y + i * out_size_, m, s);
    }
  }
}

BinaryKernel::BinaryKernel(OpKernelConstruction* ctx, const BinaryLoop* loop,
                           bool same_shape)
    : OpKernel(ctx),
      loop_(*loop),
      same_shape_(same_shape),
      is_narrow_(IsNarrowFloat(BaseType(input_type(0)))),
      type_(BaseType(input_type(0))),
      in_size_(DataTypeObjectSize(type_)),
      out_size_(DataTypeObjectSize(output_type(0))) {
  expensive_ = false;
  if (ctx->HasAttr("tolerance")) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("tolerance", &param_));
  }
  if (ctx->HasAttr("incompatible_shape_error")) {
    bool refuse = true;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("incompatible_shape_error", &refuse));
    if (!refuse) mismatch_ = type_string() == "NotEqual" ? 1 : 0;
  }
}

// In programs of scalars most of the time is spent here.
void BinaryKernel::Compute(OpKernelContext* ctx) {
  const Tensor& x = ctx->input(0);
  const Tensor& y = ctx->input(1);
  Tensor* const z = y.dims() == 0 ? InlineScalarOutput(ctx, x) : nullptr;
  if (z == nullptr) {
    ComputeMany(ctx);
    return;
  }
  ElementwiseState state;
  state.param = param_;
  if (is_narrow_) [[unlikely]] {
    Run(x.raw_data(), y.raw_data(), z->raw_data(), 1, LoopShape::kBoth, &state);
  } else {
    loop_.run_one(x.raw_data(), y.raw_data(), z->raw_data(), &state);
  }
  OP_REQUIRES(ctx, !state.failed, loop_.error());
}

void BinaryKernel::ComputeMany(OpKernelContext* ctx) {
  const Tensor& x = ctx->input(0);
  const Tensor& y = ctx->input(1);
  ElementwiseState state;
  state.param = param_;
  LoopShape shape;
  const TensorShape* out_shape;
  if (x.shape() == y.shape()) {
    shape = LoopShape::kBoth;
    out_shape = &x.shape();
  } else if (same_shape_) {
    ctx->CtxFailure(errors::InvalidArgument(
        "Inputs must have the same size and shape; got ",
        x.shape().DebugString(), " and ", y.shape().DebugString()));
    return;
  } else if (y.NumElements() == 1 && y.dims() <= x.dims()) {
    shape = LoopShape::kSecondScalar;
    out_shape = &x.shape();
  } else if (x.NumElements() == 1 && x.dims() <= y.dims()) {
    shape = LoopShape::kFirstScalar;
    out_shape = &y.shape();
  } else {
    Broadcast(ctx, x, y, &state);
    OP_REQUIRES(ctx, !state.failed, loop_.error());
    return;
  }
  Tensor* z = nullptr;
  OP_REQUIRES_OK(
      ctx, ctx->forward_input_or_allocate_output({0, 1}, 0, *out_shape, &z));
  const int64_t x_step = shape == LoopShape::kFirstScalar ? 0 : in_size_;
  const int64_t y_step = shape == LoopShape::kSecondScalar ? 0 : in_size_;
  const char* a = static_cast<const char*>(x.raw_data());
  const char* b = static_cast<const char*>(y.raw_data());
  char* c = static_cast<char*>(z->raw_data());
  Split(ctx, z->NumElements(), loop_.cost, [&](int64_t begin, int64_t end) {
    Run(a + begin * x_step, b + begin * y_step, c + begin * out_size_,
        end - begin, shape, &state);
  });
  OP_REQUIRES(ctx, !state.failed, loop_.error());
}

void BinaryKernel::Broadcast(OpKernelContext* ctx, const Tensor& x,
                             const Tensor& y, ElementwiseState* s) {
  const BCast bcast({&x.shape(), &y.shape()});
  Tensor* z = nullptr;
  if (!bcast.status().ok() && mismatch_ >= 0) {
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape(), &z));
    z->scalar<bool>() = mismatch_ == 1;
    return;
  }
  OP_REQUIRES_OK(ctx, bcast.status());
  OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                          {0, 1}, 0, bcast.output_shape(), &z));
  const int64_t total = z->NumElements();
  if (total == 0) return;
  const char* a = static_cast<const char*>(x.raw_data());
  const char* b = static_cast<const char*>(y.raw_data());
  char* c = static_cast<char*>(z->raw_data());
  const BCast::Dim inner = bcast.dims().back();

  if (inner.size < kShortRow && loop_.plain) {
    // Lay out blocks of the operands that are stretched. Blocks hold whole
    // rows, so that an operand that repeats with every row is laid out once.
    const bool x_whole = x.NumElements() == total;
    const bool y_whole = y.NumElements() == total;
    const bool periodic = bcast.dims().size() == 2;
    const bool x_repeats = periodic && bcast.dims()[0].stride[0] == 0;
    const bool y_repeats = periodic && bcast.dims()[0].stride[1] == 0;
    const int64_t block = kBlock / inner.size * inner.size;
    const double cost = loop_.cost + (x_whole || x_repeats ? 0 : 1) +
                        (y_whole || y_repeats ? 0 : 1);
    Split(ctx, (total + block - 1) / block, cost * block,
          [&](int64_t first, int64_t last) {
            alignas(64) char x_block[kBlock * 16], y_block[kBlock * 16];
            for (int64_t k = first; k < last; ++k) {
              const int64_t i = k * block;
              const int64_t m = std::min(block, total - i);
              const char* p = a + i * in_size_;
              const char* q = b + i * in_size_;
              if (!x_whole) {
                if (k == first || !x_repeats) {
                  GatherBroadcast(bcast, 0, a, i, m, in_size_, x_block);
                }
                p = x_block;
              }
              if (!y_whole) {
                if (k == first || !y_repeats) {
                  GatherBroadcast(bcast, 1, b, i, m, in_size_, y_block);
                }
                q = y_block;
              }
              Run(p, q, c + i * out_size_, m, LoopShape::kBoth, s);
            }
          });
    return;
  }

  if (const int k = RepeatedRow(bcast, total, x, y); k >= 0) {
    return RepeatRow(ctx, bcast, k, a, b, c, total, s);
  }

  const LoopShape shape = inner.stride[0] == 0   ? LoopShape::kFirstScalar
                          : inner.stride[1] == 0 ? LoopShape::kSecondScalar
                                                 : LoopShape::kBoth;
  Split(ctx, total, loop_.cost, [&](int64_t begin, int64_t end) {
    int64_t at = begin % inner.size;
    BCastCursor row(bcast.dims().first(bcast.dims().size() - 1),
                    begin / inner.size);
    for (int64_t i = begin; i < end; row.Next()) {
      const int64_t m = std::min(end - i, inner.size - at);
      Run(a + (row.offset(0) + at * inner.stride[0]) * in_size_,
          b + (row.offset(1) + at * inner.stride[1]) * in_size_,
          c + i * out_size_, m, shape, s);
      i += m;
      at = 0;
    }
  });
}

// The operand that has one row of moderate length for many of the other, which
// has all elements of the result; -1 if none has.
int BinaryKernel::RepeatedRow(const BCast& bcast, int64_t total,
                              const Tensor& x, const Tensor& y) const {
  const int rank = static_cast<int>(bcast.dims().size());
  const BCast::Dim& inner = bcast.dims().back();
  if (rank < 2 || inner.size >= kMediumRow || !loop_.plain ||
      inner.stride[0] == 0 || inner.stride[1] == 0) {
    return -1;
  }
  const BCast::Dim& rows = bcast.dims()[rank - 2];
  if (rows.size < kFewRows) return -1;
  if (rows.stride[0] == 0 && y.NumElements() == total) return 0;
  if (rows.stride[1] == 0 && x.NumElements() == total) return 1;
  return -1;
}

// Operand `k`'s row is laid out several times, for longer loops.
void BinaryKernel::RepeatRow(OpKernelContext* ctx, const BCast& bcast, int k,
                             const char* a, const char* b, char* c,
                             int64_t total, ElementwiseState* s) {
  const int rank = static_cast<int>(bcast.dims().size());
  const int64_t row = bcast.dims().back().size;
  const int64_t plane = bcast.dims()[rank - 2].size * row;
  Split(ctx, total, loop_.cost, [&](int64_t begin, int64_t end) {
    // From any element of a row on there is a block.
    alignas(64) char laid_out[(kBlock + kMediumRow) * 16];
    BCastCursor at(bcast.dims().first(rank - 2), begin / plane);
    for (int64_t i = begin; i < end; at.Next()) {
      const int64_t last = std::min(end, (i / plane + 1) * plane);
      const int64_t needed = std::min(kBlock + row, last - i + row);
      const char* const from = (k == 0 ? a : b) + at.offset(k) * in_size_;
      for (int64_t j = 0; j < needed; j += row) {
        std::memcpy(laid_out + j * in_size_, from,
                    std::min(row, needed - j) * in_size_);
      }
      while (i < last) {
        const int64_t m = std::min(kBlock, last - i);
        const char* const repeated = laid_out + i % row * in_size_;
        Run(k == 0 ? repeated : a + i * in_size_,
            k == 1 ? repeated : b + i * in_size_, c + i * out_size_, m,
            LoopShape::kBoth, s);
        i += m;
      }
    }
  });
}

inline void BinaryKernel::Run(const void* x, const void* y, void* z, int64_t n,
                              LoopShape shape, ElementwiseState* s) const {
  if (is_narrow_) {
    RunNarrow(static_cast<const char*>(x), static_cast<const char*>(y),
              static_cast<char*>(z), n, shape, s);
  } else {
    loop_.run(x, y, z, n, shape, s);
  }
}

void BinaryKernel::RunNarrow(const char* x, const char* y, char* z, int64_t n,
                             LoopShape shape, ElementwiseState* s) const {
  float x_wide[kBlock], y_wide[kBlock];
  if (shape == LoopShape::kFirstScalar) Widen(type_, x, x_wide, 1);
  if (shape == LoopShape::kSecondScalar) Widen(type_, y, y_wide, 1);
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t m = std::min(kBlock, n - i);
    if (shape != LoopShape::kFirstScalar) {
      Widen(type_, x + i * in_size_, x_wide, m);
    }
    if (shape != LoopShape::kSecondScalar) {
      Widen(type_, y + i * in_size_, y_wide, m);
    }
    if (loop_.same_type) {
      float z_wide[kBlock];
      loop_.run(x_wide, y_wide, z_wide, m, shape, s);
      Narrow(type_, z_wide, z + i * out_size_, m);
    } else {
      loop_.run(x_wide, y_wide, z + i * out_size_, m, shape, s);
    }
  }
}

}  // namespace

OpKernel* NewUnaryKernel(OpKernelConstruction* ctx, const UnaryLoop* loop) {
  return new UnaryKernel(ctx, loop);
}
OpKernel* NewBinaryKernel(OpKernelConstruction* ctx, const BinaryLoop* loop,
                          bool same_shape) {
  return new BinaryKernel(ctx, loop, same_shape);
}

}  // namespace headrace

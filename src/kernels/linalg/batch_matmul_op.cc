// BatchMatMul, V2 and V3: a matrix product for each element of the batch dims,
// which are all but the last two. adj_x and adj_y are conjugate transposes
// (MatMul's transposes do not conjugate). V1 wants equal batch dims; V2 and V3
// broadcast them by NumPy's rules, 0 with 1 included. V3 may mix int8 and
// uint8, with an int32 result, and either with bfloat16, with that for a
// result. _FusedBatchMatMul is V2 with a bias for the last dim and an
// activation.
//
// Where y is one matrix, x's rows are those of a single product. If y is also
// constant it is kept in panels (constant_matrix.h).
#include <type_traits>

#include "absl/container/inlined_vector.h"
#include "framework/shape_fns/common_shape_fns.h"
#include "framework/tensor/stored_constant.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/bfloat16_matrix.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/constant_matrix.h"
#include "kernels/lib/epilogue.h"
#include "kernels/lib/gemm.h"

namespace headrace {
namespace {

// Which matrix of an input goes with a batch element of the output: the element
// number is read in the output's batch dims, those of size 1 drop out.
class BatchIndex {
 public:
  BatchIndex(const TensorShape& in, const TensorShape& out) {
    int64_t stride = 1;
    for (int i = out.dims() - 3; i >= 0; --i) {
      const int at = i - (out.dims() - in.dims());
      const int64_t size = at < 0 ? 1 : in.dim_size(at);
      dims_.push_back({out.dim_size(i), size == 1 ? 0 : stride});
      stride *= size;
    }
  }
  int64_t operator()(int64_t element) const {
    int64_t index = 0;
    for (const Dim& d : dims_) {  // the last dim first
      index += element % d.size * d.stride;
      element /= d.size;
    }
    return index;
  }

 private:
  struct Dim {
    int64_t size, stride;
  };
  absl::InlinedVector<Dim, 4> dims_;
};

}  // namespace

template <typename Ta, typename Tb, typename T>
class BatchMatMulOp : public OpKernel, public StoredConstantReader {
 public:
  explicit BatchMatMulOp(OpKernelConstruction* ctx)
      : OpKernel(ctx), bfloat16_y_(*ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("adj_x", &adj_x_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("adj_y", &adj_y_));
    broadcasts_ = ctx->def().op != "BatchMatMul";
  }

  void Compute(OpKernelContext* ctx) override { Multiply(ctx, {}); }
  void SetConstantInput(int i, const Tensor& value) override {
    if (i != 1 || !kAllFloat) return;
    constant_y_.Set(value);
    bfloat16_y_.Set(value);
  }
  bool TakesStoredConstant(int input) const override {
    return input == 1 && kAllFloat;
  }
  void DescribeTraits(KernelTraits* traits) override {
    traits->stored_constant_reader = this;
  }

 protected:
  // The epilogue is for floats alone.
  void Multiply(OpKernelContext* ctx, const Epilogue& epilogue) {
    const Tensor& x = ctx->input(0);
    const Tensor& y = ctx->input(1);
    TensorShape shape;
    OP_REQUIRES_OK(ctx, OutputShape(x.shape(), y.shape(), &shape));
    const int rx = x.dims(), ry = y.dims(), r = shape.dims();
    auto g = GemmArgs<T>::Dense(shape.dim_size(r - 2), shape.dim_size(r - 1),
                                x.dim_size(adj_x_ ? rx - 2 : rx - 1), adj_x_,
                                adj_y_);
    OP_REQUIRES(ctx,
                epilogue.bias == nullptr || (epilogue.bias->dims() == 1 &&
                                             epilogue.bias->dim_size(0) == g.n),
                errors::InvalidArgument(
                    "Must provide as many biases as the product has columns: ",
                    epilogue.bias->shape().DebugString(), " vs. ", g.n, " in ",
                    shape.DebugString()));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;

    Tensor x_same, y_same;
    OP_REQUIRES_OK(ctx, As<Ta>(ctx, x, &x_same));
    OP_REQUIRES_OK(ctx, As<Tb>(ctx, y, &y_same));
    g.conjugate_a = adj_x_;
    g.conjugate_b = adj_y_;
    int64_t batch = shape.ProductOf(0, r - 2);
    const bool one_y = y.shape().ProductOf(0, ry - 2) == 1;
    if (one_y && !adj_x_) {
      g.m *= batch;
      batch = 1;
    }
    CancellableLoops cancellable(ctx);
    if constexpr (kAllFloat) {
      // Products of two batches stay float.
      if (one_y && batch == 1 && bfloat16_y_.is_on()) {
        const auto one =
            g.At(x_same.data<T>(), y_same.data<T>(), out->data<T>());
        OP_REQUIRES_OK(ctx, bfloat16_y_.Multiply(ctx, one));
        ApplyEpilogue(ctx->thread_pool(), DT_FLOAT, epilogue, g.m, g.n, one.c);
        return;
      }
      if (one_y && batch == 1 &&
          constant_y_.Multiply(ctx->thread_pool(),
                               g.At(x_same.data<T>(), nullptr, out->data<T>()),
                               epilogue)) {
        return;
      }
    }
    const BatchIndex x_at(x.shape(), shape), y_at(y.shape(), shape);
    const auto product = [&](int64_t i, ThreadPool* pool) {
      Gemm(pool, g.At(x_same.data<T>() + x_at(i) * g.m * g.k,
                      y_same.data<T>() + y_at(i) * g.k * g.n,
                      out->data<T>() + i * g.m * g.n));
    };
    // Large products are split themselves; small ones are shared out whole.
    const double flops = 2.0 * g.m * g.n * g.k;
    if (flops > 2e7 || batch == 1) {
      for (int64_t i = 0; i < batch; ++i) product(i, ctx->thread_pool());
    } else {
      ctx->ParallelFor(batch, 50 + flops / 50, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) product(i, nullptr);
      });
    }
    if constexpr (kAllFloat) {
      if (epilogue.empty()) return;
      ApplyEpilogue(ctx->thread_pool(), DT_FLOAT, epilogue, g.m * batch, g.n,
                    out->data<T>());
    }
  }

 private:
  static constexpr bool kAllFloat = std::is_same_v<Ta, float> &&
                                    std::is_same_v<Tb, float> &&
                                    std::is_same_v<T, float>;

  Status OutputShape(const TensorShape& x, const TensorShape& y,
                     TensorShape* out) const {
    if (x.dims() < 2 || y.dims() < 2) {
      return errors::InvalidArgument(
          "In[0] and In[1] must have at least 2 dimensions, got ",
          x.DebugString(), " and ", y.DebugString());
    }
    TensorShape xb = x, yb = y;
    xb.RemoveLastDims(2);
    yb.RemoveLastDims(2);
    if (broadcasts_) {
      PartialTensorShape batch;
      HR_RETURN_IF_ERROR(BroadcastShapes(xb, yb, &batch));
      batch.AsTensorShape(out);
    } else {
      if (xb != yb) {
        return errors::InvalidArgument(
            "In[0] and In[1] must have the same batch dimensions: ",
            x.DebugString(), " vs ", y.DebugString());
      }
      *out = xb;
    }
    const int rx = x.dims(), ry = y.dims();
    if (x.dim_size(adj_x_ ? rx - 2 : rx - 1) !=
        y.dim_size(adj_y_ ? ry - 1 : ry - 2)) {
      return errors::InvalidArgument(
          "Matrix size-incompatible: In[0]: ", x.DebugString(),
          ", In[1]: ", y.DebugString());
    }
    out->AddDim(x.dim_size(adj_x_ ? rx - 1 : rx - 2));
    out->AddDim(y.dim_size(adj_y_ ? ry - 2 : ry - 1));
    return OkStatus();
  }

  // `in` with elements of the output's type.
  template <typename U>
  static Status As(OpKernelContext* ctx, const Tensor& in, Tensor* same) {
    if constexpr (std::is_same_v<U, T>) {
      *same = in;
    } else {
      HR_RETURN_IF_ERROR(
          ctx->allocate_temp(DataTypeToEnum<T>::value, in.shape(), same));
      const U* from = in.data<U>();
      T* to = same->data<T>();
      for (int64_t i = 0; i < in.NumElements(); ++i) {
        to[i] = static_cast<T>(from[i]);
      }
    }
    return OkStatus();
  }

  bool adj_x_ = false, adj_y_ = false, broadcasts_ = true;
  ConstantMatrix constant_y_;
  Bfloat16Matrix bfloat16_y_;  // instead of the former, if it is on
};

class FusedBatchMatMulOp : public BatchMatMulOp<float, float, float> {
 public:
  explicit FusedBatchMatMulOp(OpKernelConstruction* ctx) : BatchMatMulOp(ctx) {
    OP_REQUIRES_OK(ctx, FusedOps::ReadOfProduct(*ctx, 2, &fused_));
  }

  void Compute(OpKernelContext* ctx) override {
    Epilogue epilogue = fused_.Begin();
    if (fused_.bias) epilogue.bias = &ctx->input(2);
    Multiply(ctx, epilogue);
  }

 private:
  FusedOps fused_;
};

template <typename T>
using SameTypeBatchMatMulOp = BatchMatMulOp<T, T, T>;

#define HR_REGISTER_ONE(OP, T)                                                \
  REGISTER_KERNEL_BUILDER(Name(OP).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          SameTypeBatchMatMulOp<T>);
#define HR_REGISTER_V3(A, B, OUT)                           \
  REGISTER_KERNEL_BUILDER(Name("BatchMatMulV3")             \
                              .Device(DEVICE_CPU)           \
                              .TypeConstraint<A>("Ta")      \
                              .TypeConstraint<B>("Tb")      \
                              .TypeConstraint<OUT>("Tout"), \
                          BatchMatMulOp<A, B, OUT>);
#define HR_REGISTER_V2(T) HR_REGISTER_ONE("BatchMatMulV2", T)
#define HR_REGISTER(T)                \
  HR_REGISTER_ONE("BatchMatMul", T)   \
  HR_REGISTER_ONE("BatchMatMulV2", T) \
  HR_REGISTER_V3(T, T, T)
HR_CALL_FLOAT_TYPES(HR_REGISTER)
HR_CALL_COMPLEX_TYPES(HR_REGISTER)
HR_REGISTER(int32_t)
HR_REGISTER(int64_t)
HR_CALL_UNSIGNED_INT_TYPES(HR_REGISTER_V2)
HR_REGISTER_V2(int16_t)
HR_REGISTER_V3(int16_t, int16_t, int16_t)
HR_REGISTER_V3(int8_t, int8_t, int32_t)
HR_REGISTER_V3(uint8_t, uint8_t, int32_t)
HR_REGISTER_V3(uint8_t, int8_t, int32_t)
HR_REGISTER_V3(int8_t, uint8_t, int32_t)
HR_REGISTER_V3(bfloat16, int8_t, bfloat16)
HR_REGISTER_V3(bfloat16, uint8_t, bfloat16)
HR_REGISTER_V3(int8_t, bfloat16, bfloat16)
HR_REGISTER_V3(uint8_t, bfloat16, bfloat16)
REGISTER_KERNEL_BUILDER(
    Name("_FusedBatchMatMul").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    FusedBatchMatMulOp);
#undef HR_REGISTER
#undef HR_REGISTER_V2
#undef HR_REGISTER_V3
#undef HR_REGISTER_ONE

}  // namespace headrace

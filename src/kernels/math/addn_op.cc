// AddN and AccumulateNV2: the sum of N tensors of one shape, left to right,
// with no broadcasting. The sum runs over blocks that stay in the cache, so
// that N inputs are read once and the result is written once.
#include <algorithm>
#include <cstring>

#include "kernels/lib/elementwise.h"
#include "kernels/lib/narrow_float.h"
#include "kernels/lib/variant_math.h"

namespace headrace {
namespace {

template <typename T>
void AddInto(const T* x, T* sum, int64_t n) {
  auto body = [=] {
    const T* a = x;
    T* b = sum;
    const int64_t count = n;
    for (int64_t i = 0; i < count; ++i) b[i] = WrapAdd(b[i], a[i]);
  };
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    RunSimd(body);
  } else {
    body();
  }
}

template <typename T>
class AddNOp : public OpKernel {
 public:
  explicit AddNOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    const TensorShape& shape = ctx->input(0).shape();
    const int count = ctx->num_inputs();
    for (int i = 1; i < count; ++i) {
      OP_REQUIRES(ctx, ctx->input(i).shape() == shape,
                  errors::InvalidArgument(
                      "Inputs to operation of type ", type_string(),
                      " must have the same size and shape.  Input 0: ",
                      shape.DebugString(), " != input ", i, ": ",
                      ctx->input(i).shape().DebugString()));
    }
    Tensor* sum = nullptr;
    if (count == 1) {
      ctx->set_output(0, ctx->input(0));
      return;
    }
    // Only the first input may become the output: the others are read later.
    OP_REQUIRES_OK(ctx,
                   ctx->forward_input_or_allocate_output({0}, 0, shape, &sum));
    const double cost = 0.1 * sizeof(T) * count;
    ctx->ParallelFor(shape.num_elements(), cost,
                     [&](int64_t begin, int64_t end) {
                       constexpr int64_t kBlock = 1024;
                       for (int64_t i = begin; i < end; i += kBlock) {
                         Block(ctx, i, std::min(kBlock, end - i), sum);
                       }
                     });
  }

 private:
  static void Block(OpKernelContext* ctx, int64_t at, int64_t n, Tensor* sum) {
    using C = ComputeType<T>;
    const int count = ctx->num_inputs();
    const auto in = [&](int i) {
      return static_cast<const T*>(ctx->input(i).raw_data()) + at;
    };
    T* out = static_cast<T*>(sum->raw_data()) + at;
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
      float wide[1024], total[1024];
      Widen(in(0), total, n);
      for (int i = 1; i < count; ++i) {
        Widen(in(i), wide, n);
        AddInto(wide, total, n);
      }
      Narrow(total, out, n);
    } else {
      if (in(0) != out)
        std::memcpy(static_cast<void*>(out), in(0), n * sizeof(T));
      for (int i = 1; i < count; ++i) {
        AddInto(reinterpret_cast<const C*>(in(i)), reinterpret_cast<C*>(out),
                n);
      }
    }
  }
};

// Lists, maps, optionals: a scalar of each.
class AddVariantsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      OP_REQUIRES(ctx, ctx->input(i).dims() == 0,
                  errors::InvalidArgument(type_string(),
                                          " of variants that are no scalars is "
                                          "not supported; inputs[",
                                          i, "] has shape ",
                                          ctx->input(i).shape().DebugString()));
    }
    Tensor sum = ctx->input(0);
    for (int i = 1; i < ctx->num_inputs(); ++i) {
      OP_REQUIRES_OK(ctx, AddTensors(sum, ctx->input(i), 0, &sum));
    }
    ctx->set_output(0, std::move(sum));
  }
};
REGISTER_KERNEL_BUILDER(
    Name("AddN").Device(DEVICE_CPU).TypeConstraint<Variant>("T"),
    AddVariantsOp);

#define HR_REGISTER(T)                                                    \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("AddN").Device(DEVICE_CPU).TypeConstraint<T>("T"), AddNOp<T>); \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("AccumulateNV2").Device(DEVICE_CPU).TypeConstraint<T>("T"),    \
      AddNOp<T>);
HR_CALL_NUMBER_TYPES(HR_REGISTER)
HR_CALL_QUANTIZED_TYPES(HR_REGISTER)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace

#include <utility>

#include "framework/tensor/borrowed_buffer.h"
#include "framework/tensor/variant.h"
#include "kernels/data/optional.h"
#include "kernels/lib/variant_math.h"

namespace headrace {
namespace {

constexpr char kTypeName[] = "tensorflow::data::Optional";

}  // namespace

Tensor OptionalTensor(OptionalValue value) {
  Tensor t(DT_VARIANT, TensorShape());
  t.scalar<Variant>() = Variant::Of<OptionalValue>(std::move(value), kTypeName);
  return t;
}

Status OptionalFromTensor(const Tensor& t, OptionalValue* out) {
  if (t.dtype() != DT_VARIANT || t.dims() != 0) {
    return errors::InvalidArgument(
        "optional must be a scalar of type variant, got a ",
        DataTypeString(t.dtype()), " tensor of shape ",
        t.shape().DebugString());
  }
  const auto* value = t.scalar<Variant>().Get<OptionalValue>();
  if (value == nullptr) {
    return errors::InvalidArgument("optional must hold an optional, got ",
                                   t.scalar<Variant>().is_empty()
                                       ? "an empty variant"
                                       : t.scalar<Variant>().TypeName());
  }
  *out = *value;
  return OkStatus();
}

namespace {

class OptionalNoneOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, OptionalTensor({}));
  }
};
REGISTER_KERNEL_BUILDER(Name("OptionalNone").Device(DEVICE_CPU),
                        OptionalNoneOp);

class OptionalFromValueOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    TensorTuple components;
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      components.push_back(ctx->input(i));
    }
    OP_REQUIRES_OK(ctx, OwnBytes(&components));
    ctx->set_output(0, OptionalTensor({std::make_shared<const TensorTuple>(
                           std::move(components))}));
  }
};
REGISTER_KERNEL_BUILDER(Name("OptionalFromValue").Device(DEVICE_CPU),
                        OptionalFromValueOp);

class OptionalHasValueOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    OptionalValue value;
    OP_REQUIRES_OK(ctx, OptionalFromTensor(ctx->input(0), &value));
    ctx->set_output(0, Tensor::Scalar<bool>(value.components != nullptr));
  }
};
REGISTER_KERNEL_BUILDER(Name("OptionalHasValue").Device(DEVICE_CPU),
                        OptionalHasValueOp);

class OptionalGetValueOp : public OpKernel {
 public:
  explicit OptionalGetValueOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadElementSpec(ctx, &spec_));
  }
  void Compute(OpKernelContext* ctx) override {
    OptionalValue value;
    OP_REQUIRES_OK(ctx, OptionalFromTensor(ctx->input(0), &value));
    OP_REQUIRES(
        ctx, value.components != nullptr,
        errors::InvalidArgument("The given optional does not have a value."));
    OP_REQUIRES_OK(ctx, spec_.CheckElement(*value.components, type_string()));
    for (size_t i = 0; i < value.components->size(); ++i) {
      ctx->set_output(static_cast<int>(i), (*value.components)[i]);
    }
  }

 private:
  ElementSpec spec_;
};
REGISTER_KERNEL_BUILDER(Name("OptionalGetValue").Device(DEVICE_CPU),
                        OptionalGetValueOp);

Status ZerosLikeOptional(const Variant& v, int depth, Variant* out) {
  const OptionalValue& value = *v.Get<OptionalValue>();
  *out = v;
  if (value.components == nullptr) return OkStatus();
  TensorTuple zeros(value.components->size());
  for (size_t i = 0; i < zeros.size(); ++i) {
    HR_RETURN_IF_ERROR(
        ZerosLikeTensor((*value.components)[i], depth, &zeros[i]));
  }
  *out = Variant::Of<OptionalValue>(
      {std::make_shared<const TensorTuple>(std::move(zeros))}, kTypeName);
  return OkStatus();
}

Status AddOptionals(const Variant& a, const Variant& b, int depth,
                    Variant* out) {
  const OptionalValue& x = *a.Get<OptionalValue>();
  const OptionalValue& y = *b.Get<OptionalValue>();
  const size_t n = x.components == nullptr ? 0 : x.components->size();
  if ((x.components == nullptr) != (y.components == nullptr) ||
      (n > 0 && y.components->size() != n)) {
    return errors::InvalidArgument(
        "Cannot add optionals because one has a value and the other does not, "
        "or other components");
  }
  *out = a;
  if (n == 0) return OkStatus();
  TensorTuple sum(n);
  for (size_t i = 0; i < n; ++i) {
    HR_RETURN_IF_ERROR(
        AddTensors((*x.components)[i], (*y.components)[i], depth, &sum[i]));
  }
  *out = Variant::Of<OptionalValue>(
      {std::make_shared<const TensorTuple>(std::move(sum))}, kTypeName);
  return OkStatus();
}

const VariantMathRegistrar optional_math(kTypeName,
                                         {ZerosLikeOptional, AddOptionals});

}  // namespace
}  // namespace headrace

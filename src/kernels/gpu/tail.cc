#include "kernels/gpu/tail.h"

#include "device/gpu/activation.h"

namespace headrace::gpu {
namespace {

template <typename T>
Status Apply(Stream* stream, const FusedTail& tail, const Tensor* scale,
             const Tensor* bias, const Tensor* wide_bias, const Tensor* addend,
             int64_t channels, int64_t inner, Tensor* y) {
  using D = Dev<T>;
  using C = ComputeType<D>;
  const auto wide = [](const Tensor* t) {
    return t == nullptr ? nullptr : static_cast<const C*>(t->raw_data());
  };
  const auto narrow = [](const Tensor* t) {
    return t == nullptr ? nullptr : static_cast<const D*>(t->raw_data());
  };
  D* const at = static_cast<D*>(y->raw_data());
  return ForEach(
      stream, y->NumElements(),
      BiasTail<D>{at, at, wide(scale), wide(wide_bias), narrow(bias),
                  narrow(addend), channels, inner, tail.tail, tail.alpha});
}

}  // namespace

Status FusedTail::Read(const OpKernelConstruction& ctx) {
  FusedOps fused;
  HR_RETURN_IF_ERROR(FusedOps::Read(ctx, 2, &fused));
  std::vector<std::string> ops;
  HR_RETURN_IF_ERROR(ctx.GetAttr("fused_ops", &ops));
  return Set(fused, ops);
}

Status FusedTail::ReadOfProduct(const OpKernelConstruction& ctx) {
  FusedOps fused;
  HR_RETURN_IF_ERROR(FusedOps::ReadOfProduct(ctx, 2, &fused));
  std::vector<std::string> ops;
  HR_RETURN_IF_ERROR(ctx.GetAttr("fused_ops", &ops));
  return Set(fused, ops);
}

Status FusedTail::Set(const FusedOps& fused,
                      const std::vector<std::string>& ops) {
  has_mul = fused.mul;
  has_bias = fused.bias;
  has_batch_norm = fused.batch_norm;
  has_add = fused.add;
  alpha = fused.leaky_alpha;
  epsilon = fused.epsilon;
  if (fused.rounds) {
    return errors::Unimplemented("fused_ops: ", ops.back(),
                                 " is not fused on a GPU");
  }
  if (fused.activation == Activation::kNone) return OkStatus();
  const std::string& name = ops.back();
  const FusedActivation* const known = FindFusedActivation(name);
  if (known == nullptr) {
    return errors::Unimplemented("fused_ops: the activation ", name,
                                 " is not fused on a GPU");
  }
  tail = known->tail;
  blas = known->activation;
  return OkStatus();
}

Status ApplyTailOnDevice(Stream* stream, const FusedTail& tail,
                         const Tensor* scale, const Tensor* bias,
                         const Tensor* wide_bias, const Tensor* addend,
                         int64_t channels, int64_t inner, Tensor* y) {
  switch (y->dtype()) {
#define HR_CASE(T)                                                          \
  case DataTypeToEnum<T>::value:                                            \
    return Apply<T>(stream, tail, scale, bias, wide_bias, addend, channels, \
                    inner, y);
    HR_GPU_FLOAT_TYPES(HR_CASE)
#undef HR_CASE
    default:
      return errors::Unimplemented("GPU: an epilogue of type ",
                                   DataTypeString(y->dtype()));
  }
}

}  // namespace headrace::gpu

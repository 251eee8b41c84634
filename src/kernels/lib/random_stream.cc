#include "kernels/lib/random_stream.h"

#include "kernels/lib/variable_access.h"

namespace headrace {

Status InitFromSeedAttrs(OpKernelConstruction* ctx, GuardedPhilox* stream) {
  int64_t seed = 0, seed2 = 0;
  HR_RETURN_IF_ERROR(ctx->GetAttr("seed", &seed));
  HR_RETURN_IF_ERROR(ctx->GetAttr("seed2", &seed2));
  stream->Init(seed, seed2);
  return OkStatus();
}

Status CheckRngAlgorithm(int64_t alg) {
  if (alg == kThreeFry) {
    return errors::Unimplemented(
        "the ThreeFry algorithm (alg 2) has no CPU "
        "kernel; use Philox (alg 1)");
  }
  if (alg != kPhilox && alg != kAutoSelect) {
    return errors::InvalidArgument("Unsupported algorithm id: ", alg);
  }
  return OkStatus();
}

Status CheckRngAlgorithm(const Tensor& alg) {
  if (alg.dims() != 0) {
    return errors::InvalidArgument("alg must be a scalar, got shape ",
                                   alg.shape().DebugString());
  }
  return CheckRngAlgorithm(alg.dtype() == DT_INT32 ? alg.scalar<int32_t>()
                                                   : alg.scalar<int64_t>());
}

Status StreamFromSeed(const Tensor& seed, Philox* out) {
  if (seed.dims() != 1 || seed.dim_size(0) != 2) {
    return errors::InvalidArgument("seed must have shape [2], got ",
                                   seed.shape().DebugString());
  }
  auto at = [&seed](int i) -> uint64_t {
    switch (seed.dtype()) {
      case DT_INT32:  // sign-extended
        return static_cast<uint64_t>(int64_t{seed.data<int32_t>()[i]});
      case DT_UINT32:
        return seed.data<uint32_t>()[i];
      case DT_UINT64:
        return seed.data<uint64_t>()[i];
      default:
        return static_cast<uint64_t>(seed.data<int64_t>()[i]);
    }
  };
  constexpr uint64_t kMixKey = uint64_t{0x02461e29} << 32 | 0x3ec8f720;
  const Philox::Block mix = Philox::FromState(kMixKey, at(0), at(1))();
  *out =
      Philox(mix[0] | uint64_t{mix[1]} << 32, mix[2] | uint64_t{mix[3]} << 32);
  return OkStatus();
}

Status StreamFromKey(const Tensor& key, const Tensor& counter,
                     const Tensor& alg, Philox* out) {
  HR_RETURN_IF_ERROR(CheckRngAlgorithm(alg));
  if (key.dims() != 1 || key.dim_size(0) < 1) {
    return errors::InvalidArgument("key must have shape [1], got ",
                                   key.shape().DebugString());
  }
  if (counter.dims() != 1 || counter.dim_size(0) < 2) {
    return errors::InvalidArgument("counter must have shape [2], got ",
                                   counter.shape().DebugString());
  }
  *out = Philox::FromState(key.data<uint64_t>()[0], counter.data<uint64_t>()[0],
                           counter.data<uint64_t>()[1]);
  return OkStatus();
}

Status ReserveFromVariable(OpKernelContext* ctx, int64_t before,
                           uint64_t blocks, Philox* out) {
  VariableWriter variable;
  HR_RETURN_IF_ERROR(variable.Lock(ctx, 0, 1, DT_INT64));
  const TensorShape& shape = variable.tensor(0)->shape();
  if (shape.dims() != 1) {
    return errors::InvalidArgument(
        "RNG state must have one and only one dimension, got shape ",
        shape.DebugString());
  }
  if (shape.dim_size(0) < before + 3) {
    return errors::InvalidArgument(
        "For the Philox algorithm, the size of state must be at least ",
        before + 3, "; got ", shape.dim_size(0));
  }
  if (before > 0) {
    HR_RETURN_IF_ERROR(
        CheckRngAlgorithm(variable.tensor(0)->data<int64_t>()[0]));
  }
  HR_RETURN_IF_ERROR(variable.PrepareToWrite(0));
  int64_t* state = variable.tensor(0)->data<int64_t>() + before;
  *out = Philox::FromState(static_cast<uint64_t>(state[2]),
                           static_cast<uint64_t>(state[0]),
                           static_cast<uint64_t>(state[1]));
  Philox after = *out;
  after.Skip(blocks);
  state[0] = static_cast<int64_t>(static_cast<uint64_t>(after.counter()));
  state[1] = static_cast<int64_t>(static_cast<uint64_t>(after.counter() >> 64));
  return OkStatus();
}

}  // namespace headrace

// Seed generators as resources, for datasets that share one.
#include "kernels/data/dataset.h"
#include "kernels/data/owned_handle.h"
#include "kernels/data/seeds.h"
#include "kernels/lib/handle_lookup.h"

namespace headrace {

Status ReadSeeds(const OpKernelContext& ctx, SeedPair* out) {
  int64_t seed = 0, seed2 = 0;
  HR_RETURN_IF_ERROR(ScalarInput(ctx, "seed", &seed));
  HR_RETURN_IF_ERROR(ScalarInput(ctx, "seed2", &seed2));
  if (seed == 0 && seed2 == 0) {
    *out = {RandomSeed64(), RandomSeed64()};
  } else {
    *out = {static_cast<uint64_t>(seed), static_cast<uint64_t>(seed2)};
  }
  return OkStatus();
}

Status GeneratorInput(const OpKernelContext& ctx,
                      RefPtr<SeedGenerator>* generator) {
  const Tensor* handle = nullptr;
  if (!ctx.input("seed_generator", &handle).ok()) return OkStatus();
  if (handle->dtype() != DT_RESOURCE || handle->NumElements() != 1) {
    return errors::InvalidArgument(
        "seed_generator must be a scalar resource handle, got shape ",
        handle->shape().DebugString());
  }
  const ResourceHandle& h = *handle->data<ResourceHandle>();
  if (IsDummyHandle(h)) return OkStatus();
  return LookupResource<SeedGenerator>(ctx.resource_manager(), h, generator);
}

namespace {

// Without an input "reshuffle", the generator makes new seeds each time.
class AnonymousSeedGeneratorOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    SeedPair seeds;
    bool reshuffle = true;
    OP_REQUIRES_OK(ctx, ReadSeeds(*ctx, &seeds));
    if (ctx->num_inputs() > 2) {
      OP_REQUIRES_OK(ctx, ScalarInput(*ctx, "reshuffle", &reshuffle));
    }
    SetHandleOutputs(ctx,
                     OwnedHandle(*ctx, "AnonymousSeedGenerator",
                                 MakeRef<SeedGenerator>(seeds, reshuffle)));
  }
};
REGISTER_KERNEL_BUILDER(Name("AnonymousSeedGenerator").Device(DEVICE_CPU),
                        AnonymousSeedGeneratorOp);
REGISTER_KERNEL_BUILDER(Name("AnonymousRandomSeedGenerator").Device(DEVICE_CPU),
                        AnonymousSeedGeneratorOp);
REGISTER_KERNEL_BUILDER(Name("DeleteSeedGenerator").Device(DEVICE_CPU),
                        DropHandleOp);
REGISTER_KERNEL_BUILDER(Name("DeleteRandomSeedGenerator").Device(DEVICE_CPU),
                        DropHandleOp);

class DummyHandleOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, DummyHandle(*ctx));
  }
};
REGISTER_KERNEL_BUILDER(Name("DummySeedGenerator").Device(DEVICE_CPU),
                        DummyHandleOp);
REGISTER_KERNEL_BUILDER(Name("DummyMemoryCache").Device(DEVICE_CPU),
                        DummyHandleOp);

}  // namespace
}  // namespace headrace

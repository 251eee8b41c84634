// Ops that make, save and ask a BoostedEnsemble.
#include <algorithm>

#include "kernels/lib/resource_op.h"
#include "kernels/trees/boosted_args.h"
#include "kernels/trees/boosted_ensemble.h"

namespace headrace {
namespace {

using Resource = BoostedEnsembleResource;

REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesEnsembleResourceHandleOp").Device(DEVICE_CPU),
    BoostedHandleOp<Resource>);
REGISTER_KERNEL_BUILDER(
    Name("IsBoostedTreesEnsembleInitialized").Device(DEVICE_CPU),
    BoostedIsInitializedOp<Resource>);

// The stamp and the trees of inputs 1 and 2.
Status ReadState(const OpKernelContext& ctx, int64_t* stamp,
                 BoostedEnsemble* trees) {
  const Tensor& bytes = ctx.input(2);
  HR_RETURN_IF_ERROR(BoostedScalar(ctx, 1, "stamp_token", stamp));
  HR_RETURN_IF_ERROR(CheckBoostedRank(bytes, "tree_ensemble_serialized", 0));
  return trees->Parse(absl::string_view(bytes.scalar<tstring>()));
}

class BoostedCreateEnsembleOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    int64_t stamp = 0;
    BoostedEnsemble trees;
    OP_REQUIRES_OK(ctx, ReadState(*ctx, &stamp, &trees));
    OP_REQUIRES_OK(
        ctx, MakeBoostedResource<Resource>(*ctx, std::move(trees), stamp));
  }
};
REGISTER_KERNEL_BUILDER(Name("BoostedTreesCreateEnsemble").Device(DEVICE_CPU),
                        BoostedCreateEnsembleOp);

class BoostedDeserializeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Resource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    int64_t stamp = 0;
    BoostedEnsemble trees;
    OP_REQUIRES_OK(ctx, ReadState(*ctx, &stamp, &trees));
    resource->Replace(std::move(trees), stamp);
  }
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesDeserializeEnsemble").Device(DEVICE_CPU),
    BoostedDeserializeOp);

class BoostedSerializeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Resource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    int64_t stamp = 0;
    const auto trees = resource->Read(&stamp);
    ctx->set_output(0, Tensor::Scalar<int64_t>(stamp));
    ctx->set_output(1, Tensor::Scalar<tstring>(tstring(trees->Serialize())));
  }
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesSerializeEnsemble").Device(DEVICE_CPU),
    BoostedSerializeOp);

class BoostedStatesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Resource> resource;
    OP_REQUIRES_OK(ctx, BoostedResource(*ctx, &resource));
    int64_t stamp = 0;
    const auto trees = resource->Read(&stamp);
    const int n = trees->num_trees();
    const int open = n > 0 && !trees->is_finalized(n - 1) ? 1 : 0;
    int32_t begin = 0, end = 1, layers = 0;
    if (n > 0) {
      trees->LastLayer(&begin, &end);
      layers = static_cast<int32_t>(trees->num_layers_attempted());
    }
    ctx->set_output(0, Tensor::Scalar<int64_t>(stamp));
    ctx->set_output(1, Tensor::Scalar<int32_t>(n));
    ctx->set_output(2, Tensor::Scalar<int32_t>(n - open));
    ctx->set_output(3, Tensor::Scalar<int32_t>(layers));
    Tensor* range = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(4, {2}, &range));
    range->data<int32_t>()[0] = begin;
    range->data<int32_t>()[1] = end;
  }
};
REGISTER_KERNEL_BUILDER(
    Name("BoostedTreesGetEnsembleStates").Device(DEVICE_CPU), BoostedStatesOp);

}  // namespace
}  // namespace headrace

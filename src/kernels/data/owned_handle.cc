#include "kernels/data/owned_handle.h"

namespace headrace {
namespace {
constexpr char kDummy[] = "dummy";
struct Deleter {};
}  // namespace

Tensor DummyHandle(const OpKernelContext& ctx) {
  Tensor t(DT_RESOURCE, TensorShape());
  ResourceHandle& h = t.scalar<ResourceHandle>();
  h.device = ctx.device()->name();
  h.maybe_type_name = kDummy;
  return t;
}

bool IsDummyHandle(const ResourceHandle& handle) {
  return handle.resource == nullptr && handle.maybe_type_name == kDummy;
}

void SetHandleOutputs(OpKernelContext* ctx, Tensor handle) {
  ctx->set_output(0, std::move(handle));
  if (ctx->num_outputs() < 2) return;
  Tensor deleter(DT_VARIANT, TensorShape());
  deleter.scalar<Variant>() =
      Variant::Of<Deleter>({}, "tensorflow::ResourceDeleter");
  ctx->set_output(1, std::move(deleter));
}

}  // namespace headrace

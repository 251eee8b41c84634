#include <limits>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/array/value_keys.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"
#include "kernels/lib/growing_table.h"

namespace headrace {
namespace {

// The elements of x that are not in y, in their order, duplicates and all.
class ListDiffOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    const Tensor& y = ctx->input(1);
    OP_REQUIRES(ctx, x.dims() == 1,
                errors::InvalidArgument("x should be a 1D vector."));
    OP_REQUIRES(ctx, y.dims() == 1,
                errors::InvalidArgument("y should be a 1D vector."));
    OP_REQUIRES(ctx,
                output_type(1) == DT_INT64 ||
                    x.NumElements() <= std::numeric_limits<int32_t>::max(),
                errors::InvalidArgument("x is too large for int32 indices"));
    std::vector<int64_t> kept;
    const bool supported =
        WithComparable(x.dtype(), [&]<typename T>(Element<T>) {
          const KeyOf<T> get_key(x.dtype());
          GrowingSet<typename KeyOf<T>::Key> seen;
          typename KeyOf<T>::Key key;
          for (int64_t i = 0; i < y.NumElements(); ++i) {
            if (get_key(ElementsOf<T>(y)[i], &key)) InsertIntoSet(&seen, key);
          }
          for (int64_t i = 0; i < x.NumElements(); ++i) {
            const bool comparable = get_key(ElementsOf<T>(x)[i], &key);
            if (!comparable || !seen.contains(key)) kept.push_back(i);
          }
        });
    OP_REQUIRES(ctx, supported,
                errors::InvalidArgument("ListDiff does not support ",
                                        DataTypeString(x.dtype())));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, {static_cast<int64_t>(kept.size())}, &out));
    for (size_t i = 0; i < kept.size(); ++i)
      CopyElements(x, kept[i], out, i, 1);
    OP_REQUIRES_OK(ctx, StoreIndices(ctx, 1, kept));
  }
};
REGISTER_KERNEL_BUILDER(Name("ListDiff").Device(DEVICE_CPU), ListDiffOp);

}  // namespace
}  // namespace headrace

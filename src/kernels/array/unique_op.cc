// Unique, UniqueV2 and their counts.
#include <string>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/array/value_keys.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"
#include "kernels/lib/growing_table.h"

namespace headrace {
namespace {

// Numbers n values by first appearance: class_of[i] is the number of value i,
// first[c] the index at which class c appears first.
struct Classes {
  std::vector<int64_t> class_of, first;

  template <typename T, typename GetKey>
  void Find(const T* values, int64_t n, const GetKey& get_key) {
    GrowingMap<typename GetKey::Key, int64_t> seen;
    class_of.resize(n);
    for (int64_t i = 0; i < n; ++i) {
      typename GetKey::Key key;
      const int64_t next = static_cast<int64_t>(first.size());
      int64_t c = next;
      if (get_key(values[i], &key))
        c = InsertIntoMap(&seen, false, key, next).first->second;
      if (c == next) first.push_back(i);
      class_of[i] = c;
    }
  }
};

// Bytes of a row that are equal exactly when its elements are, unless there is
// a NaN among them: then they hold the row's number and equal nothing.
template <typename T>
std::string RowKey(const T* row, int64_t n, int64_t number, DataType dtype) {
  const KeyOf<T> get_key(dtype);
  std::string key;
  for (int64_t i = 0; i < n; ++i) {
    typename KeyOf<T>::Key k;
    if (!get_key(row[i], &k)) return StrCat("nan", number);
    if constexpr (std::is_same_v<T, tstring>) {
      const uint64_t size = k.size();
      key.append(reinterpret_cast<const char*>(&size), sizeof(size));
      key.append(k.data(), k.size());
    } else {
      key.append(reinterpret_cast<const char*>(&k), sizeof(k));
    }
  }
  return StrCat("row", key);
}

class UniqueOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    int64_t axis = -1;
    if (ctx->num_inputs() > 1) {
      const Tensor& axis_in = ctx->input(1);
      OP_REQUIRES(ctx, axis_in.dims() == 1 && axis_in.NumElements() <= 1,
                  errors::InvalidArgument("axis expects a 1D vector of at most "
                                          "one element, got shape ",
                                          axis_in.shape().DebugString()));
      if (axis_in.NumElements() == 1) {
        OP_REQUIRES_OK(ctx, ReadInteger(axis_in, "axis", &axis));
        OP_REQUIRES(ctx, -x.dims() <= axis && axis < x.dims(),
                    errors::InvalidArgument("axis has to be between [",
                                            -x.dims(), ", ", x.dims(),
                                            "), "
                                            "got ",
                                            axis));
        if (axis < 0) axis += x.dims();
      }
    }
    if (axis < 0) {
      OP_REQUIRES(ctx, x.dims() == 1,
                  errors::InvalidArgument("unique expects a 1D vector."));
      axis = 0;
    }
    const int a = static_cast<int>(axis);
    const int64_t n = x.dim_size(a);
    OP_REQUIRES(
        ctx,
        output_type(1) == DT_INT64 || n <= std::numeric_limits<int32_t>::max(),
        errors::InvalidArgument("unique does not support input tensors "
                                "larger than ",
                                std::numeric_limits<int32_t>::max(),
                                " elements with int32 indices"));
    Classes classes;
    bool supported;
    const int64_t inner = x.shape().ProductOf(a + 1, x.dims());
    const int64_t outer = x.shape().ProductOf(0, a);
    if (x.dims() == 1) {
      supported = WithComparable(x.dtype(), [&]<typename T>(Element<T>) {
        classes.Find(ElementsOf<T>(x), n, KeyOf<T>(x.dtype()));
      });
    } else {
      // Slices become rows.
      Tensor rows;
      OP_REQUIRES_OK(ctx, ctx->allocate_temp(x.dtype(), x.shape(), &rows));
      BoxCopy copy;
      copy.AddDim(n, inner, outer * inner);
      copy.AddDim(outer, n * inner, inner);
      copy.AddDim(inner, 1, 1);
      copy.Run(ctx, x, 0, &rows, 0);
      supported = WithComparable(x.dtype(), [&]<typename T>(Element<T>) {
        std::vector<std::string> keys(n);
        const int64_t row = outer * inner;
        for (int64_t i = 0; i < n; ++i) {
          keys[i] = RowKey<T>(ElementsOf<T>(rows) + i * row, row, i, x.dtype());
        }
        classes.Find(keys.data(), n, KeyOf<std::string>());
      });
    }
    OP_REQUIRES(ctx, supported,
                errors::InvalidArgument("unique does not support ",
                                        DataTypeString(x.dtype())));
    const int64_t count = static_cast<int64_t>(classes.first.size());
    TensorShape shape = x.shape();
    shape.set_dim(a, count);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &y));
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t c = 0; c < count; ++c) {
        CopyElements(x, (o * n + classes.first[c]) * inner, y,
                     (o * count + c) * inner, inner);
      }
    }
    OP_REQUIRES_OK(ctx, StoreIndices(ctx, 1, classes.class_of));
    if (ctx->num_outputs() > 2) {
      std::vector<int64_t> counts(count, 0);
      for (int64_t c : classes.class_of) ++counts[c];
      OP_REQUIRES_OK(ctx, StoreIndices(ctx, 2, counts));
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("Unique").Device(DEVICE_CPU), UniqueOp);
REGISTER_KERNEL_BUILDER(Name("UniqueV2").Device(DEVICE_CPU), UniqueOp);
REGISTER_KERNEL_BUILDER(Name("UniqueWithCounts").Device(DEVICE_CPU), UniqueOp);
REGISTER_KERNEL_BUILDER(Name("UniqueWithCountsV2").Device(DEVICE_CPU),
                        UniqueOp);

}  // namespace
}  // namespace headrace

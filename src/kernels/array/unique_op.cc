// Unique, UniqueV2, their counts, and ListDiff. Values are compared through
// keys: unsigned integers of the element's size, where -0.0 has the key of 0.0
// and a NaN, equal to nothing, has none.
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"
#include "kernels/lib/growing_table.h"

namespace headrace {
namespace {

// What the bits of an element mean: for floating point the bits of infinity
// (all larger magnitudes are NaN), else 0.
uint64_t InfinityBits(DataType dtype) {
  switch (dtype) {
    case DT_HALF:
      return 0x7C00;
    case DT_BFLOAT16:
      return 0x7F80;
    case DT_FLOAT:
      return 0x7F800000;
    case DT_DOUBLE:
      return 0x7FF0000000000000;
    default:
      return 0;
  }
}

template <typename T>
struct KeyOf {
  using Key = T;
  explicit KeyOf(DataType dtype)
      : infinity(static_cast<T>(InfinityBits(dtype))) {}
  // False for a NaN.
  bool operator()(const T& v, Key* key) const {
    *key = v;
    if (infinity == 0) return true;
    // All bits but the sign's. Not ~T(0) >> 1: a narrow T becomes a signed int.
    const T magnitude = v & static_cast<T>(std::numeric_limits<T>::max() >> 1);
    if (magnitude == 0) *key = 0;
    return magnitude <= infinity;
  }
  T infinity;
};
template <>
struct KeyOf<tstring> {
  using Key = absl::string_view;
  explicit KeyOf(DataType) {}
  bool operator()(const tstring& v, Key* key) const {
    *key = v;
    return true;
  }
};
template <>
struct KeyOf<std::string> {
  using Key = absl::string_view;
  bool operator()(const std::string& v, Key* key) const {
    *key = v;
    return true;
  }
};

// Numbers n values by first appearance: class_of[i] is the number of value i,
// first[c] the index at which class c appears first.
struct Classes {
  std::vector<int64_t> class_of, first;

  template <typename T, typename GetKey>
  void Find(const T* values, int64_t n, const GetKey& get_key) {
    absl::flat_hash_map<typename GetKey::Key, int64_t> seen;
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

// Calls fn(Element<T>) for the types that can be compared; false for others.
template <typename F>
bool WithComparable(DataType dtype, const F& fn) {
  if (dtype == DT_STRING) {
    fn(Element<tstring>());
    return true;
  }
  switch (DataTypeSize(dtype)) {
    case 1:
      fn(Element<uint8_t>());
      return true;
    case 2:
      fn(Element<uint16_t>());
      return true;
    case 4:
      fn(Element<uint32_t>());
      return true;
    case 8:
      if (dtype == DT_COMPLEX64) return false;
      fn(Element<uint64_t>());
      return true;
    default:
      return false;
  }
}

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

Status StoreIndices(OpKernelContext* ctx, int output,
                    const std::vector<int64_t>& values) {
  Tensor* out = nullptr;
  HR_RETURN_IF_ERROR(ctx->allocate_output(
      output, {static_cast<int64_t>(values.size())}, &out));
  for (size_t i = 0; i < values.size(); ++i) {
    if (out->dtype() == DT_INT64) {
      out->data<int64_t>()[i] = values[i];
    } else {
      out->data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    }
  }
  return OkStatus();
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
          absl::flat_hash_set<typename KeyOf<T>::Key> seen;
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

// TensorMaps: a map from tensors to tensors as a value. Keys are equal if type,
// shape and elements are equal. An op that changes a map returns a new map. If
// the old one has no other owner, it is changed in place.
#include <map>
#include <string>
#include <utility>

#include "framework/tensor/borrowed_buffer.h"
#include "framework/tensor/variant.h"
#include "headrace/op_kernel.h"
#include "kernels/flow/variant_value.h"
#include "kernels/lib/element.h"
#include "kernels/lib/variant_math.h"

namespace headrace {
namespace {

struct TensorMap {
  struct Item {
    Tensor key, value;
  };
  std::map<std::string, Item> items;  // by KeyBytes
};
constexpr char kMapTypeName[] = "tensorflow::TensorMap";

// The bytes that identify a key: type, shape, elements.
Status KeyBytes(const Tensor& key, std::string* out) {
  *out = absl::StrCat(static_cast<int>(key.dtype()), ":",
                      key.shape().DebugString(), ":");
  if (key.dtype() == DT_STRING) {
    for (const tstring& s : key.span<tstring>()) {
      absl::StrAppend(out, s.size(), ":", absl::string_view(s));
    }
    return OkStatus();
  }
  if (!DataTypeCanUseMemcpy(key.dtype())) {
    return errors::InvalidArgument("a tensor of type ",
                                   DataTypeString(key.dtype()),
                                   " cannot be the key of a TensorMap");
  }
  absl::StrAppend(out, key.tensor_data());
  return OkStatus();
}

Status GetMap(OpKernelContext* ctx, const TensorMap** out) {
  const Tensor& t = ctx->input(0);
  if (t.dtype() != DT_VARIANT || t.NumElements() != 1) {
    return errors::InvalidArgument("Input map must be a scalar. Saw: ",
                                   t.shape().DebugString());
  }
  *out = t.data<Variant>()->Get<TensorMap>();
  if (*out != nullptr) return OkStatus();
  return errors::InvalidArgument("Input handle 0 is not a map. Saw: '",
                                 t.data<Variant>()->TypeName(), "'");
}

class EmptyTensorMapOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    Tensor t(DT_VARIANT, TensorShape());
    t.scalar<Variant>() = Variant::Of(TensorMap(), kMapTypeName);
    ctx->set_output(0, std::move(t));
  }
};
REGISTER_KERNEL_BUILDER(Name("EmptyTensorMap").Device(DEVICE_CPU),
                        EmptyTensorMapOp);

class TensorMapSizeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const TensorMap* map = nullptr;
    OP_REQUIRES_OK(ctx, GetMap(ctx, &map));
    ctx->set_output(
        0, Tensor::Scalar<int32_t>(static_cast<int32_t>(map->items.size())));
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorMapSize").Device(DEVICE_CPU),
                        TensorMapSizeOp);

// Ops on one key, input 1.
class KeyOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) final {
    const TensorMap* map = nullptr;
    std::string key;
    OP_REQUIRES_OK(ctx, GetMap(ctx, &map));
    OP_REQUIRES_OK(ctx, KeyBytes(ctx->input(1), &key));
    OP_REQUIRES_OK(ctx, Do(ctx, *map, std::move(key)));
  }

 protected:
  virtual Status Do(OpKernelContext* ctx, const TensorMap& map,
                    std::string key) = 0;
  // `what`: "lookup non-existent key"
  static Status NotThere(OpKernelContext* ctx, const char* what) {
    return errors::InvalidArgument("Trying to ", what,
                                   ". Could not find key \"",
                                   ctx->input(1).DebugString(16), "\".");
  }
};

class TensorMapInsertOp : public KeyOp {
 public:
  using KeyOp::KeyOp;

 protected:
  Status Do(OpKernelContext* ctx, const TensorMap&, std::string key) override {
    TensorMap* map = nullptr;
    HR_RETURN_IF_ERROR(ValueForWrite(ctx, &map));
    std::vector<Tensor> item = {ctx->input(1), ctx->input(2)};
    HR_RETURN_IF_ERROR(OwnBytes(&item));
    map->items[std::move(key)] = {std::move(item[0]), std::move(item[1])};
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorMapInsert").Device(DEVICE_CPU),
                        TensorMapInsertOp);

class TensorMapEraseOp : public KeyOp {
 public:
  using KeyOp::KeyOp;

 protected:
  Status Do(OpKernelContext* ctx, const TensorMap& old,
            std::string key) override {
    if (old.items.find(key) == old.items.end()) {
      return NotThere(ctx, "erase non-existent item");
    }
    TensorMap* map = nullptr;
    HR_RETURN_IF_ERROR(ValueForWrite(ctx, &map));
    map->items.erase(key);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorMapErase").Device(DEVICE_CPU),
                        TensorMapEraseOp);

class TensorMapHasKeyOp : public KeyOp {
 public:
  using KeyOp::KeyOp;

 protected:
  Status Do(OpKernelContext* ctx, const TensorMap& map,
            std::string key) override {
    ctx->set_output(
        0, Tensor::Scalar<bool>(map.items.find(key) != map.items.end()));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorMapHasKey").Device(DEVICE_CPU),
                        TensorMapHasKeyOp);

class TensorMapLookupOp : public KeyOp {
 public:
  using KeyOp::KeyOp;

 protected:
  Status Do(OpKernelContext* ctx, const TensorMap& map,
            std::string key) override {
    auto it = map.items.find(key);
    if (it == map.items.end()) return NotThere(ctx, "lookup non-existent key");
    const Tensor& value = it->second.value;
    if (value.dtype() != output_type(0)) {
      return errors::InvalidArgument(
          "Type mismatch: actual ", DataTypeString(value.dtype()),
          " vs. expect ", DataTypeString(output_type(0)));
    }
    ctx->set_output(0, value);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorMapLookup").Device(DEVICE_CPU),
                        TensorMapLookupOp);

class TensorMapStackKeysOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const TensorMap* map = nullptr;
    OP_REQUIRES_OK(ctx, GetMap(ctx, &map));
    OP_REQUIRES(ctx, !map->items.empty(),
                errors::InvalidArgument(
                    "TensorMapStackKeys cannot be called on empty map."));
    const TensorShape& one = map->items.begin()->second.key.shape();
    TensorShape shape({static_cast<int64_t>(map->items.size())});
    shape.AppendShape(one);
    Tensor* keys = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &keys));
    const int64_t n = one.num_elements();
    int64_t at = 0;
    for (const auto& [bytes, item] : map->items) {
      OP_REQUIRES(ctx, item.key.dtype() == output_type(0),
                  errors::InvalidArgument(
                      "Key does not match requested dtype.: wanted ",
                      DataTypeString(output_type(0)), ", got ",
                      DataTypeString(item.key.dtype())));
      OP_REQUIRES(ctx, item.key.shape() == one,
                  errors::InvalidArgument(
                      "Keys must all have the same shape: ", one.DebugString(),
                      " and ", item.key.shape().DebugString()));
      CopyElements(item.key, 0, keys, at, n);
      at += n;
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorMapStackKeys").Device(DEVICE_CPU),
                        TensorMapStackKeysOp);

Status ZerosLikeMap(const Variant& v, int depth, Variant* out) {
  TensorMap map = *v.Get<TensorMap>();
  for (auto& [bytes, item] : map.items) {
    Tensor zeros;
    HR_RETURN_IF_ERROR(ZerosLikeTensor(item.value, depth, &zeros));
    item.value = std::move(zeros);
  }
  *out = Variant::Of(std::move(map), kMapTypeName);
  return OkStatus();
}

// An entry that only one map has is taken unchanged.
Status AddMaps(const Variant& a, const Variant& b, int depth, Variant* out) {
  TensorMap sum = *a.Get<TensorMap>();
  for (const auto& [bytes, item] : b.Get<TensorMap>()->items) {
    const auto [at, added] = sum.items.emplace(bytes, item);
    if (added) continue;
    HR_RETURN_IF_ERROR(
        AddTensors(at->second.value, item.value, depth, &at->second.value));
  }
  *out = Variant::Of(std::move(sum), kMapTypeName);
  return OkStatus();
}

const VariantMathRegistrar map_math(kMapTypeName, {ZerosLikeMap, AddMaps});

}  // namespace
}  // namespace headrace

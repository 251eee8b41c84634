// ParseExample and ParseExampleV2: a batch of serialized Examples into, for
// each sparse key, a SparseTensor of whatever is there, and for each dense key
// a tensor of fixed shape, where a default fills in for an absent feature. A
// default of no elements means that the feature is required. V2 takes the keys
// as vectors and a scalar for a batch; its ragged outputs are refused.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "framework/op_kernel.h"
#include "headrace/example.pb.h"

namespace headrace {
namespace {

// The values of a feature, whatever their type.
struct Values {
  const pb::Feature* feature = nullptr;  // null: absent

  DataType type() const {
    switch (feature->kind_case()) {
      case pb::Feature::kBytesList:
        return DT_STRING;
      case pb::Feature::kFloatList:
        return DT_FLOAT;
      default:
        return DT_INT64;
    }
  }
  int64_t size() const {
    if (feature == nullptr) return 0;
    switch (type()) {
      case DT_STRING:
        return feature->bytes_list().value_size();
      case DT_FLOAT:
        return feature->float_list().value_size();
      default:
        return feature->int64_list().value_size();
    }
  }
  void CopyTo(Tensor* out, int64_t at) const {
    const int n = static_cast<int>(size());
    for (int i = 0; i < n; ++i) {
      switch (type()) {
        case DT_STRING:
          out->data<tstring>()[at + i] = feature->bytes_list().value(i);
          break;
        case DT_FLOAT:
          out->data<float>()[at + i] = feature->float_list().value(i);
          break;
        default:
          out->data<int64_t>()[at + i] = feature->int64_list().value(i);
      }
    }
  }
};

template <bool kV2>
class ParseExampleOp : public OpKernel {
 public:
  explicit ParseExampleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("sparse_types", &sparse_types_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tdense", &dense_types_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dense_shapes", &dense_shapes_));
    int64_t sparse = 0, dense = dense_types_.size();
    OP_REQUIRES_OK(ctx, ctx->GetAttr(kV2 ? "num_sparse" : "Nsparse", &sparse));
    if (!kV2) OP_REQUIRES_OK(ctx, ctx->GetAttr("Ndense", &dense));
    OP_REQUIRES(ctx,
                sparse == static_cast<int64_t>(sparse_types_.size()) &&
                    dense == static_cast<int64_t>(dense_types_.size()) &&
                    dense_types_.size() == dense_shapes_.size(),
                errors::InvalidArgument(
                    "numbers of keys, types and shapes differ: ", sparse,
                    " sparse keys, ", sparse_types_.size(), " types; ", dense,
                    " dense keys, ", dense_types_.size(), " types, ",
                    dense_shapes_.size(), " shapes"));
    for (const PartialTensorShape& s : dense_shapes_) {
      bool fixed = !s.unknown_rank();
      for (int i = 1; fixed && i < s.dims(); ++i) fixed = s.dim_size(i) >= 0;
      OP_REQUIRES(ctx, fixed,
                  errors::InvalidArgument(
                      "dense_shapes: only a first dimension may be unknown, "
                      "got ",
                      s.DebugString()));
    }
    if (kV2) {
      std::vector<DataType> ragged;
      OP_REQUIRES_OK(ctx, ctx->GetAttr("ragged_value_types", &ragged));
      OP_REQUIRES(ctx, ragged.empty(),
                  errors::Unimplemented("ragged features"));
    }
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& serialized = ctx->input(0);
    const Tensor& names = ctx->input(1);
    OP_REQUIRES(ctx, serialized.dims() == 1 || (kV2 && serialized.dims() == 0),
                errors::InvalidArgument("serialized must be a vector, got ",
                                        serialized.shape().DebugString()));
    const int64_t n = serialized.NumElements();
    OP_REQUIRES(
        ctx, names.NumElements() == 0 || names.NumElements() == n,
        errors::InvalidArgument("names must be empty or have ", n,
                                " elements, got ", names.NumElements()));
    OP_REQUIRES_OK(ctx, Parse(ctx, serialized, names, n));
  }

 private:
  static std::string NameOf(const Tensor& names, int64_t i) {
    return names.NumElements() == 0 ? "<unknown>"
                                    : std::string(names.data<tstring>()[i]);
  }

  Status Keys(OpKernelContext* ctx, std::vector<std::string>* sparse,
              std::vector<std::string>* dense, int* first_default) const {
    const size_t counts[] = {sparse_types_.size(), dense_types_.size()};
    std::vector<std::string>* const keys[] = {sparse, dense};
    int at = 2;
    for (int k = 0; k < 2; ++k) {
      if (kV2) {
        const Tensor& t = ctx->input(at++);
        if (t.NumElements() != static_cast<int64_t>(counts[k])) {
          return errors::InvalidArgument(
              k == 0 ? "sparse_keys" : "dense_keys", " must have ", counts[k],
              " elements, got shape ", t.shape().DebugString());
        }
        for (const tstring& s : t.span<tstring>()) keys[k]->emplace_back(s);
        continue;
      }
      for (size_t i = 0; i < counts[k]; ++i) {
        const Tensor& t = ctx->input(at++);
        if (t.NumElements() != 1) {
          return errors::InvalidArgument("a key must be a scalar, got shape ",
                                         t.shape().DebugString());
        }
        keys[k]->emplace_back(t.data<tstring>()[0]);
      }
    }
    *first_default = kV2 ? at + 1 : at;  // ragged_keys lie between
    return OkStatus();
  }

  Status Parse(OpKernelContext* ctx, const Tensor& serialized,
               const Tensor& names, int64_t n) const {
    std::vector<std::string> sparse_keys, dense_keys;
    int first_default = 0;
    HR_RETURN_IF_ERROR(Keys(ctx, &sparse_keys, &dense_keys, &first_default));
    std::vector<pb::Example> examples(n);
    for (int64_t i = 0; i < n; ++i) {
      const tstring& bytes = serialized.data<tstring>()[i];
      if (bytes.size() > INT32_MAX ||
          !examples[i].ParseFromArray(bytes.data(),
                                      static_cast<int>(bytes.size()))) {
        return errors::InvalidArgument("Could not parse example input, index ",
                                       i, " (Name: ", NameOf(names, i), ")");
      }
    }
    std::vector<Values> column(n);
    const auto select = [&](const std::string& key, DataType type) -> Status {
      for (int64_t i = 0; i < n; ++i) {
        const auto& features = examples[i].features().feature();
        const auto found = features.find(key);
        column[i].feature =
            found == features.end() ||
                    found->second.kind_case() == pb::Feature::KIND_NOT_SET
                ? nullptr
                : &found->second;
        if (column[i].feature != nullptr && column[i].type() != type) {
          return errors::InvalidArgument(
              "Name: ", NameOf(names, i), ", Feature: ", key,
              ".  Data types don't match. Expected type: ",
              DataTypeString(type), ", got ", DataTypeString(column[i].type()));
        }
      }
      return OkStatus();
    };
    const bool scalar = serialized.dims() == 0;
    const int sparse = static_cast<int>(sparse_keys.size());
    for (int k = 0; k < sparse; ++k) {
      HR_RETURN_IF_ERROR(select(sparse_keys[k], sparse_types_[k]));
      HR_RETURN_IF_ERROR(Sparse(ctx, column, scalar, k, sparse));
    }
    for (size_t k = 0; k < dense_keys.size(); ++k) {
      HR_RETURN_IF_ERROR(select(dense_keys[k], dense_types_[k]));
      HR_RETURN_IF_ERROR(Dense(ctx, column, scalar, static_cast<int>(k),
                               dense_keys[k], names,
                               ctx->input(first_default + static_cast<int>(k)),
                               3 * sparse + static_cast<int>(k)));
    }
    return OkStatus();
  }

  static Status Sparse(OpKernelContext* ctx, const std::vector<Values>& column,
                       bool scalar, int k, int num_sparse) {
    int64_t total = 0, longest = 0;
    for (const Values& v : column) {
      total += v.size();
      longest = std::max(longest, v.size());
    }
    const int64_t rank = scalar ? 1 : 2;
    Tensor *indices, *values, *shape;
    HR_RETURN_IF_ERROR(
        ctx->allocate_output(k, TensorShape({total, rank}), &indices));
    HR_RETURN_IF_ERROR(
        ctx->allocate_output(num_sparse + k, TensorShape({total}), &values));
    HR_RETURN_IF_ERROR(
        ctx->allocate_output(2 * num_sparse + k, TensorShape({rank}), &shape));
    int64_t at = 0;
    int64_t* index = indices->data<int64_t>();
    for (size_t i = 0; i < column.size(); ++i) {
      column[i].CopyTo(values, at);
      at += column[i].size();
      for (int64_t j = 0; j < column[i].size(); ++j) {
        if (!scalar) *index++ = static_cast<int64_t>(i);
        *index++ = j;
      }
    }
    int64_t* s = shape->data<int64_t>();
    if (!scalar) *s++ = static_cast<int64_t>(column.size());
    *s = longest;
    return OkStatus();
  }

  Status Dense(OpKernelContext* ctx, const std::vector<Values>& column,
               bool scalar, int k, const std::string& key, const Tensor& names,
               const Tensor& fallback, int output) const {
    const PartialTensorShape& wanted = dense_shapes_[k];
    const bool variable = wanted.dims() > 0 && wanted.dim_size(0) < 0;
    // Elements of a row, and for a variable one of its steps.
    int64_t stride = 1;
    for (int i = variable ? 1 : 0; i < wanted.dims(); ++i) {
      stride = MultiplyWithoutOverflow(stride, wanted.dim_size(i));
    }
    int64_t longest = 0;
    const int64_t n = static_cast<int64_t>(column.size());
    for (int64_t i = 0; i < n; ++i) {
      const int64_t size = column[i].size();
      if (column[i].feature == nullptr) {
        if (variable || fallback.NumElements() > 0 || stride == 0) continue;
        return errors::InvalidArgument(
            "Name: ", NameOf(names, i), ", Feature: ", key,
            " (data type: ", DataTypeString(dense_types_[k]),
            ") is required but could not be found.");
      }
      if (variable ? stride <= 0 || size % stride != 0 : size != stride) {
        return errors::InvalidArgument(
            "Name: ", NameOf(names, i), ", Key: ", key, ", Index: ", i,
            ".  Number of ", DataTypeString(dense_types_[k]),
            " values != expected.  values size: ", size,
            " but output shape: ", wanted.DebugString());
      }
      longest = std::max(longest, size);
    }
    const int64_t row = variable ? longest : stride;
    if (!variable && fallback.NumElements() > 0 &&
        fallback.NumElements() != row) {
      return errors::InvalidArgument("dense_defaults[", k, "] has shape ",
                                     fallback.shape().DebugString(),
                                     ", wanted ", wanted.DebugString());
    }
    if (variable && fallback.NumElements() > 1) {
      return errors::InvalidArgument(
          "dense_defaults[", k,
          "] pads a feature of variable length: wanted "
          "one element, got shape ",
          fallback.shape().DebugString());
    }
    TensorShape shape;
    if (!scalar) shape.AddDim(n);
    for (int i = 0; i < wanted.dims(); ++i) {
      shape.AddDim(i == 0 && variable ? longest / std::max<int64_t>(1, stride)
                                      : wanted.dim_size(i));
    }
    Tensor* out = nullptr;
    HR_RETURN_IF_ERROR(ctx->allocate_output(output, shape, &out));
    if (variable && DataTypeCanUseMemcpy(out->dtype()) &&
        out->TotalBytes() > 0) {
      std::memset(out->raw_data(), 0, out->TotalBytes());
    }
    for (int64_t i = 0; i < n; ++i) {
      column[i].CopyTo(out, i * row);
      if (variable && fallback.NumElements() == 1) {
        for (int64_t j = column[i].size(); j < row; ++j) {
          CopyElements(fallback, 0, out, i * row + j, 1);
        }
      } else if (!variable && column[i].feature == nullptr && row > 0) {
        CopyElements(fallback, 0, out, i * row, row);
      }
    }
    return OkStatus();
  }

  std::vector<DataType> sparse_types_, dense_types_;
  std::vector<PartialTensorShape> dense_shapes_;
};

REGISTER_KERNEL_BUILDER(Name("ParseExample").Device(DEVICE_CPU),
                        ParseExampleOp<false>);
REGISTER_KERNEL_BUILDER(Name("ParseExampleV2").Device(DEVICE_CPU),
                        ParseExampleOp<true>);

}  // namespace
}  // namespace headrace

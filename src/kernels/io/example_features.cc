#include "kernels/io/example_features.h"

#include <algorithm>

#include "kernels/lib/element.h"

namespace headrace {

DataType FeatureValues::type() const {
  switch (feature_->kind_case()) {
    case pb::Feature::kBytesList:
      return DT_STRING;
    case pb::Feature::kFloatList:
      return DT_FLOAT;
    default:
      return DT_INT64;
  }
}

int64_t FeatureValues::size() const {
  if (feature_ == nullptr) return 0;
  switch (type()) {
    case DT_STRING:
      return feature_->bytes_list().value_size();
    case DT_FLOAT:
      return feature_->float_list().value_size();
    default:
      return feature_->int64_list().value_size();
  }
}

void FeatureValues::CopyTo(Tensor* out, int64_t at) const {
  if (feature_ == nullptr) return;
  switch (type()) {
    case DT_STRING:
      std::copy(feature_->bytes_list().value().begin(),
                feature_->bytes_list().value().end(),
                out->data<tstring>() + at);
      break;
    case DT_FLOAT:
      std::copy(feature_->float_list().value().begin(),
                feature_->float_list().value().end(), out->data<float>() + at);
      break;
    default:
      std::copy(feature_->int64_list().value().begin(),
                feature_->int64_list().value().end(),
                out->data<int64_t>() + at);
  }
}

std::string ExampleName(const Tensor& names, int64_t i) {
  return i < names.NumElements() ? std::string(names.data<tstring>()[i])
                                 : "<unknown>";
}

Status SelectColumn(const std::vector<const pb::Features*>& examples,
                    const std::string& key, DataType dtype, const Tensor& names,
                    FeatureColumn* column) {
  column->assign(examples.size(), FeatureValues());
  for (size_t i = 0; i < examples.size(); ++i) {
    const auto& features = examples[i]->feature();
    const auto found = features.find(key);
    if (found == features.end()) continue;
    const FeatureValues values(found->second);
    if (values.present() && values.type() != dtype) {
      return errors::InvalidArgument(
          "Name: ", ExampleName(names, static_cast<int64_t>(i)),
          ", Feature: ", key,
          ".  Data types don't match. Expected type: ", DataTypeString(dtype),
          ", got ", DataTypeString(values.type()));
    }
    (*column)[i] = values;
  }
  return OkStatus();
}

Status ReadKeys(const Tensor& t, absl::string_view name, size_t count,
                std::vector<std::string>* keys) {
  if (t.NumElements() != static_cast<int64_t>(count)) {
    return errors::InvalidArgument(name, " must have ", count,
                                   " elements, got shape ",
                                   t.shape().DebugString());
  }
  keys->clear();
  for (const tstring& s : t.span<tstring>()) keys->emplace_back(s);
  return OkStatus();
}

Status CheckSerialized(const Tensor& serialized, const Tensor& names,
                       absl::string_view names_arg, ExampleForm form) {
  const bool single = form == ExampleForm::kSingle;
  const bool fits = serialized.dims() == 0 ? form != ExampleForm::kV1
                                           : serialized.dims() == 1 && !single;
  if (!fits) {
    return errors::InvalidArgument("serialized must be a ",
                                   single ? "scalar" : "vector", ", got shape ",
                                   serialized.shape().DebugString());
  }
  const int64_t n = serialized.NumElements();
  if (names.NumElements() == 0 || names.NumElements() == n) return OkStatus();
  return errors::InvalidArgument(names_arg, " must be empty or have ", n,
                                 " elements, got ", names.NumElements());
}

Status SparseColumn(MakeOutput make, const FeatureColumn& column, bool scalar,
                    int indices_output, int values_output, int shape_output) {
  int64_t total = 0, longest = 0;
  for (const FeatureValues& v : column) {
    total += v.size();
    longest = std::max(longest, v.size());
  }
  const int64_t rank = scalar ? 1 : 2;
  Tensor *indices, *values, *shape;
  HR_RETURN_IF_ERROR(
      make(indices_output, TensorShape({total, rank}), &indices));
  HR_RETURN_IF_ERROR(make(values_output, TensorShape({total}), &values));
  HR_RETURN_IF_ERROR(make(shape_output, TensorShape({rank}), &shape));
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

Status CheckDenseShape(const PartialTensorShape& shape, absl::string_view who) {
  bool fixed = !shape.unknown_rank();
  for (int i = 1; fixed && i < shape.dims(); ++i)
    fixed = shape.dim_size(i) >= 0;
  if (fixed) return OkStatus();
  return errors::InvalidArgument(
      who, ": only a first dimension may be unknown, got ",
      shape.DebugString());
}

Status DenseColumn(MakeOutput make, const FeatureColumn& column, bool scalar,
                   const DenseFeature& feature, const Tensor& names,
                   int output) {
  const PartialTensorShape& wanted = feature.shape;
  const Tensor& fallback = feature.fallback;
  const bool variable = wanted.dims() > 0 && wanted.dim_size(0) < 0;
  // Elements of a row, or of a variable one's steps.
  int64_t stride = 1;
  for (int i = variable ? 1 : 0; i < wanted.dims(); ++i) {
    stride = MultiplyWithoutOverflow(stride, wanted.dim_size(i));
  }
  if (stride < 0) {
    return errors::InvalidArgument("Key: ", feature.key, ": the shape ",
                                   wanted.DebugString(), " overflows");
  }
  if (variable
          ? fallback.NumElements() > 1
          : fallback.NumElements() > 0 && fallback.NumElements() != stride) {
    return errors::InvalidArgument(
        "Key: ", feature.key, ": the default has shape ",
        fallback.shape().DebugString(), ", wanted ",
        variable ? "one element, to pad with" : wanted.DebugString());
  }
  int64_t longest = 0;
  const int64_t n = static_cast<int64_t>(column.size());
  for (int64_t i = 0; i < n; ++i) {
    const int64_t size = column[i].size();
    if (!column[i].present()) {
      if (variable || fallback.NumElements() > 0 || stride == 0) continue;
      return errors::InvalidArgument(
          "Name: ", ExampleName(names, i), ", Feature: ", feature.key,
          " (data type: ", DataTypeString(feature.dtype),
          ") is required but could not be found.");
    }
    if (variable ? stride == 0 || size % stride != 0 : size != stride) {
      return errors::InvalidArgument(
          "Name: ", ExampleName(names, i), ", Key: ", feature.key,
          ", Index: ", i, ".  Number of ", DataTypeString(feature.dtype),
          " values != expected.  values size: ", size,
          " but output shape: ", wanted.DebugString());
    }
    longest = std::max(longest, size);
  }
  const int64_t row = variable ? longest : stride;
  TensorShape shape;
  if (!scalar) shape.AddDim(n);
  for (int i = 0; i < wanted.dims(); ++i) {
    shape.AddDim(i == 0 && variable ? longest / std::max<int64_t>(1, stride)
                                    : wanted.dim_size(i));
  }
  Tensor* out = nullptr;
  HR_RETURN_IF_ERROR(make(output, shape, &out));
  if (variable) {
    if (fallback.NumElements() == 1) {
      FillElements(fallback, out, 0, out->NumElements());
    } else {
      ZeroElements(out);
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    if (column[i].present()) {
      column[i].CopyTo(out, i * row);
    } else if (!variable) {
      CopyElements(fallback, 0, out, i * row, row);
    }
  }
  return OkStatus();
}

Status SplitsOutput(MakeOutput make, const std::vector<int64_t>& lengths,
                    int output) {
  Tensor* splits = nullptr;
  const int64_t n = static_cast<int64_t>(lengths.size());
  HR_RETURN_IF_ERROR(make(output, TensorShape({n + 1}), &splits));
  int64_t sum = 0;
  for (int64_t i = 0; i <= n; ++i) {
    if (splits->dtype() == DT_INT64) {
      splits->data<int64_t>()[i] = sum;
    } else if (sum > INT32_MAX) {
      return errors::InvalidArgument("row splits: ", sum,
                                     " values are too many for int32");
    } else {
      splits->data<int32_t>()[i] = static_cast<int32_t>(sum);
    }
    if (i < n) sum += lengths[i];
  }
  return OkStatus();
}

Status RaggedColumn(MakeOutput make, const FeatureColumn& column, bool scalar,
                    int values_output, int splits_output) {
  std::vector<int64_t> lengths;
  int64_t total = 0;
  for (const FeatureValues& v : column) {
    lengths.push_back(v.size());
    total += v.size();
  }
  Tensor* values = nullptr;
  HR_RETURN_IF_ERROR(make(values_output, TensorShape({total}), &values));
  int64_t at = 0;
  for (const FeatureValues& v : column) {
    v.CopyTo(values, at);
    at += v.size();
  }
  if (!scalar) return SplitsOutput(make, lengths, splits_output);
  Tensor* splits = nullptr;
  return make(splits_output, TensorShape({0}), &splits);
}

Status ParseExamples(const Tensor& serialized, const Tensor& names,
                     const WantedFeatures& wanted, MakeOutput make) {
  const bool scalar = serialized.dims() == 0;
  const int64_t n = serialized.NumElements();
  std::vector<pb::Example> examples(n);
  std::vector<const pb::Features*> features(n);
  for (int64_t i = 0; i < n; ++i) {
    HR_RETURN_IF_ERROR(
        ParseMessage(serialized.data<tstring>()[i],
                     StrCat("example input, index ", i,
                            " (Name: ", ExampleName(names, i), ")"),
                     &examples[i]));
    features[i] = &examples[i].features();
  }
  FeatureColumn column;
  const int sparse = static_cast<int>(wanted.sparse_keys.size());
  const int dense = static_cast<int>(wanted.dense.size());
  const int ragged = static_cast<int>(wanted.ragged_keys.size());
  for (int k = 0; k < sparse; ++k) {
    HR_RETURN_IF_ERROR(SelectColumn(features, wanted.sparse_keys[k],
                                    wanted.sparse_types[k], names, &column));
    HR_RETURN_IF_ERROR(
        SparseColumn(make, column, scalar, k, sparse + k, 2 * sparse + k));
  }
  for (int k = 0; k < dense; ++k) {
    const DenseFeature& f = wanted.dense[k];
    HR_RETURN_IF_ERROR(SelectColumn(features, f.key, f.dtype, names, &column));
    HR_RETURN_IF_ERROR(
        DenseColumn(make, column, scalar, f, names, 3 * sparse + k));
  }
  for (int k = 0; k < ragged; ++k) {
    HR_RETURN_IF_ERROR(SelectColumn(features, wanted.ragged_keys[k],
                                    wanted.ragged_types[k], names, &column));
    const int values = 3 * sparse + dense + k;
    HR_RETURN_IF_ERROR(
        RaggedColumn(make, column, scalar, values, values + ragged));
  }
  return OkStatus();
}

}  // namespace headrace

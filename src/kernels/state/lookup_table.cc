#include "kernels/state/lookup_table.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/lib/element.h"
#include "kernels/lib/growing_table.h"

namespace headrace {

std::string LookupTable::DebugString() const {
  return absl::StrCat("table ", options_.name, " from ",
                      DataTypeString(options_.key_dtype), " to ",
                      DataTypeString(options_.value_dtype));
}

std::string LookupTable::KeyAt(const Tensor& keys, int64_t i,
                               int64_t elements) {
  if (keys.dtype() == DT_STRING) {
    const tstring* s = keys.data<tstring>() + i * elements;
    if (elements == 1) return std::string(s->data(), s->size());
    std::string key;  // lengths keep ("ab", "c") and ("a", "bc") apart
    for (int64_t k = 0; k < elements; ++k) {
      absl::StrAppend(&key, s[k].size(), ":",
                      absl::string_view(s[k].data(), s[k].size()));
    }
    return key;
  }
  const size_t bytes = DataTypeSize(keys.dtype()) * elements;
  return std::string(static_cast<const char*>(keys.raw_data()) + i * bytes,
                     bytes);
}

namespace {

// True if two rows of one type have equal elements.
bool SameElements(const Tensor& a, int64_t a_at, const Tensor& b, int64_t b_at,
                  int64_t n) {
  return LookupTable::KeyAt(a, a_at, n) == LookupTable::KeyAt(b, b_at, n);
}

}  // namespace

Status LookupTable::ValuesShape(const Tensor& keys, TensorShape* out) const {
  const int key_dims = options_.key_shape.dims();
  bool fits = keys.dims() >= key_dims;
  for (int i = 0; fits && i < key_dims; ++i) {
    fits = keys.dim_size(keys.dims() - key_dims + i) ==
           options_.key_shape.dim_size(i);
  }
  if (!fits) {
    return errors::InvalidArgument(
        "Input key shape must be a suffix-compatible with the table's key "
        "shape ",
        options_.key_shape.DebugString(), ", got ", keys.shape().DebugString());
  }
  *out = keys.shape();
  out->RemoveLastDims(key_dims);
  out->AppendShape(options_.value_shape);
  return OkStatus();
}

Status LookupTable::CheckTypes(const Tensor& keys, const Tensor* values) const {
  if (keys.dtype() != options_.key_dtype ||
      (values != nullptr && values->dtype() != options_.value_dtype)) {
    return errors::InvalidArgument(
        "Conflicting key/value dtypes: the ", DebugString(), " was given ",
        DataTypeString(keys.dtype()), " keys", values == nullptr ? "" : " and ",
        values == nullptr ? "" : DataTypeString(values->dtype()),
        values == nullptr ? "" : " values");
  }
  TensorShape want;
  HR_RETURN_IF_ERROR(ValuesShape(keys, &want));
  if (values != nullptr && values->shape() != want) {
    return errors::InvalidArgument("Expected shape ", want.DebugString(),
                                   " for value, got ",
                                   values->shape().DebugString());
  }
  return OkStatus();
}

Status LookupTable::CheckReady() const {
  if (!options_.immutable || initialized_) return OkStatus();
  return errors::FailedPrecondition("Table not initialized.");
}

Status LookupTable::InsertLocked(const Tensor& keys, const Tensor& values,
                                 bool once) {
  const int64_t key_size = options_.key_shape.num_elements();
  const int64_t value_size = options_.value_shape.num_elements();
  const int64_t n = key_size == 0 ? 0 : keys.NumElements() / key_size;
  for (int64_t i = 0; i < n; ++i) {
    std::string key = KeyAt(keys, i, key_size);
    for (const std::string& r : options_.reserved) {
      if (key == r) {
        return errors::InvalidArgument(
            "Using the empty_key or the deleted_key as a table key is not "
            "allowed");
      }
    }
    auto [it, added] = InsertIntoMap(&map_, true, std::move(key));
    if (!added && once) {
      if (!SameElements(it->second, 0, values, i, value_size)) {
        return errors::FailedPrecondition(
            "HashTable has different value for same key: key ",
            keys.dtype() == DT_STRING ? it->first : "number ",
            keys.dtype() == DT_STRING ? "" : absl::StrCat(i));
      }
      continue;
    }
    Tensor value;
    HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), values.dtype(),
                                        options_.value_shape, &value));
    CopyElements(values, i * value_size, &value, 0, value_size);
    it->second = std::move(value);
  }
  return OkStatus();
}

Status LookupTable::Initialize(const std::vector<Rows>& parts) {
  if (!options_.immutable) {
    return errors::InvalidArgument("the ", DebugString(),
                                   " is mutable and cannot be initialized");
  }
  for (const Rows& part : parts) {
    HR_RETURN_IF_ERROR(CheckTypes(part.keys, &part.values));
  }
  MutexLock lock(&mu_);
  if (initialized_) return OkStatus();
  for (const Rows& part : parts) {
    const Status s = InsertLocked(part.keys, part.values, /*once=*/true);
    if (!s.ok()) {
      map_.clear();
      return s;
    }
  }
  initialized_ = true;
  return OkStatus();
}

bool LookupTable::is_initialized() {
  MutexLock lock(&mu_);
  return initialized_;
}

Status LookupTable::Insert(const Tensor& keys, const Tensor& values) {
  if (options_.immutable) {
    return errors::Unimplemented("the ", DebugString(), " takes no insertions");
  }
  HR_RETURN_IF_ERROR(CheckTypes(keys, &values));
  MutexLock lock(&mu_);
  return InsertLocked(keys, values, /*once=*/false);
}

Status LookupTable::Import(const Tensor& keys, const Tensor& values) {
  if (options_.immutable) return Initialize(keys, values);
  HR_RETURN_IF_ERROR(CheckTypes(keys, &values));
  MutexLock lock(&mu_);
  map_.clear();
  return InsertLocked(keys, values, /*once=*/false);
}

Status LookupTable::Remove(const Tensor& keys) {
  if (options_.immutable) {
    return errors::Unimplemented("the ", DebugString(), " takes no removals");
  }
  HR_RETURN_IF_ERROR(CheckTypes(keys, nullptr));
  const int64_t key_size = options_.key_shape.num_elements();
  const int64_t n = key_size == 0 ? 0 : keys.NumElements() / key_size;
  MutexLock lock(&mu_);
  for (int64_t i = 0; i < n; ++i) map_.erase(KeyAt(keys, i, key_size));
  return OkStatus();
}

Status LookupTable::Find(const Tensor& keys, const Tensor& default_value,
                         Tensor* values) {
  HR_RETURN_IF_ERROR(CheckTypes(keys, nullptr));
  const bool one_default = default_value.shape() == options_.value_shape;
  if (default_value.dtype() != options_.value_dtype ||
      (!one_default && default_value.shape() != values->shape())) {
    return errors::InvalidArgument(
        "Expected shape ", options_.value_shape.DebugString(), " or ",
        values->shape().DebugString(), " and type ",
        DataTypeString(options_.value_dtype), " for default value, got ",
        default_value.shape().DebugString(), " and ",
        DataTypeString(default_value.dtype()));
  }
  const int64_t key_size = options_.key_shape.num_elements();
  const int64_t value_size = options_.value_shape.num_elements();
  const int64_t n = key_size == 0 ? 0 : keys.NumElements() / key_size;
  MutexLock lock(&mu_);
  HR_RETURN_IF_ERROR(CheckReady());
  for (int64_t i = 0; i < n; ++i) {
    auto it = map_.find(KeyAt(keys, i, key_size));
    if (it != map_.end()) {
      CopyElements(it->second, 0, values, i * value_size, value_size);
    } else {
      CopyElements(default_value, one_default ? 0 : i * value_size, values,
                   i * value_size, value_size);
    }
  }
  return OkStatus();
}

Status LookupTable::Export(Tensor* keys, Tensor* values) {
  MutexLock lock(&mu_);
  HR_RETURN_IF_ERROR(CheckReady());
  const int64_t n = static_cast<int64_t>(map_.size());
  TensorShape key_shape({n}), value_shape({n});
  key_shape.AppendShape(options_.key_shape);
  value_shape.AppendShape(options_.value_shape);
  HR_RETURN_IF_ERROR(
      Tensor::Allocate(CpuAllocator(), options_.key_dtype, key_shape, keys));
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), options_.value_dtype,
                                      value_shape, values));
  const int64_t value_size = options_.value_shape.num_elements();
  int64_t i = 0;
  for (const auto& [key, value] : map_) {
    if (keys->dtype() == DT_STRING) {
      keys->data<tstring>()[i] = tstring(key);  // string keys are scalars
    } else {
      std::memcpy(static_cast<char*>(keys->raw_data()) + i * key.size(),
                  key.data(), key.size());
    }
    CopyElements(value, 0, values, i * value_size, value_size);
    ++i;
  }
  return OkStatus();
}

int64_t LookupTable::size() {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(map_.size());
}

}  // namespace headrace

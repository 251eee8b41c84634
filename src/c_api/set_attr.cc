// TF_SetAttr...: values of attributes while a node is described. Whether the op
// has such an attribute, and of that kind, is checked by TF_FinishOperation.
#include <algorithm>
#include <new>

#include "base/exceptions.h"
#include "c_api/internal.h"
#include "framework/op/tensor_proto.h"

using headrace::AttrValue;
using headrace::DataType;
using headrace::NameAttrList;
using headrace::OkStatus;
using headrace::PartialTensorShape;
using headrace::Status;
using headrace::Tensor;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

namespace {

// `s` with the attr named. Does not throw.
Status Named(const char* attr, const Status& s) {
  try {
    return Status(s.code(),
                  absl::StrCat("attr '", Text(attr), "': ", s.message()));
  } catch (const std::bad_alloc&) {
    return s;
  }
}

// Records `s`, with the attr named, for TF_FinishOperation. Does not throw.
void Fail(TF_OperationDescription* desc, const char* attr, const Status& s) {
  if (desc->error.ok()) desc->error = Named(attr, s);
}

constexpr char kClass[] = "_class";

// A list "_class" sets the colocation and replaces the previous one.
bool SetsColocation(TF_OperationDescription* desc, absl::string_view attr,
                    const AttrValue& value) {
  const bool is_empty = value.Is<AttrValue::EmptyList>();
  const auto* list = value.GetList<std::string>();
  if (attr != kClass || (list == nullptr && !is_empty)) return false;
  desc->colocation.clear();
  if (list != nullptr) desc->colocation.insert(list->begin(), list->end());
  return true;
}

void SetValue(TF_OperationDescription* desc, const char* attr,
              AttrValue value) {
  if (desc == nullptr || SetsColocation(desc, Text(attr), value)) return;
  const AttrValue* old = desc->def.attrs.Find(Text(attr));
  if (old != nullptr) {
    if (*old != value && desc->error.ok()) {
      desc->error = errors::InvalidArgument(
          "Inconsistent values for attr '", Text(attr), "' ",
          old->DebugString(), " vs. ", value.DebugString());
    }
    return;
  }
  desc->def.attrs.Set(Text(attr), std::move(value));
}

// True if there is an array of n elements to read; else it is an error.
bool CheckArray(TF_OperationDescription* desc, const char* attr,
                const void* values, int n) {
  if (desc == nullptr) return false;
  if (n >= 0 && (values != nullptr || n == 0)) return true;
  Fail(desc, attr,
       errors::InvalidArgument("a list of ", n, " values at ",
                               values == nullptr ? "NULL" : "an address"));
  return false;
}

std::string Bytes(const void* data, size_t length) {
  return data == nullptr ? std::string()
                         : std::string(static_cast<const char*>(data), length);
}

Status CheckType(TF_DataType t) {
  if (headrace::IsValidDataType(t)) return OkStatus();
  return errors::InvalidArgument("data type ", static_cast<int>(t),
                                 " is not supported");
}

// As in TensorFlow any negative size of an attr's shape is an unknown one.
Status ShapeOfDims(const int64_t* dims, int num_dims, PartialTensorShape* out) {
  if (dims == nullptr || num_dims < 0) return MakeShape(dims, num_dims, out);
  absl::InlinedVector<int64_t, 8> sizes(dims, dims + num_dims);
  for (int64_t& d : sizes) d = std::max<int64_t>(d, -1);
  return MakeShape(sizes.data(), num_dims, out);
}

Status ShapeOfProto(const void* proto, size_t length, PartialTensorShape* out) {
  pb::TensorShapeProto shape;
  HR_RETURN_IF_ERROR(ParseProto("shape", proto, length, &shape));
  for (auto& d : *shape.mutable_dim()) {
    if (d.size() < -1) d.set_size(-1);
  }
  return headrace::ShapeFromProto(shape, out);
}

// The client may write to its tensor afterwards; the node's must not change.
Status CopyTensor(const TF_Tensor* t, Tensor* out) {
  if (t == nullptr) return errors::InvalidArgument("the tensor is NULL");
  Tensor value;
  HR_RETURN_IF_ERROR(ReadTensor(*t, &value));
  return value.DeepCopyTo(out);
}

// An error goes to `status`, and the description stays as it was; without a
// status TF_FinishOperation reports it.
void Report(TF_OperationDescription* desc, const char* attr, const Status& s,
            TF_Status* status) {
  if (s.ok()) {
    SetOk(status);
  } else if (status != nullptr) {
    Set(status, Named(attr, s));
  } else {
    Fail(desc, attr, s);
  }
}

// Sets the attr to what `compute` makes, or reports the error; so, too, if
// there is no memory for the value. `status` may be null.
template <typename T, typename F>
void SetComputed(TF_OperationDescription* desc, const char* attr,
                 TF_Status* status, const F& compute) {
  const Status s = headrace::CatchExceptions([&]() -> Status {
    T value{};
    HR_RETURN_IF_ERROR(compute(&value));
    SetValue(desc, attr, std::move(value));
    return OkStatus();
  });
  Report(desc, attr, s, status);
}

template <typename T>
void SetScalar(TF_OperationDescription* desc, const char* attr, T value) {
  if (desc == nullptr) return;
  SetComputed<T>(desc, attr, nullptr, [&](T* out) {
    *out = value;
    return OkStatus();
  });
}

// A list of n elements, the i-th made by compute_one(i, element).
template <typename T, typename F>
void SetEach(TF_OperationDescription* desc, const char* attr, int n,
             TF_Status* status, const F& compute_one) {
  SetComputed<std::vector<T>>(
      desc, attr, status, [&](std::vector<T>* list) -> Status {
        list->resize(n);
        for (int i = 0; i < n; ++i) {
          HR_RETURN_IF_ERROR(compute_one(i, &(*list)[i]));
        }
        return OkStatus();
      });
}

template <typename T, typename In>
void SetList(TF_OperationDescription* desc, const char* attr, const In* values,
             int n) {
  if (!CheckArray(desc, attr, values, n)) return;
  SetComputed<std::vector<T>>(desc, attr, nullptr, [&](std::vector<T>* list) {
    list->assign(values, values + n);
    return OkStatus();
  });
}

void SetNullDescription(TF_Status* status) {
  Set(status, errors::InvalidArgument("the operation description is NULL"));
}

}  // namespace

void TF_SetAttrString(TF_OperationDescription* desc, const char* attr_name,
                      const void* value, size_t length) {
  if (desc == nullptr) return;
  SetComputed<std::string>(desc, attr_name, nullptr, [&](std::string* out) {
    *out = Bytes(value, length);
    return OkStatus();
  });
}

void TF_SetAttrStringList(TF_OperationDescription* desc, const char* attr_name,
                          const void* const* values, const size_t* lengths,
                          int num_values) {
  if (!CheckArray(desc, attr_name, values, num_values) ||
      !CheckArray(desc, attr_name, lengths, num_values)) {
    return;
  }
  SetEach<std::string>(desc, attr_name, num_values, nullptr,
                       [&](int i, std::string* out) {
                         *out = Bytes(values[i], lengths[i]);
                         return OkStatus();
                       });
}

void TF_SetAttrInt(TF_OperationDescription* desc, const char* attr_name,
                   int64_t value) {
  SetScalar(desc, attr_name, value);
}

void TF_SetAttrIntList(TF_OperationDescription* desc, const char* attr_name,
                       const int64_t* values, int num_values) {
  SetList<int64_t>(desc, attr_name, values, num_values);
}

void TF_SetAttrFloat(TF_OperationDescription* desc, const char* attr_name,
                     float value) {
  SetScalar(desc, attr_name, value);
}

void TF_SetAttrFloatList(TF_OperationDescription* desc, const char* attr_name,
                         const float* values, int num_values) {
  SetList<float>(desc, attr_name, values, num_values);
}

void TF_SetAttrBool(TF_OperationDescription* desc, const char* attr_name,
                    unsigned char value) {
  SetScalar(desc, attr_name, value != 0);
}

void TF_SetAttrBoolList(TF_OperationDescription* desc, const char* attr_name,
                        const unsigned char* values, int num_values) {
  SetList<bool>(desc, attr_name, values, num_values);
}

void TF_SetAttrType(TF_OperationDescription* desc, const char* attr_name,
                    TF_DataType value) {
  if (desc == nullptr) return;
  SetComputed<DataType>(desc, attr_name, nullptr, [&](DataType* out) {
    *out = ToDataType(value);
    return CheckType(value);
  });
}

void TF_SetAttrTypeList(TF_OperationDescription* desc, const char* attr_name,
                        const TF_DataType* values, int num_values) {
  if (!CheckArray(desc, attr_name, values, num_values)) return;
  SetEach<DataType>(desc, attr_name, num_values, nullptr,
                    [&](int i, DataType* out) {
                      *out = ToDataType(values[i]);
                      return CheckType(values[i]);
                    });
}

void TF_SetAttrPlaceholder(TF_OperationDescription* desc, const char* attr_name,
                           const char* placeholder) {
  if (desc == nullptr) return;
  SetComputed<AttrValue::Placeholder>(
      desc, attr_name, nullptr, [&](AttrValue::Placeholder* out) {
        out->name = std::string(Text(placeholder));
        return OkStatus();
      });
}

void TF_SetAttrFuncName(TF_OperationDescription* desc, const char* attr_name,
                        const char* value, size_t length) {
  if (desc == nullptr) return;
  SetComputed<NameAttrList>(desc, attr_name, nullptr, [&](NameAttrList* out) {
    out->name = Bytes(value, length);
    return OkStatus();
  });
}

void TF_SetAttrShape(TF_OperationDescription* desc, const char* attr_name,
                     const int64_t* dims, int num_dims) {
  if (desc == nullptr) return;
  SetComputed<PartialTensorShape>(desc, attr_name, nullptr,
                                  [&](PartialTensorShape* out) {
                                    return ShapeOfDims(dims, num_dims, out);
                                  });
}

void TF_SetAttrShapeList(TF_OperationDescription* desc, const char* attr_name,
                         const int64_t* const* dims, const int* num_dims,
                         int num_shapes) {
  if (!CheckArray(desc, attr_name, dims, num_shapes) ||
      !CheckArray(desc, attr_name, num_dims, num_shapes)) {
    return;
  }
  SetEach<PartialTensorShape>(desc, attr_name, num_shapes, nullptr,
                              [&](int i, PartialTensorShape* out) {
                                return ShapeOfDims(dims[i], num_dims[i], out);
                              });
}

void TF_SetAttrTensorShapeProto(TF_OperationDescription* desc,
                                const char* attr_name, const void* proto,
                                size_t proto_len, TF_Status* status) {
  if (desc == nullptr) return SetNullDescription(status);
  SetComputed<PartialTensorShape>(desc, attr_name, status,
                                  [&](PartialTensorShape* out) {
                                    return ShapeOfProto(proto, proto_len, out);
                                  });
}

void TF_SetAttrTensorShapeProtoList(TF_OperationDescription* desc,
                                    const char* attr_name,
                                    const void* const* protos,
                                    const size_t* proto_lens, int num_shapes,
                                    TF_Status* status) {
  if (desc == nullptr) return SetNullDescription(status);
  if (!CheckArray(desc, attr_name, protos, num_shapes) ||
      !CheckArray(desc, attr_name, proto_lens, num_shapes)) {
    return Set(status, desc->error);
  }
  SetEach<PartialTensorShape>(
      desc, attr_name, num_shapes, status, [&](int i, PartialTensorShape* out) {
        return ShapeOfProto(protos[i], proto_lens[i], out);
      });
}

void TF_SetAttrTensor(TF_OperationDescription* desc, const char* attr_name,
                      TF_Tensor* value, TF_Status* status) {
  if (desc == nullptr) return SetNullDescription(status);
  SetComputed<Tensor>(desc, attr_name, status,
                      [&](Tensor* out) { return CopyTensor(value, out); });
}

void TF_SetAttrTensorList(TF_OperationDescription* desc, const char* attr_name,
                          TF_Tensor* const* values, int num_values,
                          TF_Status* status) {
  if (desc == nullptr) return SetNullDescription(status);
  if (!CheckArray(desc, attr_name, values, num_values)) {
    return Set(status, desc->error);
  }
  SetEach<Tensor>(desc, attr_name, num_values, status, [&](int i, Tensor* out) {
    return CopyTensor(values[i], out);
  });
}

void TF_SetAttrValueProto(TF_OperationDescription* desc, const char* attr_name,
                          const void* proto, size_t proto_len,
                          TF_Status* status) {
  if (desc == nullptr) return SetNullDescription(status);
  bool is_no_list = false;
  const Status s = headrace::CatchExceptions([&]() -> Status {
    pb::AttrValue parsed;
    AttrValue value;
    Status s = ParseProto("value", proto, proto_len, &parsed);
    if (s.ok() && Text(attr_name) == kClass && !parsed.has_list() &&
        parsed.value_case() != pb::AttrValue::VALUE_NOT_SET) {
      is_no_list = true;
      return OkStatus();
    }
    if (s.ok()) s = headrace::AttrValueFromProto(parsed, &value);
    HR_RETURN_IF_ERROR(s);
    SetValue(desc, attr_name, std::move(value));
    return OkStatus();
  });
  if (is_no_list) {  // TensorFlow's words, which name the attr already
    return Set(status, errors::InvalidArgument(
                           "Expected \"list\" field for \"_class\" attribute"));
  }
  Report(desc, attr_name, s, status);
}

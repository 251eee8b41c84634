// TF_SetAttr...: values of attributes while a node is described. Whether the op
// has such an attribute, and of that kind, is checked by TF_FinishOperation.
#include <algorithm>

#include "c_api/internal.h"
#include "framework/tensor_proto.h"

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

Status Named(const char* attr, const Status& s) {
  return Status(s.code(),
                absl::StrCat("attr '", Text(attr), "': ", s.message()));
}

// Records `s`, with the attr named, for TF_FinishOperation.
void Fail(TF_OperationDescription* desc, const char* attr, const Status& s) {
  if (desc->error.ok()) desc->error = Named(attr, s);
}

constexpr char kClass[] = "_class";

// "_class" as a list is colocation: it takes the place of what was said before.
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

template <typename T, typename In>
void SetList(TF_OperationDescription* desc, const char* attr, const In* values,
             int n) {
  if (!CheckArray(desc, attr, values, n)) return;
  std::vector<T> list(n);
  for (int i = 0; i < n; ++i) list[i] = static_cast<T>(values[i]);
  SetValue(desc, attr, std::move(list));
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

// Sets the attr if `s` is OK. An error goes to `status`, and the description
// stays as it was; without a status TF_FinishOperation reports it.
template <typename T>
void SetOrFail(TF_OperationDescription* desc, const char* attr, const Status& s,
               T value, TF_Status* status) {
  if (s.ok()) {
    SetValue(desc, attr, std::move(value));
    SetOk(status);
  } else if (status != nullptr) {
    Set(status, Named(attr, s));
  } else {
    Fail(desc, attr, s);
  }
}

void SetNullDescription(TF_Status* status) {
  Set(status, errors::InvalidArgument("the operation description is NULL"));
}

}  // namespace

void TF_SetAttrString(TF_OperationDescription* desc, const char* attr_name,
                      const void* value, size_t length) {
  SetValue(desc, attr_name, Bytes(value, length));
}

void TF_SetAttrStringList(TF_OperationDescription* desc, const char* attr_name,
                          const void* const* values, const size_t* lengths,
                          int num_values) {
  if (!CheckArray(desc, attr_name, values, num_values) ||
      !CheckArray(desc, attr_name, lengths, num_values)) {
    return;
  }
  std::vector<std::string> list(num_values);
  for (int i = 0; i < num_values; ++i) list[i] = Bytes(values[i], lengths[i]);
  SetValue(desc, attr_name, std::move(list));
}

void TF_SetAttrInt(TF_OperationDescription* desc, const char* attr_name,
                   int64_t value) {
  SetValue(desc, attr_name, value);
}

void TF_SetAttrIntList(TF_OperationDescription* desc, const char* attr_name,
                       const int64_t* values, int num_values) {
  SetList<int64_t>(desc, attr_name, values, num_values);
}

void TF_SetAttrFloat(TF_OperationDescription* desc, const char* attr_name,
                     float value) {
  SetValue(desc, attr_name, value);
}

void TF_SetAttrFloatList(TF_OperationDescription* desc, const char* attr_name,
                         const float* values, int num_values) {
  SetList<float>(desc, attr_name, values, num_values);
}

void TF_SetAttrBool(TF_OperationDescription* desc, const char* attr_name,
                    unsigned char value) {
  SetValue(desc, attr_name, value != 0);
}

void TF_SetAttrBoolList(TF_OperationDescription* desc, const char* attr_name,
                        const unsigned char* values, int num_values) {
  SetList<bool>(desc, attr_name, values, num_values);
}

void TF_SetAttrType(TF_OperationDescription* desc, const char* attr_name,
                    TF_DataType value) {
  if (desc == nullptr) return;
  SetOrFail(desc, attr_name, CheckType(value), ToDataType(value), nullptr);
}

void TF_SetAttrTypeList(TF_OperationDescription* desc, const char* attr_name,
                        const TF_DataType* values, int num_values) {
  if (!CheckArray(desc, attr_name, values, num_values)) return;
  std::vector<DataType> list(num_values);
  Status s;
  for (int i = 0; i < num_values; ++i) {
    s.Update(CheckType(values[i]));
    list[i] = ToDataType(values[i]);
  }
  SetOrFail(desc, attr_name, s, std::move(list), nullptr);
}

void TF_SetAttrPlaceholder(TF_OperationDescription* desc, const char* attr_name,
                           const char* placeholder) {
  SetValue(desc, attr_name,
           AttrValue::Placeholder{std::string(Text(placeholder))});
}

void TF_SetAttrFuncName(TF_OperationDescription* desc, const char* attr_name,
                        const char* value, size_t length) {
  SetValue(desc, attr_name, NameAttrList{Bytes(value, length), nullptr});
}

void TF_SetAttrShape(TF_OperationDescription* desc, const char* attr_name,
                     const int64_t* dims, int num_dims) {
  if (desc == nullptr) return;
  PartialTensorShape shape;
  const Status s = ShapeOfDims(dims, num_dims, &shape);
  SetOrFail(desc, attr_name, s, std::move(shape), nullptr);
}

void TF_SetAttrShapeList(TF_OperationDescription* desc, const char* attr_name,
                         const int64_t* const* dims, const int* num_dims,
                         int num_shapes) {
  if (!CheckArray(desc, attr_name, dims, num_shapes) ||
      !CheckArray(desc, attr_name, num_dims, num_shapes)) {
    return;
  }
  std::vector<PartialTensorShape> list(num_shapes);
  Status s;
  for (int i = 0; i < num_shapes; ++i) {
    s.Update(ShapeOfDims(dims[i], num_dims[i], &list[i]));
  }
  SetOrFail(desc, attr_name, s, std::move(list), nullptr);
}

void TF_SetAttrTensorShapeProto(TF_OperationDescription* desc,
                                const char* attr_name, const void* proto,
                                size_t proto_len, TF_Status* status) {
  if (desc == nullptr) return SetNullDescription(status);
  PartialTensorShape shape;
  const Status s = ShapeOfProto(proto, proto_len, &shape);
  SetOrFail(desc, attr_name, s, std::move(shape), status);
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
  std::vector<PartialTensorShape> list(num_shapes);
  Status s;
  for (int i = 0; i < num_shapes; ++i) {
    s.Update(ShapeOfProto(protos[i], proto_lens[i], &list[i]));
  }
  SetOrFail(desc, attr_name, s, std::move(list), status);
}

void TF_SetAttrTensor(TF_OperationDescription* desc, const char* attr_name,
                      TF_Tensor* value, TF_Status* status) {
  if (desc == nullptr) return SetNullDescription(status);
  Tensor copy;
  const Status s = CopyTensor(value, &copy);
  SetOrFail(desc, attr_name, s, std::move(copy), status);
}

void TF_SetAttrTensorList(TF_OperationDescription* desc, const char* attr_name,
                          TF_Tensor* const* values, int num_values,
                          TF_Status* status) {
  if (desc == nullptr) return SetNullDescription(status);
  if (!CheckArray(desc, attr_name, values, num_values)) {
    return Set(status, desc->error);
  }
  std::vector<Tensor> list(num_values);
  Status s;
  for (int i = 0; i < num_values; ++i) {
    s.Update(CopyTensor(values[i], &list[i]));
  }
  SetOrFail(desc, attr_name, s, std::move(list), status);
}

void TF_SetAttrValueProto(TF_OperationDescription* desc, const char* attr_name,
                          const void* proto, size_t proto_len,
                          TF_Status* status) {
  if (desc == nullptr) return SetNullDescription(status);
  pb::AttrValue parsed;
  AttrValue value;
  Status s = ParseProto("value", proto, proto_len, &parsed);
  if (s.ok() && Text(attr_name) == kClass && !parsed.has_list() &&
      parsed.value_case() != pb::AttrValue::VALUE_NOT_SET) {
    return Set(status, errors::InvalidArgument(
                           "Expected \"list\" field for \"_class\" attribute"));
  }
  if (s.ok()) s = headrace::AttrValueFromProto(parsed, &value);
  SetOrFail(desc, attr_name, s, std::move(value), status);
}

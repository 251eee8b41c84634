// TF_OpKernelConstruction: what the create function of a client's kernel sees
// of its node.
#include <algorithm>
#include <cstring>
#include <limits>

#include "c_api/internal.h"
#include "c_api/kernel_internal.h"
#include "framework/op/tensor_proto.h"

using headrace::AttrValue;
using headrace::DataType;
using headrace::NameAttrList;
using headrace::OkStatus;
using headrace::OpKernelConstruction;
using headrace::PartialTensorShape;
using headrace::Status;
using headrace::Tensor;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

namespace {

Status NoConstruction() {
  return errors::InvalidArgument(
      "the context of the kernel's construction is "
      "NULL");
}

// `out` is where the caller wants the value.
Status FindKernelAttr(TF_OpKernelConstruction* ctx, const char* attr,
                      const void* out, const AttrValue** value) {
  if (ctx == nullptr) return NoConstruction();
  if (out == nullptr) {
    return errors::InvalidArgument("attr '", Text(attr), "' of node '",
                                   ToCpp(ctx)->def().name,
                                   "': the place for its value is NULL");
  }
  *value = ToCpp(ctx)->def().attrs.Find(Text(attr));
  if (*value != nullptr) return OkStatus();
  return errors::NotFound("No attr named '", Text(attr),
                          "' in NodeDef: {{node ", ToCpp(ctx)->def().name,
                          "}}");
}

Status WrongAttrType(TF_OpKernelConstruction* ctx, const char* attr,
                     const AttrValue& v, const char* wanted) {
  return errors::InvalidArgument("attr '", Text(attr), "' of node '",
                                 ToCpp(ctx)->def().name, "' is a ",
                                 v.TypeName(), "; it was read as ", wanted);
}

template <typename T>
Status ReadKernelAttr(TF_OpKernelConstruction* ctx, const char* attr,
                      const char* wanted, const void* out, const T** value) {
  const AttrValue* v = nullptr;
  HR_RETURN_IF_ERROR(FindKernelAttr(ctx, attr, out, &v));
  *value = v->Get<T>();
  return *value == nullptr ? WrongAttrType(ctx, attr, *v, wanted) : OkStatus();
}

template <typename T>
Status ReadKernelAttrList(TF_OpKernelConstruction* ctx, const char* attr,
                          const char* wanted, const void* out, int max,
                          const std::vector<T>** value) {
  const AttrValue* v = nullptr;
  HR_RETURN_IF_ERROR(FindKernelAttr(ctx, attr, max == 0 ? ctx : out, &v));
  if (max < 0) {
    return errors::InvalidArgument("attr '", Text(attr), "' of node '",
                                   ToCpp(ctx)->def().name, "': room for ", max,
                                   " values");
  }
  *value = v->GetList<T>();
  return *value == nullptr ? WrongAttrType(ctx, attr, *v, wanted) : OkStatus();
}

template <typename T, typename Out>
void CopyKernelAttr(TF_OpKernelConstruction* ctx, const char* attr,
                    const char* wanted, Out* out, TF_Status* status) {
  const T* v = nullptr;
  const Status s = ReadKernelAttr(ctx, attr, wanted, out, &v);
  if (s.ok()) *out = static_cast<Out>(*v);
  Set(status, s);
}

template <typename T, typename Out>
void CopyKernelAttrList(TF_OpKernelConstruction* ctx, const char* attr,
                        const char* wanted, Out* out, int max,
                        TF_Status* status) {
  const std::vector<T>* list = nullptr;
  const Status s = ReadKernelAttrList(ctx, attr, wanted, out, max, &list);
  for (size_t i = 0; s.ok() && i < list->size() && i < static_cast<size_t>(max);
       ++i) {
    out[i] = static_cast<Out>((*list)[i]);
  }
  Set(status, s);
}

Status ToInt32(TF_OpKernelConstruction* ctx, const char* attr, int64_t v,
               int32_t* out) {
  if (v < std::numeric_limits<int32_t>::min() ||
      v > std::numeric_limits<int32_t>::max()) {
    return errors::InvalidArgument("Attr ", attr, " of node '",
                                   ToCpp(ctx)->def().name, "' has value ", v,
                                   " out of range for an int32");
  }
  *out = static_cast<int32_t>(v);
  return OkStatus();
}

Status CopyInt32s(TF_OpKernelConstruction* ctx, const char* attr, int32_t* out,
                  int max) {
  const std::vector<int64_t>* list = nullptr;
  HR_RETURN_IF_ERROR(
      ReadKernelAttrList(ctx, attr, "list(int)", out, max, &list));
  for (size_t i = 0; i < list->size() && i < static_cast<size_t>(max); ++i) {
    HR_RETURN_IF_ERROR(ToInt32(ctx, attr, (*list)[i], out + i));
  }
  return OkStatus();
}

Status CopyStrings(TF_OpKernelConstruction* ctx, const char* attr,
                   char** values, size_t* lengths, int max, void* storage,
                   size_t storage_size) {
  const std::vector<std::string>* list = nullptr;
  const void* const out =
      lengths == nullptr || storage == nullptr ? nullptr : values;
  HR_RETURN_IF_ERROR(
      ReadKernelAttrList(ctx, attr, "list(string)", out, max, &list));
  char* at = static_cast<char*>(storage);
  size_t left = storage_size;
  for (size_t i = 0; i < list->size() && i < static_cast<size_t>(max); ++i) {
    const std::string& s = (*list)[i];
    if (s.size() > left) {
      return errors::InvalidArgument("attr '", attr, "' of node '",
                                     ToCpp(ctx)->def().name, "': storage of ",
                                     storage_size, " bytes is too small");
    }
    values[i] = at;
    lengths[i] = s.size();
    if (!s.empty()) std::memcpy(at, s.data(), s.size());
    at += s.size();
    left -= s.size();
  }
  return OkStatus();
}

// A copy, which the client may write.
Status CopyKernelTensor(const Tensor& from, TF_Tensor** out) {
  Tensor copy;
  HR_RETURN_IF_ERROR(from.DeepCopyTo(&copy));
  return WrapTensor(std::move(copy), out);
}

Status SizeOfAttr(TF_OpKernelConstruction* ctx, const char* attr,
                  int32_t* list_size, int32_t* total_size) {
  const AttrValue* v = nullptr;
  HR_RETURN_IF_ERROR(FindKernelAttr(
      ctx, attr, total_size == nullptr ? nullptr : list_size, &v));
  int64_t elements = -1, total = -1;
  if (const auto* s = v->Get<std::string>()) {
    total = static_cast<int64_t>(s->size());
  } else if (const auto* shape = v->Get<PartialTensorShape>()) {
    total = shape->dims();
  } else if (v->IsList()) {
    std::visit(
        [&](const auto& list) {
          if constexpr (requires { list.size(); }) {
            elements = static_cast<int64_t>(list.size());
          } else {
            elements = 0;
          }
        },
        v->storage());
    if (const auto* strings = v->Get<std::vector<std::string>>()) {
      total = 0;
      for (const std::string& s : *strings) {
        total += static_cast<int64_t>(s.size());
      }
    } else if (const auto* shapes = v->Get<std::vector<PartialTensorShape>>()) {
      total = 0;
      for (const PartialTensorShape& s : *shapes) {
        total += std::max(s.dims(), 0);
      }
    }
  }
  *list_size = static_cast<int32_t>(elements);
  *total_size = static_cast<int32_t>(total);
  return OkStatus();
}

}  // namespace

void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction* ctx,
                                     TF_Status* status) {
  if (ctx != nullptr && status != nullptr) {
    ToCpp(ctx)->CtxFailure(status->status);
  }
}

TF_StringView TF_OpKernelConstruction_GetName(TF_OpKernelConstruction* ctx) {
  return ctx == nullptr ? TF_StringView{nullptr, 0}
                        : ViewOf(ToCpp(ctx)->def().name);
}

TF_Buffer* TF_OpKernelConstruction_GetNodeDef(TF_OpKernelConstruction* ctx,
                                              TF_Status* status) {
  if (ctx == nullptr) {
    Set(status, NoConstruction());
    return nullptr;
  }
  pb::NodeDef def;
  headrace::NodeDefToProto(ToCpp(ctx)->def(), &def);
  SetOk(status);
  return NewBuffer(def);
}

bool TF_OpKernelConstruction_HasAttr(TF_OpKernelConstruction* ctx,
                                     const char* attr_name, TF_Status* status) {
  Set(status, ctx == nullptr ? NoConstruction() : OkStatus());
  return ctx != nullptr && ToCpp(ctx)->HasAttr(Text(attr_name));
}

void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction* ctx,
                                         const char* attr_name,
                                         int32_t* list_size,
                                         int32_t* total_size,
                                         TF_Status* status) {
  Set(status, SizeOfAttr(ctx, attr_name, list_size, total_size));
}

void TF_OpKernelConstruction_GetAttrType(TF_OpKernelConstruction* ctx,
                                         const char* attr_name,
                                         TF_DataType* val, TF_Status* status) {
  CopyKernelAttr<DataType>(ctx, attr_name, "type", val, status);
}

void TF_OpKernelConstruction_GetAttrInt32(TF_OpKernelConstruction* ctx,
                                          const char* attr_name, int32_t* val,
                                          TF_Status* status) {
  const int64_t* v = nullptr;
  Status s = ReadKernelAttr(ctx, attr_name, "int", val, &v);
  if (s.ok()) s = ToInt32(ctx, attr_name, *v, val);
  Set(status, s);
}

void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction* ctx,
                                          const char* attr_name, int64_t* val,
                                          TF_Status* status) {
  CopyKernelAttr<int64_t>(ctx, attr_name, "int", val, status);
}

void TF_OpKernelConstruction_GetAttrFloat(TF_OpKernelConstruction* ctx,
                                          const char* attr_name, float* val,
                                          TF_Status* status) {
  CopyKernelAttr<float>(ctx, attr_name, "float", val, status);
}

void TF_OpKernelConstruction_GetAttrBool(TF_OpKernelConstruction* ctx,
                                         const char* attr_name, TF_Bool* val,
                                         TF_Status* status) {
  CopyKernelAttr<bool>(ctx, attr_name, "bool", val, status);
}

void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction* ctx,
                                           const char* attr_name, char* val,
                                           size_t max_length,
                                           TF_Status* status) {
  const std::string* v = nullptr;
  const Status s =
      ReadKernelAttr(ctx, attr_name, "string",
                     max_length == 0 ? static_cast<const void*>(ctx) : val, &v);
  if (s.ok() && max_length != 0) {
    std::memcpy(val, v->data(), std::min(max_length, v->size()));
  }
  Set(status, s);
}

void TF_OpKernelConstruction_GetAttrTensor(TF_OpKernelConstruction* ctx,
                                           const char* attr_name,
                                           TF_Tensor** val, TF_Status* status) {
  const Tensor* v = nullptr;
  if (val != nullptr) *val = nullptr;
  Status s = ReadKernelAttr(ctx, attr_name, "tensor", val, &v);
  if (s.ok()) s = CopyKernelTensor(*v, val);
  Set(status, s);
}

TF_Buffer* TF_OpKernelConstruction_GetAttrFunction(TF_OpKernelConstruction* ctx,
                                                   const char* attr_name,
                                                   TF_Status* status) {
  const NameAttrList* v = nullptr;
  const Status s = ReadKernelAttr(ctx, attr_name, "func", ctx, &v);
  Set(status, s);
  if (!s.ok()) return nullptr;
  pb::AttrValue proto;
  headrace::AttrValueToProto(AttrValue(*v), &proto);
  return NewBuffer(proto.func());
}

void TF_OpKernelConstruction_GetAttrTypeList(TF_OpKernelConstruction* ctx,
                                             const char* attr_name,
                                             TF_DataType* vals, int max_vals,
                                             TF_Status* status) {
  CopyKernelAttrList<DataType>(ctx, attr_name, "list(type)", vals, max_vals,
                               status);
}

void TF_OpKernelConstruction_GetAttrInt32List(TF_OpKernelConstruction* ctx,
                                              const char* attr_name,
                                              int32_t* vals, int max_vals,
                                              TF_Status* status) {
  Set(status, CopyInt32s(ctx, attr_name, vals, max_vals));
}

void TF_OpKernelConstruction_GetAttrInt64List(TF_OpKernelConstruction* ctx,
                                              const char* attr_name,
                                              int64_t* vals, int max_vals,
                                              TF_Status* status) {
  CopyKernelAttrList<int64_t>(ctx, attr_name, "list(int)", vals, max_vals,
                              status);
}

void TF_OpKernelConstruction_GetAttrFloatList(TF_OpKernelConstruction* ctx,
                                              const char* attr_name,
                                              float* vals, int max_vals,
                                              TF_Status* status) {
  CopyKernelAttrList<float>(ctx, attr_name, "list(float)", vals, max_vals,
                            status);
}

void TF_OpKernelConstruction_GetAttrBoolList(TF_OpKernelConstruction* ctx,
                                             const char* attr_name,
                                             TF_Bool* vals, int max_vals,
                                             TF_Status* status) {
  CopyKernelAttrList<bool>(ctx, attr_name, "list(bool)", vals, max_vals,
                           status);
}

void TF_OpKernelConstruction_GetAttrStringList(TF_OpKernelConstruction* ctx,
                                               const char* attr_name,
                                               char** values, size_t* lengths,
                                               int max_values, void* storage,
                                               size_t storage_size,
                                               TF_Status* status) {
  Set(status, CopyStrings(ctx, attr_name, values, lengths, max_values, storage,
                          storage_size));
}

void TF_OpKernelConstruction_GetAttrTensorList(TF_OpKernelConstruction* ctx,
                                               const char* attr_name,
                                               TF_Tensor** vals, int max_values,
                                               TF_Status* status) {
  const std::vector<Tensor>* list = nullptr;
  Status s = ReadKernelAttrList(ctx, attr_name, "list(tensor)", vals,
                                max_values, &list);
  if (!s.ok()) return Set(status, s);
  const int n = std::min(static_cast<int>(list->size()), max_values);
  std::fill_n(vals, n, nullptr);
  for (int i = 0; s.ok() && i < n; ++i) {
    s = CopyKernelTensor((*list)[i], &vals[i]);
  }
  for (int i = 0; !s.ok() && i < n; ++i) {
    TF_DeleteTensor(std::exchange(vals[i], nullptr));
  }
  Set(status, s);
}

// Ops of eager execution: their inputs and attrs, and TFE_Execute.
#include <algorithm>

#include "base/exceptions.h"
#include "c_api/eager.h"
#include "framework/op/tensor_proto.h"

using headrace::AttrMap;
using headrace::AttrType;
using headrace::AttrValue;
using headrace::DataType;
using headrace::EagerOp;
using headrace::NameAttrList;
using headrace::OkStatus;
using headrace::OpDef;
using headrace::PartialTensorShape;
using headrace::RefPtr;
using headrace::Status;
using headrace::Tensor;
using headrace::TensorHandle;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

static_assert(static_cast<int>(AttrType::kString) == TF_ATTR_STRING);
static_assert(static_cast<int>(AttrType::kTensor) == TF_ATTR_TENSOR);
static_assert(static_cast<int>(AttrType::kListString) ==
              static_cast<int>(AttrType::kFunc) + 1);

namespace {

Status MakeOp(TFE_Op* op, TFE_Context* ctx, const char* name,
              const char* device) {
  if (name == nullptr) return IsNull("TFE_NewOp", "name of the op");
  HR_RETURN_IF_ERROR(op->op.Reset(ctx->context, name));
  op->context = RefPtr<TFE_Context>::NewRef(ctx);
  return op->op.SetDevice(Text(device));
}

// The kind of an attr; string, as TensorFlow's, on errors.
TF_AttrType AttrTypeOf(const OpDef& def, const char* attr_name,
                       unsigned char* is_list, TF_Status* status) {
  const int i = def.FindAttr(Text(attr_name));
  if (i < 0) {
    Set(status, errors::InvalidArgument(
                    "Attribute '", Text(attr_name),
                    "' does not exist for this operation: ", def.name));
    return TF_ATTR_INT;
  }
  SetOk(status);
  AttrType type = def.attrs[i].type;
  const bool list = headrace::AttrTypeIsList(type);
  if (is_list != nullptr) *is_list = list ? 1 : 0;
  int kind = static_cast<int>(type);
  if (list) kind -= static_cast<int>(AttrType::kListString);
  return kind == static_cast<int>(AttrType::kFunc)
             ? TF_ATTR_FUNC
             : static_cast<TF_AttrType>(kind);
}

Status AddHandles(TFE_Op* op, TFE_TensorHandle* const* inputs, int n,
                  bool is_list) {
  if (op == nullptr) return IsNull("TFE_OpAddInput", "op");
  if (n < 0 || (inputs == nullptr && n > 0)) {
    return errors::InvalidArgument("TFE_OpAddInputList: ", n, " inputs at ",
                                   inputs == nullptr ? "NULL" : "an address");
  }
  std::vector<RefPtr<TensorHandle>> handles;
  handles.reserve(n);
  for (int i = 0; i < n; ++i) {
    if (inputs[i] == nullptr) {
      return errors::InvalidArgument("Invalid handle: input ", i, " for op ",
                                     op->op.name(), " is NULL");
    }
    handles.push_back(RefPtr<TensorHandle>::NewRef(ToHandle(inputs[i])));
  }
  if (is_list) {
    op->op.AddInputList(std::move(handles));
  } else {
    op->op.AddInput(std::move(handles[0]));
  }
  return OkStatus();
}

// Sets an attr to what `compute` makes. An error goes to `status` if that is
// there, and else is what TFE_Execute reports.
template <typename T, typename F>
void SetEagerAttr(TFE_Op* op, const char* name, TF_Status* status,
                  const F& compute) {
  if (op == nullptr) return Set(status, IsNull("TFE_OpSetAttr", "op"));
  Status s = headrace::CatchExceptions([&]() -> Status {
    T value{};
    HR_RETURN_IF_ERROR(compute(&value));
    op->op.SetAttr(Text(name), std::move(value));
    return OkStatus();
  });
  if (!s.ok()) {
    s = headrace::Annotate(s, absl::StrCat(" (attr '", Text(name), "' of op ",
                                           op->op.name(), ")"));
    if (status == nullptr) op->op.Fail(s);
  }
  Set(status, std::move(s));
}

template <typename T>
void SetEagerScalar(TFE_Op* op, const char* name, T value) {
  SetEagerAttr<T>(op, name, nullptr, [&](T* out) {
    *out = std::move(value);
    return OkStatus();
  });
}

// A list of n elements, the i-th made by one(i, element). `values` is what must
// be there if n is not 0.
template <typename T, typename F>
void SetEagerList(TFE_Op* op, const char* name, const void* values, int n,
                  TF_Status* status, const F& one) {
  SetEagerAttr<std::vector<T>>(
      op, name, status, [&](std::vector<T>* list) -> Status {
        if (n < 0 || (values == nullptr && n > 0)) {
          return errors::InvalidArgument(
              "a list of ", n, " values at ",
              values == nullptr ? "NULL" : "an address");
        }
        list->resize(n);
        for (int i = 0; i < n; ++i) {
          HR_RETURN_IF_ERROR(one(i, &(*list)[i]));
        }
        return OkStatus();
      });
}

template <typename T, typename In>
void SetEagerValues(TFE_Op* op, const char* name, const In* values, int n) {
  SetEagerAttr<std::vector<T>>(
      op, name, nullptr, [&](std::vector<T>* list) -> Status {
        if (n < 0 || (values == nullptr && n > 0)) {
          return errors::InvalidArgument(
              "a list of ", n, " values at ",
              values == nullptr ? "NULL" : "an address");
        }
        list->assign(values, values + n);
        return OkStatus();
      });
}

std::string EagerBytes(const void* data, size_t length) {
  return data == nullptr ? std::string()
                         : std::string(static_cast<const char*>(data), length);
}

Status EagerType(TF_DataType type, DataType* out) {
  if (!headrace::IsValidDataType(type)) {
    return errors::InvalidArgument("data type ", static_cast<int>(type),
                                   " is not supported");
  }
  *out = ToDataType(type);
  return OkStatus();
}

// As in TensorFlow any negative size of an attr's shape is an unknown one.
Status EagerShape(const int64_t* dims, int num_dims, PartialTensorShape* out) {
  if (dims == nullptr || num_dims < 0) return MakeShape(dims, num_dims, out);
  absl::InlinedVector<int64_t, 8> sizes(dims, dims + num_dims);
  for (int64_t& d : sizes) d = std::max<int64_t>(d, -1);
  return MakeShape(sizes.data(), num_dims, out);
}

Status EagerFunction(const TFE_Op* value, NameAttrList* out) {
  if (value == nullptr) {
    return errors::InvalidArgument("the function is NULL");
  }
  out->name = value->op.name();
  if (!value->op.attrs().empty()) {
    out->attrs = std::make_shared<AttrMap>(value->op.attrs());
  }
  return OkStatus();
}

Status ExecuteOp(TFE_Op* op, TFE_TensorHandle** retvals, int* num_retvals) {
  if (op == nullptr) return IsNull("TFE_Execute", "op");
  if (num_retvals == nullptr) {
    return IsNull("TFE_Execute", "number of results");
  }
  const int room = *num_retvals;
  if (room < 0 || (room > 0 && retvals == nullptr)) {
    return errors::InvalidArgument("TFE_Execute: room for ", room,
                                   " results at ",
                                   retvals == nullptr ? "NULL" : "an address");
  }
  std::vector<RefPtr<TensorHandle>> outputs;
  HR_RETURN_IF_ERROR(op->op.Execute(room, &outputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    retvals[i] = GiveHandle(std::move(outputs[i]));
  }
  *num_retvals = static_cast<int>(outputs.size());
  return OkStatus();
}

}  // namespace

TFE_Op* TFE_NewOp(TFE_Context* ctx, const char* op_or_function_name,
                  TF_Status* status) {
  std::unique_ptr<TFE_Op> op;
  const Status s = headrace::CatchExceptions([&]() -> Status {
    if (ctx == nullptr) return IsNull("TFE_NewOp", "context");
    op = std::make_unique<TFE_Op>();
    return MakeOp(op.get(), ctx, op_or_function_name, nullptr);
  });
  Set(status, s);
  return s.ok() ? op.release() : nullptr;
}

void TFE_OpReset(TFE_Op* op_to_reset, const char* op_or_function_name,
                 const char* raw_device_name, TF_Status* status) {
  Set(status, headrace::CatchExceptions([&]() -> Status {
        if (op_to_reset == nullptr) return IsNull("TFE_OpReset", "op");
        return MakeOp(op_to_reset, op_to_reset->context.get(),
                      op_or_function_name, raw_device_name);
      }));
}

void TFE_DeleteOp(TFE_Op* op) { delete op; }

const char* TFE_OpGetName(const TFE_Op* op, TF_Status* status) {
  Set(status, op == nullptr ? IsNull("TFE_OpGetName", "op") : OkStatus());
  return op == nullptr ? nullptr : op->op.name().c_str();
}

TFE_Context* TFE_OpGetContext(const TFE_Op* op, TF_Status* status) {
  Set(status, op == nullptr ? IsNull("TFE_OpGetContext", "op") : OkStatus());
  return op == nullptr ? nullptr : op->context.get();
}

void TFE_OpSetDevice(TFE_Op* op, const char* device_name, TF_Status* status) {
  Set(status, op == nullptr ? IsNull("TFE_OpSetDevice", "op")
                            : op->op.SetDevice(Text(device_name)));
}

const char* TFE_OpGetDevice(const TFE_Op* op, TF_Status* status) {
  Set(status, op == nullptr ? IsNull("TFE_OpGetDevice", "op") : OkStatus());
  return op == nullptr ? nullptr : op->op.device().c_str();
}

void TFE_OpSetXLACompilation(TFE_Op*, unsigned char) {}

void TFE_OpSetCancellationManager(TFE_Op* op, TFE_CancellationManager* manager,
                                  TF_Status* status) {
  if (op == nullptr) {
    return Set(status, IsNull("TFE_OpSetCancellationManager", "op"));
  }
  op->op.SetCancellation(manager == nullptr ? nullptr : manager->manager);
  SetOk(status);
}

void TFE_OpAddInput(TFE_Op* op, TFE_TensorHandle* input, TF_Status* status) {
  Set(status, headrace::CatchExceptions(
                  [&] { return AddHandles(op, &input, 1, false); }));
}

void TFE_OpAddInputList(TFE_Op* op, TFE_TensorHandle** inputs, int num_inputs,
                        TF_Status* status) {
  Set(status, headrace::CatchExceptions(
                  [&] { return AddHandles(op, inputs, num_inputs, true); }));
}

int TFE_OpGetFlatInputCount(const TFE_Op* op, TF_Status* status) {
  Set(status,
      op == nullptr ? IsNull("TFE_OpGetFlatInputCount", "op") : OkStatus());
  return op == nullptr ? 0 : static_cast<int>(op->op.inputs().size());
}

TFE_TensorHandle* TFE_OpGetFlatInput(const TFE_Op* op, int index,
                                     TF_Status* status) {
  const int n = TFE_OpGetFlatInputCount(op, status);
  if (op == nullptr) return nullptr;
  if (index < 0 || index >= n) {
    Set(status,
        errors::InvalidArgument("TFE_OpGetFlatInput: input ", index, " of ", n,
                                " inputs of op ", op->op.name()));
    return nullptr;
  }
  return reinterpret_cast<TFE_TensorHandle*>(op->op.inputs()[index].get());
}

int TFE_OpGetInputLength(TFE_Op* op, const char* input_name,
                         TF_Status* status) {
  int length = -1;
  const Status s = op == nullptr
                       ? IsNull("TFE_OpGetInputLength", "op")
                       : op->op.InputLength(Text(input_name), &length);
  Set(status, s);
  return s.ok() ? length : -1;
}

int TFE_OpGetOutputLength(TFE_Op* op, const char* output_name,
                          TF_Status* status) {
  int length = -1;
  const Status s = op == nullptr
                       ? IsNull("TFE_OpGetOutputLength", "op")
                       : op->op.OutputLength(Text(output_name), &length);
  Set(status, s);
  return s.ok() ? length : -1;
}

void TFE_Execute(TFE_Op* op, TFE_TensorHandle** retvals, int* num_retvals,
                 TF_Status* status) {
  Set(status, headrace::CatchExceptions(
                  [&] { return ExecuteOp(op, retvals, num_retvals); }));
}

// ---- Attrs ------------------------------------------------------------------

TF_AttrType TFE_OpGetAttrType(TFE_Op* op, const char* attr_name,
                              unsigned char* is_list, TF_Status* status) {
  if (op != nullptr) {
    return AttrTypeOf(op->op.op_def(), attr_name, is_list, status);
  }
  Set(status, IsNull("TFE_OpGetAttrType", "op"));
  return TF_ATTR_INT;
}

TF_AttrType TFE_OpNameGetAttrType(TFE_Context* ctx,
                                  const char* op_or_function_name,
                                  const char* attr_name, unsigned char* is_list,
                                  TF_Status* status) {
  std::shared_ptr<const OpDef> def;
  const Status s = ctx == nullptr
                       ? IsNull("TFE_OpNameGetAttrType", "context")
                       : ctx->context->FindOpDef(
                             std::string(Text(op_or_function_name)), &def);
  if (s.ok()) return AttrTypeOf(*def, attr_name, is_list, status);
  Set(status, s);
  return TF_ATTR_INT;
}

void TFE_OpSetAttrString(TFE_Op* op, const char* attr_name, const void* value,
                         size_t length) {
  SetEagerScalar(op, attr_name, EagerBytes(value, length));
}

void TFE_OpSetAttrInt(TFE_Op* op, const char* attr_name, int64_t value) {
  SetEagerScalar(op, attr_name, value);
}

void TFE_OpSetAttrFloat(TFE_Op* op, const char* attr_name, float value) {
  SetEagerScalar(op, attr_name, value);
}

void TFE_OpSetAttrBool(TFE_Op* op, const char* attr_name, unsigned char value) {
  SetEagerScalar(op, attr_name, value != 0);
}

void TFE_OpSetAttrType(TFE_Op* op, const char* attr_name, TF_DataType value) {
  SetEagerAttr<DataType>(op, attr_name, nullptr,
                         [&](DataType* out) { return EagerType(value, out); });
}

void TFE_OpSetAttrShape(TFE_Op* op, const char* attr_name, const int64_t* dims,
                        const int num_dims, TF_Status* out_status) {
  SetEagerAttr<PartialTensorShape>(
      op, attr_name, out_status,
      [&](PartialTensorShape* out) { return EagerShape(dims, num_dims, out); });
}

void TFE_OpSetAttrFunction(TFE_Op* op, const char* attr_name,
                           const TFE_Op* value) {
  SetEagerAttr<NameAttrList>(op, attr_name, nullptr, [&](NameAttrList* out) {
    return EagerFunction(value, out);
  });
}

void TFE_OpSetAttrFunctionName(TFE_Op* op, const char* attr_name,
                               const char* data, size_t length) {
  SetEagerAttr<NameAttrList>(op, attr_name, nullptr, [&](NameAttrList* out) {
    out->name = EagerBytes(data, length);
    return OkStatus();
  });
}

void TFE_OpSetAttrTensor(TFE_Op* op, const char* attr_name, TF_Tensor* tensor,
                         TF_Status* status) {
  SetEagerAttr<Tensor>(op, attr_name, status, [&](Tensor* out) -> Status {
    if (tensor == nullptr) {
      return errors::InvalidArgument("the tensor is NULL");
    }
    Tensor value;
    HR_RETURN_IF_ERROR(ReadTensor(*tensor, &value));
    return value.DeepCopyTo(out);
  });
}

void TFE_OpSetAttrStringList(TFE_Op* op, const char* attr_name,
                             const void* const* values, const size_t* lengths,
                             int num_values) {
  SetEagerList<std::string>(op, attr_name,
                            lengths == nullptr ? nullptr : values, num_values,
                            nullptr, [&](int i, std::string* out) {
                              *out = EagerBytes(values[i], lengths[i]);
                              return OkStatus();
                            });
}

void TFE_OpSetAttrIntList(TFE_Op* op, const char* attr_name,
                          const int64_t* values, int num_values) {
  SetEagerValues<int64_t>(op, attr_name, values, num_values);
}

void TFE_OpSetAttrFloatList(TFE_Op* op, const char* attr_name,
                            const float* values, int num_values) {
  SetEagerValues<float>(op, attr_name, values, num_values);
}

void TFE_OpSetAttrBoolList(TFE_Op* op, const char* attr_name,
                           const unsigned char* values, int num_values) {
  SetEagerValues<bool>(op, attr_name, values, num_values);
}

void TFE_OpSetAttrTypeList(TFE_Op* op, const char* attr_name,
                           const TF_DataType* values, int num_values) {
  SetEagerList<DataType>(
      op, attr_name, values, num_values, nullptr,
      [&](int i, DataType* out) { return EagerType(values[i], out); });
}

void TFE_OpSetAttrShapeList(TFE_Op* op, const char* attr_name,
                            const int64_t** dims, const int* num_dims,
                            int num_values, TF_Status* out_status) {
  SetEagerList<PartialTensorShape>(
      op, attr_name, num_dims == nullptr ? nullptr : dims, num_values,
      out_status, [&](int i, PartialTensorShape* out) {
        return EagerShape(dims[i], num_dims[i], out);
      });
}

void TFE_OpSetAttrFunctionList(TFE_Op* op, const char* attr_name,
                               const TFE_Op** value, int num_values) {
  SetEagerList<NameAttrList>(
      op, attr_name, value, num_values, nullptr,
      [&](int i, NameAttrList* out) { return EagerFunction(value[i], out); });
}

void TFE_OpSetAttrValueProto(const TFE_Op* op, const char* attr_name,
                             const void* proto, size_t proto_len,
                             TF_Status* status) {
  SetEagerAttr<AttrValue>(
      const_cast<TFE_Op*>(op), attr_name, status,
      [&](AttrValue* out) -> Status {
        pb::AttrValue parsed;
        HR_RETURN_IF_ERROR(ParseProto("value", proto, proto_len, &parsed));
        return headrace::AttrValueFromProto(parsed, out);
      });
}

const TFE_OpAttrs* TFE_OpGetAttrs(const TFE_Op* op) {
  return reinterpret_cast<const TFE_OpAttrs*>(op);
}

void TFE_OpAddAttrs(TFE_Op* op, const TFE_OpAttrs* attrs) {
  const auto* const from = reinterpret_cast<const TFE_Op*>(attrs);
  if (op == nullptr || from == nullptr || op == from) return;
  for (const auto& [name, value] : from->op.attrs()) {
    op->op.AddAttr(name, value);
  }
}

void TFE_OpAttrsSerialize(const TFE_OpAttrs* attrs, TF_Buffer* buf,
                          TF_Status* status) {
  const auto* const from = reinterpret_cast<const TFE_Op*>(attrs);
  if (from == nullptr) {
    return Set(status, IsNull("TFE_OpAttrsSerialize", "attrs"));
  }
  Set(status, headrace::CatchExceptions([&]() -> Status {
        pb::NameAttrList list;
        list.set_name(from->op.name());
        for (const auto& [name, value] : from->op.attrs()) {
          headrace::AttrValueToProto(value, &(*list.mutable_attr())[name]);
        }
        return ToBuffer(list, buf);
      }));
}

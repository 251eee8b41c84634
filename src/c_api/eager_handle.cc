// Values of eager execution.
#include <cstring>

#include "base/exceptions.h"
#include "c_api/eager.h"

using headrace::DataType;
using headrace::Device;
using headrace::DeviceName;
using headrace::MakeRef;
using headrace::OkStatus;
using headrace::RefPtr;
using headrace::Status;
using headrace::Tensor;
using headrace::TensorHandle;
using headrace::TensorShape;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;

namespace {

// Null, with an error, for NULL.
TensorHandle* CheckHandle(TFE_TensorHandle* h, TF_Status* status) {
  Set(status,
      h == nullptr ? errors::InvalidArgument("Invalid handle") : OkStatus());
  return ToHandle(h);
}

Status NewHandle(const TF_Tensor* t, const char* function,
                 RefPtr<TensorHandle>* out) {
  if (t == nullptr) return IsNull(function, "tensor");
  Tensor value;
  HR_RETURN_IF_ERROR(ReadTensor(*t, &value));
  *out = MakeRef<TensorHandle>(std::move(value));
  return OkStatus();
}

Status CheckPlain(const Tensor& t, const char* function) {
  if (headrace::DataTypeCanUseMemcpy(t.dtype())) return OkStatus();
  return errors::InvalidArgument(function, ": the handle is ",
                                 headrace::DataTypeString(t.dtype()),
                                 ", wanted plain data");
}

// Runs `make` and hands its handle to the client, or NULL and an error.
template <typename F>
TFE_TensorHandle* MakeHandle(TF_Status* status, const F& make) {
  RefPtr<TensorHandle> made;
  const Status s = headrace::CatchExceptions([&] { return make(&made); });
  Set(status, s);
  return s.ok() ? GiveHandle(std::move(made)) : nullptr;
}

}  // namespace

TFE_TensorHandle* TFE_NewTensorHandle(const TF_Tensor* t, TF_Status* status) {
  return MakeHandle(status, [&](RefPtr<TensorHandle>* out) {
    return NewHandle(t, "TFE_NewTensorHandle", out);
  });
}

TFE_TensorHandle* TFE_NewTensorHandleFromTensor(TFE_Context*, TF_Tensor* t,
                                                TF_Status* status) {
  return MakeHandle(status, [&](RefPtr<TensorHandle>* out) {
    return NewHandle(t, "TFE_NewTensorHandleFromTensor", out);
  });
}

TFE_TensorHandle* TFE_NewTensorHandleFromScalar(TF_DataType data_type,
                                                void* data, size_t len,
                                                TF_Status* status) {
  return MakeHandle(status, [&](RefPtr<TensorHandle>* out) -> Status {
    const DataType dtype = ToDataType(data_type);
    if (!headrace::IsValidDataType(data_type) || headrace::IsRefType(dtype) ||
        !headrace::DataTypeCanUseMemcpy(dtype)) {
      return errors::InvalidArgument(
          "TFE_NewTensorHandleFromScalar: type ", static_cast<int>(data_type),
          " (", headrace::DataTypeString(dtype), "), wanted plain data");
    }
    const size_t wanted = headrace::DataTypeObjectSize(dtype);
    if (data == nullptr || len != wanted) {
      return errors::InvalidArgument(
          "TFE_NewTensorHandleFromScalar: ", len, " bytes at ",
          data == nullptr ? "NULL" : "an address", ", wanted ", wanted);
    }
    Tensor value(dtype, TensorShape());
    std::memcpy(value.raw_data(), data, len);
    *out = MakeRef<TensorHandle>(std::move(value));
    return OkStatus();
  });
}

TFE_TensorHandle* TFE_NewTensorHandleFromDeviceMemory(
    TFE_Context* ctx, const char* device_name, TF_DataType dtype,
    const int64_t* dims, int num_dims, void* data, size_t len,
    void (*deallocator)(void* data, size_t len, void* arg),
    void* deallocator_arg, TF_Status* status) {
  return MakeHandle(status, [&](RefPtr<TensorHandle>* out) -> Status {
    constexpr char kName[] = "TFE_NewTensorHandleFromDeviceMemory";
    // From here on `buffer` sees to it that the deallocator is called once.
    RefPtr<headrace::TensorBuffer> buffer =
        headrace::WrapExternalBuffer(data, len, /*writable=*/false, [=] {
          if (deallocator != nullptr) deallocator(data, len, deallocator_arg);
        });
    if (ctx == nullptr) return IsNull(kName, "context");
    Device* device;
    HR_RETURN_IF_ERROR(ctx->context->FindDevice(Text(device_name), &device));
    const DataType type = ToDataType(dtype);
    if (!headrace::IsValidDataType(dtype) || headrace::IsRefType(type) ||
        !headrace::DataTypeCanUseMemcpy(type)) {
      return errors::InvalidArgument(kName, ": type ",
                                     headrace::DataTypeString(type),
                                     ", wanted plain data");
    }
    if (num_dims < 0 || (dims == nullptr && num_dims > 0)) {
      return errors::InvalidArgument(kName, ": ", num_dims, " dims at ",
                                     dims == nullptr ? "NULL" : "an address");
    }
    TensorShape shape;
    HR_RETURN_IF_ERROR(
        TensorShape::Build(absl::MakeConstSpan(dims, num_dims), &shape));
    const size_t size = headrace::DataTypeObjectSize(type);
    const int64_t bytes = headrace::MultiplyWithoutOverflow(
        shape.num_elements(), static_cast<int64_t>(size));
    if (bytes < 0 || static_cast<size_t>(bytes) > len ||
        (data == nullptr && bytes > 0)) {
      return errors::InvalidArgument(kName, ": ", len, " bytes at ",
                                     data == nullptr ? "NULL" : "an address",
                                     ", shape ", shape.DebugString(), " of ",
                                     headrace::DataTypeString(type), " wants ",
                                     bytes);
    }
    const size_t alignment = size >= 8 ? 8 : size;
    if (reinterpret_cast<uintptr_t>(data) % alignment != 0) {
      return errors::InvalidArgument(kName, ": the memory is not aligned to ",
                                     alignment, " bytes");
    }
    Tensor value = bytes == 0 ? Tensor(type, shape)
                              : Tensor(type, shape, std::move(buffer));
    *out = MakeRef<TensorHandle>(std::move(value), device,
                                 /*in_host_memory=*/false,
                                 ctx->context->resources());
    return OkStatus();
  });
}

TFE_TensorHandle* TFE_CreatePackedTensorHandle(TFE_Context*,
                                               TFE_TensorHandle** handles,
                                               int* num_handles,
                                               TF_Status* status) {
  return MakeHandle(status, [&](RefPtr<TensorHandle>* out) -> Status {
    if (handles == nullptr || num_handles == nullptr || *num_handles != 1 ||
        handles[0] == nullptr) {
      return errors::Unimplemented(
          "TFE_CreatePackedTensorHandle: ",
          num_handles == nullptr ? 0 : *num_handles,
          " handles; composite devices are not supported");
    }
    *out = RefPtr<TensorHandle>::NewRef(ToHandle(handles[0]));
    return OkStatus();
  });
}

TF_Tensor* TFE_AllocateHostTensor(TFE_Context*, TF_DataType dtype,
                                  const int64_t* dims, int num_dims,
                                  TF_Status* status) {
  Status s;
  TF_Tensor* made = nullptr;
  TensorShape shape;
  if (num_dims < 0 || (dims == nullptr && num_dims > 0)) {
    s = errors::InvalidArgument("TFE_AllocateHostTensor: ", num_dims,
                                " dims at ",
                                dims == nullptr ? "NULL" : "an address");
  } else {
    s = TensorShape::Build(absl::MakeConstSpan(dims, num_dims), &shape);
  }
  if (s.ok()) {
    const size_t size =
        dtype == TF_STRING ? sizeof(TF_TString) : TF_DataTypeSize(dtype);
    const int64_t bytes = headrace::MultiplyWithoutOverflow(
        shape.num_elements(), static_cast<int64_t>(size));
    if (size == 0 || bytes < 0) {
      s = errors::InvalidArgument("TFE_AllocateHostTensor: type ",
                                  headrace::DataTypeString(ToDataType(dtype)),
                                  ", shape ", shape.DebugString());
    } else {
      made = TF_AllocateTensor(dtype, dims, num_dims, bytes);
      if (made == nullptr) {
        s = errors::ResourceExhausted("TFE_AllocateHostTensor: no memory for ",
                                      bytes, " bytes");
      }
    }
  }
  Set(status, s);
  return made;
}

void TFE_DeleteTensorHandle(TFE_TensorHandle* h) {
  if (h != nullptr) ToHandle(h)->Unref();
}

TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle* h) {
  return FromDataType(h == nullptr ? headrace::DT_INVALID
                                   : ToHandle(h)->dtype());
}

int TFE_TensorHandleNumDims(TFE_TensorHandle* h, TF_Status* status) {
  const TensorHandle* const handle = CheckHandle(h, status);
  return handle == nullptr ? -1 : handle->tensor().dims();
}

int64_t TFE_TensorHandleNumElements(TFE_TensorHandle* h, TF_Status* status) {
  const TensorHandle* const handle = CheckHandle(h, status);
  return handle == nullptr ? -1 : handle->tensor().NumElements();
}

int64_t TFE_TensorHandleDim(TFE_TensorHandle* h, int dim_index,
                            TF_Status* status) {
  const TensorHandle* const handle = CheckHandle(h, status);
  if (handle == nullptr) return -1;
  const int dims = handle->tensor().dims();
  if (dim_index >= 0 && dim_index < dims) {
    return handle->tensor().dim_size(dim_index);
  }
  Set(status,
      errors::InvalidArgument("TFE_TensorHandleDim: dimension ", dim_index,
                              " of a tensor of rank ", dims));
  return -1;
}

const char* TFE_TensorHandleDeviceName(TFE_TensorHandle* h, TF_Status* status) {
  const TensorHandle* const handle = CheckHandle(h, status);
  return handle == nullptr ? nullptr : handle->DeviceName().c_str();
}

const char* TFE_TensorHandleBackingDeviceName(TFE_TensorHandle* h,
                                              TF_Status* status) {
  const TensorHandle* const handle = CheckHandle(h, status);
  return handle == nullptr ? nullptr : handle->BackingDeviceName().c_str();
}

const char* TFE_TensorHandleDeviceType(TFE_TensorHandle* h, TF_Status* status) {
  const TensorHandle* const handle = CheckHandle(h, status);
  if (handle == nullptr) return nullptr;
  return handle->device() == nullptr ? headrace::DEVICE_CPU
                                     : handle->device()->device_type().c_str();
}

int TFE_TensorHandleDeviceID(TFE_TensorHandle* h, TF_Status* status) {
  const TensorHandle* const handle = CheckHandle(h, status);
  if (handle == nullptr) return -1;
  return handle->device() == nullptr ? 0 : handle->device()->parsed_name().id;
}

void TFE_TensorHandleGetStatus(TFE_TensorHandle* h, TF_Status* status) {
  CheckHandle(h, status);
}

TFE_TensorHandle* TFE_TensorHandleCopySharingTensor(TFE_TensorHandle* h,
                                                    TF_Status* status) {
  TensorHandle* const handle = CheckHandle(h, status);
  return GiveHandle(RefPtr<TensorHandle>::NewRef(handle));
}

TF_Tensor* TFE_TensorHandleResolve(TFE_TensorHandle* h, TF_Status* status) {
  const TensorHandle* const handle = CheckHandle(h, status);
  if (handle == nullptr) return nullptr;
  TF_Tensor* made = nullptr;
  Set(status, headrace::CatchExceptions([&]() -> Status {
        Tensor value;
        HR_RETURN_IF_ERROR(handle->ToHost(&value));
        return WrapTensor(std::move(value), &made);
      }));
  return made;
}

TFE_TensorHandle* TFE_TensorHandleCopyToDevice(TFE_TensorHandle* h,
                                               TFE_Context* ctx,
                                               const char* device_name,
                                               TF_Status* status) {
  TensorHandle* const handle = CheckHandle(h, status);
  if (handle == nullptr) return nullptr;
  return MakeHandle(status, [&](RefPtr<TensorHandle>* out) -> Status {
    if (ctx == nullptr) {
      return IsNull("TFE_TensorHandleCopyToDevice", "context");
    }
    Device* to;
    HR_RETURN_IF_ERROR(ctx->context->FindDevice(Text(device_name), &to));
    Tensor value;
    HR_RETURN_IF_ERROR(headrace::CopyBetweenDevices(
        handle->tensor(), handle->in_host_memory() ? nullptr : handle->device(),
        to, &value));
    *out = MakeRef<TensorHandle>(std::move(value), to,
                                 /*in_host_memory=*/false,
                                 ctx->context->resources());
    return OkStatus();
  });
}

void* TFE_TensorHandleDevicePointer(TFE_TensorHandle* h, TF_Status* status) {
  const TensorHandle* const handle = CheckHandle(h, status);
  if (handle == nullptr) return nullptr;
  const Status s =
      CheckPlain(handle->tensor(), "TFE_TensorHandleDevicePointer");
  Set(status, s);
  return s.ok() ? const_cast<void*>(handle->tensor().raw_data()) : nullptr;
}

size_t TFE_TensorHandleDeviceMemorySize(TFE_TensorHandle* h,
                                        TF_Status* status) {
  const TensorHandle* const handle = CheckHandle(h, status);
  return handle == nullptr ? 0 : handle->tensor().TotalBytes();
}

TFE_TensorDebugInfo* TFE_TensorHandleTensorDebugInfo(TFE_TensorHandle* h,
                                                     TF_Status* status) {
  const TensorHandle* const handle = CheckHandle(h, status);
  return handle == nullptr ? nullptr
                           : new TFE_TensorDebugInfo{handle->tensor().shape()};
}

void TFE_DeleteTensorDebugInfo(TFE_TensorDebugInfo* debug_info) {
  delete debug_info;
}

int TFE_TensorDebugInfoOnDeviceNumDims(TFE_TensorDebugInfo* debug_info) {
  return debug_info == nullptr ? -1 : debug_info->shape.dims();
}

int64_t TFE_TensorDebugInfoOnDeviceDim(TFE_TensorDebugInfo* debug_info,
                                       int dim_index) {
  if (dim_index < 0 ||
      dim_index >= TFE_TensorDebugInfoOnDeviceNumDims(debug_info)) {
    return -1;
  }
  return debug_info->shape.dim_size(dim_index);
}

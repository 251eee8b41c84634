// TF_Tensor: a Tensor behind a handle. Memory of clients is wrapped, never
// written, and copied only where it is not even aligned for its type.
#include <cstring>

#include "c_api/internal.h"
#include "framework/allocator.h"
#include "framework/tensor_proto.h"

using headrace::Allocator;
using headrace::DataType;
using headrace::Status;
using headrace::Tensor;
using headrace::TensorShape;
using headrace::c_api::Set;
using headrace::c_api::ToDataType;
namespace errors = headrace::errors;

static_assert(TF_FLOAT == static_cast<int>(headrace::DT_FLOAT));
static_assert(TF_BFLOAT16 == static_cast<int>(headrace::DT_BFLOAT16));
static_assert(TF_UINT64 == static_cast<int>(headrace::DT_UINT64));

namespace {

// A type that a tensor can have: known and no reference.
bool IsTensorType(TF_DataType t) {
  return headrace::IsValidDataType(t) && !headrace::IsRefType(ToDataType(t));
}

Status BuildShape(const int64_t* dims, int num_dims, TensorShape* shape) {
  if (num_dims < 0 || (dims == nullptr && num_dims > 0)) {
    return errors::InvalidArgument("got ", num_dims, " dims at ",
                                   dims == nullptr ? "NULL" : "an address");
  }
  return TensorShape::Build(absl::MakeConstSpan(dims, num_dims), shape);
}

// Bytes of a tensor of that shape; -1 on overflow.
int64_t ByteSize(DataType dtype, const TensorShape& shape) {
  return headrace::MultiplyWithoutOverflow(shape.num_elements(),
                                           headrace::DataTypeObjectSize(dtype));
}

// What an element of the type must be aligned to.
size_t AlignmentOf(DataType dtype) {
  const size_t size = headrace::DataTypeObjectSize(dtype);
  return size >= 8 ? 8 : size;
}

bool IsAligned(const void* p, size_t to) {
  return reinterpret_cast<uintptr_t>(p) % to == 0;
}

}  // namespace

size_t TF_DataTypeSize(TF_DataType dt) {
  return headrace::DataTypeSize(ToDataType(dt));
}

TF_Tensor* TF_NewTensor(TF_DataType dt, const int64_t* dims, int num_dims,
                        void* data, size_t len,
                        void (*deallocator)(void* data, size_t len, void* arg),
                        void* deallocator_arg) {
  // From here on `buffer` sees to it that the deallocator is called once.
  headrace::RefPtr<headrace::TensorBuffer> buffer =
      headrace::WrapExternalBuffer(data, len, /*writable=*/false, [=] {
        if (deallocator != nullptr) deallocator(data, len, deallocator_arg);
      });
  const DataType dtype = ToDataType(dt);
  TensorShape shape;
  if (!IsTensorType(dt) || dt == TF_RESOURCE || dt == TF_VARIANT ||
      !BuildShape(dims, num_dims, &shape).ok()) {
    return nullptr;
  }
  const int64_t bytes = ByteSize(dtype, shape);
  if (bytes < 0 || static_cast<size_t>(bytes) > len ||
      (data == nullptr && bytes > 0)) {
    return nullptr;
  }
  if (bytes == 0) return new TF_Tensor{Tensor(dtype, shape)};
  if (!IsAligned(data, AlignmentOf(dtype))) {
    Tensor copy;
    if (dt == TF_STRING ||
        !Tensor::Allocate(headrace::CpuAllocator(), dtype, shape, &copy).ok()) {
      return nullptr;
    }
    std::memcpy(copy.raw_data(), data, bytes);
    return new TF_Tensor{std::move(copy)};
  }
  return new TF_Tensor{Tensor(dtype, shape, std::move(buffer))};
}

size_t TF_TensorDefaultAlignment() { return Allocator::kAlignment; }

TF_Tensor* TF_AllocateTensor(TF_DataType dt, const int64_t* dims, int num_dims,
                             size_t len) {
  TensorShape shape;
  if (!IsTensorType(dt) || !BuildShape(dims, num_dims, &shape).ok()) {
    return nullptr;
  }
  const int64_t bytes = ByteSize(ToDataType(dt), shape);
  if (bytes < 0 || static_cast<size_t>(bytes) > len) return nullptr;
  auto t = std::make_unique<TF_Tensor>();
  if (!Tensor::Allocate(headrace::CpuAllocator(), ToDataType(dt), shape,
                        &t->tensor)
           .ok()) {
    return nullptr;
  }
  return t.release();
}

TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor) {
  if (tensor == nullptr || !tensor->tensor.OwnsExclusively()) return nullptr;
  auto* moved = new TF_Tensor{std::move(tensor->tensor)};
  delete tensor;
  return moved;
}

void TF_DeleteTensor(TF_Tensor* t) { delete t; }

TF_DataType TF_TensorType(const TF_Tensor* t) {
  return headrace::c_api::FromDataType(t == nullptr ? headrace::DT_INVALID
                                                    : t->tensor.dtype());
}

void TF_SetShape(TF_Tensor* tensor, const int64_t* dims, int num_dims) {
  TensorShape shape;
  Tensor reshaped;
  if (tensor != nullptr && BuildShape(dims, num_dims, &shape).ok() &&
      reshaped.CopyFrom(tensor->tensor, shape)) {
    tensor->tensor = std::move(reshaped);
  }
}

int TF_NumDims(const TF_Tensor* t) {
  return t == nullptr ? 0 : t->tensor.dims();
}

int64_t TF_Dim(const TF_Tensor* tensor, int dim_index) {
  if (dim_index < 0 || dim_index >= TF_NumDims(tensor)) return -1;
  return tensor->tensor.dim_size(dim_index);
}

size_t TF_TensorByteSize(const TF_Tensor* t) {
  return t == nullptr ? 0 : t->tensor.TotalBytes();
}

void* TF_TensorData(const TF_Tensor* t) {
  return t == nullptr ? nullptr : const_cast<void*>(t->tensor.raw_data());
}

int64_t TF_TensorElementCount(const TF_Tensor* tensor) {
  return tensor == nullptr ? 0 : tensor->tensor.NumElements();
}

void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type,
                          TF_Tensor* to, const int64_t* new_dims,
                          int num_new_dims, TF_Status* status) {
  if (from == nullptr || to == nullptr) {
    return Set(status, errors::InvalidArgument(
                           "TF_TensorBitcastFrom: a tensor is NULL"));
  }
  const Tensor& t = from->tensor;
  TensorShape shape;
  const Status built = BuildShape(new_dims, num_new_dims, &shape);
  if (!built.ok()) return Set(status, built);
  const DataType dtype = ToDataType(type);
  if (!headrace::DataTypeCanUseMemcpy(t.dtype()) || !IsTensorType(type) ||
      !headrace::DataTypeCanUseMemcpy(dtype)) {
    return Set(status,
               errors::InvalidArgument("TF_TensorBitcastFrom: from ",
                                       headrace::DataTypeString(t.dtype()),
                                       " to ", headrace::DataTypeString(dtype),
                                       "; both must be plain data"));
  }
  const int64_t bytes = ByteSize(dtype, shape);
  if (bytes < 0 || static_cast<size_t>(bytes) != t.TotalBytes()) {
    return Set(status,
               errors::InvalidArgument(
                   "TF_TensorBitcastFrom: shape ", shape.DebugString(), " of ",
                   headrace::DataTypeString(dtype), " does not have the ",
                   t.TotalBytes(), " bytes of the tensor"));
  }
  if (t.IsInline()) {
    Tensor copy(dtype, shape);
    std::memcpy(copy.raw_data(), t.raw_data(), bytes);
    to->tensor = std::move(copy);
  } else if (!IsAligned(t.raw_data(), AlignmentOf(dtype))) {
    return Set(status,
               errors::InvalidArgument(
                   "TF_TensorBitcastFrom: the data are not aligned for ",
                   headrace::DataTypeString(dtype)));
  } else {
    const size_t offset = static_cast<const char*>(t.raw_data()) -
                          static_cast<const char*>(t.buffer()->data());
    to->tensor = Tensor(dtype, shape, t.buffer(), offset);
  }
  Set(status, headrace::OkStatus());
}

bool TF_TensorIsAligned(const TF_Tensor* t) {
  return t != nullptr &&
         (t->tensor.IsInline() ||
          IsAligned(t->tensor.raw_data(), Allocator::kAlignment));
}

void TF_TensorFromProto(const TF_Buffer* from, TF_Tensor* to,
                        TF_Status* status) {
  if (from == nullptr || to == nullptr) {
    return Set(status,
               errors::InvalidArgument("TF_TensorFromProto: NULL argument"));
  }
  headrace::pb::TensorProto proto;
  Status s = headrace::c_api::ParseProto("TF_TensorFromProto", from->data,
                                         from->length, &proto);
  Tensor t;
  if (s.ok()) s = headrace::TensorFromProto(proto, &t);
  if (s.ok()) to->tensor = std::move(t);
  Set(status, std::move(s));
}

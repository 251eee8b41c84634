// TF_Tensor: a Tensor behind a handle, or bytes that are none (yet). Memory of
// clients is wrapped, never written, and copied only where it is not even
// aligned for its type.
#include <cstring>

#include "c_api/internal.h"
#include "framework/op/tensor_proto.h"
#include "headrace/allocator.h"
#include "headrace/tstring.h"

using headrace::Allocator;
using headrace::DataType;
using headrace::RefPtr;
using headrace::Status;
using headrace::Tensor;
using headrace::TensorBuffer;
using headrace::TensorShape;
using headrace::c_api::Set;
using headrace::c_api::ToDataType;
namespace errors = headrace::errors;

static_assert(TF_FLOAT == static_cast<int>(headrace::DT_FLOAT));
static_assert(TF_BFLOAT16 == static_cast<int>(headrace::DT_BFLOAT16));
static_assert(TF_UINT64 == static_cast<int>(headrace::DT_UINT64));

namespace {

// A type whose tensors clients fill in as we hold them.
bool IsValueType(TF_DataType t) {
  return headrace::IsValidDataType(t) && !headrace::IsRefType(ToDataType(t)) &&
         t != TF_RESOURCE && t != TF_VARIANT &&
         !(t == TF_STRING && headrace::c_api::kOffsetStrings);
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

// The alignment of elements of the type, in bytes.
size_t AlignmentOf(DataType dtype) {
  const size_t size = headrace::DataTypeObjectSize(dtype);
  return size >= 8 ? 8 : size;
}

bool IsAligned(const void* p, size_t to) {
  return reinterpret_cast<uintptr_t>(p) % to == 0;
}

// Memory for a client to write, now or after a run that has read it: kernels
// must not. Null if there is none. Of `n` strings it is zeroed, which makes
// them empty, and they are destroyed with it.
RefPtr<TensorBuffer> NewBytes(size_t len, int64_t n) {
  Allocator* const allocator = headrace::CpuAllocator();
  void* const data = allocator->AllocateRaw(len == 0 ? 1 : len);
  if (data == nullptr) return nullptr;
  if (n > 0) std::memset(data, 0, len);
  return headrace::WrapExternalBuffer(data, len, /*writable=*/false, [=] {
    for (int64_t i = 0; i < n; ++i) {
      static_cast<headrace::tstring*>(data)[i].~tstring();
    }
    allocator->DeallocateRaw(data, len == 0 ? 1 : len);
  });
}

TF_Tensor* NewOpaque(TF_DataType type, const TensorShape& shape,
                     RefPtr<TensorBuffer> buffer) {
  auto* const t = new TF_Tensor;
  t->opaque.reset(
      new headrace::c_api::OpaqueBytes{type, shape, std::move(buffer)});
  return t;
}

// Says whether `len` bytes hold a tensor, opaque bytes, or too few bytes.
enum class Content { kTooShort, kOpaque, kValue };
Content ContentOf(TF_DataType dt, const TensorShape& shape, size_t len) {
  if (!IsValueType(dt)) return Content::kOpaque;
  const int64_t bytes = ByteSize(ToDataType(dt), shape);
  if (bytes >= 0 && static_cast<size_t>(bytes) <= len) return Content::kValue;
  // TensorFlow does not know how long strings are.
  return dt == TF_STRING ? Content::kOpaque : Content::kTooShort;
}

TF_Tensor* NewValue(DataType dtype, const TensorShape& shape,
                    RefPtr<TensorBuffer> buffer) {
  const size_t len = buffer->size();
  auto* const t = new TF_Tensor(Tensor(dtype, shape, std::move(buffer)));
  t->spare = len - t->tensor.TotalBytes();
  return t;
}

void Unref(TF_Tensor* t) {
  if (t->refs.fetch_sub(1) == 1) delete t;
}

// Puts another value into a client's tensor. Small data that others view stay
// where they are.
Status Replace(TF_Tensor* to, Tensor value, size_t spare, bool is_ours) {
  if (value.IsInline() && to->refs > 1) {
    Tensor heap;
    HR_RETURN_IF_ERROR(value.DeepCopyTo(&heap, Tensor::kHeap));
    value = std::move(heap);
  }
  to->opaque.reset();
  to->tensor = std::move(value);
  to->tensor.AllowWrites();
  to->spare = spare;
  to->is_ours = is_ours;
  return headrace::OkStatus();
}

// A view of the first bytes of a tensor of plain data. Small data, which lie in
// the tensor itself, keep it alive.
Tensor ViewOf(const TF_Tensor* from, DataType dtype, const TensorShape& shape) {
  const Tensor& t = from->tensor;
  if (!t.IsInline()) {
    const size_t offset = static_cast<const char*>(t.raw_data()) -
                          static_cast<const char*>(t.buffer()->data());
    return Tensor(dtype, shape, t.buffer(), offset);
  }
  auto* const owner = const_cast<TF_Tensor*>(from);
  owner->refs.fetch_add(1);
  return Tensor(dtype, shape,
                headrace::WrapExternalBuffer(
                    owner->tensor.raw_data(), Tensor::kInlineBytes,
                    /*writable=*/true, [owner] { Unref(owner); }));
}

}  // namespace

size_t TF_DataTypeSize(TF_DataType dt) {
  // No kernel computes with these. TensorFlow keeps each element in a byte.
  if (dt >= TF_FLOAT8_E5M2 && dt <= TF_FLOAT4_E2M1FN) return 1;
  const headrace::DataType type = ToDataType(dt);
  return headrace::IsRefType(type) ? 0 : headrace::DataTypeSize(type);
}

TF_Tensor* TF_NewTensor(TF_DataType dt, const int64_t* dims, int num_dims,
                        void* data, size_t len,
                        void (*deallocator)(void* data, size_t len, void* arg),
                        void* deallocator_arg) {
  // From here on `buffer` sees to it that the deallocator is called once.
  RefPtr<TensorBuffer> buffer =
      headrace::WrapExternalBuffer(data, len, /*writable=*/false, [=] {
        if (deallocator != nullptr) deallocator(data, len, deallocator_arg);
      });
  TensorShape shape;
  if (!BuildShape(dims, num_dims, &shape).ok() ||
      (data == nullptr && len > 0)) {
    return nullptr;
  }
  const Content content = ContentOf(dt, shape, len);
  if (content == Content::kTooShort) return nullptr;
  const DataType dtype = ToDataType(dt);
  if (content == Content::kValue) {
    if (shape.num_elements() == 0 || IsAligned(data, AlignmentOf(dtype))) {
      return NewValue(dtype, shape, std::move(buffer));
    }
    if (dt != TF_STRING) {
      RefPtr<TensorBuffer> copy = NewBytes(len, 0);
      if (copy == nullptr) return nullptr;
      std::memcpy(copy->data(), data, len);
      TF_Tensor* const t = NewValue(dtype, shape, std::move(copy));
      t->is_ours = true;
      return t;
    }
  }
  return NewOpaque(dt, shape, std::move(buffer));
}

size_t TF_TensorDefaultAlignment() { return Allocator::kAlignment; }

TF_Tensor* TF_AllocateTensor(TF_DataType dt, const int64_t* dims, int num_dims,
                             size_t len) {
  TensorShape shape;
  if (!BuildShape(dims, num_dims, &shape).ok()) return nullptr;
  const Content content = ContentOf(dt, shape, len);
  if (content == Content::kTooShort) return nullptr;
  const bool is_value = content == Content::kValue;
  RefPtr<TensorBuffer> buffer =
      NewBytes(len, is_value && dt == TF_STRING ? shape.num_elements() : 0);
  if (buffer == nullptr) return nullptr;
  TF_Tensor* const t = is_value
                           ? NewValue(ToDataType(dt), shape, std::move(buffer))
                           : NewOpaque(dt, shape, std::move(buffer));
  t->is_ours = true;
  return t;
}

TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor) {
  if (tensor == nullptr || tensor->refs > 1) return nullptr;
  const RefPtr<TensorBuffer>& buffer = tensor->opaque != nullptr
                                           ? tensor->opaque->buffer
                                           : tensor->tensor.buffer();
  const bool alone =
      buffer == nullptr ||
      (buffer->RefCountIsOne() && (tensor->is_ours || buffer->IsWritable()));
  return alone ? tensor : nullptr;
}

void TF_DeleteTensor(TF_Tensor* t) {
  if (t != nullptr) Unref(t);
}

TF_DataType TF_TensorType(const TF_Tensor* t) {
  if (t != nullptr && t->opaque != nullptr) return t->opaque->type;
  return headrace::c_api::FromDataType(t == nullptr ? headrace::DT_INVALID
                                                    : t->tensor.dtype());
}

void TF_SetShape(TF_Tensor* tensor, const int64_t* dims, int num_dims) {
  TensorShape shape;
  if (tensor == nullptr || !BuildShape(dims, num_dims, &shape).ok()) return;
  if (tensor->opaque != nullptr) {
    tensor->opaque->shape = shape;
    return;
  }
  Tensor& t = tensor->tensor;
  const int64_t bytes = ByteSize(t.dtype(), shape);
  const size_t len = TF_TensorByteSize(tensor);
  if (bytes < 0 || static_cast<size_t>(bytes) > len) return;
  Tensor reshaped;
  if (reshaped.CopyFrom(t, shape)) {
    t = std::move(reshaped);
  } else if (t.IsInline()) {
    reshaped = Tensor(t.dtype(), shape);
    std::memcpy(reshaped.raw_data(), t.raw_data(), Tensor::kInlineBytes);
    t = std::move(reshaped);
  } else {
    t = ViewOf(tensor, t.dtype(), shape);
  }
  t.AllowWrites();
  tensor->spare = len - static_cast<size_t>(bytes);
}

namespace {
const TensorShape& ShapeOf(const TF_Tensor& t) {
  return t.opaque != nullptr ? t.opaque->shape : t.tensor.shape();
}
}  // namespace

int TF_NumDims(const TF_Tensor* t) {
  return t == nullptr ? 0 : ShapeOf(*t).dims();
}

int64_t TF_Dim(const TF_Tensor* tensor, int dim_index) {
  if (dim_index < 0 || dim_index >= TF_NumDims(tensor)) return -1;
  return ShapeOf(*tensor).dim_size(dim_index);
}

size_t TF_TensorByteSize(const TF_Tensor* t) {
  if (t == nullptr) return 0;
  return t->opaque != nullptr ? t->opaque->buffer->size()
                              : t->tensor.TotalBytes() + t->spare;
}

void* TF_TensorData(const TF_Tensor* t) {
  if (t == nullptr) return nullptr;
  return t->opaque != nullptr ? t->opaque->buffer->data()
                              : const_cast<void*>(t->tensor.raw_data());
}

int64_t TF_TensorElementCount(const TF_Tensor* tensor) {
  return tensor == nullptr ? 0 : ShapeOf(*tensor).num_elements();
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
  if (from->opaque != nullptr || !headrace::DataTypeCanUseMemcpy(t.dtype()) ||
      !IsValueType(type) || !headrace::DataTypeCanUseMemcpy(dtype)) {
    return Set(
        status,
        errors::InvalidArgument(
            "TF_TensorBitcastFrom: from ",
            headrace::DataTypeString(ToDataType(TF_TensorType(from))), " to ",
            headrace::DataTypeString(dtype), "; both must be plain data"));
  }
  const int64_t bytes = ByteSize(dtype, shape);
  if (bytes < 0 || static_cast<size_t>(bytes) != t.TotalBytes()) {
    return Set(status,
               errors::InvalidArgument(
                   "TF_TensorBitcastFrom: shape ", shape.DebugString(), " of ",
                   headrace::DataTypeString(dtype), " does not have the ",
                   t.TotalBytes(), " bytes of the tensor"));
  }
  if (!IsAligned(t.raw_data(), AlignmentOf(dtype))) {
    return Set(status,
               errors::InvalidArgument(
                   "TF_TensorBitcastFrom: the data are not aligned for ",
                   headrace::DataTypeString(dtype)));
  }
  if (from == to && t.IsInline()) {
    Tensor same(dtype, shape);
    std::memcpy(same.raw_data(), t.raw_data(), bytes);
    to->tensor = std::move(same);
    return Set(status, headrace::OkStatus());
  }
  Set(status,
      Replace(to, ViewOf(from, dtype, shape), from->spare, from->is_ours));
}

bool TF_TensorIsAligned(const TF_Tensor* t) {
  return t != nullptr && ((t->opaque == nullptr && t->tensor.IsInline()) ||
                          IsAligned(TF_TensorData(t), Allocator::kAlignment));
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
  // A resource is bytes for a client, wherever it comes from.
  TF_Tensor* made = nullptr;
  if (s.ok()) s = headrace::c_api::WrapTensor(std::move(t), &made);
  if (s.ok() && made->opaque != nullptr) {
    to->opaque = std::move(made->opaque);
    to->is_ours = true;
  } else if (s.ok()) {
    s = Replace(to, std::move(made->tensor), /*spare=*/0, /*is_ours=*/false);
  }
  TF_DeleteTensor(made);
  Set(status, std::move(s));
}

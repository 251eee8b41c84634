#include "headrace/tensor.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/exceptions.h"
#include "framework/memory/allocation_trace.h"
#include "framework/tensor/variant.h"
#include "headrace/resource_handle.h"

namespace headrace {
namespace {

class AllocatedBuffer : public TensorBuffer {
 public:
  AllocatedBuffer(Allocator* a, void* data, size_t bytes)
      : TensorBuffer(data, bytes), allocator_(a) {}

 protected:
  ~AllocatedBuffer() override { allocator_->DeallocateRaw(data_, bytes_); }

 private:
  Allocator* const allocator_;
};

// A buffer of objects with constructors and destructors.
template <typename T>
class ObjectBuffer : public AllocatedBuffer {
 public:
  ObjectBuffer(Allocator* a, void* data, size_t bytes)
      : AllocatedBuffer(a, data, bytes) {
    T* p = static_cast<T*>(data);
    for (size_t i = 0; i < bytes / sizeof(T); ++i) new (p + i) T();
  }

 protected:
  ~ObjectBuffer() override {
    T* p = static_cast<T*>(data());
    for (size_t i = 0; i < size() / sizeof(T); ++i) p[i].~T();
  }
};

class ExternalBuffer : public TensorBuffer {
 public:
  ExternalBuffer(void* data, size_t bytes, bool writable,
                 std::function<void()> release)
      : TensorBuffer(data, bytes),
        writable_(writable),
        release_(std::move(release)) {}
  bool IsWritable() const override { return writable_; }

 protected:
  ~ExternalBuffer() override {
    if (release_) release_();
  }

 private:
  const bool writable_;
  const std::function<void()> release_;
};

TensorBuffer* NewBuffer(Allocator* a, DataType dtype, size_t bytes) {
  void* p = a->AllocateRaw(bytes);
  if (p == nullptr) return nullptr;
  TensorBuffer* buffer = nullptr;
  switch (dtype) {
    case DT_STRING:
      buffer = new (std::nothrow) ObjectBuffer<tstring>(a, p, bytes);
      break;
    case DT_RESOURCE:
      buffer = new (std::nothrow) ObjectBuffer<ResourceHandle>(a, p, bytes);
      break;
    case DT_VARIANT:
      buffer = new (std::nothrow) ObjectBuffer<Variant>(a, p, bytes);
      break;
    default:
      buffer = new (std::nothrow) AllocatedBuffer(a, p, bytes);
  }
  if (buffer == nullptr) a->DeallocateRaw(p, bytes);
  return buffer;
}

// One element as text, as TF 1.x prints it.
std::string ElementString(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DT_FLOAT:
      return absl::StrCat(t.data<float>()[i]);
    case DT_DOUBLE:
      return absl::StrCat(t.data<double>()[i]);
    case DT_HALF:
      return absl::StrCat(static_cast<float>(t.data<half>()[i]));
    case DT_BFLOAT16:
      return absl::StrCat(static_cast<float>(t.data<bfloat16>()[i]));
    case DT_INT8:
      return absl::StrCat(static_cast<int>(t.data<int8_t>()[i]));
    case DT_UINT8:
      return absl::StrCat(static_cast<int>(t.data<uint8_t>()[i]));
    case DT_INT16:
      return absl::StrCat(t.data<int16_t>()[i]);
    case DT_UINT16:
      return absl::StrCat(t.data<uint16_t>()[i]);
    case DT_INT32:
      return absl::StrCat(t.data<int32_t>()[i]);
    case DT_UINT32:
      return absl::StrCat(t.data<uint32_t>()[i]);
    case DT_INT64:
      return absl::StrCat(t.data<int64_t>()[i]);
    case DT_UINT64:
      return absl::StrCat(t.data<uint64_t>()[i]);
    case DT_QINT8:
      return absl::StrCat(static_cast<int>(t.data<qint8>()[i].value));
    case DT_QUINT8:
      return absl::StrCat(static_cast<int>(t.data<quint8>()[i].value));
    case DT_QINT16:
      return absl::StrCat(t.data<qint16>()[i].value);
    case DT_QUINT16:
      return absl::StrCat(t.data<quint16>()[i].value);
    case DT_QINT32:
      return absl::StrCat(t.data<qint32>()[i].value);
    case DT_BOOL:
      return t.data<bool>()[i] ? "1" : "0";
    case DT_STRING:
      return absl::CEscape(t.data<tstring>()[i]);
    case DT_COMPLEX64: {
      const complex64 c = t.data<complex64>()[i];
      return absl::StrCat("(", c.real(), ",", c.imag(), ")");
    }
    case DT_COMPLEX128: {
      const complex128 c = t.data<complex128>()[i];
      return absl::StrCat("(", c.real(), ",", c.imag(), ")");
    }
    case DT_RESOURCE:
      return t.data<ResourceHandle>()[i].DebugString();
    case DT_VARIANT:
      return absl::StrCat("Variant<", t.data<Variant>()[i].TypeName(), ">");
    default:
      return "?";
  }
}

}  // namespace

Tensor::Tensor(DataType dtype, const TensorShape& shape)
    : Tensor(CpuAllocator(), dtype, shape) {}

Tensor::Tensor(Allocator* a, DataType dtype, const TensorShape& shape,
               Placement placement) {
  const Status s = Allocate(a, dtype, shape, this, placement);
  if (s.ok()) [[likely]]
    return;
  *this = Tensor();
  // Who does not look writes over what lies behind an empty tensor.
  if (errors::IsResourceExhausted(s)) {
    throw OutOfMemory(static_cast<size_t>(shape.num_elements()) *
                      DataTypeObjectSize(dtype));
  }
}

Tensor::Tensor(DataType dtype, const TensorShape& shape,
               RefPtr<TensorBuffer> buffer, size_t offset)
    : dtype_(dtype), shape_(shape), buf_(std::move(buffer)) {
  data_ = static_cast<char*>(buf_->data()) + offset;
}

Status Tensor::Allocate(Allocator* a, DataType dtype, const TensorShape& shape,
                        Tensor* out, Placement placement) {
  const int64_t element = DataTypeObjectSize(dtype);
  if (element == 0 || IsRefType(dtype)) {
    return errors::Internal("cannot allocate a tensor of type ",
                            DataTypeString(dtype));
  }
  const int64_t bytes = MultiplyWithoutOverflow(shape.num_elements(), element);
  if (bytes < 0) {
    return errors::InvalidArgument(
        "cannot allocate a tensor of shape ", shape.DebugString(), " and type ",
        DataTypeString(dtype), ": its size is negative or overflows int64");
  }
  Tensor t;
  if (bytes > static_cast<int64_t>(kInlineBytes) || placement == kHeap ||
      !DataTypeCanUseMemcpy(dtype)) {
    t.buf_ = RefPtr<TensorBuffer>(NewBuffer(a, dtype, bytes));
    if (t.buf_ == nullptr) {
      const AllocatorStats stats = a->GetStats();
      const int64_t free = stats.bytes_limit - stats.bytes_in_use;
      return errors::ResourceExhausted(
          "OOM when allocating tensor with shape", shape.DebugString(),
          " and type ", DataTypeString(dtype), ": ", bytes, " bytes wanted, ",
          stats.bytes_in_use, " in use by allocator ", a->Name(),
          stats.bytes_limit > 0 ? absl::StrCat(", ", free, " free") : "");
    }
    t.data_ = t.buf_->data();
  }
  t.dtype_ = dtype;
  t.shape_ = shape;
  *out = std::move(t);
  return OkStatus();
}

#ifdef HEADRACE_CHECKED_COPIES
void Tensor::CopiedBytes::EndAfterWrite(const Tensor& copy) {
  std::fprintf(stderr,
               "A copy of a small tensor was written, now %s: what was copied "
               "does not show it, as that of a large tensor would. Write "
               "through the object that was allocated, or call AllowWrites "
               "on a copy that OwnsExclusively.\n",
               copy.DebugString().c_str());
  std::abort();
}
#endif

bool Tensor::CopyFrom(const Tensor& o, const TensorShape& shape) {
  if (o.NumElements() != shape.num_elements()) return false;
  const TensorShape s = shape;  // may alias
  *this = o;
  shape_ = s;
  return true;
}

Tensor Tensor::Slice(int64_t begin, int64_t end) const {
  assert(dims() > 0 && begin >= 0 && begin <= end && end <= dim_size(0));
  Tensor t = *this;
  t.shape_.set_dim(0, end - begin);
  const int64_t row = dim_size(0) == 0 ? 0 : NumElements() / dim_size(0);
  const size_t offset = static_cast<size_t>(begin * row) *
                        static_cast<size_t>(DataTypeObjectSize(dtype_));
  if (t.data_ != nullptr) {
    t.data_ = static_cast<char*>(t.data_) + offset;
  } else if (offset < kInlineBytes) {
    std::memmove(t.inline_, t.inline_ + offset, kInlineBytes - offset);
    t.copied_.Note(t);
  }
  return t;
}

Tensor Tensor::SubSlice(int64_t i) const {
  Tensor t = Slice(i, i + 1);
  t.shape_.RemoveDim(0);
  return t;
}

Tensor Tensor::BitcastTo(DataType dtype) const {
  assert(DataTypeSize(dtype) == DataTypeSize(dtype_));
  Tensor t = *this;
  t.dtype_ = dtype;
  return t;
}

Status Tensor::DeepCopyTo(Tensor* out, Placement placement) const {
  Tensor t;
  HR_RETURN_IF_ERROR(Allocate(CpuAllocator(), dtype_, shape_, &t, placement));
  CopyElements(*this, 0, &t, 0, NumElements());
  AllocationTrace::Copied(static_cast<int64_t>(TotalBytes()));
  *out = std::move(t);
  return OkStatus();
}

void Tensor::AssertProduct(const int64_t* dims, int n) const {
#ifndef NDEBUG
  int64_t product = 1;
  for (int i = 0; i < n; ++i) product *= dims[i];
  assert(product == NumElements());
#else
  (void)dims;
  (void)n;
#endif
}

std::string Tensor::SummarizeValue(int64_t max_entries) const {
  if (!IsInitialized()) return "uninitialized";
  const int64_t n = NumElements();
  if (max_entries < 0) max_entries = n;
  // Rows of the last dim in brackets, as nested lists without commas.
  std::string out;
  int64_t shown = 0;
  const int rank = dims();
  if (rank <= 1) {
    for (; shown < std::min(n, max_entries); ++shown) {
      absl::StrAppend(&out, shown ? " " : "", ElementString(*this, shown));
    }
  } else {
    for (int64_t i = 0; i < std::min(n, max_entries); ++i) {
      int64_t inner = 1;
      int opens = 0;
      for (int d = rank - 1; d >= 1; --d) {
        inner *= dim_size(d);
        if (i % inner == 0) ++opens;
      }
      if (opens > 0) {
        if (i > 0) out += std::string(opens, ']');
        out += std::string(opens, '[');
      } else {
        out += " ";
      }
      out += ElementString(*this, i);
      ++shown;
    }
    if (shown > 0) out += std::string(rank - 1, ']');
  }
  if (shown < n) out += "...";
  return out;
}

std::string Tensor::DebugString(int max_entries) const {
  return absl::StrCat("Tensor<type: ", DataTypeString(dtype_),
                      " shape: ", shape_.DebugString(),
                      " values: ", SummarizeValue(max_entries), ">");
}

RefPtr<TensorBuffer> WrapExternalBuffer(void* data, size_t bytes, bool writable,
                                        std::function<void()> release) {
  return RefPtr<TensorBuffer>(
      new ExternalBuffer(data, bytes, writable, std::move(release)));
}

namespace {
template <typename T>
void CopyObjects(const Tensor& src, int64_t from, Tensor* dst, int64_t to,
                 int64_t n) {
  std::copy_n(src.data<T>() + from, n, dst->data<T>() + to);
}
}  // namespace

void CopyElements(const Tensor& src, int64_t src_begin, Tensor* dst,
                  int64_t dst_begin, int64_t n) {
  if (n <= 0) return;
  switch (src.dtype()) {
    case DT_STRING:
      return CopyObjects<tstring>(src, src_begin, dst, dst_begin, n);
    case DT_RESOURCE:
      return CopyObjects<ResourceHandle>(src, src_begin, dst, dst_begin, n);
    case DT_VARIANT:
      return CopyObjects<Variant>(src, src_begin, dst, dst_begin, n);
    default: {
      const size_t size = DataTypeSize(src.dtype());
      std::memcpy(static_cast<char*>(dst->raw_data()) + dst_begin * size,
                  static_cast<const char*>(src.raw_data()) + src_begin * size,
                  n * size);
    }
  }
}

}  // namespace headrace

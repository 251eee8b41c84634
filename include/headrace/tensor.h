// Tensor: a typed, shaped, row-major array. A copy of a Tensor shares its
// buffer (reference counted); slices and reshapes share it too. Plain data of
// at most kInlineBytes has no buffer: it lies inside the object. So a pointer
// to it is valid only while that object lives and stays put, and a copy of it
// has bytes of its own. Variables, which are shared by pointer, ask for a heap
// buffer.
//
// Copies are for reading. A write through a copy shows in the original if the
// tensor is large, and does not if it is small. Write through the object that
// was allocated, or through a copy that OwnsExclusively(), after AllowWrites().
// Builds with HEADRACE_CHECKED_COPIES (presets asan and dev) end the process
// when a small copy has been written otherwise.
//
// Distinct Tensor objects may be used from distinct threads, also when they
// share a buffer that nobody writes.
#ifndef HEADRACE_TENSOR_H_
#define HEADRACE_TENSOR_H_

#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "headrace/allocator.h"
#include "headrace/ref_count.h"
#include "headrace/status.h"
#include "headrace/tensor_shape.h"
#include "headrace/types.h"

namespace headrace {

// Bytes with an owner. Subclasses free, destroy objects or unmap.
class TensorBuffer : public RefCounted {
 public:
  TensorBuffer(void* data, size_t bytes) : data_(data), bytes_(bytes) {}
  void* data() const { return data_; }
  size_t size() const { return bytes_; }
  // False for memory that must not be written: mapped files, client memory.
  virtual bool IsWritable() const { return true; }

 protected:
  void* const data_;
  const size_t bytes_;
};

// A rank-N row-major view; what kernels index.
template <typename T, int N>
class TensorView {
 public:
  TensorView(T* data, const std::array<int64_t, N>& dims)
      : data_(data), dims_(dims) {}
  T* data() const { return data_; }
  int64_t dimension(int i) const { return dims_[i]; }
  const std::array<int64_t, N>& dimensions() const { return dims_; }
  int64_t size() const {
    int64_t n = 1;
    for (int64_t d : dims_) n *= d;
    return n;
  }
  template <typename... I>
  T& operator()(I... index) const {
    static_assert(sizeof...(I) == N);
    const int64_t at[N == 0 ? 1 : N] = {static_cast<int64_t>(index)...};
    int64_t offset = 0;
    for (int i = 0; i < N; ++i) {
      assert(at[i] >= 0 && at[i] < dims_[i]);
      offset = offset * dims_[i] + at[i];
    }
    return data_[offset];
  }
  T& operator[](int64_t i) const {
    static_assert(N == 1);
    return data_[i];
  }
  T* begin() const { return data_; }
  T* end() const { return data_ + size(); }

 private:
  T* data_;
  std::array<int64_t, N> dims_;
};

class Tensor {
 public:
  static constexpr size_t kInlineBytes = 16;
  enum Placement { kAuto, kHeap };  // kHeap: never inline

  // A DT_INVALID tensor with no data: "no value".
  Tensor() = default;
  // An empty float-like tensor of zero elements with the given type.
  explicit Tensor(DataType dtype) : Tensor(dtype, TensorShape({0})) {}
  // Allocates from CpuAllocator(); for shapes known to be small. Where the size
  // comes from a graph or a feed use Allocate, which reports failure: here want
  // of memory throws OutOfMemory, and a tensor of an invalid shape is
  // !IsInitialized().
  Tensor(DataType dtype, const TensorShape& shape);
  Tensor(Allocator* a, DataType dtype, const TensorShape& shape,
         Placement placement = kAuto);
  // Over an existing buffer, from byte `offset` on.
  Tensor(DataType dtype, const TensorShape& shape, RefPtr<TensorBuffer> buffer,
         size_t offset = 0);
  // A scalar of any DataTypeToEnum type.
  template <typename T>
  static Tensor Scalar(const T& v);
  template <typename T>
  static Tensor Vector(absl::Span<const T> v);

  Tensor(const Tensor& o) { CopyFrom(o); }
  Tensor& operator=(const Tensor& o) {
    if (this == &o) return *this;
    copied_.Check(*this);
    CopyFrom(o);
    return *this;
  }
  Tensor(Tensor&& o) noexcept { MoveFrom(std::move(o)); }
  Tensor& operator=(Tensor&& o) noexcept {
    if (this == &o) return *this;
    copied_.Check(*this);
    MoveFrom(std::move(o));
    return *this;
  }
#ifdef HEADRACE_CHECKED_COPIES
  ~Tensor() { copied_.Check(*this); }
#endif

  // ResourceExhausted if there is no memory, InvalidArgument if the shape is
  // invalid or its bytes overflow. Plain data is not initialised; strings,
  // resources and variants are default-constructed.
  static Status Allocate(Allocator* a, DataType dtype, const TensorShape& shape,
                         Tensor* out, Placement placement = kAuto);

  DataType dtype() const { return dtype_; }
  const TensorShape& shape() const { return shape_; }
  int dims() const { return shape_.dims(); }
  int64_t dim_size(int i) const { return shape_.dim_size(i); }
  int64_t NumElements() const { return shape_.num_elements(); }
  // True if it holds a value: also for zero elements.
  bool IsInitialized() const { return dtype_ != DT_INVALID; }
  size_t TotalBytes() const {
    return static_cast<size_t>(NumElements()) * DataTypeObjectSize(dtype_);
  }
  bool IsInline() const { return data_ == nullptr; }
  void* raw_data() {
    return data_ != nullptr ? data_ : static_cast<void*>(inline_);
  }
  const void* raw_data() const {
    return data_ != nullptr ? data_ : static_cast<const void*>(inline_);
  }
  // The bytes of a plain-data tensor.
  absl::string_view tensor_data() const {
    return absl::string_view(static_cast<const char*>(raw_data()),
                             TotalBytes());
  }

  bool SharesBufferWith(const Tensor& o) const {
    return buf_ != nullptr && buf_.get() == o.buf_.get();
  }
  // True if nobody else can see a write through this object.
  bool OwnsExclusively() const {
    return buf_ == nullptr || (buf_->RefCountIsOne() && buf_->IsWritable());
  }
  // This object, which owns its bytes exclusively, may be a copy and is going
  // to be written nevertheless. Has an effect in checked builds alone.
  void AllowWrites() { copied_.Forget(); }
  const RefPtr<TensorBuffer>& buffer() const { return buf_; }

  // Shares the buffer under another shape of equally many elements; false
  // otherwise.
  [[nodiscard]] bool CopyFrom(const Tensor& o, const TensorShape& shape);
  // Rows [begin, end) of dimension 0, sharing the buffer.
  Tensor Slice(int64_t begin, int64_t end) const;
  // Row i, one dimension fewer.
  Tensor SubSlice(int64_t i) const;
  // The same bytes as another type of the same element size.
  Tensor BitcastTo(DataType dtype) const;
  // A fresh buffer with a copy of the elements.
  Status DeepCopyTo(Tensor* out, Placement placement = kAuto) const;

  // Typed access. T must be the tensor's type; that and the ranks and products
  // below are the caller's to check (asserted in assert builds).
  template <typename T>
  T* data() {
    AssertType(DataTypeToEnum<T>::value);
    return static_cast<T*>(raw_data());
  }
  template <typename T>
  const T* data() const {
    AssertType(DataTypeToEnum<T>::value);
    return static_cast<const T*>(raw_data());
  }
  template <typename T>
  TensorView<T, 1> flat() {
    return {data<T>(), {NumElements()}};
  }
  template <typename T>
  TensorView<const T, 1> flat() const {
    return {data<T>(), {NumElements()}};
  }
  template <typename T>
  absl::Span<const T> span() const {
    return absl::Span<const T>(data<T>(), NumElements());
  }
  template <typename T>
  T& scalar() {
    assert(NumElements() == 1);
    return *data<T>();
  }
  template <typename T>
  const T& scalar() const {
    assert(NumElements() == 1);
    return *data<T>();
  }
  template <typename T>
  TensorView<T, 1> vec() {
    return tensor<T, 1>();
  }
  template <typename T>
  TensorView<const T, 1> vec() const {
    return tensor<T, 1>();
  }
  template <typename T>
  TensorView<T, 2> matrix() {
    return tensor<T, 2>();
  }
  template <typename T>
  TensorView<const T, 2> matrix() const {
    return tensor<T, 2>();
  }
  template <typename T, int N>
  TensorView<T, N> tensor() {
    return {data<T>(), Dims<N>()};
  }
  template <typename T, int N>
  TensorView<const T, N> tensor() const {
    return {data<T>(), Dims<N>()};
  }
  template <typename T, int N>
  TensorView<T, N> shaped(const std::array<int64_t, N>& dims) {
    AssertProduct(dims.data(), N);
    return {data<T>(), dims};
  }
  template <typename T, int N>
  TensorView<const T, N> shaped(const std::array<int64_t, N>& dims) const {
    AssertProduct(dims.data(), N);
    return {data<T>(), dims};
  }
  // Leading dims folded into the first of N: [2,3,4] -> [6,4].
  template <typename T, int N = 2>
  TensorView<T, N> flat_inner_dims() {
    return {data<T>(), InnerDims<N>()};
  }
  template <typename T, int N = 2>
  TensorView<const T, N> flat_inner_dims() const {
    return {data<T>(), InnerDims<N>()};
  }
  // Trailing dims folded into the last of N: [2,3,4] -> [2,12].
  template <typename T, int N = 2>
  TensorView<T, N> flat_outer_dims() {
    return {data<T>(), OuterDims<N>()};
  }
  template <typename T, int N = 2>
  TensorView<const T, N> flat_outer_dims() const {
    return {data<T>(), OuterDims<N>()};
  }

  // "Tensor<type: float shape: [2] values: 1 2>".
  std::string DebugString(int max_entries = 8) const;
  // "1 2 3..." or "[1 2][3 4]...": values as TF 1.x prints them.
  std::string SummarizeValue(int64_t max_entries) const;

 private:
  // What a small copy was when it was made; nothing where copies are not
  // checked.
#ifdef HEADRACE_CHECKED_COPIES
  class CopiedBytes {
   public:
    void Note(const Tensor& copy) {
      is_set_ = copy.data_ == nullptr;
      if (is_set_) std::memcpy(bytes_, copy.inline_, kInlineBytes);
    }
    void Forget() { is_set_ = false; }
    // Ends the process if the copy has been written.
    void Check(const Tensor& copy) const {
      if (is_set_ && copy.data_ == nullptr &&
          std::memcmp(bytes_, copy.inline_, kInlineBytes) != 0) {
        EndAfterWrite(copy);
      }
    }

   private:
    [[noreturn]] static void EndAfterWrite(const Tensor& copy);

    bool is_set_ = false;
    char bytes_[kInlineBytes] = {};
  };
#else
  class CopiedBytes {
   public:
    void Note(const Tensor&) {}
    void Forget() {}
    void Check(const Tensor&) const {}
  };
#endif

  void CopyFrom(const Tensor& o) {
    dtype_ = o.dtype_;
    shape_ = o.shape_;
    buf_ = o.buf_;
    data_ = o.data_;
    if (data_ == nullptr) std::memcpy(inline_, o.inline_, kInlineBytes);
    copied_.Note(*this);
  }
  void MoveFrom(Tensor&& o) noexcept {
    dtype_ = o.dtype_;
    shape_ = std::move(o.shape_);
    buf_ = std::move(o.buf_);
    data_ = o.data_;
    if (data_ == nullptr) std::memcpy(inline_, o.inline_, kInlineBytes);
    copied_ = o.copied_;
    o.copied_.Forget();
    o.dtype_ = DT_INVALID;
    o.data_ = nullptr;
    o.shape_ = TensorShape();
  }
  void AssertType(DataType t) const {
    assert(t == BaseType(dtype_) && "a kernel read a tensor as another type");
    (void)t;
  }
  void AssertProduct(const int64_t* dims, int n) const;
  template <int N>
  std::array<int64_t, N> Dims() const {
    assert(shape_.dims() == N);
    std::array<int64_t, N> d;
    for (int i = 0; i < N; ++i) d[i] = shape_.dim_size(i);
    return d;
  }
  template <int N>
  std::array<int64_t, N> InnerDims() const {
    std::array<int64_t, N> d;
    const int r = dims();
    for (int i = 1; i < N; ++i) {
      const int at = r - N + i;
      d[i] = at >= 0 ? dim_size(at) : 1;
    }
    d[0] = shape_.ProductOf(0, r - N + 1 > 0 ? r - N + 1 : 0);
    return d;
  }
  template <int N>
  std::array<int64_t, N> OuterDims() const {
    std::array<int64_t, N> d;
    const int r = dims();
    for (int i = 0; i < N - 1; ++i) d[i] = i < r ? dim_size(i) : 1;
    d[N - 1] = shape_.ProductOf(r < N - 1 ? r : N - 1, r);
    return d;
  }

  DataType dtype_ = DT_INVALID;
  TensorShape shape_;
  RefPtr<TensorBuffer> buf_;
  void* data_ = nullptr;  // null: the elements are in inline_
  alignas(16) char inline_[kInlineBytes] = {};
  [[no_unique_address]] CopiedBytes copied_;
};

template <typename T>
Tensor Tensor::Scalar(const T& v) {
  Tensor t(DataTypeToEnum<T>::value, TensorShape());
  *t.data<T>() = v;
  return t;
}
template <typename T>
Tensor Tensor::Vector(absl::Span<const T> v) {
  Tensor t(DataTypeToEnum<T>::value,
           TensorShape({static_cast<int64_t>(v.size())}));
  for (size_t i = 0; i < v.size(); ++i) t.data<T>()[i] = v[i];
  return t;
}

// A buffer over memory that somebody else owns; `release` runs once when the
// last Tensor over it goes.
RefPtr<TensorBuffer> WrapExternalBuffer(void* data, size_t bytes, bool writable,
                                        std::function<void()> release);

// Copies elements [src_begin, src_begin + n) of `src` to dst_begin on, both of
// one type; strings, resources and variants are copied as objects.
void CopyElements(const Tensor& src, int64_t src_begin, Tensor* dst,
                  int64_t dst_begin, int64_t n);

}  // namespace headrace

#endif  // HEADRACE_TENSOR_H_

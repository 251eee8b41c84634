#include "kernels/flow/tensor_array.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/lib/element.h"
#include "kernels/lib/tensor_sum.h"

namespace headrace {

TensorArray::TensorArray(Options options)
    : options_(std::move(options)),
      size_(options_.size),
      dynamic_size_(options_.dynamic_size),
      element_shape_(options_.element_shape) {}

std::string TensorArray::DebugString() const {
  return absl::StrCat("TensorArray ", options_.name, " of ",
                      DataTypeString(options_.dtype));
}

Status TensorArray::CheckOpen() const {
  if (!closed_) return OkStatus();
  return errors::InvalidArgument("TensorArray ", options_.name,
                                 " has already been closed.");
}

TensorArray::Element& TensorArray::At(int64_t index) {
  if (index < kMaxDense) {
    if (index >= static_cast<int64_t>(elements_.size())) {
      // At once for an array of a usual size, step by step for a large one.
      elements_.resize(std::clamp<int64_t>(std::min<int64_t>(size_, 1024),
                                           index + 1, kMaxDense));
    }
    return elements_[index];
  }
  std::unique_ptr<Element>& e = far_[index];
  if (e == nullptr) e = std::make_unique<Element>();
  return *e;
}

Status TensorArray::Write(int64_t index, Tensor value) {
  MutexLock lock(&mu_);
  HR_RETURN_IF_ERROR(CheckOpen());
  if (index < 0 || (index >= size_ && !dynamic_size_)) {
    return errors::InvalidArgument(
        "TensorArray ", options_.name, ": Tried to write to index ", index,
        " but array is not resizeable and size is: ", size_);
  }
  if (value.dtype() != options_.dtype) {
    return errors::InvalidArgument(
        "TensorArray ", options_.name, ": Could not write to index ", index,
        " because the value dtype is ", DataTypeString(value.dtype()),
        " but TensorArray dtype is ", DataTypeString(options_.dtype), ".");
  }
  if (!element_shape_.IsCompatibleWith(value.shape())) {
    return errors::InvalidArgument(
        "TensorArray ", options_.name,
        ": Could not write to TensorArray index ", index,
        " because the value shape is ", value.shape().DebugString(),
        " which is incompatible with the TensorArray's inferred element "
        "shape: ",
        element_shape_.DebugString(), " (consider setting infer_shape=False).");
  }
  if (index >= size_) size_ = index + 1;
  Element& e = At(index);
  if (e.cleared) {
    return errors::InvalidArgument("TensorArray ", options_.name,
                                   ": Could not write to TensorArray index ",
                                   index, " because it has already been read.");
  }
  if (e.written) {
    if (!options_.adds_up) {
      return errors::InvalidArgument(
          "TensorArray ", options_.name,
          ": Could not write to TensorArray index ", index,
          " because it has already been written to.");
    }
    if (e.shape != value.shape()) {
      return errors::InvalidArgument(
          "TensorArray ", options_.name,
          ": Could not aggregate to TensorArray index ", index,
          " because the existing shape is ", e.shape.DebugString(),
          " but the new input shape is ", value.shape().DebugString(), ".");
    }
    return AddToTensor(value, &e.value);
  }
  if (options_.identical_element_shapes && !element_shape_.IsFullyDefined()) {
    element_shape_ = value.shape();
  }
  e.shape = value.shape();
  e.has_shape = true;
  e.written = true;
  e.value = std::move(value);
  return OkStatus();
}

Status TensorArray::ReadLocked(int64_t index, Tensor* value) {
  if (index < 0 || index >= size_) {
    return errors::InvalidArgument("TensorArray ", options_.name,
                                   ": Tried to read from index ", index,
                                   " but array size is: ", size_);
  }
  Element& e = At(index);
  if (e.cleared) {
    return errors::InvalidArgument(
        "TensorArray ", options_.name, ": Could not read index ", index,
        " twice because it was cleared after a previous read (perhaps try "
        "setting clear_after_read = false?).");
  }
  if (!e.written) {
    TensorShape shape = e.shape;
    if (!e.has_shape && !element_shape_.AsTensorShape(&shape)) {
      return errors::InvalidArgument(
          "TensorArray ", options_.name,
          ": Could not read from TensorArray index ", index,
          ". Furthermore, the element shape is not fully defined: ",
          element_shape_.DebugString(),
          ". It is possible you are working with a resizeable TensorArray and "
          "stop_gradients is not allowing the gradients to be written. If you "
          "set the full element_shape property on the forward TensorArray, the "
          "proper all-zeros tensor will be returned instead of incurring this "
          "error.");
    }
    HR_RETURN_IF_ERROR(
        Tensor::Allocate(CpuAllocator(), options_.dtype, shape, value));
    ZeroElements(value);
    return OkStatus();
  }
  if (options_.clear_after_read) {
    *value = std::move(e.value);
    e.value = Tensor();
    e.cleared = true;
  } else {
    *value = e.value;
  }
  return OkStatus();
}

Status TensorArray::Read(int64_t index, Tensor* value) {
  MutexLock lock(&mu_);
  HR_RETURN_IF_ERROR(CheckOpen());
  return ReadLocked(index, value);
}

Status TensorArray::ReadMany(absl::Span<const int32_t> indices,
                             std::vector<Tensor>* values) {
  MutexLock lock(&mu_);
  HR_RETURN_IF_ERROR(CheckOpen());
  values->clear();
  for (int32_t i : indices) {
    Tensor value;
    HR_RETURN_IF_ERROR(ReadLocked(i, &value));
    values->push_back(std::move(value));
  }
  return OkStatus();
}

Status TensorArray::Size(int64_t* size) {
  MutexLock lock(&mu_);
  HR_RETURN_IF_ERROR(CheckOpen());
  *size = size_;
  return OkStatus();
}

Status TensorArray::ElementShape(PartialTensorShape* shape) {
  MutexLock lock(&mu_);
  HR_RETURN_IF_ERROR(CheckOpen());
  *shape = element_shape_;
  return OkStatus();
}

Status TensorArray::MergeElementShape(const PartialTensorShape& shape) {
  MutexLock lock(&mu_);
  HR_RETURN_IF_ERROR(CheckOpen());
  PartialTensorShape merged;
  if (!element_shape_.MergeWith(shape, &merged).ok()) {
    return errors::InvalidArgument(
        "TensorArray ", options_.name, " has elements of shape ",
        element_shape_.DebugString(), ", which the shape asked for, ",
        shape.DebugString(), ", contradicts");
  }
  element_shape_ = merged;
  return OkStatus();
}

Status TensorArray::Prepare(int64_t n, bool exact) {
  MutexLock lock(&mu_);
  HR_RETURN_IF_ERROR(CheckOpen());
  if (dynamic_size_) {
    size_ = std::max(size_, n);
    return OkStatus();
  }
  if (exact ? n != size_ : n > size_) {
    return errors::InvalidArgument(
        "TensorArray ", options_.name, ": its size (", size_,
        ") does not fit the number of values to write (", n,
        "), and the TensorArray is not marked as dynamically resizeable");
  }
  return OkStatus();
}

void TensorArray::Close() {
  std::vector<Element> gone;
  absl::flat_hash_map<int64_t, std::unique_ptr<Element>> gone_far;
  MutexLock lock(&mu_);
  closed_ = true;
  gone.swap(elements_);
  gone_far.swap(far_);
}

Status TensorArray::Gradient(const std::string& source,
                             const TensorShape& prepend,
                             RefPtr<TensorArray>* out) {
  MutexLock lock(&mu_);
  HR_RETURN_IF_ERROR(CheckOpen());
  dynamic_size_ = false;
  RefPtr<TensorArray>& grad = gradients_[source];
  if (grad == nullptr) {
    Options o = options_;
    o.name = absl::StrCat(options_.name, "@", source);
    o.size = size_;
    o.element_shape = PartialTensorShape(prepend).Concatenate(element_shape_);
    o.dynamic_size = false;
    o.clear_after_read = true;
    o.adds_up = true;
    grad = MakeRef<TensorArray>(std::move(o));
    TensorArray& g = *grad;
    MutexLock grad_lock(&g.mu_);
    const auto copy_shape = [&](const Element& from, Element* to) {
      if (!from.has_shape) return;
      to->shape = prepend;
      to->shape.AppendShape(from.shape);
      to->has_shape = true;
    };
    g.elements_.resize(elements_.size());
    for (size_t i = 0; i < elements_.size(); ++i) {
      copy_shape(elements_[i], &g.elements_[i]);
    }
    for (const auto& [i, e] : far_) copy_shape(*e, &g.At(i));
  }
  *out = grad;
  return OkStatus();
}

}  // namespace headrace

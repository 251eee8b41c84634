// TensorArray: the state of the TensorArray* ops, an array of tensors that a
// loop writes one by one and reads back.
//
// An element is written once; only in gradient arrays are several writes added.
// An element that was never written reads as zeros if its shape is known. A
// dynamic array grows when it is written. It stops growing when a gradient
// array is made from it, because both must have the same length.
//
// Lives as long as a handle to it. Thread-safe.
#ifndef HEADRACE_KERNELS_FLOW_TENSOR_ARRAY_H_
#define HEADRACE_KERNELS_FLOW_TENSOR_ARRAY_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "headrace/mutex.h"
#include "headrace/resource_handle.h"
#include "headrace/tensor.h"

namespace headrace {

class TensorArray : public ResourceBase {
 public:
  struct Options {
    std::string name;  // for messages
    DataType dtype = DT_INVALID;
    int64_t size = 0;
    PartialTensorShape element_shape;
    bool dynamic_size = false;
    bool clear_after_read = true;
    bool identical_element_shapes = false;
    bool adds_up = false;  // a gradient array
  };
  explicit TensorArray(Options options);

  const std::string& name() const { return options_.name; }
  DataType dtype() const { return options_.dtype; }
  std::string DebugString() const override;

  Status Write(int64_t index, Tensor value);
  Status Read(int64_t index, Tensor* value);
  // Reads several elements. All values have one shape, which goes to *shape.
  // Without any index it is the array's shape.
  Status ReadMany(absl::Span<const int32_t> indices,
                  std::vector<Tensor>* values);
  Status Size(int64_t* size);
  // What is known of the shape of all elements.
  Status ElementShape(PartialTensorShape* shape);
  // Merges `shape` into it. InvalidArgument if they contradict each other.
  Status MergeElementShape(const PartialTensorShape& shape);
  // Call it before writing elements [0, n). Grows a dynamic array to n.
  // InvalidArgument if the sizes differ; with `exact` false only if n is
  // larger.
  Status Prepare(int64_t n, bool exact);
  // Drops all elements. Every later use gives InvalidArgument.
  void Close();

  // The gradient array for `source`, created at the first call. Its elements
  // have the shapes of this array's elements with `prepend` in front.
  Status Gradient(const std::string& source, const TensorShape& prepend,
                  RefPtr<TensorArray>* out);

  // For the older handles: {container, name}, and the mutex of the reference.
  // Set once, before the array is shared.
  Tensor string_handle;
  Mutex string_handle_mu;

 private:
  struct Element {
    Tensor value;
    TensorShape shape;  // if has_shape: the written or expected shape
    bool has_shape = false;
    bool written = false;
    bool cleared = false;
  };

  Status CheckOpen() const REQUIRES(mu_);
  Element& At(int64_t index) REQUIRES(mu_);
  Status ReadLocked(int64_t index, Tensor* value) REQUIRES(mu_);

  const Options options_;  // initial values of the fields below
  Mutex mu_;
  int64_t size_ GUARDED_BY(mu_);
  bool dynamic_size_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
  PartialTensorShape element_shape_ GUARDED_BY(mu_);
  // Allocated only as far as used: an array may be declared much larger than
  // memory. Elements beyond kMaxDense are few in any graph that works.
  static constexpr int64_t kMaxDense = 1 << 16;
  std::vector<Element> elements_ GUARDED_BY(mu_);
  absl::flat_hash_map<int64_t, std::unique_ptr<Element>> far_ GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, RefPtr<TensorArray>> gradients_
      GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_FLOW_TENSOR_ARRAY_H_

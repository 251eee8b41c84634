// TensorArray: the state behind the TensorArray* ops, an array of tensors that
// a loop writes one by one and reads back.
//
// An element is written once, except in gradient arrays, where writes add up.
// What was never written reads as zeros where its shape is known. A dynamic
// array grows as it is written, until a gradient array is made of it: the two
// must stay equally long.
//
// Lives as long as a handle to it does. Thread-safe.
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
  // Reads several at once; the values have one shape, which is put into
  // *shape. For no index at all the shape is the array's.
  Status ReadMany(absl::Span<const int32_t> indices,
                  std::vector<Tensor>* values);
  Status Size(int64_t* size);
  // The shape of every element, as far as it is known.
  Status ElementShape(PartialTensorShape* shape);
  // Narrows it; InvalidArgument if it contradicts `shape`.
  Status MergeElementShape(const PartialTensorShape& shape);
  // Before writing elements [0, n) as a whole: grows a dynamic array to n, and
  // refuses where the sizes differ, or, if `exact` is false, where n is larger.
  Status Prepare(int64_t n, bool exact);
  // Drops all elements; every later use is InvalidArgument.
  void Close();

  // The gradient array for `source`, made at the first call. Its elements have
  // the shapes of this array's with `prepend` before them.
  Status Gradient(const std::string& source, const TensorShape& prepend,
                  RefPtr<TensorArray>* out);

  // For handles of the older kinds: {container, name}, and a mutex to go with
  // it as a reference. Set once, before the array is shared.
  Tensor string_handle;
  Mutex string_handle_mu;

 private:
  struct Element {
    Tensor value;
    TensorShape shape;  // if has_shape: what was written, or is expected
    bool has_shape = false;
    bool written = false;
    bool cleared = false;
  };

  Status CheckOpen() const REQUIRES(mu_);
  Element& At(int64_t index) REQUIRES(mu_);
  Status ReadLocked(int64_t index, Tensor* value) REQUIRES(mu_);

  const Options options_;  // but for what is below
  Mutex mu_;
  int64_t size_ GUARDED_BY(mu_);
  bool dynamic_size_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
  PartialTensorShape element_shape_ GUARDED_BY(mu_);
  // Made as far as they were touched: an array may be declared far larger than
  // memory. Those beyond kMaxDense are few in any graph that works.
  static constexpr int64_t kMaxDense = 1 << 16;
  std::vector<Element> elements_ GUARDED_BY(mu_);
  absl::flat_hash_map<int64_t, std::unique_ptr<Element>> far_ GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, RefPtr<TensorArray>> gradients_
      GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_FLOW_TENSOR_ARRAY_H_

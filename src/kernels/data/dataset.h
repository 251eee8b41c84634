// Datasets and iterators. A Dataset says how to make a sequence of elements,
// each a tuple of tensors; it is immutable and goes from op to op in a
// DT_VARIANT scalar. A DatasetIterator walks through the sequence once.
//
// Datasets are made of others: the iterator of a dataset owns those of its
// inputs and asks them from its own GetNext, on one stack. So chains have a
// limited depth.
//
// GetNext may wait: for a function, for an element that another thread
// prepares. Who calls it from a pool's worker would hold the worker; see
// iterator_resource.h for how ops do.
#ifndef HEADRACE_KERNELS_DATA_DATASET_H_
#define HEADRACE_KERNELS_DATA_DATASET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/cancellation.h"
#include "headrace/op_kernel.h"
#include "headrace/ref_count.h"

namespace headrace {

using TensorTuple = std::vector<Tensor>;
class FunctionScope;  // framework/kernel/function_runtime.h

// What a call of GetNext works with.
struct IteratorContext {
  // Ends what GetNext waits for; never null, outlives the call.
  CancellationManager* cancellation = nullptr;
  // How many iterators are below on the stack.
  int depth = 0;
  // What functions are called in: the iteration's own, or null. Outlives the
  // iterators.
  FunctionScope* scope = nullptr;

  // For an iterator `more` below.
  IteratorContext Below(int more) const {
    IteratorContext below = *this;
    below.depth += more;
    return below;
  }
  // Loops that may go on for long without producing ask now and then.
  Status CheckCancelled() const {
    return cancellation->IsCancelled() ? cancellation->status() : OkStatus();
  }
};

// Used by one thread at a time.
class DatasetIterator {
 public:
  virtual ~DatasetIterator() = default;

  // The next element, or *end: then, and whenever it is called later. *end is
  // false on entry. A failure is this element's: the next call goes on behind
  // it, if that is possible.
  virtual Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                         bool* end) = 0;

  // True if it is certain that the next call of GetNext will not wait.
  virtual bool IsReady() { return false; }
};

// Types and what is known of the shapes of an element's components.
struct ElementSpec {
  DataTypeVector dtypes;
  std::vector<PartialTensorShape> shapes;

  // OK if elements of `got` are elements of this; `who` is named otherwise.
  Status CheckAccepts(const ElementSpec& got, absl::string_view who) const;
  Status CheckElement(const TensorTuple& e, absl::string_view who) const;
};

constexpr int64_t kInfiniteCardinality = -1;
constexpr int64_t kUnknownCardinality = -2;

// Thread-safe.
class Dataset : public RefCounted {
 public:
  // `inputs` are those that its iterators iterate.
  explicit Dataset(ElementSpec spec,
                   std::vector<RefPtr<const Dataset>> inputs = {});

  const ElementSpec& spec() const { return spec_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Dataset& input(int i = 0) const { return *inputs_[i]; }
  // Length of the longest chain of inputs.
  int depth() const { return depth_; }
  // True if GetNext of its iterators may wait for another thread.
  bool may_wait() const { return may_wait_; }

  // ResourceExhausted if the chain is too deep.
  Status NewIterator(const IteratorContext& ctx,
                     std::unique_ptr<DatasetIterator>* out) const;
  // The number of elements, as far as it is known without iterating.
  virtual int64_t Cardinality() const { return kUnknownCardinality; }

 protected:
  virtual Status MakeIterator(const IteratorContext& ctx,
                              std::unique_ptr<DatasetIterator>* out) const = 0;
  void set_may_wait() { may_wait_ = true; }
  // Datasets among `held` will be released with this one.
  void CountHeld(const TensorTuple& held);

 private:
  const ElementSpec spec_;
  const std::vector<RefPtr<const Dataset>> inputs_;
  int depth_ = 1;
  bool may_wait_ = false;
};

// An iterator of dataset D that walks the iterator of D's only input.
template <typename D>
class InputIterator : public DatasetIterator {
 public:
  static Status Make(const D* dataset, const IteratorContext& ctx,
                     std::unique_ptr<DatasetIterator>* out) {
    std::unique_ptr<DatasetIterator> input;
    HR_RETURN_IF_ERROR(dataset->input().NewIterator(ctx, &input));
    *out = std::make_unique<typename D::Iterator>(dataset, std::move(input));
    return OkStatus();
  }
  InputIterator(const D* dataset, std::unique_ptr<DatasetIterator> input)
      : dataset_(RefPtr<const D>::NewRef(dataset)), input_(std::move(input)) {}

 protected:
  const D& dataset() const { return *dataset_; }

 private:
  const RefPtr<const D> dataset_;

 protected:
  std::unique_ptr<DatasetIterator> input_;
};

// A dataset in a tensor.
Tensor DatasetTensor(RefPtr<const Dataset> dataset);
Status DatasetFromTensor(const Tensor& t, absl::string_view name,
                         RefPtr<const Dataset>* out);

// Input `name` of a kernel: a dataset, or a scalar.
Status DatasetInput(const OpKernelContext& ctx, absl::string_view name,
                    RefPtr<const Dataset>* out);
template <typename T>
Status ScalarInput(const OpKernelContext& ctx, absl::string_view name, T* out) {
  const Tensor* t = nullptr;
  HR_RETURN_IF_ERROR(ctx.input(name, &t));
  if (t->dims() != 0 || t->dtype() != DataTypeToEnum<T>::value) {
    return errors::InvalidArgument(name, " must be a scalar of type ",
                                   DataTypeString(DataTypeToEnum<T>::value),
                                   ", got a ", DataTypeString(t->dtype()),
                                   " tensor of shape ",
                                   t->shape().DebugString());
  }
  *out = t->scalar<T>();
  return OkStatus();
}

// output_types (or Toutput_types) and output_shapes.
Status ReadElementSpec(OpKernelConstruction* ctx, ElementSpec* spec);

// A kernel that makes a dataset, its output.
class DatasetOp : public OpKernel {
 public:
  explicit DatasetOp(OpKernelConstruction* ctx);
  void Compute(OpKernelContext* ctx) final;

 protected:
  virtual Status Make(OpKernelContext* ctx, RefPtr<const Dataset>* out) = 0;
  // From the attrs; empty if the op has none.
  const ElementSpec& spec() const { return spec_; }

 private:
  ElementSpec spec_;
};

// A DatasetOp with the dataset "input_dataset".
class UnaryDatasetOp : public DatasetOp {
 public:
  using DatasetOp::DatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset>* out) final;
  virtual Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
                      RefPtr<const Dataset>* out) = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_DATASET_H_

// Datasets and iterators. A Dataset describes a sequence of elements; each
// element is a tuple of tensors. It is immutable and passes between ops in a
// DT_VARIANT scalar. A DatasetIterator walks through the sequence once.
//
// Datasets are built from other datasets. An iterator owns the iterators of its
// dataset's inputs and calls them in its own GetNext, on one stack. Therefore
// the depth of a chain is limited.
//
// GetNext may wait: for a function, or for an element that another thread
// prepares. Do not call it on a worker of the pool, which it would block.
// iterator_resource.h shows what ops do instead.
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
class CapturedFunction;  // kernels/data/captured_function.h
class FunctionScope;     // framework/kernel/function_runtime.h
class IteratorState;     // kernels/data/iterator_state.h
class SeedGenerator;     // kernels/data/seeds.h
struct StatsTarget;      // kernels/data/stats_aggregator.h

// The arguments of GetNext.
struct IteratorContext {
  // Cancelling it ends a wait in GetNext. Never null, outlives the call.
  CancellationManager* cancellation = nullptr;
  // The number of iterators below this one on the stack.
  int depth = 0;
  // The scope of function calls: the iteration's own, or null. Outlives the
  // iterators.
  FunctionScope* scope = nullptr;
  // Repetitions of a shuffled dataset are iterated as one dataset. Not so in
  // what functions make.
  bool fuses_shuffles = false;
  // Where statistics go, or null. Outlives the iterators.
  const StatsTarget* stats = nullptr;

  // The context for an iterator of what a function made, `more` levels deeper.
  IteratorContext Below(int more) const {
    IteratorContext below = *this;
    below.depth += more;
    below.fuses_shuffles = false;
    return below;
  }
  // A loop that may run long without producing an element must call this from
  // time to time.
  Status CheckCancelled() const {
    return cancellation->IsCancelled() ? cancellation->status() : OkStatus();
  }
};

// Used by one thread at a time.
class DatasetIterator {
 public:
  virtual ~DatasetIterator() = default;

  // Gets the next element. Sets *end at the end and at every later call; *end
  // is false on entry. An error concerns one element: if possible, the next
  // call continues after it.
  virtual Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                         bool* end) = 0;

  // Saves the place to `state`; or takes it from there, which comes before the
  // first GetNext: what comes next is what would have come next. May wait, as
  // GetNext does.
  virtual Status SaveOrRestore(const IteratorContext& ctx,
                               IteratorState* state) = 0;

  // True if the next call of GetNext certainly does not wait.
  virtual bool IsReady() { return false; }
};

// The types of an element's components, and what is known of their shapes.
struct ElementSpec {
  DataTypeVector dtypes;
  std::vector<PartialTensorShape> shapes;

  // OK if every element of `got` fits this spec. The error contains `who`.
  Status CheckAccepts(const ElementSpec& got, absl::string_view who) const;
  Status CheckElement(const TensorTuple& e, absl::string_view who) const;
};

constexpr int64_t kInfiniteCardinality = -1;
constexpr int64_t kUnknownCardinality = -2;

// Thread-safe.
class Dataset : public RefCounted {
 public:
  // `inputs` are the datasets that its iterators use.
  explicit Dataset(ElementSpec spec,
                   std::vector<RefPtr<const Dataset>> inputs = {});

  const ElementSpec& spec() const { return spec_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Dataset& input(int i = 0) const { return *inputs_[i]; }
  // The length of the longest chain of inputs.
  int depth() const { return depth_; }
  // True if GetNext of its iterators may wait for another thread.
  bool may_wait() const { return may_wait_; }

  // ResourceExhausted if the chain is too deep.
  Status NewIterator(const IteratorContext& ctx,
                     std::unique_ptr<DatasetIterator>* out) const;
  // The number of elements, if it is known without iterating.
  virtual int64_t Cardinality() const { return kUnknownCardinality; }
  // FailedPrecondition "X is stateful." if the place of an iterator does not
  // tell what comes next, because a function has the op X.
  Status CheckSavable() const;
  // The generators of seeds of this dataset and its inputs, which iterations to
  // come ask, are a part of the place too, and restored after the iterator.
  Status SaveOrRestoreSeeds(IteratorState* state) const;

 protected:
  // Null if there is none.
  virtual SeedGenerator* seed_generator() const { return nullptr; }
  virtual Status MakeIterator(const IteratorContext& ctx,
                              std::unique_ptr<DatasetIterator>* out) const = 0;
  void set_may_wait() { may_wait_ = true; }
  // Datasets among `held` will be released with this one.
  void CountHeld(const TensorTuple& held);
  // Its iterators call `f`, and may therefore wait.
  void Calls(const std::shared_ptr<const CapturedFunction>& f);

 private:
  const ElementSpec spec_;
  const std::vector<RefPtr<const Dataset>> inputs_;
  std::vector<std::shared_ptr<const CapturedFunction>> functions_;
  int depth_ = 1;
  bool may_wait_ = false;
};

// An iterator of dataset D that uses the iterator of D's only input.
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

// Converts a dataset to and from a tensor.
Tensor DatasetTensor(RefPtr<const Dataset> dataset);
Status DatasetFromTensor(const Tensor& t, absl::string_view name,
                         RefPtr<const Dataset>* out);

// Reads input `name` of a kernel: a dataset, or a scalar.
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

// Reads the attrs output_types (or Toutput_types) and output_shapes.
Status ReadElementSpec(OpKernelConstruction* ctx, ElementSpec* spec);

// A kernel whose output is a dataset.
class DatasetOp : public OpKernel {
 public:
  explicit DatasetOp(OpKernelConstruction* ctx);
  void Compute(OpKernelContext* ctx) final;

 protected:
  virtual Status Make(OpKernelContext* ctx, RefPtr<const Dataset>* out) = 0;
  // From the attrs. Empty if the op has none.
  const ElementSpec& spec() const { return spec_; }

 private:
  ElementSpec spec_;
};

// A DatasetOp with an input dataset, "input_dataset".
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

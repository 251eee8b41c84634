// BatchingDataset: collects the elements of a batch from its input; the last
// batch may have fewer. The subclass stacks them.
#ifndef HEADRACE_KERNELS_DATA_BATCHING_DATASET_H_
#define HEADRACE_KERNELS_DATA_BATCHING_DATASET_H_

#include <vector>

#include "kernels/data/dataset.h"

namespace headrace {

struct BatchOptions {
  int64_t size = 1;
  bool drop_remainder = false;  // drop a batch with fewer elements
};

// Reads the inputs batch_size and, if the op has it, drop_remainder.
Status ReadBatchOptions(OpKernelContext* ctx, BatchOptions* out);

// Stacks at least one element along a new first dim. InvalidArgument unless
// types and shapes are equal.
Status StackElements(const std::vector<TensorTuple>& elements,
                     TensorTuple* out);

// Thread-safe, as every Dataset is; an iterator has the contract of
// DatasetIterator.
class BatchingDataset : public Dataset {
 public:
  BatchingDataset(ElementSpec spec, RefPtr<const Dataset> input,
                  const BatchOptions& options)
      : Dataset(std::move(spec), {std::move(input)}), options_(options) {}

  int64_t Cardinality() const override;

  class Iterator;

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override;
  // `elements` has at least one element.
  virtual Status Stack(const std::vector<TensorTuple>& elements,
                       TensorTuple* out) const = 0;

 private:
  const BatchOptions options_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_BATCHING_DATASET_H_

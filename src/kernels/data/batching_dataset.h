// BatchingDataset: takes as many elements of its input as a batch has, fewer at
// the end; how they are stacked is the subclass's.
#ifndef HEADRACE_KERNELS_DATA_BATCHING_DATASET_H_
#define HEADRACE_KERNELS_DATA_BATCHING_DATASET_H_

#include <vector>

#include "kernels/data/dataset.h"

namespace headrace {

struct BatchOptions {
  int64_t size = 1;
  bool drop_remainder = false;  // of fewer elements
};

// From the inputs batch_size and, if the op has it, drop_remainder.
Status ReadBatchOptions(OpKernelContext* ctx, BatchOptions* out);

// Elements, at least one, along a new first dimension. They must agree in types
// and shapes.
Status StackElements(const std::vector<TensorTuple>& elements,
                     TensorTuple* out);

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
  // At least one element.
  virtual Status Stack(const std::vector<TensorTuple>& elements,
                       TensorTuple* out) const = 0;

 private:
  const BatchOptions options_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_BATCHING_DATASET_H_
